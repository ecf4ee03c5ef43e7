"""
A WSGI application on an ASGI server.

Granian's WSGI side ends a response properly when the application's iterator raises, so that half a file looks whole.
Its ASGI side breaks the connection off, and no thread is held while a slow client reads.

Source: PEP 3333; ASGI 3.0, "HTTP & WebSocket ASGI Message Format".
"""

from __future__ import annotations

import asyncio
import io
import logging
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable

from werkzeug.wsgi import FileWrapper

from sparql.errors import ClientGone, SparqlError
from sparql.web.client import Message, Receive, Send, WebClient, encode, speaks_1_0
from sparql.web.refusal import refuse

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

T = TypeVar("T")
log = logging.getLogger(__name__)

SMALL: Final = 1 << 18
"""Bytes of a body that is sent at once."""


@runtime_checkable
class Closable(Protocol):
    """A body that wants to be closed. Source: PEP 3333, "Specification Details"."""

    def close(self) -> object:
        """Let go of what it holds."""


@dataclass(frozen=True, slots=True)
class Response:
    """
    What a WSGI application answers.

    Attributes:
        status: HTTP status.
        headers: Encoded.
        chunks: The body.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    chunks: Iterable[bytes]


class Gateway:
    """An ASGI application that runs a WSGI application in threads of its own."""

    def __init__(self, application: WSGIApplication, threads: int) -> None:
        self._application = application
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="page")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        client = WebClient(receive, send)
        try:
            environ = environment(scope, await client.body())
            response = await self._in_thread(lambda: _run(self._application, environ, speaks_1_0(scope)))
        except ClientGone:
            return
        except SparqlError as error:
            await refuse(error, (), scope, client)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            await refuse(SparqlError("The server made a mistake; its log says more."), (), scope, client)
        else:
            await self._pass_on(response, client)

    async def _pass_on(self, response: Response, client: WebClient) -> None:
        if isinstance(response.chunks, list):
            await client.reply(response.status, response.headers, b"".join(response.chunks))
            return
        try:
            await self._stream(response, client)
        finally:
            client.unwatch()
            if isinstance(response.chunks, Closable):
                await self._in_thread(response.chunks.close)

    async def _stream(self, response: Response, client: WebClient) -> None:
        iterator = iter(response.chunks)
        await client.start(response.status, response.headers)
        while (chunk := await self._in_thread(lambda: next(iterator, None))) is not None:
            if not await client.chunk(chunk):
                return
        await client.end()

    def _in_thread(self, function: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._threads, function)


def _run(application: WSGIApplication, environ: WSGIEnvironment, needs_length: bool) -> Response:
    starts: list[tuple[str, list[tuple[str, str]]]] = []

    def start(status: str, headers: list[tuple[str, str]], failure: object = None, /) -> Callable[[bytes], object]:
        starts.append((status, headers))
        return _write

    chunks = application(environ, start)
    status, headers = starts[-1]
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), None)
    if environ["REQUEST_METHOD"] == "HEAD" or (length is not None and length <= SMALL):
        chunks = _whole(chunks)
    elif length is None and needs_length:
        length, chunks = _spooled(chunks)
        headers = [*headers, ("Content-Length", str(length))]
    return Response(int(status[:3]), encode(headers), chunks)


def _spooled(chunks: Iterable[bytes]) -> tuple[int, Iterable[bytes]]:
    """The length of a body of unknown length, and the body, from a file without a name."""
    spool = tempfile.TemporaryFile()  # noqa: SIM115  # Closed with the body.
    try:
        for chunk in chunks:
            spool.write(chunk)
    finally:
        if isinstance(chunks, Closable):
            chunks.close()
    length = spool.tell()
    spool.seek(0)
    return length, FileWrapper(spool, SMALL)


def _whole(chunks: Iterable[bytes]) -> list[bytes]:
    try:
        return list(chunks)
    finally:
        if isinstance(chunks, Closable):
            chunks.close()


def _write(chunk: bytes, /) -> object:
    raise TypeError("the write callable of PEP 3333 is not offered; return the body")


def environment(scope: Message, body: bytes) -> WSGIEnvironment:
    """The WSGI environment of an ASGI request."""
    host, port = scope.get("server") or ("localhost", None)
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port or 80),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": (scope.get("client") or ("",))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        if b"_" not in name:  # `X_Forwarded_For` must not pass for `X-Forwarded-For`.
            _add_header(environ, name.decode("latin-1").upper().replace("-", "_"), value.decode("latin-1"))
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ


def _add_header(environ: WSGIEnvironment, name: str, value: str) -> None:
    key = name if name == "CONTENT_TYPE" else f"HTTP_{name}"
    environ[key] = f"{environ[key]},{value}" if key in environ else value
