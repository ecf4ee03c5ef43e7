"""The lines of a text that begin between two of its offsets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from harvest.wash.text import Text

CHUNK: Final = 1 << 18
"""Bytes that are read at a time."""


class LineRange:
    """
    The lines of a text that begin between two of its offsets.

    Attributes:
        ends: Line ends in them, once they were read to their end.
    """

    def __init__(self, text: Text, begin: int, end: int | None) -> None:
        """
        Args:
            text: The text.
            begin: Offset in it, in bytes.
            end: Another one; None takes the rest of the text.
        """
        self.ends = 0
        self._text = text
        self._begin = begin
        self._end = end

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Them from the first byte."""
        with self._text.open() as stream:
            window = _Window(stream, self._begin, self._end)
            try:
                yield cast(BinaryIO, window)
            finally:
                self.ends = max(self.ends, window.ends)


class _Window:
    """
    A stream from the first line that begins at an offset or behind, to the last that begins before another one.

    Attributes:
        ends: Line ends in what was read.
    """

    def __init__(self, stream: BinaryIO, begin: int, end: int | None) -> None:
        self.ends = 0
        self._stream = stream
        self._end = end
        self._last = b""
        self._rest = b""
        self._at = 0
        self._done = False
        self._after = b""
        self._begin = begin

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end. `size` is at least `CHUNK`."""
        if self._begin:
            self._skip()
        if self._done:
            # A line that breaks off is reported at the end of a line, which is not the end of all.
            after, self._after = self._after, b""
            return after
        data = self._rest or self._stream.read(size)
        self._rest = b""
        if self._end is not None and self._at + len(data) >= self._end:
            stop = data.find(b"\n", max(0, self._end - 1 - self._at)) + 1
            self._done = bool(stop)
            self._after = _opening(data[stop : stop + 1] or self._stream.read(1)) if stop else b""
            data = data[:stop] if stop else data
        self._at += len(data)
        joined = self._last == b"\r" and data[:1] == b"\n"
        self.ends += data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") - joined
        self._last = data[-1:]
        return data

    def _skip(self) -> None:
        """Go to the first line that begins at `_begin` or behind: what is before may be the end of another one."""
        self._at, self._begin = self._begin - 1, 0
        if self._stream.seekable():
            self._stream.seek(self._at, os.SEEK_CUR)
        else:
            left = self._at
            while left and (passed := self._stream.read(min(left, CHUNK))):
                left -= len(passed)
        while data := self._stream.read(CHUNK):
            stop = data.find(b"\n") + 1
            if stop:
                self._at, self._rest = self._at + stop, data[stop:]
                break
            self._at += len(data)
        self._done = not data or (self._end is not None and self._at >= self._end)


def _opening(following: bytes) -> bytes:
    """The line end that stands for what follows, which none does where nothing follows."""
    return following if following in (b"", b"\r", b"\n") else b"\n"
