"""Blank nodes that look alike: graphs made to defeat canonical labelling, and the W3C's own."""

from __future__ import annotations

import random
import time
from hashlib import sha256
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, RdfFormat, parse

from harvest.wash.naming.records import around_ring
from harvest.wash.naming.symmetry import canonical_order
from tests.realdata import realdata
from tests.selection import mostly_long
from tests.wash.skolem_graphs import (
    Triple,
    below_one,
    beside,
    both_ways,
    clique,
    moebius,
    paley,
    regular,
    relabelled,
    ring,
    rook,
    shrikhande,
    skolemized,
    torus,
    twisted,
)

TETRAHEDRON = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
CUBE = [(a, b) for b in range(8) for a in range(b) if (a ^ b).bit_count() == 1]

SYMMETRIC = {
    "clique": clique(60),
    "ring": ring(200),
    "one way round": {(f"_:n{at}", "<http://p/x>", f"_:n{(at + 1) % 300}") for at in range(300)},
    "torus": torus(12, 12),
    "moebius ladder": moebius(200),
    "rook": rook(6),
    "paley": paley(29),
    "rook and shrikhande": beside(rook(4), shrikhande()),
    "below one": below_one(beside(rook(4), shrikhande(), clique(8), clique(8), ring(6), ring(3), ring(3))),
    "twisted tetrahedron": beside(twisted(TETRAHEDRON, False), twisted(TETRAHEDRON, True)),
    "twisted cube": below_one(beside(twisted(CUBE, False), twisted(CUBE, True))),
    "regular": regular(200, 10, 1),
    "many cliques": below_one(beside(*[clique(5)] * 100)),
}


def known_in_pairs(known: list[str]) -> set[Triple]:
    """For every two of some nodes one more that only those two refer to."""
    pairs = combinations(range(len(known)), 2)
    return {(known[at], "<http://p/of>", f"_:{pair[0]}and{pair[1]}") for pair in pairs for at in pair}


def two_kinds_of_rings(name: str) -> set[Triple]:
    """Rings that differ in what is said of their nodes, and a node that refers to all of those."""
    rings = below_one(beside(ring(3), ring(3)))
    nodes = {s for s, _, _ in rings if s != "_:hub"}
    said = {(node, "<http://p/name>", f'"{node[-1]}"') for node in nodes}
    return {(f"{s}{name}", p, f"{o}{name}" if o.startswith("_:") else o) for s, p, o in rings | said}


SUBJECTS = [f"<http://s/{at}>" for at in range(4)]
FOUND = {(f"<http://s/{at}>", "<http://p/first>", f"_:s{at}") for at in range(4)}

UNEVEN = {
    "pairs of subjects": known_in_pairs(SUBJECTS),
    "pairs of subjects, connected": below_one(known_in_pairs(SUBJECTS)),
    "pairs of nodes with a path": known_in_pairs([f"_:s{at}" for at in range(4)]) | FOUND,
    "pairs of nodes without": known_in_pairs([f"_:s{at}" for at in range(4)]),
    "a mark far away": both_ways((at, at + 1) for at in range(60)) | {("_:n0", "<http://p/name>", '"first"')},
    "two kinds of rings, twice": two_kinds_of_rings("a") | two_kinds_of_rings("b"),
}

colours = st.lists(st.integers(0, 1), min_size=1, max_size=7)


@pytest.mark.parametrize("graph", UNEVEN.values(), ids=UNEVEN.keys())
def test_nodes_that_only_their_surroundings_tell_apart_are_told_apart(graph: set[Triple]) -> None:
    """Interchanging them would change the graph, so none of them may get the name of another one."""
    lines = skolemized(relabelled(graph, 1))
    for seed in range(2, 16):
        assert skolemized(relabelled(graph, seed)) == lines


def test_the_names_in_symmetric_graphs_are_those_of_before() -> None:
    """Versions that were named by a search through all orders are rebuilt byte for byte."""
    named = "\n".join(line for graph in SYMMETRIC.values() for line in skolemized(relabelled(graph, 1)))
    assert sha256(named.encode()).hexdigest() == "98c366c5a0776200a9772be71fd2a75c953ce7202b5c223221f36f83a84c33b9"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("graph", SYMMETRIC.values(), ids=SYMMETRIC.keys())
