"""
Unpacking once what is slow to unpack: the first reading that comes to the end is kept for those after it.

A document is counted before it is read, and bzip2 gives 80 MB a second, which is slower than all that follows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from harvest.wash.unpacking.layers import LenientReader
from harvest.wash.unpacking.spool import BUFFER, Spool

Opener = Callable[[], AbstractContextManager[BinaryIO]]


@contextmanager
def once(opener: Opener, scratch: Path) -> Iterator[Opener]:
    """What opens the same bytes, and unpacks them once if they can be read to their end; until the block ends."""
    kept = _Kept(opener, scratch)
    try:
        yield kept.open
    finally:
        kept.close()


class _Kept:
    """A document, and its bytes once they were read to their end."""

    def __init__(self, opener: Opener, scratch: Path) -> None:
        self._opener = opener
        self._scratch = scratch
        self._spool: Spool | None = None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes from the first one."""
        if self._spool is not None:
            yield self._spool.reader()
            return
        spool = Spool(self._scratch)
        try:
            with self._opener() as stream:
                passed = _Passed(stream, spool.put)
                yield LenientReader(passed, BUFFER)
            if passed.ended and self._spool is None:
                self._spool = spool
        finally:
            if self._spool is not spool:
                spool.close()

    def close(self) -> None:
        """Give up the bytes."""
        if self._spool is not None:
            self._spool.close()


class _Passed(io.RawIOBase):
    """
    A stream whose bytes are put somewhere as they pass.

    Attributes:
        ended: Whether all of them have.
    """

    def __init__(self, stream: BinaryIO, put: Callable[[bytes], None]) -> None:
        self.ended = False
        self._stream = stream
        self._put = put

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        data = self._stream.read(len(buffer))
        self.ended = not data
        if data:
            self._put(data)
        buffer[: len(data)] = data
        return len(data)
