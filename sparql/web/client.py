"""
The two ends of an HTTP request, as an ASGI server shows them.

Source: ASGI 3.0, "HTTP & WebSocket ASGI Message Format".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from sparql.errors import ClientGone, RequestTimeout, TooLarge

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

MAX_BODY: Final = 8 << 20
"""Bytes of a request body; far more than people write, enough for a long VALUES list."""
BODY_S: Final = 30.0
"""How long a client may take to send a request body."""
SEND_S: Final = 60.0
"""How long a client may take to read one chunk."""


class WebClient:
    """
    The one who sent a request.

    Attributes:
        gone: Whether the connection is closed; only known once it is watched.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self.gone = False
        self._receive = receive
        self._send = send
        self._on_gone: Callable[[], None] = _nothing
        self._task: asyncio.Task[None] | None = None

    async def body(self) -> bytes:
        """
        The body of the request.

        Raises:
            TooLarge: It is larger than MAX_BODY.
            RequestTimeout: It does not come within BODY_S.
            ClientGone: The connection closed before all of it came.
        """
        pieces, size, more = [], 0, True
        end = time.monotonic() + BODY_S
        while more:
            message = await self._next(end - time.monotonic())
            if message["type"] == "http.disconnect":
                raise ClientGone("The client went away before it had sent its request.")
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > MAX_BODY:
                raise TooLarge(f"A request body of more than {MAX_BODY:,} bytes is not taken.")
            more = message.get("more_body", False)
        return b"".join(pieces)

    async def _next(self, timeout_s: float) -> Message:
        """The next message of the request."""
        waiting = asyncio.ensure_future(self._receive())
        done, _ = await asyncio.wait({waiting}, timeout=max(timeout_s, 0))
        if not done:
            waiting.cancel()
            raise RequestTimeout(f"The body of the request did not come within {BODY_S:g} s.")
        return waiting.result()

    def when_gone(self, call: Callable[[], None]) -> None:
        """Have something called if the connection closes while it is watched."""
        self._on_gone = call

    def watch(self) -> None:
        """Have `gone` give the truth from now on."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._wait())

    def unwatch(self) -> None:
        """Stop watching, and let go of what was to be called: it knows this client, which knows it."""
        self._on_gone = _nothing
        if self._task is not None:
            self._task.cancel()

    async def reply(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole response."""
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def start(self, status: int, headers: Headers) -> None:
        """Begin a response whose body comes in chunks."""
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        self.watch()

    async def chunk(self, chunk: bytes) -> bool:
        """Send the next chunk when the client has read the last one; False when it reads no more."""
        message = {"type": "http.response.body", "body": chunk, "more_body": True}
        sending = asyncio.ensure_future(self._send(message))
        # Not asyncio.timeout: it cancels the current task, and what Granian runs requests in is none.
        done, _ = await asyncio.wait({sending}, timeout=SEND_S)
        if not done:
            sending.cancel()
            return False
        sending.result()
        return not self.gone

    async def end(self) -> None:
        """
        End a response that came in chunks.

        One that is not ended is broken off by the server, so that the client knows it has not got all.
        """
        await self._send({"type": "http.response.body", "body": b""})

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self._on_gone()


def header(scope: Message, name: bytes) -> str | None:
    """The value of a request header, repeated ones joined, or None."""
    found: bytes | None = None
    for key, value in scope["headers"]:
        if key == name:
            found = value if found is None else found + b", " + value
    return None if found is None else found.decode("latin-1")


def speaks_1_0(scope: Message) -> bool:
    """
    Whether the client speaks HTTP/1.0, as nginx does to servers behind it unless its settings say otherwise.

    It ends a body of unknown length by closing the connection: one that is broken off looks whole. So it is sent
    nothing without its length.
    """
    return scope["http_version"] in ("1", "1.0")


def encode(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI wants them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _nothing() -> None:
    return
