"""
`/sparql`, as an ASGI application of its own.

It stands beside Flask, not in it: a query waits for its worker on the event loop without holding a thread, and Flask's
request machinery alone costs as much as a point lookup.

Source: SPARQL 1.1 Protocol, section 2.1; RFC 9110, sections 8.8.3 (ETag) and 13.1.2 (If-None-Match).
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import tempfile
from typing import Final

from sparql.errors import ClientGone, MethodRefused, SparqlError
from sparql.query.answer import Answer
from sparql.query.limits import QueryLimits
from sparql.query.pool import Pool
from sparql.query.request import METHODS, HttpRequest, QueryRequest, read_request
from sparql.query.results import quality
from sparql.query.ticket import Ticket
from sparql.web.client import Client, Message, Receive, Send, encode, header, speaks_1_0
from sparql.web.gateway import Gateway
from sparql.web.headers import OPEN, PREFLIGHT

PATH: Final = "/sparql"
RETRY_S: Final = 5
SPOOL_CHUNK: Final = 1 << 16

_VOLATILE: Final = re.compile(r"(?:rand|now|uuid)\s*[(#]", re.IGNORECASE)
"""Calls whose value is another one each time; so is the answer, and it gets no ETag."""
_OPEN: Final = encode([("Vary", "Accept"), *OPEN])
_PREFLIGHT: Final = encode([("Allow", ", ".join(METHODS)), *PREFLIGHT])

log = logging.getLogger(__name__)


class Endpoint:
    """Answers what asks a query; hands all else to the pages."""

    def __init__(self, pool: Pool, limits: QueryLimits, pages: Gateway) -> None:
        self._pool = pool
        self._pages = pages
        self._salt = repr(limits).encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        client = Client(receive, send)
        try:
            if scope["method"] == "OPTIONS":
                await client.reply(204, _PREFLIGHT, b"")
                return
            request = await _read(scope, client)
            if request is None:
                await self._pages(scope, receive, send)
            else:
                await self._answer(request, scope, client)
        except SparqlError as error:
            await _refuse(error, scope, client)
        finally:
            client.unwatch()

    async def _answer(self, request: QueryRequest, scope: Message, client: Client) -> None:
        known = header(scope, b"if-none-match")
        if known is not None:
            etag = self._etag(request, self._pool.generation())
            if etag is not None and etag in known:
                await client.reply(304, [(b"etag", etag.encode()), *_OPEN], b"")
                return
        ticket = Ticket(client.watch)
        client.when_gone(lambda: ticket.end(ClientGone("The client went away.")))
        answer = await self._pool.ask(request, ticket)
        try:
            headers = self._headers(request, answer)
            if scope["method"] == "HEAD":
                await client.reply(200, headers, b"")
            elif answer.whole is not None:
                await client.reply(200, [*headers, _length(len(answer.whole))], answer.whole)
            elif speaks_1_0(scope):
                await _send_spooled(answer, headers, client)
            else:
                await _send_chunks(answer, headers, client)
        finally:
            answer.close()

    def _headers(self, request: QueryRequest, answer: Answer) -> list[tuple[bytes, bytes]]:
        etag = self._etag(request, answer.generation)
        fresh = [(b"cache-control", b"no-store")]
        if etag is not None:
            fresh = [(b"cache-control", b"no-cache"), (b"etag", etag.encode())]
        return [(b"content-type", answer.form.content_type.encode()), *fresh, *_OPEN]

    def _etag(self, request: QueryRequest, generation: int) -> str | None:
        """
        The tag of an answer, the same as long as asking again gives an equal one; None where it never does.

        Weak: the order of rows may differ.
        """
        if _VOLATILE.search(request.text):
            return None
        asked = (request.text, request.default_graphs, request.named_graphs, _media_types(request))
        digest = hashlib.blake2s(self._salt + repr(asked).encode(), digest_size=12).hexdigest()
        return f'W/"{generation}-{digest}"'


async def _read(scope: Message, client: Client) -> QueryRequest | None:
    """The query to answer, or None when a page or a description is wanted."""
    method, accept = scope["method"], header(scope, b"accept")
    query_string = scope["query_string"].decode("latin-1")
    if method in ("GET", "HEAD") and _wants_page(accept, query_string):
        return None
    return read_request(
        HttpRequest(
            method=method,
            query_string=query_string,
            content_type=header(scope, b"content-type") or "",
            accept=accept,
            body=await client.body() if method == "POST" else b"",
        )
    )


async def _send_chunks(answer: Answer, headers: list[tuple[bytes, bytes]], client: Client) -> None:
    """Send a long result as it comes; one that fails on the way is broken off, never ended."""
    await client.start(200, headers)
    try:
        async for chunk in answer:
            if not await client.chunk(chunk):
                return
    except ClientGone:
        return
    except SparqlError as error:
        log.warning("A result was broken off: %s", error.message)
        return
    await client.end()


async def _send_spooled(answer: Answer, headers: list[tuple[bytes, bytes]], client: Client) -> None:
    """Send a long result when all of it is there, with its length."""
    with tempfile.TemporaryFile() as spool:
        async for chunk in answer:
            spool.write(chunk)
        length = spool.tell()
        spool.seek(0)
        await client.start(200, [*headers, _length(length)])
        while chunk := spool.read(SPOOL_CHUNK):
            if not await client.chunk(chunk):
                return
        await client.end()


async def _refuse(error: SparqlError, scope: Message, client: Client) -> None:
    """Say why there is no answer, as JSON to those who read JSON and as text to all others."""
    if "json" in (header(scope, b"accept") or ""):
        content_type = b"application/json"
        told = {"error": type(error).__name__, "message": error.message, "retriable": error.retriable}
        body = json.dumps(told).encode()
    else:
        content_type, body = b"text/plain; charset=utf-8", f"{error.message}\n".encode(errors="replace")
    headers = [(b"content-type", content_type), _length(len(body)), (b"cache-control", b"no-store"), *_OPEN]
    if error.retriable:
        headers.append((b"retry-after", str(RETRY_S).encode()))
    if isinstance(error, MethodRefused):
        headers.append((b"allow", ", ".join(METHODS).encode()))
    await client.reply(error.status, headers, b"" if scope["method"] == "HEAD" else body)


def _length(length: int) -> tuple[bytes, bytes]:
    return (b"content-length", str(length).encode())


def _media_types(request: QueryRequest) -> tuple[str, str]:
    solutions, graph = request.formats.solutions, request.formats.graph
    return (solutions.media_type if solutions else "", graph.media_type if graph else "")


def _wants_page(accept: str | None, query_string: str) -> bool:
    """Whether the client is a browser: HTML is what it likes best, and it names no result format."""
    if accept is None or "text/html" not in accept or "format=" in query_string:
        return False
    page = quality("text/html", accept)
    return all(
        page > quality(other, accept) for other in ("application/sparql-results+json", "text/turtle", "text/csv")
    )
