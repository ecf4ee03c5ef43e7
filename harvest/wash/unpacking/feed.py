"""A stream as libarchive's callbacks read it."""

from __future__ import annotations

import ctypes
import errno
import io
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from harvest.errors import WashError
from harvest.wash.unpacking.entries import TAR_BLOCK

FATAL: Final = -30
"""ARCHIVE_FATAL in archive.h."""

_BLOCK: Final = 1 << 17


class Feed:
    """
    The callbacks that give libarchive a stream.

    An exception cannot pass through C. It is kept, and to libarchive the stream ends there, so that it gives
    all it has up to that place.

    Attributes:
        error: What went wrong with the stream, or None.
        ended: Whether the end of the stream was met.
        last: The last bytes before it.
        read: The callback for reading.
        seek: The callback for seeking, or None where the stream cannot.
    """

    def __init__(self, stream: io.BufferedReader, ffi: ModuleType) -> None:
        self.error: WashError | OSError | None = None
        self.ended = False
        self.last = b""
        self._stream = stream
        self._buffer = ctypes.create_string_buffer(_BLOCK)
        self._view = memoryview(self._buffer).cast("B")
        self.read: Callable[..., int] = ffi.READ_CALLBACK(self._read)
        self.seek: Callable[..., int] | None = ffi.SEEK_CALLBACK(self._seek) if stream.seekable() else None

    def _read(self, _archive: int, _data: int, block: Any) -> int:
        block[0] = ctypes.addressof(self._buffer)
        try:
            count = self._stream.readinto1(self._view)
        except (WashError, OSError) as error:
            self.error = error
            return 0
        if count:
            self.last = (self.last + bytes(self._view[max(0, count - TAR_BLOCK) : count]))[-TAR_BLOCK:]
        else:
            self.ended = True
        return count

    def _seek(self, _archive: int, _data: int, offset: int, whence: int) -> int:
        try:
            return self._stream.seek(offset, whence)
        except ValueError:
            return FATAL  # a place before the first byte, as a damaged archive may name it
        except OSError as error:
            if error.errno != errno.EINVAL:
                self.error = error
            return FATAL
