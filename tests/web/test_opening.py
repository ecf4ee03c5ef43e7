"""The query that a page offers for a graph."""

from __future__ import annotations

import io
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, QuerySolutions, Store

from sparql.errors import StoreError
from sparql.rdf import FOAF, RDF, RDFS
from sparql.web.opening import opening_query
from tests.web.records import statistics_of

G, BASE = "http://h/graph/p", "http://data.example/terms/"
TYPE = f"{RDF}type"


def quads() -> list[Quad]:
    """Forty ports without names, thirty ships with labels, a few people."""
    said: list[tuple[str, str, NamedNode | Literal]] = []
    for n in range(40):
        said += [(f"port/{n}", TYPE, NamedNode(f"{BASE}Port")), (f"port/{n}", f"{BASE}depth", Literal(n))]
    for n in range(30):
        said += [(f"ship/{n}", TYPE, NamedNode(f"{BASE}Ship")), (f"ship/{n}", f"{RDFS}label", Literal(f"Ship {n}"))]
        said += [(f"ship/{n}", f"{BASE}home-port", NamedNode(f"http://d/port/{n}"))]
        said += [(f"ship/{n}", f"{FOAF}depiction", NamedNode(f"http://d/{n}.jpg"))] * (n % 3 > 0)
    said += [("ship/1", f"{BASE}rare", Literal(n)) for n in range(90)]
    return [Quad(NamedNode(f"http://d/{s}"), NamedNode(p), o, NamedNode(G)) for s, p, o in said]


STORE = Store()
STORE.extend(quads())
STATISTICS: dict[str, Any] = {
    "version": 1,
    "classes": [{"class": f"{BASE}Port", "entities": 40}, {"class": f"{BASE}Ship", "entities": 30}],
    "properties": [{"property": p, "triples": 1} for p in (TYPE, f"{BASE}rare", f"{BASE}depth", f"{RDFS}label")],
}


def ask(text: str, timeout_s: float) -> bytes:
    out = io.BytesIO()
    STORE.query(text).serialize(out, format=QueryResultsFormat.JSON)
    return out.getvalue()


def down(text: str, timeout_s: float) -> bytes:
    raise StoreError("no workers")


def answer(query: str) -> tuple[list[str], int]:
    """The columns of its result, and how many rows it has."""
    found = STORE.query(query)
    assert isinstance(found, QuerySolutions)
    return [variable.value for variable in found.variables], len(list(found))


def test_it_asks_for_the_commonest_class_that_has_labels() -> None:
    """With what is mostly said of its things, and not what is said often of one."""
    query = opening_query(G, statistics_of(STATISTICS), ask)
    assert answer(query) == (["item", "type", "label", "home_port", "depiction", "rare"], 100)
    assert f"VALUES ?type {{ <{BASE}Ship> }}  # also: {BASE}Port (40)" in query
    assert "?item rdfs:label ?label ." in query
    assert "OPTIONAL { ?item foaf:depiction ?depiction }" in query
    assert query.startswith("PREFIX foaf: ")


def test_without_labels_it_asks_for_the_commonest_class() -> None:
    """Numbers are something, too."""
    ports = {**STATISTICS, "classes": STATISTICS["classes"][:1]}
    assert answer(opening_query(G, statistics_of(ports), ask)) == (["item", "type", "depth"], 40)


def test_without_classes_or_workers_the_figures_of_the_graph_do() -> None:
    """A page is shown in any case, with a query that has an answer."""
    no_classes = {**STATISTICS, "classes": []}
    for statistics, ask_ in ((no_classes, ask), (STATISTICS, down)):
        columns, rows = answer(opening_query(G, statistics_of(statistics), ask_))
        assert {"item", "label", "rare", "depth"} <= set(columns) and rows > 0
    assert answer(opening_query(G, None, ask)) == (["s", "p", "o"], 100)


@pytest.mark.parametrize("name", ["type", "label", "2nd", "ä", "a-b", "item", "x#"])
def test_any_property_gets_a_variable_of_its_own(name: str) -> None:
    """IRIs end in anything, and two columns of one name would be a join."""
    iris = [f"{BASE}{name}", f"http://e/{name}", f"{RDFS}label"]
    statistics = {**STATISTICS, "classes": [], "properties": [{"property": iri, "triples": 1} for iri in iris]}
    columns, _ = answer(opening_query(G, statistics_of(statistics), ask))
    assert len(columns) == 4 and len(set(columns)) == 4
