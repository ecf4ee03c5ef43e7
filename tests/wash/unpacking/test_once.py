"""What is slow to unpack is unpacked once, however often it is read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from harvest.errors import WashError
from harvest.wash.unpacking.once import once
from harvest.wash.unpacking.spool import IN_MEMORY
from tests.wash.packed import open_in

DATA = bytes(range(256)) * (2 * IN_MEMORY // 256) + b"end"
"""More than is held in memory."""


class Source:
    """A stream that counts how often it is opened, and may be damaged at some byte."""

    def __init__(self, damaged_at: int | None = None) -> None:
        self.opened = 0
        self.damaged_at = damaged_at

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        self.opened += 1
        yield io.BufferedReader(_Stream(self.damaged_at), 1000)


class _Stream(io.RawIOBase):
    def __init__(self, damaged_at: int | None) -> None:
        self.at = 0
        self.damaged_at = damaged_at

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        if self.damaged_at is not None and self.at >= self.damaged_at:
            raise WashError("damaged")
        data = DATA[self.at : min(self.at + len(buffer), self.damaged_at or len(DATA))]
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def test_a_reading_to_the_end_serves_all_that_follow(tmp_path: Path) -> None:
    """Also two that are open at the same time; from a file without a name, which is gone at the end."""
    source = Source()
    with once(source.open, tmp_path) as opener:
        with opener() as stream:
            assert stream.read() == DATA
        with opener() as one, opener() as other:
            assert one.read(5000) == DATA[:5000]
            assert other.read() == DATA
            assert one.read() == DATA[5000:]
        assert open_in(tmp_path) == 1
    assert source.opened == 1
    assert open_in(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_reading_that_stopped_early_is_no_whole_one(tmp_path: Path) -> None:
    """The head is looked at first; taken for all there is, the rest would be lost."""
    source = Source()
    with once(source.open, tmp_path) as opener:
        with opener() as stream:
            stream.read(len(DATA) - 1)
        assert open_in(tmp_path) == 0
        for _ in range(2):
            with opener() as stream:
                assert stream.read() == DATA
    assert source.opened == 2


def test_damage_is_met_at_each_reading(tmp_path: Path) -> None:
    """What was read before it must not pass for the whole document."""
    source = Source(damaged_at=len(DATA) - 3000)
    with once(source.open, tmp_path) as opener:
        for _ in range(2):
            with opener() as stream, pytest.raises(WashError, match="damaged"):
                while stream.read(50_000):
                    pass
            assert open_in(tmp_path) == 0
    assert source.opened == 2
