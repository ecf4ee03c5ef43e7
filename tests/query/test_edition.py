"""Names of generations: other data never have the same one, also where they have the same number."""

from __future__ import annotations

import shutil
from pathlib import Path

from sparql.cache.edition import Editions
from tests.query.stores import PublishedStore, items


def test_a_store_made_again_in_its_place_has_another_name(tmp_path: Path) -> None:
    """It counts from 1 again, and who serves it may not have been stopped meanwhile."""
    root = tmp_path / "store"
    assert PublishedStore(root).add(items(10)).number == 1
    editions = Editions(root)
    first = editions.current()
    assert first is not None and first.startswith("1-")
    assert editions.current() == editions.of(1) == Editions(root).current() == first
    shutil.rmtree(root)
    assert editions.current() is None
    assert editions.of(1) == first, "an answer of the data that were is still on its way"
    assert PublishedStore(root).add(items(11)).number == 1
    second = editions.current()
    assert second is not None and second.startswith("1-") and second != first
    assert editions.of(1) == Editions(root).current() == second


def test_each_generation_has_a_name_of_its_own(tmp_path: Path) -> None:
    """The one before keeps its name as long as it is there, and a number that there is not has none."""
    published = PublishedStore(tmp_path / "store")
    published.add(items(10))
    editions = Editions(published.root)
    first = editions.current()
    published.add(items(10, "b", 100))
    second = editions.current()
    assert first != second is not None
    assert (editions.of(1), editions.of(2), editions.of(3)) == (first, second, None)


def test_there_is_no_name_without_a_store(tmp_path: Path) -> None:
    """A server may start before the first data come."""
    editions = Editions(tmp_path / "store")
    assert editions.current() is None
    assert editions.of(1) is None
