"""Archives and compressions for the tests of unpacking, made here or by hand, and what comes out of them."""

from __future__ import annotations

import bz2
import ctypes
import gzip
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from harvest.errors import WashError
from harvest.model import Document
from harvest.wash.unpacking.members import Leaf, UnpackedArchive
from harvest.wash.unpacking.unpack import unpack
from harvest.wash.unpacking.volume import Volume
from tests.debian import MISSING

if "libarchive13" not in MISSING:
    import libarchive
    from libarchive import ffi
    from libarchive.entry import ArchiveEntry, FileType
    from libarchive.write import ArchiveWrite

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

URL = "http://example.org/dump"
TEXT = b"".join(b"<http://example.org/%d> <http://example.org/p> <http://example.org/o> .\n" % n for n in range(3000))

WRITERS = {
    "zip": "zip",
    "7z": "7zip",
    "ustar": "ustar",
    "pax": "pax",
    "gnutar": "gnutar",
    "v7tar": "v7tar",
    "newc": "cpio_newc",
    "odc": "cpio",
    "ar": "ar_svr4",
    "ar_bsd": "ar_bsd",
    "iso9660": "iso9660",
    "xar": "xar",
}
"""libarchive's writer of each kind of archive."""


def archive(kind: str, files: Mapping[str, bytes], options: str = "", passphrase: str | None = None) -> bytes:
    """An archive of those files, in their order."""

    def fill(writer: ArchiveWrite) -> None:
        for name, data in files.items():
            writer.add_file_from_memory(name, len(data), data)

    return written(kind, fill, options, passphrase)


def written(kind: str, fill: Callable[[ArchiveWrite], None], options: str = "", passphrase: str | None = None) -> bytes:
    """An archive of what `fill` puts into it."""
    return _written(WRITERS[kind], None, fill, options, passphrase)


def _written(
    kind: str, filter_name: str | None, fill: Callable[[ArchiveWrite], None], options: str, passphrase: str | None
) -> bytes:
    out = io.BytesIO()
    with libarchive.custom_writer(out.write, kind, filter_name, options=options, passphrase=passphrase) as writer:
        fill(writer)
    return out.getvalue()


def link(writer: ArchiveWrite, name: str, target: str) -> None:
    """Add a symbolic link."""
    entry = ArchiveEntry(pathname=name, size=0, filetype=FileType.SYMBOLINK_LINK, perm=0o777)
    # Its own `linkpath` makes a hard link, and writers crash on a symbolic one without a target.
    set_symlink = ffi.libarchive.archive_entry_set_symlink
    set_symlink.argtypes, set_symlink.restype = [ctypes.c_void_p, ctypes.c_char_p], None
    set_symlink(entry._entry_p, target.encode())
    ffi.write_header(writer._pointer, entry._entry_p)
    ffi.write_finish_entry(writer._pointer)


def folder(writer: ArchiveWrite, name: str) -> None:
    """Add a folder."""
    writer.add_file_from_memory(name, 0, b"", filetype=FileType.DIRECTORY, permission=0o755)


def lz4(data: bytes) -> bytes:
    """The data as an lz4 frame."""
    if not data:
        # libarchive's writer crashes.
        return bytes.fromhex("04224d18 604082 00000000")
    return _written(
        "raw", "lz4", lambda writer: writer.add_file_from_memory("data", len(data), data), "block-size=4", None
    )


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
    "lz4": lz4,
}
"""Each compression."""


def zipped(files: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive as the standard library writes it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, data in files:
            packed.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


class Unpacked:
    """
    What came out of a dump.

    Attributes:
        items: What was yielded, in order.
        leaves: The bytes of each file, by the names that lead to it; of files with the same names the last.
        errors: What reading a file ended with, by the same names.
    """

    def __init__(self, folder: Path, data: bytes | Path, volume: Volume | None = None) -> None:
        path = data if isinstance(data, Path) else folder / "body"
        if isinstance(data, bytes):
            path.write_bytes(data)
        scratch = folder / "scratch"
        scratch.mkdir(exist_ok=True)
        self.items: list[Leaf | UnpackedArchive] = []
        self.leaves: dict[tuple[str, ...], bytes] = {}
        self.errors: dict[tuple[str, ...], WashError] = {}
        for item in unpack(Document(path, URL), volume or Volume(), scratch):
            self.items.append(item)
            if isinstance(item, Leaf):
                self._read(item)
        assert not list(scratch.iterdir()), "a file was left in the scratch folder"

    def _read(self, leaf: Leaf) -> None:
        with leaf.open() as stream:
            data = io.BytesIO()
            try:
                while block := stream.read(1 << 14):
                    data.write(block)
            except WashError as error:
                self.errors[leaf.names] = error
        self.leaves[leaf.names] = data.getvalue()

    @property
    def archives(self) -> dict[tuple[str, ...], UnpackedArchive]:
        """The archives, by their names."""
        return {item.names: item for item in self.items if isinstance(item, UnpackedArchive)}

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Kind and message of every problem, in order."""
        return [(problem.kind, problem.message) for item in self.items for problem in item.problems]


def open_in(folder: Path) -> int:
    """How many files of a folder this process has open, those without a name included."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # closed since it was listed
            count += os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"{folder}/")
    return count
