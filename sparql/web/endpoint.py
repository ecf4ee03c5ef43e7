"""
`/sparql`, as an ASGI application of its own.

It stands beside Flask, not in it: a query waits for its worker on the event loop without holding a thread, and Flask's
request machinery alone costs as much as a point lookup.

Source: SPARQL 1.1 Protocol, section 2.1; RFC 9110, sections 8.8.3 (ETag) and 13.1.2 (If-None-Match).
"""

from __future__ import annotations

import logging
import tempfile
from typing import Final

from sparql.cache.edition import Editions
from sparql.cache.kept import Result
from sparql.cache.recall import Asked, Recall
from sparql.cache.recent import Recent, Reply
from sparql.errors import ClientGone, QueryMemory, QueryTimeout, SparqlError
from sparql.protocol.request import METHODS, HttpRequest, QueryRequest, UpdateRequest, read_request
from sparql.protocol.results import quality
from sparql.query.answer import trailer
from sparql.query.ticket import Ticket
from sparql.web.address import Addresses
from sparql.web.client import Message, Receive, Send, WebClient, encode, header, speaks_1_0
from sparql.web.gateway import Gateway
from sparql.web.headers import OPEN, PREFLIGHT
from sparql.web.refusal import refuse
from sparql.web.updating import Updating

PATH: Final = "/sparql"
SPOOL_CHUNK: Final = 1 << 16

FRESH: Final = b"public, max-age=10, must-revalidate"
"""For how long a proxy may answer in our place without asking: less than there is between two harvests."""

_OPEN: Final = encode([("Vary", "Accept"), *OPEN])
_PREFLIGHT: Final = encode([("Allow", ", ".join(METHODS)), *PREFLIGHT])

log = logging.getLogger(__name__)


class Endpoint:
    """Answers what asks a query, has updates carried out; hands all else to the pages."""

    def __init__(
        self, recall: Recall, editions: Editions, pages: Gateway, addresses: Addresses, updating: Updating
    ) -> None:
        self._recall = recall
        self._editions = editions
        self._pages = pages
        self._addresses = addresses
        self._updating = updating
        self._recent = Recent(editions)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        client, edition = WebClient(receive, send), self._editions.current()
        if (reply := self._recently(scope, edition)) is not None:
            await client.reply(200, reply.headers, reply.body)
            return
        try:
            if scope["method"] == "OPTIONS":
                await client.reply(204, _PREFLIGHT, b"")
                return
            request = await _read(scope, client)
            if request is None:
                await self._pages(scope, receive, send)
            elif isinstance(request, UpdateRequest):
                await self._updating.answer(request, scope, client)
            else:
                await self.answer(request, scope, client, None if scope["method"] == "POST" else edition)
        except SparqlError as error:
            await refuse(error, METHODS, scope, client)
        finally:
            client.unwatch()

    async def answer(
        self, request: QueryRequest, scope: Message, client: WebClient, edition: str | None = None
    ) -> None:
        """
        Send what a request asks for; `edition` is the current one, if the caller has just looked.

        Raises:
            SparqlError: There is nothing to send, and nothing was sent.
        """
        asked = self._recall.name(request)
        known = header(scope, b"if-none-match")
        if known is not None and scope["method"] in ("GET", "HEAD"):
            etag = self._recall.etag(asked, edition or self._editions.current())
            # Weakly, as RFC 9110, section 13.1.2, has it: a proxy may drop the mark.
            if etag is not None and etag.removeprefix("W/") in known:
                headers = [(b"etag", etag.encode()), (b"cache-control", FRESH), *_OPEN]
                await client.reply(304, headers, b"")
                return
        ticket = Ticket(client.watch, self._addresses.of(scope))
        client.when_gone(lambda: ticket.end(ClientGone("The client went away.")))
        result = await self._recall.ask(asked, ticket, edition)
        try:
            headers = self._headers(asked, result)
            self._remember(scope, result, headers)
            if self._recall.remembers:
                headers.append((b"x-cache", b"hit" if result.remembered else b"miss"))
            await _send(result, headers, scope, client)
        finally:
            result.close()

    def _recently(self, scope: Message, edition: str | None) -> Reply | None:
        """The answer that the same request got a moment ago, if it asks for no less than all of it."""
        if scope["method"] != "GET" or header(scope, b"if-none-match") is not None:
            return None
        return self._recent.find(header(scope, b"accept"), scope["query_string"], edition)

    def _remember(self, scope: Message, result: Result, headers: list[tuple[bytes, bytes]]) -> None:
        if result.whole is None or result.volatile or not self._recall.remembers:
            return
        edition = self._editions.of(result.generation)
        if edition is None or scope["method"] != "GET" or scope["path"] != PATH:
            return
        reply = Reply([*headers, (b"x-cache", b"hit"), _length(len(result.whole))], result.whole)
        self._recent.keep(header(scope, b"accept"), scope["query_string"], reply, edition)

    def _headers(self, asked: Asked, result: Result) -> list[tuple[bytes, bytes]]:
        headers = [(b"content-type", result.form.content_type.encode()), *_OPEN]
        etag = None if result.volatile else self._recall.etag(asked, self._editions.of(result.generation))
        if etag is None:
            return [*headers, (b"cache-control", b"no-store")]
        return [*headers, (b"cache-control", FRESH), (b"etag", etag.encode())]


