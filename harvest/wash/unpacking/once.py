"""
Unpacking once what is slow to unpack: the first reading that comes to the end is kept for those after it.

A document is counted before it is read. bzip2 gives 80 MB a second and xz 150, which is slower than all that follows.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from harvest.wash.unpacking.layers import Reader

_BUFFER: Final = 1 << 18

Opener = Callable[[], AbstractContextManager[BinaryIO]]


@contextmanager
def once(opener: Opener, scratch: Path) -> Iterator[Opener]:
    """What opens the same bytes, and unpacks them once if they can be read to their end; until the block ends."""
    with TemporaryFile(dir=scratch, buffering=0) as file:
        yield _Kept(opener, file.fileno()).open


class _Kept:
    """A document and the file that its bytes are kept in."""

    def __init__(self, opener: Opener, file: int) -> None:
        self._opener = opener
        self._file = file
        self._complete = False

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes from the first one."""
        if self._complete:
            yield io.BufferedReader(_Place(self._file), _BUFFER)
            return
        os.truncate(self._file, 0)
        with self._opener() as stream:
            yield Reader(_Copied(stream, self._file, self._completed), _BUFFER)

    def _completed(self) -> None:
        self._complete = True


class _Place(io.RawIOBase):
    """A file that is read from its beginning, whoever else reads it."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        count = os.preadv(self._file, [buffer], self._at)
        self._at += count
        return count


class _Copied(io.RawIOBase):
    """A stream whose bytes are written to a file as they pass."""

    def __init__(self, stream: BinaryIO, file: int, completed: Callable[[], None]) -> None:
        self._stream = stream
        self._file = file
        self._completed = completed
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        data = self._stream.read(len(buffer))
        if not data:
            self._completed()
            return 0
        written = 0
        while written < len(data):
            written += os.pwrite(self._file, memoryview(data)[written:], self._at + written)
        self._at += len(data)
        buffer[: len(data)] = data
        return len(data)