def test_a_symmetric_graph_gives_the_same_statements_in_any_order(graph: set[Triple]) -> None:
    """Which of several interchangeable nodes gets which name must not show."""
    lines = skolemized(relabelled(graph, 1))
    assert skolemized(relabelled(graph, 2)) == lines
    assert skolemized(relabelled(graph, 3), 8) == lines


def test_a_graph_made_to_explode_ends_within_a_limit() -> None:
    """A search that tried every order of these nodes would not end before the sun does; every node still has a name."""
    lines = relabelled(regular(3000, 4, 1), 1)
    began = time.process_time()
    at_once = skolemized(lines)
    assert time.process_time() - began < 30
    assert skolemized(lines, 8) == at_once


def test_what_else_is_in_a_graph_made_to_explode_keeps_its_names() -> None:
    """A provider who adds such a graph harms nobody's names but those in it."""
    graph: set[Triple] = {("<http://s/1>", "<http://p/1>", f"_:r{at}") for at in range(9)}
    graph |= {(f"_:r{at}", "<http://p/2>", f'"{at // 2}"') for at in range(9)}
    before = skolemized(relabelled(graph, 1))
    after = skolemized(relabelled(graph | regular(1500, 4, 1), 1))
    assert set(before) <= set(after)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("number", mostly_long(range(1, 78), range(1, 78, 3)))
def test_the_graphs_of_the_canonicalization_suite_give_the_same_statements_in_any_order(number: int) -> None:
    """They are the shapes that others got wrong. Source: W3C rdf-canon test suite, RDFC-1.0."""
    path = realdata() / "w3c" / "rdf-canon" / "rdfc10" / f"test{number:03}-in.nq"
    if not path.exists():
        assert number in (7, 12, 15, 31, 32, 37, 41, 42, 49, 50, 51, 52), "the suite has no test of these numbers"
        return
    found = {quad.triple for quad in parse(path=path, format=RdfFormat.N_QUADS)}
    graph = {
        (str(triple.subject), str(triple.predicate), str(triple.object))
        for triple in found
        if isinstance(triple.subject, BlankNode) or isinstance(triple.object, BlankNode)
    }
    lines = skolemized(relabelled(graph, 1))
    assert skolemized(relabelled(graph, 2)) == lines
    assert skolemized(relabelled(graph, 3), 8) == lines


@given(colours, st.data())
def test_the_order_of_nodes_is_canonical(given_colours: list[int], data: st.DataObject) -> None:
    """Numbering the nodes otherwise gives the same edges between the same places."""
    count = len(given_colours)
    node = st.integers(0, count - 1)
    edges = sorted(data.draw(st.sets(st.tuples(node, st.integers(0, 1), node), max_size=14)))
    other = data.draw(st.permutations(range(count)))
    renumbered = [(other[s], p, other[o]) for s, p, o in edges]
    recoloured = [given_colours[other.index(at)] for at in range(count)]
    seen = []
    for coloured, linked in ((given_colours, edges), (recoloured, renumbered)):
        order = canonical_order(coloured, linked, 1 << 20)
        assert [coloured[at] for at in order] == sorted(coloured)
        seen.append(sorted((order.index(s), p, order.index(o)) for s, p, o in linked))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("limit", [0, 100, 10_000])
def test_the_search_for_an_order_ends_at_its_limit(limit: int) -> None:
    """What it gives then is still an order of all nodes."""
    chance = random.Random(1)
    edges = sorted(
        {(chance.randrange(60), 0, chance.randrange(60)) for _ in range(60)} | {(at, 1, at) for at in range(60)}
    )
    assert sorted(canonical_order([0] * 60, edges, limit)) == list(range(60))


@given(st.lists(st.sampled_from([b"a", b"b"]), min_size=1, max_size=12), st.integers(0, 11))
def test_a_ring_is_the_same_from_wherever_it_is_entered(contents: list[bytes], turn: int) -> None:
    """Places have equal digests exactly when the ring looks the same from there."""
    turn %= len(contents)
    digests = around_ring(contents)
    turned = [*contents[turn:], *contents[:turn]]
    assert around_ring(turned) == [*digests[turn:], *digests[:turn]]
    assert (digests[0] == digests[turn]) == (turned == contents)
