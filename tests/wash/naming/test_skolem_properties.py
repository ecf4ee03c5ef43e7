"""Skolem IRIs of any graph: the same for isomorphic ones, one for each node, and local to what changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat, parse

from harvest.wash.naming import lookup
from tests.wash.skolem_graphs import IRI, Triple, relabelled, serialized, skolemized

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
PREDICATES = ["<http://p/1>", "<http://p/2>", FIRST, REST]

blanks = st.integers(0, 6).map(lambda number: f"_:n{number}")
grounds = st.sampled_from(["<http://s/1>", "<http://s/2>"])
literals = st.sampled_from(['"1"', '"2"'])
predicates = st.sampled_from(PREDICATES)
links = st.tuples(blanks, predicates, blanks)
triples = st.one_of(
    links, links, links, st.tuples(grounds, predicates, blanks), st.tuples(blanks, predicates, literals)
)
graphs = st.sets(triples, min_size=1, max_size=16)
copies = st.lists(st.tuples(graphs, st.integers(1, 3)), min_size=1, max_size=3).map(
    lambda parts: {
        (f"{s}c{part}c{copy}" if s.startswith("_:") else s, p, f"{o}c{part}c{copy}" if o.startswith("_:") else o)
        for part, (graph, times) in enumerate(parts)
        for copy in range(times)
        for s, p, o in graph
    }
)


def canonical(lines: str) -> set[str]:
    """The canonical statements of a graph. Source: RDFC-1.0."""
    dataset = Dataset(parse(lines, format=RdfFormat.N_TRIPLES))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return {str(quad) for quad in dataset}


@settings(max_examples=80)
@given(copies, st.integers(0, 1 << 32), st.integers(1, 5), st.booleans())
def test_isomorphic_graphs_give_the_same_statements(graph: set[Triple], seed: int, parts: int, steady: bool) -> None:
    """Labels, order and repeats of the input mean nothing, nor does the memory there is."""
    lines = skolemized(relabelled(graph, seed), steady=steady)
    assert skolemized(relabelled(graph, seed + 1), steady=steady) == lines
    cut = relabelled(graph, seed + 2)
    assert skolemized(cut, 8 * sum(map(len, cut)) // parts - 1, steady=steady) == lines


@settings(max_examples=100)
@given(graphs, st.booleans())
def test_skolem_iris_can_be_turned_back(graph: set[Triple], steady: bool) -> None:
    """Nodes are neither merged nor split: with labels for the IRIs, the graph is isomorphic to the one given."""
    lines = serialized(graph)
    back = "\n".join(IRI.sub(r"_:\1", line) for line in skolemized(lines, steady=steady))
    assert canonical(back) == canonical("".join(lines))


# A record is a list of (predicate, value), and a value a literal, a record, a list of values, or the way back up.
BACK = "back"
values = st.sampled_from(['"1"', '"2"', '"3"'])
leaves = st.lists(st.tuples(st.sampled_from(PREDICATES[:2]), values), min_size=1, max_size=2)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(
        st.tuples(st.sampled_from(PREDICATES[:2]), values | inner | st.lists(values | inner, max_size=3).map(tuple)),
        min_size=1,
        max_size=3,
    ),
    max_leaves=6,
)
returning = st.tuples(leaves, leaves).map(lambda two: [*two[0], ("<http://p/1>", [*two[1], ("<http://p/3>", BACK)])])
RING = "ring"
rings = st.lists(leaves, min_size=2, max_size=3).map(lambda members: [(RING, member) for member in members])
places = st.sampled_from(["alone", "<http://s/1> <http://p/1>", "<http://s/1> <http://p/2>", "nowhere"])
records = st.one_of(st.tuples(places, trees), st.tuples(places, returning), st.tuples(st.just("nowhere"), rings))


def described(record: list, parent: str, labels: Iterator[int]) -> tuple[str, set[Triple]]:
    """The node of a record, and its triples."""
    node, found = f"_:n{next(labels)}", set()
    for predicate, value in record:
        found |= valued(node, predicate, value, parent, labels)
    return node, found


def valued(node: str, predicate: str, value: object, parent: str, labels: Iterator[int]) -> set[Triple]:
    """The triples that give a node a value."""
    if value == BACK:
        return {(node, predicate, parent)}
    if isinstance(value, str):
        return {(node, predicate, value)}
    if isinstance(value, list):
        target, found = described(value, node, labels)
        return found | {(node, predicate, target)}
    assert isinstance(value, tuple)
    if not value:
        return {(node, predicate, NIL)}
    cell = f"_:n{next(labels)}"
    found = {(node, predicate, cell)} | valued(cell, FIRST, value[0], parent, labels)
    return found | valued(cell, REST, value[1:], parent, labels)


def placed(record: tuple[str, list], key: int) -> set[Triple]:
    """The triples of a record at its place; `key` keeps it apart from all others."""
    place, content = record
    labels = (number * 1000 + key for number in count())
    if content[0][0] == RING:
        members = [described(member, "", labels) for _, member in content]
        nodes = [node for node, _ in members]
        ring = {(one, "<http://p/3>", other) for one, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True)}
        return ring.union(*(found for _, found in members))
    node, found = described(content, "", labels)
    if place == "nowhere":
        return found
    subject, predicate = (f"<http://own/{key}>", "<http://p/1>") if place == "alone" else place.split(" ")
    return found | {(subject, predicate, node)}


def whole(chosen: dict[int, tuple[str, list]]) -> list[str]:
    """The lines of some records, and of two more in each place where there are several."""
    graph = {
        triple
        for at, place in enumerate(["<http://s/1> <http://p/1>", "<http://s/1> <http://p/2>"] * 2)
        for triple in placed((place, [("<http://p/1>", f'"stays {at}"')]), 900 + at)
    }
    return serialized(graph.union(*(placed(record, key) for key, record in chosen.items())))


@settings(max_examples=80)
@given(st.lists(records, min_size=2, max_size=8), records)
def test_a_change_to_one_record_changes_its_own_lines(given_records: list, other: tuple[str, list]) -> None:
    """Whether a record is added, removed or edited, no line of any other record changes."""
    before = dict(enumerate(given_records))
    old = skolemized(whole(before))
    edited = skolemized(whole({**before, 0: other}))
    removed = skolemized(whole({key: record for key, record in before.items() if key}))
    own, new = len(placed(before[0], 0)), len(placed(other, 0))
    assert (Counter(removed) - Counter(old)).total() == 0
    assert (Counter(old) - Counter(removed)).total() == own
    assert (Counter(old) - Counter(edited)).total() <= own
    assert (Counter(edited) - Counter(old)).total() <= new


@pytest.mark.long
@given(graphs, st.integers(8, 400))
def test_looking_up_in_memory_and_in_files_gives_the_same_names(graph: set[Triple], memory: int) -> None:
    """Names must not depend on how many labels fit into memory."""
    lines = serialized(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "_KEY", 1)
        held = skolemized(lines, memory)
        patch.setattr(lookup, "_KEY", 1 << 40)
        assert skolemized(lines, memory) == held
