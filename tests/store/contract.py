"""
What every Store does, whatever is behind it.

A test class inherits StoreContract and gives a class-wide fixture `store`. Each example has a graph of its own, so a
store need not be emptied between them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparql.store.base import Store
from tests.store.graphs import (
    LITERALS,
    PREDICATES,
    SUBJECTS,
    Step,
    change,
    contents,
    filed,
    fresh_graph,
    held,
    lines_of,
    objects,
)

few = settings(max_examples=20, suppress_health_check=[HealthCheck.differing_executors])


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """A graph and an input."""
    graph = fresh_graph()
    return Step(graph, lines_of(graph, draw(contents())), lines_of(graph, draw(contents())))


@pytest.fixture(scope="class")
def room() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def fill(store: Store, graph: str, lines: set[bytes], room: Path) -> None:
    store.apply(graph, change(room / "fill", set(), lines))


class StoreContract:
    """The tests; not collected by itself."""

    @few
    @given(step=steps())
    def test_a_change_applied_twice_ends_as_applied_once(self, store: Store, room: Path, step: Step) -> None:
        """A change may be applied again after a crash, so the second time must do no harm."""
        fill(store, step.graph, step.before, room)
        for _ in range(2):
            store.apply(step.graph, step.change(room / "change"))
            assert set(store.dump(step.graph)) == held(step.after)

    @few
    @given(step=steps())
    def test_the_delta_and_the_literal_algorithm_give_the_same_graph(
        self, store: Store, room: Path, step: Step
    ) -> None:
        """Deleting subject by subject is the meaning; the delta is only the faster way."""
        fill(store, step.graph, step.before, room)
        subjects = sorted({line.split(b" ")[0][1:-1].decode() for line in step.given})
        store.replace_subjects(step.graph, subjects, filed(room / "given.nq", step.given))
        literally = set(store.dump(step.graph))
        store.drop(step.graph)
        fill(store, step.graph, step.before, room)
        store.apply(step.graph, step.change(room / "change"))
        assert set(store.dump(step.graph)) == literally == held(step.after)

    @few
    @given(step=steps(), data=st.data())
    def test_a_change_cut_short_anywhere_is_made_good_by_applying_it_again(
        self, store: Store, room: Path, step: Step, data: st.DataObject
    ) -> None:
        """A crash leaves any part of the batches written."""
        fill(store, step.graph, step.before, room)
        removed, added = step.before - step.after, step.after - step.before
        gone = {line for line in sorted(removed) if data.draw(st.booleans())}
        come = {line for line in sorted(added) if data.draw(st.booleans())}
        store.apply(step.graph, change(room / "part", gone, set()))
        store.apply(step.graph, change(room / "part", set(), come))
        store.apply(step.graph, step.change(room / "change"))
        assert set(store.dump(step.graph)) == held(step.after)

    @few
    @given(content=contents(), wanted=objects())
    def test_reading_agrees_with_a_plain_set_of_lines(self, store: Store, room: Path, content, wanted) -> None:
        """Dump, count, describe, referrers and graphs all give the same lines."""
        graph = fresh_graph()
        fill(store, graph, lines_of(graph, content), room)
        expected = held(lines_of(graph, content))
        assert sorted(store.dump(graph)) == sorted(expected)
        assert store.count(graph) == len(expected)
        assert (graph in store.graphs()) == bool(expected)
        subjects = sorted({line.split(b" ")[0] for line in expected} | {b"<http://example.org/nobody>"})
        assert list(store.describe(graph, subjects)) == sorted(expected)
        assert list(store.describe(graph, subjects[::-1])) == [
            line for subject in subjects[::-1] for line in sorted(expected) if line.startswith(subject + b" ")
        ]
        term = str(wanted).encode()
        form = next(iter(held(lines_of(graph, {("http://example.org/x", "http://example.org/x", wanted)}))))
        ending = form.split(b" ", 2)[2]
        assert sorted(store.referrers(graph, term)) == sorted(
            line for line in expected if line.split(b" ", 2)[2] == ending
        )

    @few
    @given(before=contents(), after=contents())
    def test_a_graph_that_is_replaced_holds_exactly_the_given_lines(
        self, store: Store, room: Path, before, after
    ) -> None:
        """The metadata graph is written as a whole."""
        graph = fresh_graph()
        fill(store, graph, lines_of(graph, before), room)
        store.replace_graph(graph, sorted(lines_of(graph, after)))
        assert set(store.dump(graph)) == held(lines_of(graph, after))

    @few
    @given(step=steps())
    def test_other_graphs_stay_as_they_are(self, store: Store, room: Path, step: Step) -> None:
        """One provider's change touches no other provider's graph, even where the triples are the same."""
        other = fresh_graph()
        theirs = {line.replace(step.graph.encode() + b"> .", other.encode() + b"> .") for line in step.before}
        fill(store, other, theirs, room)
        fill(store, step.graph, step.before, room)
        store.apply(step.graph, step.change(room / "change"))
        store.replace_graph(step.graph, [])
        store.drop(step.graph)
        assert set(store.dump(other)) == held(theirs)

    def test_a_dropped_graph_is_empty_and_no_longer_listed(self, store: Store, room: Path) -> None:
        """`forget` removes a provider's graph, and dropping what is gone is no error."""
        graph = fresh_graph()
        fill(store, graph, {f"<x:s> <x:p> <x:o> <{graph}> .\n".encode()}, room)
        for _ in range(2):
            store.drop(graph)
            assert (list(store.dump(graph)), store.count(graph), graph in store.graphs()) == ([], 0, False)

    def test_one_of_two_spellings_of_a_value_can_be_removed(self, store: Store, room: Path) -> None:
        """A store that holds "01" and "1" as one triple keeps it while the graph still has one of them."""
        graph = fresh_graph()
        spellings = sorted(lines_of(graph, {(SUBJECTS[0], PREDICATES[0], o) for o in LITERALS[:2]}))
        fill(store, graph, set(spellings), room)
        for removed, left in (spellings, spellings[::-1]):
            store.apply(graph, change(room / "change", {removed}, set(), {left}))
            assert set(store.dump(graph)) == held({left})
            store.apply(graph, change(room / "change", set(), {removed}))

    def test_a_change_without_files_changes_nothing(self, store: Store, room: Path) -> None:
        """An empty delta has no paths."""
        graph = fresh_graph()
        store.apply(graph, change(room / "nothing", set(), set()))
        assert list(store.dump(graph)) == []

    def test_more_lines_than_a_batch_are_applied_whole(self, store: Store, room: Path) -> None:
        """Long changes are cut into batches, and no line may fall between two."""
        graph = fresh_graph()
        lines = {f"<x:s{i}> <x:p> <x:o> <{graph}> .\n".encode() for i in range(12_345)}
        fill(store, graph, lines, room)
        gone = {line for line in lines if line[4:5] in b"13579"}
        store.apply(graph, change(room / "change", gone, set()))
        assert set(store.dump(graph)) == lines - gone
