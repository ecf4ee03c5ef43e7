"""
SPARQL 1.1 Protocol requests, as values.

Source: SPARQL 1.1 Protocol, section 2.1 (query operation).
"""

from __future__ import annotations

import math
from binascii import a2b_qp
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import unquote

from pyoxigraph import NamedNode

from sparql.errors import MethodRefused, RequestError, UnsupportedMedia
from sparql.protocol.results import GRAPHS, Choice, choose, prefer, quality

METHODS: Final = ("GET", "HEAD", "POST", "OPTIONS")
FORM: Final = "application/x-www-form-urlencoded"
QUERY: Final = "application/sparql-query"
UPDATE: Final = "application/sparql-update"
UPDATING: Final = frozenset({"update", "using-graph-uri", "using-named-graph-uri"})
"""Parameters of the update operation. Source: SPARQL 1.1 Protocol, section 2.2."""
QUERYING: Final = frozenset({"query", "default-graph-uri", "named-graph-uri"})
"""Those of the query operation that say what is asked of what. Source: likewise, section 2.1."""
NO_UPDATES: Final = "This endpoint answers queries; updates are refused, as its settings have no operator token."


Parameters = dict[str, list[str]]
"""The values of each parameter, in their order."""


class HttpRequest(NamedTuple):
    """
    What the protocol reads of an HTTP request.

    Attributes:
        method: Upper case.
        query_string: What follows `?` in the URL, still percent-encoded.
        content_type: The Content-Type header, or empty.
        accept: The Accept header, or None.
        body: Whole.
        content_coding: The Content-Encoding header, or empty.
    """

    method: str
    query_string: str
    content_type: str = ""
    accept: str | None = None
    body: bytes = b""
    content_coding: str = ""


