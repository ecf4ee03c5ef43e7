"""A disk that fails and a limit of ours are reported as what they are, never as the provider's damage."""

from __future__ import annotations

import errno
import gzip
import io
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.unpacking import archives, ziptar
from harvest.wash.unpacking.entries import Damaged, Where
from harvest.wash.unpacking.layers import Chain
from harvest.wash.unpacking.members import Location
from harvest.wash.unpacking.spool import BUFFER
from harvest.wash.unpacking.unpack import _Unpacking
from harvest.wash.unpacking.volume import Meter, TooLarge, Volume
from tests.wash.packed import PACK, URL, archive

FILES = {f"{n}.nt": random.Random(n).randbytes(400_000) for n in range(3)}
"""What packs no smaller, and is more than all buffers hold: the trouble comes in the middle of an entry."""
DISK = [OSError(code, os.strerror(code)) for code in (errno.ENOSPC, errno.EIO)]
LIMIT = TooLarge("past the limit", url=URL)
every_disk = pytest.mark.parametrize("trouble", DISK, ids=["ENOSPC", "EIO"])
ours = pytest.mark.parametrize("trouble", [*DISK, LIMIT], ids=["ENOSPC", "EIO", "limit"])
readers = pytest.mark.parametrize(
    ("read", "kind"),
    [
        *((archives.LibarchiveReader, kind) for kind in ("ustar", "newc", "ar", "zip", "7z", "iso9660", "xar")),
        *((ziptar.ZipTarReader, kind) for kind in ("ustar", "zip")),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__module__.rpartition(".")[2],
)
Read = type[archives.LibarchiveReader] | type[ziptar.ZipTarReader]


class Failing(io.RawIOBase):
    """Bytes of which a part in the middle cannot be read."""

    def __init__(self, data: bytes, trouble: Exception) -> None:
        self._data = io.BytesIO(data)
        self._bad = range(len(data) // 2, len(data) // 2 + 1000)
        self._trouble = trouble

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._data.seek(offset, whence)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        place = self._data.tell()
        if place in self._bad:
            raise self._trouble
        return self._data.readinto(buffer[: self._bad.start - place] if place < self._bad.start else buffer)


class Bad:
    """A source of bytes of which a part in the middle cannot be read."""

    def __init__(self, data: bytes, trouble: Exception) -> None:
        self._data = data
        self._trouble = trouble

    def reader(self) -> io.BufferedReader:
        return io.BufferedReader(Failing(self._data, self._trouble), BUFFER)

    def head(self, size: int) -> bytes:
        return self._data[:size]


def named_by_magic(kind: str) -> str:
    """What `magic` calls a kind of archive."""
    return {"ustar": "tar", "newc": "cpio"}.get(kind, kind)


@every_disk
@pytest.mark.parametrize("kind", PACK)
def test_a_compressed_file_on_a_failing_disk_is_not_damaged(kind: str, trouble: OSError) -> None:
    """The file's bytes are right; reported as damage, the provider would get a finding, and the graph lose its rest."""
    packed = PACK[kind](FILES["0.nt"])
    with Chain(Bad(packed, trouble), Where(URL), [kind]).open() as stream, pytest.raises(OSError) as caught:
        while stream.read(1 << 14):
            pass
    assert caught.value is trouble


@every_disk
def test_a_layer_hands_on_what_fails_below_it(trouble: OSError) -> None:
    """However many there are."""
    packed = PACK["lz4"](PACK["xz"](gzip.compress(FILES["0.nt"])))
    chain = Chain(Bad(packed, trouble), Where(URL), ["lz4", "xz", "gzip"])
    with chain.open() as stream, pytest.raises(OSError) as caught:
        while stream.read(1 << 14):
            pass
    assert caught.value is trouble


@pytest.mark.sampled(9)
@ours
@readers
def test_an_entry_hands_on_what_is_not_its_fault(read: Read, kind: str, trouble: Exception) -> None:
    """The disk and the limits are met in the middle of it, and pass through the C library or the standard one."""
    stream = Bad(archive(kind, FILES), trouble).reader()
    with pytest.raises(type(trouble)) as caught, read(named_by_magic(kind), stream) as reader:
        for entry in reader:
            for _ in entry.blocks():
                pass
    assert caught.value is trouble


@readers
def test_an_entry_whose_stream_is_damaged_is_damaged(read: Read, kind: str) -> None:
    """What a compression around the archive says is the provider's."""
    stream = Bad(archive(kind, FILES), WashError("the gzip around it is cut off", url=URL)).reader()
    with (
        pytest.raises((Damaged, WashError), match="the gzip around it is cut off"),
        read(named_by_magic(kind), stream) as reader,
    ):
        for entry in reader:
            for _ in entry.blocks():
                pass


@every_disk
def test_a_zip_whose_directory_cannot_be_read_is_a_zip_all_the_same(trouble: OSError) -> None:
    """The standard library says it were none."""
    data = archive("zip", {"a.nt": b"<http://x/a> <http://x/b> <http://x/c> .\n"})
    with pytest.raises(OSError) as caught:
        list(ziptar.ZipTarReader("zip", Bad(data, trouble).reader()))
    assert caught.value is trouble


@pytest.mark.sampled(8)
@every_disk
@pytest.mark.parametrize("pack", [lambda data: data, *PACK.values()], ids=["plain", *PACK])
@pytest.mark.parametrize("kind", ["ustar", "zip"])
def test_a_dump_on_a_failing_disk_is_given_up(
    tmp_path: Path, kind: str, pack: Callable[[bytes], bytes], trouble: OSError
) -> None:
    """It is tried again later; no part of it may pass for what the provider has published."""
    packed = pack(archive(kind, FILES))
    unpacking = _Unpacking(Meter(Volume(), len(packed), URL), tmp_path, 8)
    problems: list[Problem] = []
    with pytest.raises(OSError) as caught:
        for item in unpacking.files(Bad(packed, trouble), Location(Where(URL))):
            problems.extend(item.problems)
    assert caught.value is trouble
    assert problems == []
    assert list(tmp_path.iterdir()) == []
