"""The front's end of the socket pair to a worker: frames out, and frames in; on the event loop's thread."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

from sparql.worker.frames import CHUNK_BYTES, READ_BYTES, FrameBuffer

Frame = tuple[int, bytes]


class Channel:
    """
    Reads frames as they come, but while it is held: then whoever wants the next one waits for it.

    Args:
        connection: Non-blocking.
        receive: Called with each frame that comes, and with None when the other end is closed.
    """

    def __init__(self, connection: socket.socket, receive: Callable[[Frame | None], None]) -> None:
        self._connection = connection
        self._receive = receive
        self._frames = FrameBuffer()
        self._loop = asyncio.get_running_loop()
        self._held = False
        self._rest: asyncio.Task[None] | None = None
        self._more: asyncio.Future[None] | None = None
        self._loop.add_reader(connection, self._readable)

    def send(self, data: bytes) -> None:
        """Send bytes; that the other end is closed shows where it is read."""
        if self._rest is not None and not self._rest.done():
            self._rest = self._loop.create_task(self._send_after(self._rest, data))
            return
        try:
            sent = self._connection.send(data)  # All of it, but for queries that are longer than the socket's buffer.
        except BlockingIOError:
            sent = 0
        except OSError:
            return
        if sent < len(data):
            self._rest = self._loop.create_task(self._send_after(None, data[sent:]))

    def hold(self) -> None:
        """Read no more by itself."""
        if not self._held:
            self._held = True
            self._loop.remove_reader(self._connection)

    def go_on(self) -> None:
        """Read by itself again."""
        if self._held:
            self._held = False
            self._loop.add_reader(self._connection, self._readable)
            self._loop.call_soon(self._pass_on)  # What came behind the frame for which it was held.

    async def read(self) -> Frame | None:
        """The next frame, while it is held; None when either end is closed."""
        while (found := self._frames.take()) is None:
            try:
                data = self._connection.recv(2 * CHUNK_BYTES)
            except BlockingIOError:
                self._more = self._loop.create_future()
                self._loop.add_reader(self._connection, self._wake)
                await self._more
                continue
            except OSError:
                return None
            if not data:
                return None
            self._frames.put(data)
        return found

    def close(self) -> None:
        """Close the socket; whoever waits for a frame gets None."""
        if self._connection.fileno() >= 0:
            self._loop.remove_reader(self._connection)
        if self._rest is not None:
            self._rest.cancel()
        self._held = True
        self._connection.close()
        self._wake()

    def _wake(self) -> None:
        """Have whoever waits for the next frame look again."""
        if self._connection.fileno() >= 0:
            self._loop.remove_reader(self._connection)
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def _readable(self) -> None:
        try:
            data = self._connection.recv(READ_BYTES)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if data:
            self._frames.put(data)
            self._pass_on()
        else:
            self._loop.remove_reader(self._connection)
            self._receive(None)

    def _pass_on(self) -> None:
        while not self._held and (found := self._frames.take()) is not None:
            self._receive(found)

    async def _send_after(self, before: asyncio.Task[None] | None, data: bytes) -> None:
        if before is not None:
            await before
        with contextlib.suppress(OSError):  # Its end is seen where it is read.
            await self._loop.sock_sendall(self._connection, data)
