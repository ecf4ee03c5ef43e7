"""
Bytes that can be read several times: a filed dump, or what came out of an archive.

What came out of an archive is held in memory while it is small, and in a file without a name when it is not.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

IN_MEMORY: Final = 1 << 20
"""Bytes of one entry that are held in memory. The process holds one for each archive within an archive."""

BUFFER: Final = 1 << 16


class ByteSource(Protocol):
    """Bytes that can be read several times."""

    def reader(self) -> io.BufferedReader:
        """Them all, from the first one, seekable."""

    def head(self, size: int) -> bytes:
        """The first bytes, up to so many."""


class Filed:
    """The bytes of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def reader(self) -> io.BufferedReader:
        """Them all, from the first one, seekable."""
        return io.BufferedReader(self._path.open("rb", buffering=0), BUFFER)

    def head(self, size: int) -> bytes:
        """The first bytes, up to so many."""
        with self.reader() as stream:
            return stream.read(size)


class Spool:
    """
    Bytes that are put in once, and read until it is closed.

    Attributes:
        size: How many there are.
    """

    def __init__(self, scratch: Path) -> None:
        self.size = 0
        self._scratch = scratch
        self._blocks: list[bytes] = []
        self._file: io.FileIO | None = None

    def put(self, block: bytes) -> None:
        """Add bytes."""
        self.size += len(block)
        self._blocks.append(block)
        if self.size > IN_MEMORY:
            self._spill()

    def head(self, size: int) -> bytes:
        """The first bytes, up to so many."""
        if self._file is None:
            return self._joined()[:size]
        return os.pread(self._file.fileno(), size, 0)

    def reader(self) -> io.BufferedReader:
        """Them all, from the first one, seekable."""
        if self._file is None:
            data = self._joined()
            return io.BufferedReader(io.BytesIO(data), max(1, min(len(data), BUFFER)))
        return io.BufferedReader(_Window(self._file.fileno(), self.size), BUFFER)

    def close(self) -> None:
        """Give up the bytes."""
        self._blocks = []
        if self._file is not None:
            self._file.close()

    def _joined(self) -> bytes:
        if len(self._blocks) != 1:
            self._blocks = [b"".join(self._blocks)]
        return self._blocks[0]

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0, dir=self._scratch)  # noqa: SIM115  # `close` ends it
        for block in self._blocks:
            _write(self._file.write, block)
        self._blocks = []


def _write(write: Callable[[memoryview], int | None], block: bytes) -> None:
    """Write all of it: a file without a buffer may take less than it is given."""
    rest = memoryview(block)
    while rest:
        rest = rest[write(rest) or 0 :]


class _Window(io.RawIOBase):
    """A file that others read too, with a place of its own."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        count = os.preadv(self._descriptor, [buffer], self._place)
        self._place += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        return self._place
