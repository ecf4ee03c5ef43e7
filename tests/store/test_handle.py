"""The open store: opened anew now and then, so that RocksDB's caches do not fill with blocks of files that are gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sparql.store import handle
from sparql.store.embedded import EmbeddedStore
from sparql.store.working import WorkingFolder

GRAPH = "http://example.org/graph/p"
LINES = [f'<http://x/{n}> <http://x/p> "{n}" <{GRAPH}> .\n'.encode() for n in range(20)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = EmbeddedStore(tmp_path / "store")
    store.replace_graph(GRAPH, LINES)
    yield store
    store.close()


@pytest.fixture
def opened(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """One entry each time that the store is opened, in a process where a store is old after two copies."""
    found: list[str] = []

    monkeypatch.setattr(handle, "AGE", 2)
    real = WorkingFolder.open
    monkeypatch.setattr(WorkingFolder, "open", lambda folder: found.append("opened") or real(folder))
    yield found


def copy(store: EmbeddedStore, folder: Path, times: int) -> None:
    for _ in range(times):
        store.publish(folder / f"copy-{len(list(folder.iterdir()))}")


def test_an_old_store_is_opened_anew(store: EmbeddedStore, opened: list[str], tmp_path: Path) -> None:
    """Its caches begin empty; what it holds is what it held."""
    copy(store, tmp_path, 2)
    assert opened == []
    store.replace_graph(GRAPH, LINES[1:])
    assert len(opened) == 1
    copy(store, tmp_path, 1)
    assert len(opened) == 1
    assert sorted(store.dump(GRAPH)) == sorted(LINES[1:])


def test_a_store_that_is_read_stays_open(store: EmbeddedStore, opened: list[str], tmp_path: Path) -> None:
    """RocksDB cannot be opened twice, and an iterator goes on over the store as it was; afterwards it is its turn."""
    lines = store.dump(GRAPH)
    begun = store.referrers(GRAPH, b'"3"')
    assert next(begun) == LINES[3]
    copy(store, tmp_path, 3)
    assert opened == []
    assert sorted(lines) == sorted(LINES)
    del lines, begun
    copy(store, tmp_path, 1)
    assert len(opened) == 1
