"""
SPARQL 1.1 Protocol requests, as values.

Source: SPARQL 1.1 Protocol, section 2.1 (query operation).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from pyoxigraph import NamedNode

from sparql.errors import ForbiddenError, MethodRefused, RequestError, UnsupportedMedia
from sparql.query.results import Choice, choose

METHODS: Final = ("GET", "HEAD", "POST", "OPTIONS")
FORM: Final = "application/x-www-form-urlencoded"
QUERY: Final = "application/sparql-query"
UPDATE: Final = "application/sparql-update"
NO_UPDATES: Final = "This endpoint answers queries; updates are refused."


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """
    What the protocol reads of an HTTP request.

    Attributes:
        method: Upper case.
        query_string: What follows `?` in the URL, still percent-encoded.
        content_type: The Content-Type header, or empty.
        accept: The Accept header, or None.
        body: Whole.
    """

    method: str
    query_string: str
    content_type: str = ""
    accept: str | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """
    One query operation. Its kind is not here: only the store's own parser can tell it.

    Attributes:
        text: The query.
        formats: How the result may be written.
        default_graphs: IRIs of `default-graph-uri`.
        named_graphs: IRIs of `named-graph-uri`.
        timeout_s: Seconds that the client is ready to wait, or None.
        graph_name: IRI of a graph that is wanted as it is, in place of a query.
        head: Whether nothing but the beginning is wanted.
    """

    text: str
    formats: Choice
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    timeout_s: float | None = None
    graph_name: str | None = None
    head: bool = False


def read_request(request: HttpRequest) -> QueryRequest | None:
    """
    The query operation that a request asks for, or None for a GET without a query.

    Raises:
        RequestError: It is not SPARQL 1.1 Protocol.
        ForbiddenError: It is an update.
        MethodRefused: Its method is none of the protocol's.
        UnsupportedMedia: Its body is neither a form nor a query.
        NotAcceptable: It names a result format that there is not.
    """
    parameters = _decode(request.query_string)
    if request.method == "POST":
        parameters += _posted(request)
    elif request.method not in ("GET", "HEAD"):
        raise MethodRefused(f"{request.method} is not a method of this address; use GET or POST.")
    if any(key in ("update", "using-graph-uri", "using-named-graph-uri") for key, _ in parameters):
        raise ForbiddenError(NO_UPDATES)
    texts = _all("query", parameters)
    if not texts and request.method != "POST":
        return None
    if len(texts) != 1:
        raise RequestError(
            f"One query is needed, and {len(texts)} came; send it once, as the parameter `query` or the body."
        )
    return QueryRequest(
        text=texts[0],
        formats=choose(request.accept, _format(parameters)),
        default_graphs=_graphs("default-graph-uri", parameters),
        named_graphs=_graphs("named-graph-uri", parameters),
        timeout_s=_timeout(parameters),
        head=request.method == "HEAD",
    )


def _posted(request: HttpRequest) -> list[tuple[str, str]]:
    media_type, *options = (part.strip().lower() for part in request.content_type.split(";"))
    charset = next((o.partition("=")[2].strip('" ') for o in options if o.startswith("charset=")), "utf-8")
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMedia(f"The body is in {charset!r}; send it in UTF-8.")
    if media_type == FORM:
        return _decode(_text(request.body))
    if media_type == QUERY:
        return [("query", _text(request.body))]
    if media_type == UPDATE:
        raise ForbiddenError(NO_UPDATES)
    raise UnsupportedMedia(f"A body of type {media_type!r} cannot be read; send {FORM} or {QUERY}.")


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(f"The body is not UTF-8: byte {error.start} is {body[error.start]:#04x}.") from error


def _decode(encoded: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(encoded, keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise RequestError("The parameters are not percent-encoded UTF-8.") from error


def _all(name: str, parameters: Iterable[tuple[str, str]]) -> list[str]:
    return [value for key, value in parameters if key == name]


def _format(parameters: list[tuple[str, str]]) -> str | None:
    return next((value for value in _all("format", parameters) if value), None)


def _graphs(name: str, parameters: list[tuple[str, str]]) -> tuple[str, ...]:
    graphs = _all(name, parameters)
    for graph in graphs:
        try:
            NamedNode(graph)
        except ValueError as error:
            raise RequestError(f"The {name} {graph[:200]!r} is not an absolute IRI: {error}.") from error
    return tuple(graphs)


def _timeout(parameters: list[tuple[str, str]]) -> float | None:
    texts = _all("timeout", parameters)
    if not texts or not texts[0]:
        return None
    try:
        seconds = float(texts[0])
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise RequestError(f"The timeout {texts[0][:40]!r} is not a number of seconds above 0.")
    return seconds
