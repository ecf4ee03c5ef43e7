"""Changes of somebody else, against sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.revise.changes import applied
from harvest.revise.target import Origin
from tests.revise.model import DATASET, GRAPH, got, graphs, ground_graphs, mapping, put, subject, value


class Held:
    """A graph as a set of lines."""

    def __init__(self, lines: frozenset[bytes]) -> None:
        self._lines = lines

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        for term in subjects:
            yield from sorted(line for line in self._lines if subject(line) == term)

    def has(self, graph: str, line: bytes) -> bool:
        return line in self._lines

    def size(self, graph: str, subject: bytes) -> int:
        return sum(1 for _ in self.describe(graph, [subject]))

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        return (line for line in self._lines if value(line) == object)


@settings(max_examples=25)
@given(ground_graphs, st.lists(st.tuples(ground_graphs, ground_graphs), max_size=3))
def test_changes_are_set_operations_one_after_the_other(
    old: frozenset[bytes], changes: list[tuple[frozenset[bytes], frozenset[bytes]]]
) -> None:
    """(graph - removed) | added for each; the delta holds what truly differs, and the rest of it is counted."""
    with TemporaryDirectory() as name:
        root = Path(name)
        sides = [
            (put(root / f"{n}-", removed), put(root / f"{n}+", added)) for n, (removed, added) in enumerate(changes)
        ]
        revision, findings = applied(GRAPH, sides, Held(old) if old else None, root, Origin(DATASET))
        new = old
        absent = present = 0
        for removed, added in changes:
            absent += len(removed - new)
            present += len((added & new) - removed)
            new = (new - removed) | added
        assert (got(revision.delta.removed), got(revision.delta.added)) == (old - new, new - old)
        touched = {subject(line) for line in old ^ new}
        assert got(revision.input) == {line for line in new if subject(line) in touched}
        counts = {finding.kind: 0 for finding in findings}
        for finding in findings:
            counts[finding.kind] += int(finding.message.split()[0])
        assert (counts.get("change-absent", 0), counts.get("change-present", 0)) == (absent, present)


@settings(max_examples=25)
@given(graphs, graphs)
def test_blank_nodes_that_come_are_taken_for_none_that_stay(old: frozenset[bytes], added: frozenset[bytes]) -> None:
    """What was there is there, what comes says the same under some names, and nothing else is said."""
    with TemporaryDirectory() as name:
        root = Path(name)
        sides = [(put(root / "-", frozenset()), put(root / "+", added))]
        revision, _ = applied(GRAPH, sides, Held(old), root, Origin(DATASET))
        assert got(revision.delta.removed) == frozenset()
        after = old | got(revision.delta.added)
        names = mapping(added, after)
        assert names is not None
        assert len(after) <= len(old) + len(added)
