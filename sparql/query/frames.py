"""
What the front and a worker say to each other over their socket pair.

A frame is one byte of kind, four bytes of length (big-endian), and that many bytes of payload.

    front -> worker    QUERY    JSON array of the values of `Job`
                       REFRESH  empty
    worker -> front    READY    head, with generation 0 while there is none
                       WHOLE    head, then all of the result
                       HEAD     head: chunks follow
                       CHUNK    bytes of the result
                       END      empty: the result is complete
                       FAIL     error class, NUL, message

A head is eight bytes of generation and one of the place in `results.FORMATS`. Each QUERY gets WHOLE, or FAIL, or HEAD
with any number of CHUNK and then END or FAIL; starting and each REFRESH get READY.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

FRAME: Final = struct.Struct("!BI")
HEAD: Final = struct.Struct("!QB")
CHUNK_BYTES: Final = 1 << 16


class Kind(IntEnum):
    """What a frame is."""

    QUERY = 1
    REFRESH = 2
    READY = 3
    WHOLE = 4
    HEAD = 5
    CHUNK = 6
    END = 7
    FAIL = 8


@dataclass(frozen=True, slots=True)
class Job:
    """
    One query, as a worker gets it.

    Attributes:
        text: The query.
        solutions: Place in `results.FORMATS` of the format for a SELECT or ASK; None when the client accepts none.
        graph: The same for a CONSTRUCT or DESCRIBE.
        default_graphs: IRIs that the request names as default graph.
        named_graphs: IRIs that it names as named graphs.
    """

    text: str
    solutions: int | None
    graph: int | None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()

    def pack(self) -> bytes:
        """The frame that carries it."""
        values = (self.text, self.solutions, self.graph, self.default_graphs, self.named_graphs)
        return frame(Kind.QUERY, json.dumps(values).encode())

    @classmethod
    def unpack(cls, payload: bytes) -> Job:
        """The job in a frame's payload."""
        return cls(*json.loads(payload))


def frame(kind: Kind, payload: bytes = b"") -> bytes:
    """The bytes of a frame."""
    return FRAME.pack(kind, len(payload)) + payload


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
    while data := connection.recv(2 * CHUNK_BYTES):
        buffer.put(data)
        while (found := buffer.take()) is not None:
            yield found