async def _send(result: Result, headers: list[tuple[bytes, bytes]], scope: Message, client: WebClient) -> None:
    if result.whole is not None:
        body = b"" if scope["method"] == "HEAD" else result.whole
        await client.reply(200, [*headers, _length(len(result.whole))], body)
    elif scope["method"] == "HEAD":
        await client.reply(200, headers, b"")
        if not result.remembered:  # Its worker has ended it already, and is free when that is read.
            async for _ in result:
                pass
    elif speaks_1_0(scope):
        await _send_spooled(result, headers, client)
    else:
        await _send_chunks(result, headers, client)


async def _read(scope: Message, client: WebClient) -> QueryRequest | UpdateRequest | None:
    """The operation that is asked for, or None when a page or a description is wanted."""
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
            content_coding=header(scope, b"content-encoding") or "",
        )
    )


async def _send_chunks(result: Result, headers: list[tuple[bytes, bytes]], client: WebClient) -> None:
    """
    Send a long result as it comes; one that fails on the way is broken off, never ended.

    One of lines that meets a limit of time or memory says so first, for people who look at what they got.
    """
    await client.start(200, headers)
    try:
        async for chunk in result:
            if not await client.chunk(chunk):
                return
    except ClientGone:
        return
    except SparqlError as error:
        log.warning("A result was broken off: %s", error.message)
        if result.form.by_line and isinstance(error, QueryTimeout | QueryMemory):
            await client.chunk(trailer(error))
        return
    await client.end()


async def _send_spooled(result: Result, headers: list[tuple[bytes, bytes]], client: WebClient) -> None:
    """Send a long result when all of it is there, with its length; one that is cut is refused."""
    with tempfile.TemporaryFile() as spool:
        async for chunk in result:
            spool.write(chunk)
        if result.cut is not None:
            raise result.cut
        length = spool.tell()
        spool.seek(0)
        await client.start(200, [*headers, _length(length)])
        while chunk := spool.read(SPOOL_CHUNK):
            if not await client.chunk(chunk):
                return
        await client.end()


def _length(length: int) -> tuple[bytes, bytes]:
    return (b"content-length", str(length).encode())


def _wants_page(accept: str | None, query_string: str) -> bool:
    """Whether the client is a browser: HTML is what it likes best, and it names no result format."""
    if accept is None or "text/html" not in accept or "format=" in query_string:
        return False
    page = quality("text/html", accept)
    return all(
        page > quality(other, accept) for other in ("application/sparql-results+json", "text/turtle", "text/csv")
    )
