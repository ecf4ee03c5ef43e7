"""
Entries of archives by libarchive, as a stream: nothing is ever written under a name of the archive.

The kind was found before by `magic`, and only that reader is switched on. Left to guess, libarchive takes texts for
archives (its mtree reader above all). Its functions are called with return codes instead of libarchive-c's
exceptions, because a warning or a damaged entry does not end an archive.

Source: archive_read(3), archive_read_data(3); codes in archive.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import locale
from collections.abc import Iterator
from types import ModuleType, TracebackType
from typing import Any, Final

from harvest.wash.unpacking.entries import Damaged, Entry, Sort, ends_tar, printable
from harvest.wash.unpacking.feed import FATAL, Feed
from harvest.wash.unpacking.volume import is_ours

PACKAGE: Final = "libarchive13"
"""The Debian package of the library."""

READERS: Final = {
    "zip": "zip",
    "7z": "7zip",
    "tar": "tar",
    "cpio": "cpio",
    "ar": "ar",
    "iso9660": "iso9660",
    "rar": "rar",
    "cab": "cab",
    "lha": "lha",
    "xar": "xar",
}
"""libarchive's name of each kind."""

RETRIES: Final = 100_000
"""Damaged headers that are passed over in search of the next whole one; tar is searched in steps of 512 bytes."""

