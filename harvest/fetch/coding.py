"""Content-encodings, undone piece by piece with bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import Final

PIECE: Final = 1 << 20
"""Largest decoded piece in bytes; a compression bomb is noticed after one of them."""

_GZIP: Final = ("gzip", "x-gzip")
# Seen in the wild, where a charset or a transfer-encoding was mistaken for a content-encoding.
_MEANINGLESS: Final = ("", "identity", "none", "binary", "8bit", "utf-8")
_MOST: Final = 3


class CodingError(ValueError):
    """A body that is not what its Content-Encoding says, or that ends too early."""


class Decoder:
    """Undoes one gzip or deflate coding; gzip bodies may have several members."""

    def __init__(self, name: str) -> None:
        self._gzip = name in _GZIP
        self._name = name
        self._start = b""
        self._stream: zlib._Decompress | None = None
        self._ended = False

    def decode(self, data: bytes) -> Iterator[bytes]:
        """
        Yield what comes out for these bytes.

        Raises:
            CodingError: They do not belong to the coding.
        """
        while data:
            if self._stream is None:
                data = self._open(data)
                if self._stream is None:
                    return
            data = yield from self._through(self._stream, data)

    def finish(self) -> None:
        """
        Nothing, when the coding is complete.

        Raises:
            CodingError: The end is missing.
        """
        if self._stream is not None or self._start or not self._ended:
            raise CodingError(f"its {self._name} encoding ends too early")

    def _open(self, data: bytes) -> bytes:
        """Start a stream when the first two bytes are there, which show its kind; gives the bytes to go on with."""
        data = self._start + data
        if self._ended:
            # Some writers fill the last block with zeros.
            data = data.lstrip(b"\0")
            if data and not (self._gzip and b"\x1f\x8b".startswith(data[:2])):
                raise CodingError(f"something follows its {self._name} encoding")
        if len(data) < 2:
            self._start = data
            return b""
        self._start = b""
        self._stream = zlib.decompressobj(self._wbits(data))
        return data

    def _wbits(self, data: bytes) -> int:
        if self._gzip:
            return 16 + zlib.MAX_WBITS
        # "deflate" means zlib, but some servers send the bare stream. Source: RFC 9110, section 8.4.1.2; RFC 1950, 2.2.
        is_zlib = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS

    def _through(self, stream: zlib._Decompress, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield what comes out; returns the bytes after the end of the stream."""
        while True:
            try:
                piece = stream.decompress(data, PIECE)
            except zlib.error as error:
                raise CodingError(f"its {self._name} encoding is damaged ({error})") from error
            if piece:
                yield piece
            if stream.eof:
                self._stream, self._ended = None, True
                return stream.unused_data
            data = stream.unconsumed_tail
            if not data and len(piece) < PIECE:
                return b""


def decoders(header: str | None) -> list[Decoder]:
    """
    What undoes a Content-Encoding header, in the order to apply.

    Raises:
        CodingError: A coding is unknown, or there are too many of them.

    Source: RFC 9110, section 8.4.
    """
    names = [name.strip().lower() for name in (header or "").split(",")]
    codings = [name for name in names if name not in _MEANINGLESS]
    if len(codings) > _MOST or any(name not in (*_GZIP, "deflate") for name in codings):
        raise CodingError(f"its Content-Encoding is {header!r}, and only gzip and deflate were asked for")
    return [Decoder(name) for name in reversed(codings)]


def decode(steps: Iterable[Decoder], data: bytes) -> Iterator[bytes]:
    """
    Yield what comes out of all decoders for these bytes, in pieces of at most PIECE bytes when there are decoders.

    Raises:
        CodingError: They do not belong to a coding.
    """
    pieces: Iterator[bytes] = iter((data,))
    for step in steps:
        pieces = chain.from_iterable(map(step.decode, pieces))
    return pieces
