"""Fronts with the data that clients ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import requests
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, PublishedStore, items
from tests.web.instance import Server, serve
from tests.web.records import file_records

LABEL: Final = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
STARS: Final = "http://stars.example/"
MAGNITUDES: Final = {"sirius": -1.46, "vega": 0.03, "rigel": 0.13}
DISTANCES: Final = {"sirius": 8.6, "vega": 25.0, "rigel": 860.0}

KINDS: Final = {
    "iri": NamedNode(f"{BASE}ü?a=b&c=%20#d"),
    "plain": Literal('tab \t, line\n, "quotes", \\, <&> and 𝄞'),
    "empty": Literal(""),
    "language": Literal("Grüße", language="de-at"),
    "date": Literal("2026-11-21", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#date")),
    "integer": Literal(-7),
    "double": Literal(1.5),
    "boolean": Literal(True),
    "own": Literal("POINT(1 2)", datatype=NamedNode("http://www.opengis.net/ont/geosparql#wktLiteral")),
    "blank": BlankNode("b1"),
}
"""An object of every kind, by the last step of its predicate."""

PREFIXES: Final = f"PREFIX : <{BASE}> PREFIX star: <{STARS}> PREFIX rdfs: <{LABEL.value.removesuffix('label')}>"
ALL_KINDS: Final = f"{PREFIXES} SELECT ?p ?o {{ :thing ?p ?o }}"
COUNT: Final = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
ROWS: Final = 100_000
LONG: Final = f"{PREFIXES} SELECT ?a ?b {{ ?a :value ?x . ?b :value ?y FILTER(?y < {ROWS // 1000}) }}"
"""Has ROWS rows. 1,000 items stand on its left side."""

LARGE: Final = LONG.replace("SELECT ?a ?b", "CONSTRUCT { ?a :with ?b } WHERE")
"""The query of LONG as a CONSTRUCT: a graph in place of a table."""

MANY: Final = 25_000
"""Triples of the graph `many`: more than an instance with limits gives."""

ENDLESS: Final = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . FILTER(?c != ?f && ?f != ?i) }"
"""Takes longer than any limit."""


def skies(base: str) -> Iterable[Quad]:
    """Yield the graphs `stars` and `names`."""
    for name, magnitude in MAGNITUDES.items():
        star = NamedNode(STARS + name)
        yield Quad(star, NamedNode(f"{STARS}magnitude"), Literal(magnitude), NamedNode(f"{base}/graph/stars"))
        yield Quad(star, LABEL, Literal(name.title(), language="en"), NamedNode(f"{base}/graph/names"))
    yield Quad(NamedNode(f"{STARS}vega"), LABEL, Literal("Wega", language="de"), NamedNode(f"{base}/graph/names"))


def everything(base: str) -> Iterable[Quad]:
    """Yield those, `kinds` with every kind of term, and a graph of 1,000 items."""
    yield from skies(base)
    for step, value in KINDS.items():
        yield Quad(NamedNode(f"{BASE}thing"), NamedNode(BASE + step), value, NamedNode(f"{base}/graph/kinds"))
    yield from items(1000, "items")


def distances(base: str) -> Iterable[Quad]:
    """Yield the graph `distances` of the same stars, one of 1,000 items, and `many`."""
    for name, distance in DISTANCES.items():
        star = NamedNode(STARS + name)
        yield Quad(star, NamedNode(f"{STARS}distance"), Literal(distance), NamedNode(f"{base}/graph/distances"))
    yield from items(1000, "items")
    for number in range(MANY):
        member = NamedNode(f"{BASE}member/{number}")
        yield Quad(member, NamedNode(f"{BASE}number"), Literal(number), NamedNode(f"{base}/graph/many"))


def front(folder: Path, limits: QueryLimits, quads: Callable[[str], Iterable[Quad]]) -> Server:
    """
    A server over what `quads` gives for its address, so that its graphs are below it.

    It starts without data: its address is only known then.
    """
    store_root = folder / "store"
    store_root.mkdir()
    file_records(folder, {"providers": [], "versions": {}, "runs": {}})
    server = serve(folder, store_root, limits, healthy=False)
    try:
        PublishedStore(store_root).add(quads(server.url))
        _wait(server)
    except BaseException:
        server.stop()
        raise
    return server


def _wait(server: Server) -> None:
    end = time.monotonic() + 30
    while requests.get(f"{server.url}/healthz", timeout=240).status_code != 200:
        assert time.monotonic() < end, "the server does not see its data"
        time.sleep(0.05)
