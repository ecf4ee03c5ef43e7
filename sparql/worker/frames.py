"""
What the front and a worker say to each other over their socket pair.

A frame is one byte of kind, four bytes of length (big-endian), and that many bytes of payload.

    front -> worker    QUERY    the values of `QueryJob`, marshalled
    worker -> front    READY    eight bytes of generation, 0 while there is none
                       WHOLE    head, then all of the result
                       HEAD     head: chunks follow
                       CHUNK    bytes of the result
                       END      empty: the result is complete
                       FAIL     error class, NUL, message
                       CUT      error class, NUL, message: the result ends here, after a row, and is not complete

A head is eight bytes of generation, one of the place in `results.FORMATS`, and one that is 1 when asking again would
give another answer. Each QUERY gets WHOLE, or FAIL, or HEAD with any number of CHUNK and then END, CUT or FAIL;
a worker that has started says READY. A CHUNK of a format with a row a line ends with a row.

Queries may be sent before those ahead of them are answered, and are answered in their order. When one takes its time,
the front asks other workers for those behind it, and does not listen to what the first one answers to these.

Jobs are marshalled because that takes a tenth of the time of JSON, and both ends are the same interpreter.
"""

from __future__ import annotations

import marshal
import socket
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from sparql.errors import SparqlError

FRAME: Final = struct.Struct("!BI")
STARTED: Final = struct.Struct("!Q")
HEAD: Final = struct.Struct("!QB?")
CHUNK_BYTES: Final = 1 << 16
READ_BYTES: Final = 1 << 14
"""What is read at once where most frames are short: a buffer for a long one takes longer to get than a short frame."""


class FrameKind(IntEnum):
    """What a frame is."""

    QUERY = 1
    READY = 2
    WHOLE = 3
    HEAD = 4
    CHUNK = 5
    END = 6
    FAIL = 7
    CUT = 8


class QueryJob(NamedTuple):
    """
    One query, as a worker gets it.

    Attributes:
        text: The query.
        solutions: Place in `results.FORMATS` of the format for a SELECT or ASK; None when the client accepts none.
        graph: The same for a CONSTRUCT or DESCRIBE.
        default_graphs: IRIs that the request names as default graph.
        named_graphs: IRIs that it names as named graphs.
        graph_name: IRI of a graph that is wanted as it is, in place of a query.
        head: Whether nothing but the beginning is wanted.
    """

    text: str
    solutions: int | None
    graph: int | None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    graph_name: str | None = None
    head: bool = False

    def pack(self) -> bytes:
        """Its bytes."""
        return marshal.dumps(self[:])

    @classmethod
    def unpack(cls, data: bytes) -> QueryJob:
        """The job with these bytes."""
        return cls(*marshal.loads(data))


def frame(kind: FrameKind, payload: bytes = b"") -> bytes:
    """The bytes of a frame."""
    return FRAME.pack(kind, len(payload)) + payload


def failure(kind: FrameKind, error: SparqlError) -> bytes:
    """The frame of an error."""
    return frame(kind, f"{type(error).__name__}\0{error.message}".encode(errors="replace"))


class FrameBuffer:
    """Bytes that have arrived, taken out frame by frame."""

    def __init__(self) -> None:
        self._bytes = b""

    def put(self, data: bytes) -> None:
        """Add bytes."""
        self._bytes = self._bytes + data if self._bytes else data

    def take(self) -> tuple[int, bytes] | None:
        """The kind and payload of the first frame, or None until it is complete."""
        if len(self._bytes) < FRAME.size:
            return None
        kind, length = FRAME.unpack_from(self._bytes)
        end = FRAME.size + length
        if len(self._bytes) < end:
            return None
        payload = self._bytes[FRAME.size : end]
        self._bytes = self._bytes[end:]
        return kind, payload


def read_frames(connection: socket.socket) -> Iterator[tuple[int, bytes]]:
    """Yield the frames that arrive on a blocking socket, until its other end is closed."""
    buffer = FrameBuffer()
    while data := connection.recv(READ_BYTES):
        buffer.put(data)
        while (found := buffer.take()) is not None:
            yield found
