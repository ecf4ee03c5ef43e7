"""
Cutting connections from outside the thread that waits on them.

A time-out of the socket starts anew with every byte, so a server that drips one byte a second, in a header or in a
body, would hold a thread for days. A watching thread shuts such a connection down at its deadline; the same way ends
requests that nobody wants any more.
"""

from __future__ import annotations

import math
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from harvest.errors import TransferError


class Line:
    """
    The connection that one request goes over.

    Attributes:
        url: What is asked for, for messages.
        target: Path and query of the request line, sent as they are.
        deadline: When it is cut, by time.monotonic().
        stop: When set, it is cut at the next look.
        reason: Why it was cut, or None.
    """

    def __init__(self, url: str, target: str, deadline: float, stop: threading.Event) -> None:
        self.url = url
        self.target = target
        self.deadline = deadline
        self.stop = stop
        self.reason: str | None = None
        self._handle: int | None = None
        self._lock = threading.Lock()

    def bind(self, sock: socket.socket) -> None:
        """
        Cut this socket when the line is cut.

        A duplicate of its descriptor is kept, because wrapping a socket in TLS takes the original away.
        """
        with self._lock:
            self._let_go()
            self._handle = os.dup(sock.fileno())
            if self.reason is not None:
                self._shut()

    def cut(self, reason: str) -> None:
        """End the transfer; the thread that waits on it sees the end of the stream or an error."""
        with self._lock:
            if self.reason is None:
                self.reason = reason
                self._shut()

    def close(self) -> None:
        """Leave the connection to its owner; cutting has no effect afterwards."""
        with self._lock:
            self._let_go()

    def check(self) -> None:
        """
        Nothing, while the line is whole.

        Raises:
            TransferError: It was cut. The end of an unframed body looks the same as a cut, so ask here.
        """
        with self._lock:
            if self.reason is not None:
                raise TransferError(f"{self.url}: {self.reason}", url=self.url)

    def _shut(self) -> None:
        if self._handle is not None:
            with suppress(OSError), socket.socket(fileno=os.dup(self._handle)) as sock:
                sock.shutdown(socket.SHUT_RDWR)

    def _let_go(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Watch:
    """The lines in use, and the thread that cuts those past their deadline."""

    def __init__(self) -> None:
        self._lines: set[Line] = set()
        self._changed = threading.Condition()
        self._next = math.inf
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def over(self, line: Line) -> Iterator[Line]:
        """
        Watch a line while the block runs.

        Raises:
            TransferError: The watch was closed.
        """
        self._add(line)
        try:
            yield line
        finally:
            with self._changed:
                self._lines.discard(line)
            line.close()

    def hasten(self, line: Line, deadline: float) -> None:
        """Cut a line at this time, if it is not cut earlier."""
        with self._changed:
            line.deadline = min(line.deadline, deadline)
            if line.deadline < self._next:
                self._changed.notify()

    def cut_stopped(self) -> None:
        """Cut every line whose `stop` is set."""
        with self._changed:
            for line in self._lines:
                if line.stop.is_set():
                    line.cut("the transfer was stopped")

    def close(self) -> None:
        """Cut every line, and end the thread."""
        with self._changed:
            self._closed = True
            for line in self._lines:
                line.cut("the transfer was stopped, because the client was closed")
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _add(self, line: Line) -> None:
        with self._changed:
            if self._closed or line.stop.is_set():
                raise TransferError(f"{line.url}: the transfer was stopped before it began", url=line.url)
            self._lines.add(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="fetch-watch", daemon=True)
                self._thread.start()
            elif line.deadline < self._next:
                self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while not self._closed:
                now = monotonic()
                for line in self._lines:
                    if line.deadline <= now:
                        line.cut("the total time limit is over")
                self._next = min((line.deadline for line in self._lines if line.deadline > now), default=math.inf)
                self._changed.wait(None if self._next == math.inf else self._next - now)
