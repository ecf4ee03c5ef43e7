"""The literal algorithm on a plain SPARQL store."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import NamedNode, Store

from sparql.store import literal
from sparql.store.spelling import written
from tests.store.graphs import filed, many

GRAPH = "http://example.org/graph/literal"


def test_only_the_subjects_in_this_graph_are_replaced(tmp_path: Path) -> None:
    """Other subjects, and the same subjects in other graphs, stay."""
    store = Store()
    store.update(
        f"INSERT DATA {{ GRAPH <{GRAPH}> {{ <x:a> <x:p> 1, 2 . <x:b> <x:p> 3 }} GRAPH <x:other> {{ <x:a> <x:p> 1 }} }}"
    )
    added = filed(tmp_path / "added.nq", [f"<x:a> <x:q> <x:o> <{GRAPH}> .\n".encode()])
    literal.replace_subjects(store.update, GRAPH, ["x:a"], added)
    left = {str(quad) for quad in store.quads_for_pattern(None, None, None, NamedNode(GRAPH))}
    assert left == {
        f"<x:a> <x:q> <x:o> <{GRAPH}>",
        f'<x:b> <x:p> "3"^^<http://www.w3.org/2001/XMLSchema#integer> <{GRAPH}>',
    }
    assert len(store) == 3


def test_requests_stay_small(tmp_path: Path) -> None:
    """Servers limit a request; many subjects and triples go in several."""
    lines = many(GRAPH, 12_000)
    requests: list[str] = []
    subjects = [f"http://example.org/item{i}" for i in range(3_000)]
    literal.replace_subjects(requests.append, GRAPH, iter(subjects), filed(tmp_path / "added.nq", lines))
    assert [request.split(" ")[0] for request in requests] == ["DELETE"] * 3 + ["INSERT"] * 3
    store = Store()
    for request in requests:
        store.update(request)
    assert sorted(written(store)) == lines


def test_nothing_to_do_asks_nothing(tmp_path: Path) -> None:
    """No subjects and no lines make no request."""
    requests: list[str] = []
    literal.replace_subjects(requests.append, GRAPH, [], filed(tmp_path / "added.nq", []))
    assert requests == []