class QueryRequest(NamedTuple):
    """
    One query operation. Its kind is not here: only the store's own parser knows it.

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


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """
    One update operation, as it came: only those who may send one learn what is wrong with it.

    Attributes:
        address: Parameters of the address.
        form: Parameters of a form.
        body: The update, where it is the body itself, else None.
    """

    address: Parameters
    form: Parameters = field(default_factory=dict)
    body: bytes | None = None

    def text(self) -> str:
        """
        The update.

        Raises:
            RequestError: It is not one, not in UTF-8, in an address, or has parameters beside it.
        """
        if "update" in self.address:
            raise RequestError(f"An update comes by POST: as the field `update` of a form, or as a body, {UPDATE}.")
        texts = [_text(self.body)] if self.body is not None else self.form.get("update", [])
        given = {*self.address, *self.form}
        if beside := sorted(given & {*UPDATING, *QUERYING} - {"update"}):
            raise RequestError(f"`{beside[0]}` came with an update, and is not read there; write USING in the update.")
        if len(texts) != 1:
            raise RequestError(f"One update is needed, and {len(texts)} came; send it once.")
        return texts[0]


def read_request(request: HttpRequest) -> QueryRequest | UpdateRequest | None:
    """
    The operation that a request asks for, or None for a GET without a query.

    Raises:
        RequestError: It is not SPARQL 1.1 Protocol.
        MethodRefused: Its method is none of the protocol's.
        UnsupportedMedia: Its body is neither a form nor a query.
        NotAcceptable: It names a result format that there is not.
    """
    pairs = decode(request.query_string)
    posted = _posted(request) if request.method == "POST" else []
    if posted is None:
        return UpdateRequest(_grouped(pairs), body=request.body)
    if request.method not in ("GET", "HEAD", "POST"):
        raise MethodRefused(f"{request.method} is not a method of this address; use GET or POST.")
    parameters = _grouped(pairs + posted)
    if not UPDATING.isdisjoint(parameters):
        return UpdateRequest(_grouped(pairs), _grouped(posted))
    texts = parameters.get("query", ())
    if not texts and request.method != "POST" and _wants_description(request.accept):
        return None
    if len(texts) != 1:
        raise RequestError(
            f"One query is needed, and {len(texts)} came; send it once, as the parameter `query`, or as the body with "
            f"Content-Type: {QUERY}."
        )
    return QueryRequest(
        text=texts[0],
        formats=_formats(request.accept, parameters),
        default_graphs=_graphs("default-graph-uri", parameters),
        named_graphs=_graphs("named-graph-uri", parameters),
        timeout_s=_timeout(parameters),
        head=request.method == "HEAD",
    )


def _wants_description(accept: str | None) -> bool:
    """Whether there can be another answer than a result: a description in RDF, or a page."""
    return prefer(accept, GRAPHS) is not None or quality("text/html", accept) > 0


def _grouped(pairs: list[tuple[str, str]]) -> Parameters:
    parameters: Parameters = {}
    for key, value in pairs:
        parameters.setdefault(key, []).append(value)
    return parameters


def _posted(request: HttpRequest) -> list[tuple[str, str]] | None:
    """The parameters of a body, or None where it is an update itself."""
    if request.content_coding.strip().lower() not in ("", "identity"):
        raise UnsupportedMedia(f"The body is compressed ({request.content_coding[:40]}); send it as it is.")
    media_type, *options = (part.strip().lower() for part in request.content_type.split(";"))
    charset = next((o.partition("=")[2].strip('" ') for o in options if o.startswith("charset=")), "utf-8")
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMedia(f"The body is in {charset!r}; send it in UTF-8.")
    if media_type == FORM:
        return decode(_text(request.body))
    if media_type == QUERY:
        return [("query", _text(request.body))]
    if media_type == UPDATE:
        return None
    body = f"A body of type {media_type[:200]!r}" if media_type else "A body without a Content-Type"
    raise UnsupportedMedia(f"{body} cannot be read; send {FORM} or {QUERY}.")


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(f"The body is not UTF-8: byte {error.start} is {body[error.start]:#04x}.") from error


def decode(encoded: str) -> list[tuple[str, str]]:
    """
    The parameters of a query string or form, in their order.

    Raises:
        RequestError: They are not percent-encoded UTF-8.
    """
    try:
        return [(_plain(name), _plain(value)) for name, _, value in (p.partition("=") for p in encoded.split("&") if p)]
    except ValueError as error:
        raise RequestError("The parameters are not percent-encoded UTF-8.") from error


def _plain(encoded: str) -> str:
    """
    A name or value without its encoding, as `urllib.parse.parse_qsl` has it, in a tenth of the time for most.

    Quoted-printable is percent-encoding with another sign, but for line breaks, and there is a decoder in C. What it
    leaves as it is, as it is not encoded well, shows in the length.

    Source: RFC 2045, section 6.7; WHATWG URL, application/x-www-form-urlencoded.
    """
    encoded = encoded.replace("+", " ")
    escapes = encoded.count("%")
    if not escapes:
        return encoded
    if encoded.isascii() and "\n" not in encoded and "\r" not in encoded:
        decoded = a2b_qp(encoded.replace("=", "=3D").replace("%", "="))
        if len(decoded) == len(encoded) - 2 * escapes:
            return decoded.decode()
    return unquote(encoded, errors="strict")


def _formats(accept: str | None, parameters: Parameters) -> Choice:
    """Those of the first name of a format, if there is one; an address and a body may name one each."""
    named = [choose(accept, name) for name in parameters.get("format", ()) if name]
    return named[0] if named else choose(accept, None)


def _graphs(name: str, parameters: Parameters) -> tuple[str, ...]:
    return tuple(absolute(graph, name) for graph in parameters[name]) if name in parameters else ()


def absolute(iri: str, what: str) -> str:
    """
    The IRI, if it is one.

    Raises:
        RequestError: It is not absolute; the message says `what` it should name.
    """
    try:
        return NamedNode(iri).value
    except ValueError as error:
        raise RequestError(f"The {what} {iri[:200]!r} is not an absolute IRI: {error}.") from error


def _timeout(parameters: Parameters) -> float | None:
    """The shortest of all that are named: an address and a body may name one each."""
    return min((_seconds(text) for text in parameters.get("timeout", ()) if text), default=None)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise RequestError(f"The timeout {text[:40]!r} is not a number of seconds above 0.")
    return seconds
