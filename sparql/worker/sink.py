"""Where a worker writes a result: frames to the front, within the limits of rows and bytes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Triple

from sparql.errors import TooLarge
from sparql.worker.counting import RowCounter
from sparql.worker.frames import CHUNK_BYTES, FrameKind, failure, frame

FIRST_BYTES: Final = 8000
FIRST_S: Final = 0.0002
"""When the first bytes go out by themselves: what is complete sooner goes out whole, with its length."""


class Enough(Exception):
    """A result has begun, and nobody wants more of it."""


@dataclass(frozen=True, slots=True)
class ResultBounds:
    """
    How long a result may get.

    Attributes:
        rows: Rows or triples.
        size: Bytes.
        head: Whether it is enough that it begins.
    """

    rows: int
    size: int
    head: bool = False

    def excess(self) -> TooLarge:
        """The error of a result with too many rows."""
        return TooLarge(
            f"The result has more than {self.rows:,} rows or triples, the limit here; "
            "narrow the query, or page with LIMIT."
        )

    def oversize(self) -> TooLarge:
        """The error of a result with too many bytes."""
        return TooLarge(
            f"The result has more than {self.size:,} bytes, the limit here; narrow the query, or page with LIMIT."
        )


class ResultSink:
    """
    A file whose contents go out as frames: whole if small, in chunks if not.

    What is counted by lines leaves in whole rows: wherever such a result ends, a row has ended.

    Args:
        connection: To the front.
        head: How the answer begins.
        bounds: How much may pass.
        counter: Counts rows, or None when `limited` counts them before they are written.

    Attributes:
        bounds: How much may pass.
        counter: Counts rows, or None when `limited` counts them before they are written.
        excess: Why `limited` ended the triples before their end, or None.
    """

    def __init__(
        self, connection: socket.socket, head: bytes, bounds: ResultBounds, counter: RowCounter | None
    ) -> None:
        self._connection = connection
        self._head = head
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._enough = CHUNK_BYTES
        self._due = time.monotonic() + FIRST_S
        self._sent = 0
        self.bounds = bounds
        self.counter = counter
        self.excess: TooLarge | None = None

    @property
    def size(self) -> int:
        """Bytes that were written so far."""
        return self._sent + self._waiting

    def write(self, piece: bytes) -> int:
        """
        Take a piece of the result.

        Raises:
            TooLarge: It has too many rows or bytes.
        """
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting >= self._enough or (self._waiting >= FIRST_BYTES and self._is_late()):
            self._pass_on()
        return len(piece)

    def flush(self) -> None:
        """Do nothing: what is small goes out whole."""

    def end(self) -> None:
        """
        Send the rest, and that the result is complete or, if `excess` is set, that it was cut.

        Raises:
            TooLarge: It has too many rows or bytes.
        """
        rest = b"".join(self._pieces)
        if self._sent:
            self._send(self._checked(rest))
            self._connection.sendall(failure(FrameKind.CUT, self.excess) if self.excess else frame(FrameKind.END))
            return
        if self.excess is not None:
            raise self.excess
        if len(rest) > min(self.bounds.rows, self.bounds.size):  # Fewer bytes cannot hold too many rows.
            self._checked(rest)
        self._connection.sendall(frame(FrameKind.WHOLE, self._head + rest))

    def cut(self, error: TooLarge) -> None:
        """
        Say that the result ends here, after a whole row, and is not complete.

        Raises:
            TooLarge: Nothing was sent yet, or the format has no rows that end.
        """
        if not self._sent or self.counter is None or not self.counter.by_line:
            raise error
        self._connection.sendall(failure(FrameKind.CUT, error))

    def enough(self) -> None:
        """Say that the result begins, and no more."""
        self._connection.sendall(frame(FrameKind.HEAD, self._head) + frame(FrameKind.END))

    def _is_late(self) -> bool:
        """Whether somebody waits for the first bytes, and has waited for a while."""
        return not self._sent and self._enough == CHUNK_BYTES and time.monotonic() > self._due

    def _pass_on(self) -> None:
        """
        Send what is there; of rows, those that are complete.

        Raises:
            Enough: It is the first, and it is not wanted.
        """
        if self.bounds.head:
            raise Enough
        data = b"".join(self._pieces)
        cut = len(data) if self.counter is None else self.counter.last_end(data)
        if cut == 0:  # One long row: look again when there is twice as much.
            self._pieces, self._enough = [data], 2 * len(data)
            return
        self._send(self._checked(data[:cut]))
        self._pieces, self._waiting, self._enough = [data[cut:]], len(data) - cut, CHUNK_BYTES

    def _checked(self, data: bytes) -> bytes:
        """
        The data, if they are within the bounds.

        Raises:
            TooLarge: They are not; the rows that fit are sent, unless they would be the first.
        """
        if self.counter is None:
            return data
        before, room = self.counter.rows, self.bounds.size - self._sent
        cuts = self._sent > 0 and self.counter.by_line
        if self.counter.feed(data) > self.bounds.rows:
            self._send(data[: self.counter.end_of(data, self.bounds.rows - before)] if cuts else b"")
            raise self.bounds.excess()
        if len(data) > room:
            self._send(data[: self.counter.last_end(data[:room])] if cuts else b"")
            raise self.bounds.oversize()
        return data

    def _send(self, data: bytes) -> None:
        if data:
            framed = frame(FrameKind.CHUNK, data)
            self._connection.sendall(framed if self._sent else frame(FrameKind.HEAD, self._head) + framed)
            self._sent += len(data)


def limited(triples: Iterable[Triple], sink: ResultSink, cut: bool) -> Iterator[Triple]:
    """
    Yield the triples, as many as a sink may take.

    Args:
        cut: Whether to end after the last one that fits, and set `excess` of the sink.

    Raises:
        TooLarge: There are more, and they are not to be cut.
    """
    bounds = sink.bounds
    for number, triple in enumerate(triples):
        if number >= bounds.rows or sink.size > bounds.size:
            sink.excess = bounds.excess() if number >= bounds.rows else bounds.oversize()
            if cut:
                return
            raise sink.excess
        yield triple


@contextmanager
def cutting(sink: ResultSink) -> Iterator[None]:
    """End a result after the last row that fits, where that can be done, or when no more of it is wanted."""
    try:
        yield
    except Enough:
        sink.enough()
    except TooLarge as error:
        sink.cut(error)
