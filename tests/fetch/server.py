"""A web server on loopback that answers byte by byte as a test orders, faults included."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO

WAIT_S = 240.0
"""Longest that an answer waits for anything; a test that needs it has failed already."""


class End(Enum):
    """How a connection ends in the middle: in order, or reset."""

    CLOSE = "close"
    RESET = "reset"


@dataclass(frozen=True)
class Request:
    """What came: the request target as sent, and the headers in lower case."""

    target: str
    headers: dict[str, str]
    connection: int
    ended: threading.Event


Step = bytes | End
Answer = bytes | Callable[[Request], Iterable[Step]]


def reply(body: bytes = b"", status: str = "200 OK", **headers: object) -> bytes:
    """A whole answer with its Content-Length; underscores in header names stand for hyphens."""
    fields = {"Content_Length": len(body), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


def moved(location: str, status: str = "302 Found") -> bytes:
    """A redirect."""
    return reply(b"moved", status, Location=location)


def broken(answer: bytes, body_bytes: int, end: End = End.CLOSE) -> Callable[[Request], Iterable[Step]]:
    """An answer that ends after so many bytes of its body."""
    return lambda request: (answer[: answer.index(b"\r\n\r\n") + 4 + body_bytes], end)


def chunks(*pieces: bytes) -> bytes:
    """A chunked body without its end."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


def drip(data: bytes, every_s: float) -> Callable[[Request], Iterator[Step]]:
    """An answer that comes one byte at a time, until the server ends."""

    def answer(request: Request) -> Iterator[Step]:
        for byte in data:
            yield bytes((byte,))
            if request.ended.wait(every_s):
                return

    return answer


class Server:
    """Gives the n-th answer to the n-th request, and the last one from then on."""

    def __init__(self, answers: tuple[Answer, ...], tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self._answers = answers
        self._tls = tls
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._connections: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """The address of a path here."""
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def close(self) -> None:
        """End every connection and thread."""
        self._ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(connection, len(self._threads)))
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with suppress(OSError, ssl.SSLError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with self._lock:
                self._connections.add(connection)
            with connection, connection.makefile("rb") as stream:
                while (request := self._read(stream, number)) and self._send(connection, request):
                    pass
        with self._lock:
            self._connections.discard(connection)

    def _read(self, stream: BinaryIO, number: int) -> Request | None:
        first = stream.readline()
        if not first:
            return None
        headers = {}
        while (line := stream.readline().rstrip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return Request(first.decode("latin-1").split(" ")[1], headers, number, self._ended)

    def _send(self, connection: socket.socket, request: Request) -> bool:
        """Whether the connection goes on."""
        with self._lock:
            self.requests.append(request)
            answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
        if isinstance(answer, bytes):
            connection.sendall(answer)
            return True
        for step in answer(request):
            if isinstance(step, End):
                if step is End.RESET:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            connection.sendall(step)
        return True
