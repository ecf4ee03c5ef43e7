"""A descriptor is closed once, and never under somebody who works with it."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sparql.query.cache import DRAFTS, Cache
from sparql.query.descriptor import Descriptor

EDITION = "7-1a-2b"
ROUNDS = 300


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def test_it_stays_open_while_it_is_used(tmp_path: Path) -> None:
    """Letting go of it meanwhile neither waits nor closes it."""
    number = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    descriptor = Descriptor(number)
    with descriptor as first, descriptor as second:
        assert first == second == number
        assert descriptor.let_go() is True
        assert is_open(number)
        with descriptor as late:
            assert late is None
        assert is_open(number)
    assert not is_open(number)
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    assert other == number, "the kernel gives the lowest number that is free"
    assert descriptor.let_go() is False
    with descriptor as gone:
        assert gone is None
    assert is_open(other)
    os.close(other)


def together(*functions: Callable[[], object]) -> None:
    """Run them at once, and raise what one of them raises."""
    gate = threading.Barrier(len(functions))

    def run(function: Callable[[], object]) -> None:
        gate.wait()
        function()

    with ThreadPoolExecutor(len(functions)) as threads:
        for done in [threads.submit(run, function) for function in functions]:
            done.result()


@pytest.mark.usefixtures("restless")
def test_a_draft_that_is_dropped_while_it_is_written_harms_no_other_file(tmp_path: Path) -> None:
    """The client goes away, on the event loop, while a thread writes; the number stands for another file at once."""
    cache = Cache(tmp_path / "cache", 1 << 30)
    victims = [tmp_path / f"victim-{number}" for number in range(8)]
    for number in range(ROUNDS):
        draft = cache.begin(str(number), 0)
        assert draft is not None

        def write(draft=draft) -> None:
            for _ in range(20):
                draft.write(b"x" * 1000)
            draft.keep(EDITION, "kept")

        def drop(draft=draft) -> None:
            draft.drop()
            opened = [os.open(path, os.O_RDWR | os.O_CREAT) for path in victims]
            for descriptor in opened:
                os.fstat(descriptor)
                os.close(descriptor)

        together(write, drop, draft.drop)
    assert [path.stat().st_size for path in victims] == [0] * len(victims)
    drafts = [cache.begin(str(number), 0) for number in range(DRAFTS + 1)]
    assert [draft is None for draft in drafts] == [False] * DRAFTS + [True], "each has given its place back once"
    for draft in drafts[:DRAFTS]:
        assert draft is not None
        draft.drop()
    assert list((tmp_path / "cache" / "writing").iterdir()) == []


@pytest.mark.usefixtures("restless")
def test_an_entry_that_is_closed_while_it_is_read_is_not_taken_for_damaged(tmp_path: Path) -> None:
    """It would be removed, for the bytes of another file have another checksum."""
    cache = Cache(tmp_path / "cache", 1 << 30)
    draft = cache.begin("key", 0)
    assert draft is not None
    draft.write(os.urandom(50_000))
    draft.keep(EDITION, "key")
    (tmp_path / "other").write_bytes(bytes(60_000))
    for _ in range(ROUNDS):
        entry = cache.find(EDITION, "key")
        assert entry is not None, "it was removed"

        def read(entry=entry) -> None:
            try:
                while entry.read(1000):
                    pass
            except OSError as error:
                assert error.errno == errno.EBADF

        def close(entry=entry) -> None:
            entry.close()
            with (tmp_path / "other").open("rb") as other:
                other.read(10)

        together(read, close, entry.close)
    assert cache.find(EDITION, "key") is not None
