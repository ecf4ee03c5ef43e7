"""The index answers as Preston's does, and each answer is written once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harvest.archive.content import ContentStore
from harvest.archive.index import HAS_VERSION, PREVIOUS_VERSION, ROOT, Index, query_hash
from harvest.archive.layout import HashName, place
from harvest.errors import StorageError

A, B = HashName("a" * 64), HashName("b" * 64)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    ContentStore(tmp_path).prepare()
    return Index(tmp_path)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (ROOT, HAS_VERSION, "2a5de79372318317a382ea9a2cef069780b852b01210ef59e06b640a3539cb5a"),
        (
            PREVIOUS_VERSION,
            "hash://sha256/c253a5311a20c2fc082bf9bac87a1ec5eb6e4e51ff936e7be20c29c8e77dee55",
            "7ebb008412baaac3afcc8af68b796bf4ca98f367cfd61a815eee82cdffeab196",
        ),
        (
            "http://ebirddata.ornith.cornell.edu/downloads/gbiff/dwca-1.0.zip",
            HAS_VERSION,
            "ae27e5a9612ab3754f8160922abf6c5c6ffc6b5a077f3e684d1ce57605929eb6",
        ),
    ],
    ids=["first log", "next log", "resource"],
)
def test_a_question_has_the_hash_that_preston_gives_it(a: str, b: str, expected: str) -> None:
    """Each program finds the logs of the other."""
    assert query_hash(a, b).digest == expected


def test_the_question_for_the_first_log_has_prestons_md5_too() -> None:
    """Archives kept by MD5 begin there."""
    assert query_hash(ROOT, HAS_VERSION, "md5").digest == "27f552c25bc733d05a5cc67e9ba63850"


def test_an_entry_is_78_bytes_beside_the_content(index: Index) -> None:
    """Preston refuses any other length, so a newline would break the chain for it."""
    index.put(ROOT, HAS_VERSION, A)
    path = index.root / "2a" / "5d" / "2a5de79372318317a382ea9a2cef069780b852b01210ef59e06b640a3539cb5a"
    assert path.read_bytes() == b"hash://sha256/" + b"a" * 64
    assert path.stat().st_size == 78
    assert not list((index.root / "incoming").iterdir())


def test_an_entry_is_written_once(index: Index) -> None:
    """The same answer again is none; another one would cut off the logs that follow."""
    index.put(ROOT, HAS_VERSION, A)
    index.put(ROOT, HAS_VERSION, A)
    with pytest.raises(StorageError, match="names another log"):
        index.put(ROOT, HAS_VERSION, B)
    assert index.first() == A


def test_of_many_writers_one_wins(index: Index) -> None:
    """A rename would let the last one win, and both believe that they did."""
    won: list[HashName] = []

    def write(value: HashName) -> None:
        try:
            index.put(ROOT, HAS_VERSION, value)
        except StorageError:
            return
        won.append(value)

    threads = [threading.Thread(target=write, args=(HashName(f"{n:064x}"),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [index.first()] == won


@pytest.mark.parametrize("damaged", [b"", b"hash://sha256/abc", b"a" * 78, b"hash://sha256/" + b"a" * 64 + b"\n"])
def test_a_damaged_entry_is_reported(index: Index, damaged: bytes) -> None:
    """Preston once filed an empty one; read as the end of the history it would hide all that follows."""
    path = place(index.root, query_hash(ROOT, HAS_VERSION))
    path.parent.mkdir(parents=True)
    path.write_bytes(damaged)
    with pytest.raises(StorageError, match=f"damaged \\({len(damaged)} bytes"):
        index.first()


def test_the_chain_is_followed_to_its_end(index: Index) -> None:
    """Also where a damaged archive leads in a circle."""
    index.put(ROOT, HAS_VERSION, A)
    index.put(PREVIOUS_VERSION, A.uri, B)
    assert index.chain() == [A, B]
    index.put(PREVIOUS_VERSION, B.uri, A)
    assert index.chain() == [A, B]
