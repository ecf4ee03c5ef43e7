"""What came out of an archive can be read again, wherever it is held, and leaves no trace."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from harvest.wash.unpacking.spool import IN_MEMORY, Filed, Spool
from tests.wash.packed import open_in

DATA = random.Random(3).randbytes(IN_MEMORY + 100_000)


@pytest.mark.parametrize("size", [0, 1, 1000, IN_MEMORY, IN_MEMORY + 1, len(DATA)])
@pytest.mark.parametrize("block", [999, 1 << 16, 1 << 21])
def test_what_was_put_in_comes_out(tmp_path: Path, size: int, block: int) -> None:
    """In memory and in a file, at the border between them, and in blocks of any size."""
    spool = Spool(tmp_path)
    for start in range(0, size, block):
        spool.put(DATA[start : min(size, start + block)])
    assert spool.size == size
    assert spool.head(100) == DATA[: min(size, 100)]
    with spool.reader() as first, spool.reader() as second:
        assert first.read(10) == second.read(10)
        assert second.read() == DATA[10:size]
        assert first.read() == DATA[10:size]
    spool.close()


@pytest.mark.parametrize("size", [1000, len(DATA)])
def test_a_reader_seeks(tmp_path: Path, size: int) -> None:
    """Archives with their directory at the end need it."""
    spool = Spool(tmp_path)
    spool.put(DATA[:size])
    with spool.reader() as stream:
        assert stream.seekable()
        assert stream.seek(-10, io.SEEK_END) == size - 10
        assert stream.read() == DATA[size - 10 : size]
        stream.seek(5)
        assert stream.read(5) == DATA[5:10]
        assert stream.seek(10, io.SEEK_CUR) == 20
        assert stream.tell() == 20
    spool.close()


def test_small_things_touch_no_disk_and_large_ones_have_no_name(tmp_path: Path) -> None:
    """Ten thousand documents must not be ten thousand files, and a crash must leave none behind."""
    spool = Spool(tmp_path)
    spool.put(DATA[:IN_MEMORY])
    assert open_in(tmp_path) == 0
    spool.put(DATA[IN_MEMORY:])
    assert open_in(tmp_path) == 1
    assert not list(tmp_path.iterdir())
    spool.close()
    assert open_in(tmp_path) == 0


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    """The dump itself is not copied."""
    path = tmp_path / "dump"
    path.write_bytes(DATA)
    assert Filed(path).head(50) == DATA[:50]
    with Filed(path).reader() as stream:
        assert stream.read() == DATA
