"""Where a worker writes a result: frames to the front, within the row limit."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator

from pyoxigraph import Triple

from sparql.errors import TooLarge
from sparql.query.counting import RowCounter
from sparql.query.frames import CHUNK_BYTES, Kind, frame


class Sink:
    """
    A file whose contents go out as frames: whole if small, in chunks if not.

    Attributes:
        max_rows: Rows that may pass.
        counter: Counts them, or None when they are counted before they are written.
    """

    def __init__(self, connection: socket.socket, head: bytes, max_rows: int, counter: RowCounter | None) -> None:
        self._connection = connection
        self._head = head
        self._pieces: list[bytes] = []
        self._size = 0
        self._begun = False
        self.max_rows = max_rows
        self.counter = counter

    def write(self, piece: bytes) -> int:
        """
        Take a piece of the result.

        Raises:
            TooLarge: It has too many rows.
        """
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size >= CHUNK_BYTES:
            self._send_chunk()
        return len(piece)

    def flush(self) -> None:
        """Do nothing: what is small goes out whole."""

    def end(self) -> None:
        """
        Send the rest, and that the result is complete.

        Raises:
            TooLarge: It has too many rows.
        """
        if self._begun:
            self._send_chunk()
            self._connection.sendall(frame(Kind.END))
            return
        whole = b"".join(self._pieces)
        if len(whole) > self.max_rows:  # Fewer bytes than that cannot hold too many rows.
            self._count(whole)
        self._connection.sendall(frame(Kind.WHOLE, self._head + whole))

    def _send_chunk(self) -> None:
        chunk = b"".join(self._pieces)
        self._count(chunk)
        framed = frame(Kind.CHUNK, chunk)
        self._connection.sendall(framed if self._begun else frame(Kind.HEAD, self._head) + framed)
        self._pieces, self._size, self._begun = [], 0, True

    def _count(self, chunk: bytes) -> None:
        if self.counter is not None and self.counter.feed(chunk) > self.max_rows:
            raise too_large(self.max_rows)


def limited(triples: Iterable[Triple], max_rows: int) -> Iterator[Triple]:
    """
    Yield the triples, up to the limit.

    Raises:
        TooLarge: There are more.
    """
    for number, triple in enumerate(triples):
        if number == max_rows:
            raise too_large(max_rows)
        yield triple


def too_large(max_rows: int) -> TooLarge:
    """The error of a result with too many rows."""
    return TooLarge(
        f"The result has more than {max_rows:,} rows or triples, the limit here; narrow the query, or page with LIMIT."
    )
