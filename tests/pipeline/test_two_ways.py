"""Two ways to write, one meaning: the delta, and the literal SPARQL UPDATE algorithm, in the same kind of store."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from harvest.revise import replace
from harvest.revise.partial import partial
from sparql.store.base import StoreChange
from sparql.store.embedded import EmbeddedStore
from tests.revise.model import GRAPH, got, graphs, is_blank, put, stays, subject
from tests.revise.test_replace import Lines


@settings(max_examples=10)
@pytest.mark.parametrize("coverage", ["full", "partial"])
@given(a=graphs, b=graphs)
def test_the_delta_and_the_literal_algorithm_end_in_the_same_graph(
    coverage: str, a: frozenset[bytes], b: frozenset[bytes]
) -> None:
    """What the input names and what goes with it, deleted by SPARQL and inserted anew; or the delta."""
    full = coverage == "full"
    with TemporaryDirectory() as name:
        root = Path(name)
        old, new = put(root / "a", a), put(root / "b", b)
        revision = replace.full(old, new, GRAPH, root) if full else partial(GRAPH, new, Lines(a), root)
        given = got(revision.input)
        expected = stays(a, b, full=full) | given
        delta = revision.delta
        change = StoreChange(
            delta.removed, delta.added, delta.removed_triples, delta.added_triples, put(root / "after", expected)
        )
        gone = {subject(line) for line in a - expected if is_blank(subject(line))}
        deleted = sorted({term.decode()[1:-1] for term in {subject(line) for line in given} | gone})
        assert _after_delta(root / "1", old, len(a), change) == _after_update(
            root / "2", old, len(a), deleted, revision.input
        )


def _after_delta(root: Path, old: Path, triples: int, change: StoreChange) -> set[bytes]:
    store = EmbeddedStore(root)
    try:
        store.apply(GRAPH, StoreChange(None, old, 0, triples))
        store.apply(GRAPH, change)
        return set(store.dump(GRAPH))
    finally:
        store.close()


def _after_update(root: Path, old: Path, triples: int, subjects: list[str], added: Path) -> set[bytes]:
    store = EmbeddedStore(root)
    try:
        store.apply(GRAPH, StoreChange(None, old, 0, triples))
        store.replace_subjects(GRAPH, subjects, added)
        return set(store.dump(GRAPH))
    finally:
        store.close()
