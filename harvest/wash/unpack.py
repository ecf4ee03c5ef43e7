"""
Streams of decompressed bytes.

gzip, bzip2, xz and Zstandard are told by their first bytes, not by name: servers label them wrongly, and some
undo one layer on the way. A layer within a layer is undone too, to a fixed depth.
"""

from __future__ import annotations

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from isal import igzip

from harvest.errors import WashError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LAYERS = 4
"""Compressions within compressions that are undone; a deeper one is refused."""

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_ARCHIVES = {(0, b"PK\x03\x04"): "zip", (0, b"7z\xbc\xaf"): "7z", (0, b"Rar!"): "rar", (257, b"ustar"): "tar"}
"""Where what stands in an archive. Source: POSIX.1-2024, pax, "ustar Interchange Format", for tar."""

_OPENERS: dict[str, Callable[[BinaryIO], object]] = {
    # Without a name of its own, IGzipFile asks the stream for one, and the stream of an outer layer has a number.
    "gzip": lambda packed: igzip.IGzipFile("", "rb", fileobj=packed),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": zstd.ZstdFile,
}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zstd.ZstdError, igzip.BadGzipFile)
"""What the decompressors raise for damaged or cut-off input."""


@contextmanager
def opened(path: Path, url: str) -> Iterator[BinaryIO]:
    """
    The content of a file with every compression undone, from its first byte.

    Raises:
        WashError: It is an archive of several files, or compressed more than `LAYERS` times. While reading: it is
            damaged or cut off.
    """
    with ExitStack() as stack:
        stream: io.RawIOBase = stack.enter_context(path.open("rb", buffering=0))
        for layer in range(LAYERS + 1):
            content = stack.enter_context(io.BufferedReader(stream, 1 << 16))
            name = _compression(content.peek(512), url)
            if name is None:
                yield content
                return
            if layer < LAYERS:
                stream = stack.enter_context(_Layer(name, content, url))
        raise WashError(f"{url} is compressed more than {LAYERS} times; publish it compressed once", url=url)


def _compression(head: bytes, url: str) -> str | None:
    """The compression of what begins with `head`, or None."""
    for (place, magic), name in _ARCHIVES.items():
        if head.startswith(magic, place):
            raise WashError(
                f"{url} is a {name} archive; list the RDF files one by one, plain or compressed with gzip, bzip2, "
                "xz or zstd",
                url=url,
            )
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


class _Layer(io.RawIOBase):
    """What a compressed stream holds. Damage is told as a `WashError`, and so not taken for trouble with our disk."""

    def __init__(self, name: str, packed: BinaryIO, url: str) -> None:
        self._name = name
        self._url = url
        self._content = cast(io.RawIOBase, _OPENERS[name](packed))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        try:
            return self._content.readinto(buffer)
        except _DAMAGE as error:
            message = f"{self._url} is damaged or cut off, says {self._name}: {error}"
            raise WashError(message, url=self._url) from error

    def close(self) -> None:
        self._content.close()
        super().close()
