"""SELECT of a million rows: its first byte and its last, beside the peer's, and the memory of the front meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from statistics import median

from bench import front
from bench.asking import JSON, TSV, Times, ask, timed
from bench.errors import Disagreement
from bench.family import watched
from bench.front import Server
from bench.ground import Ground, millions
from bench.machine import others, usage
from bench.table import Row, Target

ROWS = 1_000_000
TARGET = Target(1.5, "slower")
FLAT = Target(1.2, "slower")
FORMATS = {"JSON": JSON, "TSV": TSV}


def run(ground: Ground) -> Iterator[Row]:
    """Three rows a format."""
    folder = front.served(ground, ground.scale.triples)
    rows = min(ROWS, ground.scale.triples // 2)
    query = f"SELECT ?s ?p ?o {{ ?s ?p ?o }} LIMIT {rows}"
    # A result is larger than what the cache takes, but each run is to be evaluated anew whatever its bounds are.
    with front.ours(folder, cache=0) as ours, front.theirs(folder) as theirs:
        for name, accept in FORMATS.items():
            label = f"{millions(rows).replace('triples', 'rows')}, {name}"
            ground.say(f"SELECT of {label}")
            _agree((ours, theirs), query, accept, rows)
            yield from _rows(ground, (ours, theirs), (query, accept), label)


def _agree(servers: tuple[Server, Server], query: str, accept: str, rows: int) -> None:
    here, there = (ask(server.url, query, accept).body for server in servers)
    found = here.count(b'"s":{') if accept == JSON else here.count(b"\n") - 1
    if found != rows:
        raise Disagreement(f"{found} rows came, not {rows}")
    if hashlib.sha256(here).digest() != hashlib.sha256(there).digest():
        raise Disagreement(f"{len(here)} bytes of ours and {len(there)} of the peer are not the same")


def _rows(ground: Ground, servers: tuple[Server, Server], asked: tuple[str, str], label: str) -> Iterator[Row]:
    before = usage()
    pairs: list[tuple[Times, Times]] = []
    with watched(servers[0].pid) as memory:
        for _ in range(ground.scale.runs):
            here, there = (timed(server.url, *asked) for server in servers)
            pairs.append((here, there))
    busy = others(before, usage())
    for name, place in (("first byte", "first_s"), ("whole", "whole_s")):
        figures = [(getattr(here, place), getattr(there, place)) for here, there in pairs]
        row = Row(f"SELECT of many rows, {name}", label, median(here for here, _ in figures), target=TARGET)
        row.peer, row.ratio = median(there for _, there in figures), median(here / there for here, there in figures)
        row.others = busy
        row.details["seconds"] = figures
        yield row
    row = Row("the same, memory of the front, peak beside start", label, max(memory.fronts) / 1e6, unit="MB")
    row.peer, row.target = memory.fronts[0] / 1e6, FLAT
    peak = max(memory.workers) / 1e6
    row.notes.append(f"the front's ends at {memory.fronts[-1] / 1e6:.0f} MB; its workers' peak {peak:.0f} MB in all")
    yield row
