"""Entries of zip and tar archives by the standard library, for machines without libarchive."""

from __future__ import annotations

import functools
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, Final, cast

from harvest.errors import WashError
from harvest.wash.unpacking.entries import TAR_BLOCK, Damaged, Entry, Sort, ends_tar, printable
from harvest.wash.unpacking.spool import BUFFER
from harvest.wash.unpacking.volume import is_ours

KINDS: Final = frozenset({"zip", "tar"})
"""What can be read here."""

_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    RuntimeError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
)
"""
What the standard library raises for damage, and for what it cannot read: RuntimeError for passwords and compressions
that it lacks, ValueError for numbers that are none.
"""

_ENCRYPTED: Final = 1
_UTF8: Final = 0x800
"""Bits of the flags of a zip entry. Source: APPNOTE.TXT, section 4.4.4."""


class ZipTarReader:
    """
    The entries of an archive.

    Attributes:
        notes: What was wrong on the way without ending it; nothing is, here.
    """

    def __init__(self, kind: str, stream: io.BufferedReader) -> None:
        self.notes: list[str] = []
        self._kind = kind
        self._stream = _Watched(stream)

    def __enter__(self) -> ZipTarReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    @property
    def complete(self) -> bool:
        """False if the archive has an end mark by its kind, and it was not there."""
        return self._kind != "tar" or not self._stream.ended or ends_tar(self._stream.last)

    def __iter__(self) -> Iterator[Entry]:
        """
        The entries in their order, each valid until the next one is asked for.

        Raises:
            Damaged: The rest of the archive cannot be read.
            WashError: The same, for the stream it comes from cannot be read on.
        """
        entries = _of_zip(self._stream.stream) if self._kind == "zip" else _of_tar(self._stream)
        while True:
            try:
                entry = next(entries, None)
            except _DAMAGE as error:
                if error.__context__ is not None and is_ours(error.__context__):
                    raise error.__context__ from None  # zipfile calls any trouble with its directory a bad zip file
                raise Damaged(str(error)) from error
            if entry is None:
                return
            yield entry


class _Watched:
    """
    A stream that knows how it ended.

    Attributes:
        stream: What is read.
        ended: Whether its end was met.
        last: The last bytes before it.
    """

    def __init__(self, stream: io.BufferedReader) -> None:
        self.stream = stream
        self.ended = False
        self.last = b""

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self.stream.read(size)
        self.ended = self.ended or not data
        self.last = (self.last + data)[-TAR_BLOCK:]
        return data


def _of_zip(stream: io.BufferedReader) -> Iterator[Entry]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            name = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437", "surrogateescape")
            sort = Sort.LINK if stat.S_ISLNK(info.external_attr >> 16) else Sort.FILE
            blocks = functools.partial(_blocks, functools.partial(archive.open, info))
            yield Entry(
                printable(name), Sort.FOLDER if info.is_dir() else sort, bool(info.flag_bits & _ENCRYPTED), blocks
            )


def _of_tar(stream: _Watched) -> Iterator[Entry]:
    with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as archive:
        for member in archive:
            sort = Sort.FOLDER if member.isdir() else Sort.FILE if member.isreg() else Sort.LINK
            blocks = functools.partial(_blocks, functools.partial(archive.extractfile, member))
            yield Entry(printable(member.name), sort, False, blocks)


def _blocks(opener: Callable[[], IO[bytes] | None]) -> Iterator[bytes]:
    """
    The bytes of an entry.

    Raises:
        Damaged: They end too early, or do not have the checksum that they should have.
        TooLarge: The stream they come from is more than the dump may have.
        OSError: The stream cannot be read, and not for what is in it.
    """
    try:
        with opener() or io.BytesIO() as stream:
            while block := stream.read(BUFFER):
                yield block
    except (*_DAMAGE, WashError, OSError) as error:
        if is_ours(error):
            raise
        raise Damaged(str(error)) from error
