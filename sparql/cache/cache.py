"""
Results on disk, within a bound.

    cache/<edition>/<key>        an entry: magic, place in `results.FORMATS`, CRC-32 and length of the body, the body
    cache/writing/<key>-*.tmp    one that is being written, locked by the process that writes it

An entry is written beside and renamed when it is complete, so none is ever half there. It is not forced to disk: what
a power cut leaves of it has another checksum, and is not served. Several processes may share the folder: nothing in it
is changed once it has its name, and one that is removed stays readable for those who have it open.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import logging
import os
import re
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sparql.store import files

log = logging.getLogger(__name__)

HEADER: Final = struct.Struct("!4sBIQ")
MAGIC: Final = b"SPR2"
PART: Final = 16
"""The share of the bound, as a divisor, that one entry may have, and that may be added between two sweeps."""
DRAFTS: Final = 4
"""Entries that one process writes at once."""
BLOCK: Final = 4096
"""What a file takes on disk is a multiple of this."""

_EDITION: Final = re.compile(r"\d+-[0-9a-f]+-[0-9a-f]+")


class CacheEntry:
    """
    A result that was kept, open.

    Attributes:
        place: Of its format in `results.FORMATS`.
        length: In bytes.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        magic, self.place, self._checksum, self.length = HEADER.unpack(os.pread(descriptor, HEADER.size, 0))
        if magic != MAGIC or os.fstat(descriptor).st_size != HEADER.size + self.length:
            raise ValueError("not an entry, or not all of one")
        self._descriptor: int | None = descriptor
        self._path = path
        self._read = 0
        self._crc = _start(self.place)

    def read(self, size: int) -> bytes:
        """
        The next bytes, none at its end.

        Raises:
            ValueError: The entry is damaged, and removed; what was read of it is not the result.
            OSError: The disk fails, or the entry was closed.
        """
        if self._descriptor is None:
            raise OSError(errno.EBADF, "it was closed")
        piece = os.pread(self._descriptor, min(size, self.length - self._read), HEADER.size + self._read)
        self._read += len(piece)
        self._crc = zlib.crc32(piece, self._crc)
        if (self._read == self.length and self._crc != self._checksum) or (not piece and self._read < self.length):
            self.remove()
            raise ValueError("the checksum is another one")
        return piece

    def remove(self) -> None:
        """Take the entry away for all who come later."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)

    def close(self) -> None:
        """Close the file; again does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class Draft:
    """An entry that is being written; a failing disk only means that it is not kept."""

    def __init__(self, cache: Cache, path: str, place: int) -> None:
        self._cache = cache
        self._path = path
        self._place = place
        self._length = 0
        self._crc = _start(place)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._descriptor: int | None = descriptor
        files.locked(descriptor, fcntl.LOCK_EX)
        os.lseek(descriptor, HEADER.size, os.SEEK_SET)

    def write(self, chunk: bytes) -> None:
        """Add bytes; past the largest size of an entry, or when the disk is full, the draft is dropped."""
        self._length += len(chunk)
        if self._length > self._cache.largest:
            self.drop()
        if self._descriptor is None:
            return
        try:
            self._crc = zlib.crc32(chunk, self._crc)
            view = memoryview(chunk)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self._fail(error)

    def keep(self, edition: str, key: str) -> None:
        """Make the draft an entry, unless it was dropped."""
        if self._descriptor is None:
            return
        try:
            os.pwrite(self._descriptor, HEADER.pack(MAGIC, self._place, self._crc, self._length), 0)
            self._cache.adopt(self._path, edition, key, HEADER.size + self._length)
        except OSError as error:
            self._fail(error)
        else:
            self.drop()

    def drop(self) -> None:
        """Close the file, and remove it unless it is an entry; again does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            self._cache.release()

    def _fail(self, error: OSError) -> None:
        self.drop()
        log.warning("A result is not kept: %s", error)


class Cache:
    """
    The entries below a folder; several processes may use it at once, of each all that writes in one thread.

    With the sweeps that `due` asks for, one process keeps it within its bound, what is being written included. Two
    processes may pass it by a quarter for a moment.

    Attributes:
        folder: Where they are.
        largest: Bytes of the largest entry.
    """

    def __init__(self, folder: Path, bound: int) -> None:
        self.folder = folder
        self._writing = f"{folder}/writing"
        self._bound = bound
        self._numbers = itertools.count()
        self._drafts = 0
        self._added = 0
        self._listed: str | None = None
        self._names: set[str] = set()
        self.largest = bound // PART

    def find(self, edition: str, key: str) -> CacheEntry | None:
        """
        An entry, which is then the last to be removed; None when there is none.

        The disk is asked for names that the last sweep saw or this process added: most queries have no entry, and
        asking costs a twentieth of the front's time for one. What another process adds is found after the next sweep.
        """
        if edition == self._listed and key not in self._names:
            return None
        path = f"{self.folder}/{edition}/{key}"
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            entry = CacheEntry(descriptor, path)
            os.utime(descriptor)
        except (OSError, ValueError, struct.error):
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(path)
            return None
        return entry

    def begin(self, key: str, place: int) -> Draft | None:
        """A new entry to be written, or None when too many are being written, or the disk does not take it."""
        if self._drafts >= DRAFTS:
            return None
        path = f"{self._writing}/{key}-{os.getpid()}-{next(self._numbers)}.tmp"
        try:
            os.makedirs(self._writing, 0o700, exist_ok=True)
            draft = Draft(self, path, place)
        except OSError as error:
            log.warning("A result is not kept: %s", error)
            return None
        self._drafts += 1
        return draft

    def adopt(self, path: str, edition: str, key: str, size: int) -> None:
        """Give a written file its name. Raises: OSError."""
        folder = f"{self.folder}/{edition}"
        try:
            os.rename(path, f"{folder}/{key}")
        except FileNotFoundError:
            os.makedirs(folder, 0o700, exist_ok=True)
            os.rename(path, f"{folder}/{key}")
        self._added += _on_disk(size)
        if edition == self._listed:
            self._names.add(key)

    def release(self) -> None:
        """Note that a draft is no longer being written."""
        self._drafts -= 1

    def due(self) -> bool:
        """Whether so much was added that it is time for a sweep; true once for each time."""
        due = self._added >= self._bound // PART
        self._added = 0 if due else self._added
        return due

    def sweep(self, edition: str | None) -> None:
        """
        Remove the entries of all other editions, what crashed processes left, and the entries that were not used for
        longest, until half of the bound is left: what comes before the next sweep and what is being written need room.
        """
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):
                if name != edition and _EDITION.fullmatch(name):
                    shutil.rmtree(f"{self.folder}/{name}", ignore_errors=True)
        for path, _, _ in list(_files(self._writing)):
            _remove_dead(path)
        self._evict(edition)

    def _evict(self, edition: str | None) -> None:
        entries = sorted(_files(f"{self.folder}/{edition}"), key=lambda found: found[1])
        self._listed, self._names = edition, {os.path.basename(path) for path, _, _ in entries}
        total = sum(size for _, _, size in entries)
        for path, _, size in entries:
            if total <= self._bound // 2:
                break
            total -= size
            with contextlib.suppress(OSError):
                os.unlink(path)


def _start(place: int) -> int:
    """The checksum before the first byte: that of the format's place, whose damage would give the wrong type."""
    return zlib.crc32(bytes([place]))


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, time of last use in nanoseconds, and size on disk of the files in a folder, if there is one."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                facts = entry.stat(follow_symlinks=False)
                yield entry.path, facts.st_mtime_ns, _on_disk(facts.st_size)


def _on_disk(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _remove_dead(path: str) -> None:
    """Remove a file that nobody writes any more: its lock ended with its process."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if files.locked(descriptor, fcntl.LOCK_EX):
                os.unlink(path)
        finally:
            os.close(descriptor)
