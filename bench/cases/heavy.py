"""Queries of a second and more: their time beside that of `oxigraph serve-read-only`, and again from the cache."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench import front
from bench.asking import agree, ask, timed
from bench.errors import Disagreement
from bench.front import Server
from bench.ground import Ground, millions
from bench.machine import others, usage
from bench.measure import Sample, interleaved
from bench.table import Row, Target, compared

TARGET = Target(1.1, "slower")
AGAIN = Target(100, "faster")
AGAIN_RUNS = 20

_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

QUERIES = {
    "aggregation over everything": "SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?o) AS ?d) { ?s ?p ?o } GROUP BY ?p",
    # Oxigraph looks strings up at each comparison, so that ordering the labels would take it minutes.
    "ORDER BY of all prices": "SELECT ?x { ?s <http://schema.org/price> ?x } ORDER BY DESC(?x) LIMIT 100",
    "regex over all labels": f'SELECT ?s ?l {{ ?s <{_LABEL}> ?l FILTER regex(?l, "number 1.*77, ed", "i") }}',
}


def run(ground: Ground) -> Iterator[Row]:
    """Two rows a query."""
    folder = front.served(ground, ground.scale.triples)
    # Each run is evaluated anew: nothing is remembered.
    with front.ours(folder, cache=0) as ours, front.theirs(folder) as theirs:
        for name, query in QUERIES.items():
            yield _row(ground, (ours, theirs), name, query)
    with front.ours(folder) as ours:
        for name, query in QUERIES.items():
            yield _again(ground, ours, name, query)


def _row(ground: Ground, servers: tuple[Server, Server], name: str, query: str) -> Row:
    ground.say(name)
    ours, theirs = servers
    found = agree(ours.url, theirs.url, query)
    if not found:
        raise Disagreement(f"nothing was found by {query}")
    contestants = {"ours": lambda: _timed(ours, query), "peer": lambda: _timed(theirs, query)}
    series = interleaved(contestants, ground.scale.runs)
    row = compared(name, millions(ground.scale.triples), series["ours"], series["peer"], TARGET)
    pairs = zip(series["ours"].samples, series["peer"].samples, strict=True)
    row.ratio = median(here.seconds / there.seconds for here, there in pairs)
    return row


def _again(ground: Ground, ours: Server, name: str, query: str) -> Row:
    first = _timed(ours, query).seconds
    again = median(timed(ours.url, query).whole_s for _ in range(AGAIN_RUNS))
    row = Row(f"{name}, again from the cache", millions(ground.scale.triples), again, first, target=AGAIN)
    if (said := ask(ours.url, query).cache) != "hit":
        row.notes.append(f"not from the cache: X-Cache says {said or 'nothing'}")
        row.spoiled = True
    return row


def _timed(server: Server, query: str) -> Sample:
    before = usage()
    seconds = timed(server.url, query).whole_s
    return Sample(seconds, others=others(before, usage()))
