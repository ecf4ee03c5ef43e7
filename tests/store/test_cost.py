"""The choice between changing a store and making a new one."""

from __future__ import annotations

import pytest

from sparql.store.base import StoreChange
from sparql.store.embedded import cheaper_to_rebuild

M = 1_000_000


@pytest.mark.parametrize(
    ("removed", "added", "graph", "store", "rebuild"),
    [
        (0, 0, 0, 0, False),
        (0, 2 * M, 0, 10 * M, False),
        (20_000, 20_000, 2 * M, 2 * M, False),
        (20_000, 20_000, 20_000, 20_000, False),
        (2 * M, 2 * M, 2 * M, 2 * M, True),
        (2 * M, 0, 2 * M, 2 * M, True),
        (2 * M, 2 * M, 2 * M, 20 * M, False),
        (9 * M, 0, 10 * M, 11 * M, True),
    ],
)
def test_a_new_store_is_made_where_most_of_the_old_one_goes(
    removed: int, added: int, graph: int, store: int, rebuild: bool
) -> None:
    """Removing costs twice what loading does, but a new store loads every provider's graph."""
    assert cheaper_to_rebuild(StoreChange(None, None, removed, added), graph, store) is rebuild


def test_no_more_is_removed_than_the_graph_has() -> None:
    """A delta that is applied a second time removes what is gone already."""
    assert not cheaper_to_rebuild(StoreChange(None, None, 5 * M, 0), 10, 2 * M)