_BLOCK: Final = 1 << 17
_EOF, _OK, _RETRY, _WARN, _FAILED = 1, 0, -10, -20, -25
_FILE_TYPE: Final = 0o170000
_SORTS: Final = {0o100000: Sort.FILE, 0: Sort.FILE, 0o040000: Sort.FOLDER}
_AR_TABLES: Final = frozenset({"/", "//", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED"})
_LOCALE: Final = b"current locale"
"""Part of the warning for names that the locale cannot show; they are taken as bytes, and nothing is wrong."""


@functools.cache
def _library() -> tuple[ModuleType, Any] | None:
    """libarchive-c's declarations and the C library; None where that is not installed."""
    try:
        # Here, for the import itself fails where the library is missing, and other dumps can be washed without it.
        from libarchive import ffi  # type: ignore[import-untyped]  # it ships no types
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    _know_letters()
    pointer, out = ctypes.c_void_p, ctypes.c_void_p
    library = ctypes.CDLL(ffi.libarchive._name)
    for name, result, *arguments in (
        ("read_new", pointer),
        ("read_free", ctypes.c_int, pointer),
        ("read_open", ctypes.c_int, pointer, pointer, ffi.OPEN_CALLBACK, ffi.READ_CALLBACK, ffi.CLOSE_CALLBACK),
        ("read_set_seek_callback", ctypes.c_int, pointer, ffi.SEEK_CALLBACK),
        ("read_next_header", ctypes.c_int, pointer, out),
        ("read_data_block", ctypes.c_int, pointer, out, out, out),
        ("error_string", ctypes.c_char_p, pointer),
        ("filter_code", ctypes.c_int, pointer, ctypes.c_int),
        ("entry_filetype", ctypes.c_int, pointer),
        ("entry_hardlink", ctypes.c_char_p, pointer),
        ("entry_is_encrypted", ctypes.c_int, pointer),
        ("entry_pathname", ctypes.c_char_p, pointer),
        ("entry_pathname_utf8", ctypes.c_char_p, pointer),
        ("entry_size", ctypes.c_int64, pointer),
    ):
        function = getattr(library, f"archive_{name}")
        function.restype, function.argtypes = result, arguments
    return ffi, library


def _know_letters() -> None:
    """
    Have the C library know UTF-8, in which Python reads names whatever the locale.

    Under LC_ALL=C, libarchive gives no name at all for entries of zip and 7z that are not in ASCII.
    """
    if locale.nl_langinfo(locale.CODESET).upper() != "UTF-8":
        # Without that locale, names stay as they are: missing, but nothing else is wrong.
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, "C.UTF-8")


def is_installed() -> bool:
    """Whether libarchive can be used here."""
    return _library() is not None


class LibarchiveReader:
    """
    The entries of an archive.

    Attributes:
        notes: What was wrong on the way without ending it.
        complete: False if the archive has an end mark by its kind, and it was not there.
    """

    def __init__(self, kind: str, stream: io.BufferedReader) -> None:
        self.notes: list[str] = []
        self.complete = True
        library = _library()
        assert library is not None
        ffi, self._c = library
        self._feed = Feed(stream, ffi)
        self._archive = self._c.archive_read_new()
        self._entry = ctypes.c_void_p()
        self._kind = kind
        try:
            self._open(ffi)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> LibarchiveReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free what libarchive holds."""
        archive, self._archive = self._archive, None
        if archive is not None:
            self._c.archive_read_free(archive)

    def __iter__(self) -> Iterator[Entry]:
        """
        The entries in their order, each valid until the next one is asked for.

        Raises:
            Damaged: The rest of the archive cannot be read.
            WashError: The same, for the stream it comes from cannot be read on.
        """
        while self._advance():
            yield self._read_entry()

    def blocks(self) -> Iterator[bytes]:
        """
        The bytes of the current entry; holes are zeros.

        Raises:
            Damaged: They end too early, or do not have the checksum that they should have.
            TooLarge: The stream they come from is more than the dump may have.
            OSError: The stream cannot be read, and not for what is in it.
        """
        start, size, offset = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int64()
        call = functools.partial(
            self._c.archive_read_data_block,
            self._archive,
            ctypes.byref(start),
            ctypes.byref(size),
            ctypes.byref(offset),
        )
        place = 0
        while True:
            size.value = 0
            code = call()
            # Only tar has holes. What other readers call the offset is not always one (seen: xar).
            hole = offset.value - place if self._kind == "tar" and code in (_OK, _EOF) else 0
            yield from _zeros(hole)
            if size.value and code > FATAL and start.value:
                yield ctypes.string_at(start.value, size.value)
            place += max(hole, 0) + size.value
            if code == _EOF:
                return
            if code != _OK:
                raise self._failure()

    def _open(self, ffi: ModuleType) -> None:
        for name in (
            ("filter_lz4", "format_raw", "format_empty") if self._kind == "lz4" else (f"format_{READERS[self._kind]}",)
        ):
            enable = getattr(self._c, f"archive_read_support_{name}")
            enable.argtypes, enable.restype = [ctypes.c_void_p], ctypes.c_int
            if enable(self._archive) < _WARN:
                raise Damaged(f"libarchive was built without what it needs for {self._kind}: {self._reason()}")
        if self._feed.seek is not None:
            self._c.archive_read_set_seek_callback(self._archive, self._feed.seek)
        code = self._c.archive_read_open(self._archive, None, ffi.NO_OPEN_CB, self._feed.read, ffi.NO_CLOSE_CB)
        if code < _WARN:
            raise self._feed.error or Damaged(self._reason())

    def _advance(self) -> bool:
        """Whether there is another entry; damaged headers are passed over."""
        for _ in range(RETRIES):
            code = self._c.archive_read_next_header(self._archive, ctypes.byref(self._entry))
            if code in (_WARN, _RETRY, _FAILED):
                self._note(code)
            if code in (_OK, _WARN):
                return True
            if self._feed.error is not None:
                raise self._feed.error
            if code == _EOF:
                # Where libarchive did not come to the end of the stream, it has seen the mark.
                self.complete = self._kind != "tar" or not self._feed.ended or ends_tar(self._feed.last)
                return False
            if code == FATAL:
                raise Damaged(self._reason())
        raise Damaged(f"{RETRIES:,} damaged headers one after another")

    def _note(self, code: int) -> None:
        reason = self._c.archive_error_string(self._archive) or b""
        if not (code == _WARN and _LOCALE in reason) and self._reason() not in self.notes[-1:]:
            self.notes.append(self._reason())

    def _failure(self) -> Exception:
        """Why the bytes end: as damage, but for our limits and what the system says of our disk."""
        error = self._feed.error
        if error is None:
            return Damaged(self._reason())
        return error if is_ours(error) else Damaged(str(error))

    def _reason(self) -> str:
        text = self._c.archive_error_string(self._archive)
        return printable(text.strip()) if text else "its structure is damaged or cut off"

    def _read_entry(self) -> Entry:
        entry = self._entry
        name = self._c.archive_entry_pathname_utf8(entry) or self._c.archive_entry_pathname(entry) or b""
        sort = _SORTS.get(self._c.archive_entry_filetype(entry) & _FILE_TYPE, Sort.LINK)
        # cpio gives the bytes of a file with several names with the last of them.
        if self._c.archive_entry_hardlink(entry) and not self._c.archive_entry_size(entry):
            sort = Sort.LINK
        shown = printable(name)
        if self._kind == "ar" and shown in _AR_TABLES:
            sort = Sort.FOLDER
        return Entry(shown, sort, self._c.archive_entry_is_encrypted(entry) > 0, self.blocks)


class LibarchiveStream:
    """
    What lz4 makes of a stream, for which the standard library has nothing.

    Raises:
        Damaged: While reading: libarchive is not installed, or the stream is damaged or cut off.
    """

    def __init__(self, kind: str, packed: io.BufferedReader) -> None:
        self._reader: LibarchiveReader | None = None
        self._blocks = self._of(kind, packed)
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._rest = memoryview(block)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)

    def close(self) -> None:
        """Free what libarchive holds."""
        if self._reader is not None:
            self._reader.close()

    def _of(self, kind: str, packed: io.BufferedReader) -> Iterator[bytes]:
        if not is_installed():
            raise Damaged(f"it is read with libarchive; install it (Debian: {PACKAGE})")
        self._reader = LibarchiveReader(kind, packed)
        for entry in self._reader:
            # Where the head of the stream is damaged, libarchive would hand through what it was given.
            if self._reader._c.archive_filter_code(self._reader._archive, 0) != _LZ4:
                raise Damaged("its head is damaged")
            yield from entry.blocks()


_LZ4: Final = 13
"""ARCHIVE_FILTER_LZ4 in archive.h."""


def _zeros(count: int) -> Iterator[bytes]:
    """So many zeros, for a hole in a sparse file."""
    zeros = bytes(min(max(count, 0), _BLOCK))
    while count > 0:
        yield zeros[:count]
        count -= len(zeros)
