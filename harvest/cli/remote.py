"""`harvest query --endpoint`: a query answered by another SPARQL endpoint, printed as the instance's own would be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import pyoxigraph
from pyoxigraph import QueryResultsFormat, RdfFormat
from SPARQLWrapper import GET, POST

from harvest.errors import RefusedError, StatusError, TransferError
from sparql.errors import ForbiddenError, RequestError
from sparql.protocol.results import CSV, GRAPHS, SOLUTIONS, TSV, ResultFormat, choose
from sparql.wire import EndpointRequest

TIMEOUT_S: Final = 120
"""Seconds without a byte, after which no more is waited for. Public endpoints end a query after 60 to 120."""

LONGEST_GET: Final = 2000
"""Characters of a query that is still sent by GET; encoded it may be three times as long, and servers take 8 KiB."""

EXCERPT: Final = 500
"""Characters of the body of an error that are shown."""

_CHUNK: Final = 1 << 16
_PROLOGUE: Final = re.compile(
    r"""(?:\s|\#[^\n]*
        |BASE\s*<[^<>\s]*>
        |(?:@?PREFIX|DEFINE)\s*[^\s:<>]*:[^\s<"]*\s*(?:<[^<>\s]*>|"[^"\n]*"|\d+)
    )*""",
    re.VERBOSE | re.IGNORECASE,
)
"""What may stand before the keyword that names the kind; DEFINE is Virtuoso's."""
_WORD: Final = re.compile(r"[A-Za-z]+")
_TAG: Final = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_SOLUTIONS: Final = ("SELECT", "ASK")
_GRAPHS: Final = ("CONSTRUCT", "DESCRIBE")
_UPDATES: Final = ("INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH")


@dataclass(frozen=True, slots=True)
class Remote:
    """
    An endpoint to be asked.

    Attributes:
        url: Its address; a query part of its own is kept.
        timeout_s: How long to wait for each byte.
    """

    url: str
    timeout_s: int = TIMEOUT_S


def answer(remote: Remote, text: str, form: str | None) -> Iterator[bytes]:
    """
    The result in a format (`tsv`, `json`, `ttl`, ...), by default a TSV table or Turtle.

    What the server sends in another format that can be read is written again in the one wanted.

    Raises:
        RequestError: It is no SPARQL query, or the format does not fit it.
        ForbiddenError: It is an update.
        RefusedError: The address is none of HTTP, or what came is no result.
        StatusError: The server answered with an error.
        TransferError: There was no whole answer in time.
    """
    kind = kind_of(text)
    wanted = _format(kind, form)
    client = _request(remote, text, kind, wanted)
    try:
        yield from _written(remote.url, client.response(), kind, wanted)
    except HTTPError as error:
        raise _status(remote.url, error) from error
    except (URLError, HTTPException, OSError) as error:
        raise _broken(remote, error) from error


def kind_of(text: str) -> str:
    """
    SELECT, ASK, CONSTRUCT or DESCRIBE.

    The text is not parsed: what another server takes, with prefixes that it knows by itself, is its own business.

    Raises:
        ForbiddenError: It is an update.
        RequestError: It is neither.
    """
    begun = _PROLOGUE.match(text)
    word = _WORD.match(text, begun.end() if begun else 0)
    kind = word[0].upper() if word else ""
    if kind in _UPDATES:
        raise ForbiddenError(f"this is an update ({kind}); `harvest query` only asks")
    if kind not in (*_SOLUTIONS, *_GRAPHS):
        raise RequestError(
            "this is no SPARQL query: after its prefixes it begins with none of "
            f"{', '.join((*_SOLUTIONS, *_GRAPHS))} but with {text[begun.end() if begun else 0 :][:40]!r}"
        )
    return kind


def _format(kind: str, form: str | None) -> ResultFormat:
    choice = choose("text/tab-separated-values, text/turtle", form)
    fitting = choice.solutions if kind in _SOLUTIONS else choice.graph
    if fitting is None:
        raise RequestError(f"this result cannot be written as {form}")
    return fitting


def _request(remote: Remote, text: str, kind: str, wanted: ResultFormat) -> EndpointRequest:
    parts = urlsplit(remote.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RefusedError(f"{remote.url} is no endpoint: give its address with http:// or https://", url=remote.url)
    client = EndpointRequest(urlunsplit(parts._replace(query="", fragment="")), agent="sparql-harvest (harvest query)")
    client.setQuery(text)
    # The library takes the kind from the first word that looks like one, and sends what it takes for an update.
    client.queryType = kind
    client.setMethod(GET if len(text) <= LONGEST_GET else POST)
    client.setTimeout(remote.timeout_s)
    # The names of formats in parameters differ from server to server; Accept is the protocol's.
    client.setOnlyConneg(True)
    client.addCustomHttpHeader("Accept", _accept(kind, wanted))
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        client.addParameter(name, value)
    return client


def _accept(kind: str, wanted: ResultFormat) -> str:
    """The wanted format first, then all that it can be made of."""
    others = [form.media_type for form in _readable(kind) if form is not wanted]
    return ", ".join([wanted.media_type, *(f"{media_type};q=0.5" for media_type in others)])


def _readable(kind: str) -> list[ResultFormat]:
    """The formats that can be read back. CSV does not distinguish IRIs from texts, and TSV has no boolean."""
    if kind in _GRAPHS:
        return list(GRAPHS)
    return [form for form in SOLUTIONS if form is not CSV and not (form is TSV and kind == "ASK")]


def _written(url: str, response: HTTPResponse, kind: str, wanted: ResultFormat) -> Iterator[bytes]:
    media_type = response.headers.get_content_type()
    if media_type in (wanted.media_type, *wanted.aliases):
        yield from iter(lambda: response.read(_CHUNK), b"")
        if response.length:
            raise TransferError(f"{url} broke off {response.length} bytes before the end of its answer", url=url)
        return
    sent = next((form for form in _readable(kind) if media_type in (form.media_type, *form.aliases)), None)
    if sent is None:
        raise RefusedError(
            f"{url} answered {media_type}, which is no result that can be read for {kind} as {wanted.names[0]}; "
            "look whether this is the address of the endpoint itself, or take another --format",
            url=url,
        )
    try:
        yield _converted(url, response.read(), sent, wanted)
    except (SyntaxError, ValueError) as error:
        raise RefusedError(f"{url} sent {sent.names[0]} that cannot be read: {error}", url=url) from error


def _converted(url: str, body: bytes, sent: ResultFormat, wanted: ResultFormat) -> bytes:
    """A result in another format."""
    out = BytesIO()
    if isinstance(sent.writer, QueryResultsFormat) and isinstance(wanted.writer, QueryResultsFormat):
        pyoxigraph.parse_query_results(body, sent.writer).serialize(out, format=wanted.writer)
    elif isinstance(sent.writer, RdfFormat) and isinstance(wanted.writer, RdfFormat):
        pyoxigraph.serialize(pyoxigraph.parse(body, sent.writer, base_iri=url), out, wanted.writer)
    return out.getvalue()


def _status(url: str, error: HTTPError) -> StatusError:
    """The error of a refusal, with what the server says of it in its own words and one line."""
    try:
        body = error.read(_CHUNK).decode("utf-8", "replace")
    except (OSError, HTTPException):
        body = ""
    words = " ".join((_TAG.sub(" ", body) if "html" in error.headers.get_content_type() else body).split())
    said = words[:EXCERPT].rstrip() + (" ..." if len(words) > EXCERPT else "") if words else error.reason
    advice = {401: "; it wants a password", 404: "; look whether the address is right"}.get(error.code, "")
    if 300 <= error.code < 400:
        advice = f"; give the address that it names, {error.headers.get('Location')}"
    return StatusError(f"{url} answered HTTP {error.code}: {said}{advice}", url=url, status=error.code)


def _broken(remote: Remote, error: Exception) -> TransferError:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        message = (
            f"{remote.url} sent nothing for {remote.timeout_s} s; ask for less, for example with LIMIT, or give it "
            "longer with --timeout"
        )
    elif isinstance(reason, ConnectionRefusedError):
        message = f"{remote.url} refused the connection; look whether the server runs, and at its port"
    else:
        words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        message = f"{remote.url} gave no whole answer: {words}; try again, or look at the address"
    return TransferError(message, url=remote.url)
