"""Point lookups while a catalogue is imported beside them: the slowest of a hundred, beside an idle instance's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from bench import wrk
from bench.asking import path
from bench.cases.queries import LOOKUPS
from bench.data import Recipe
from bench.ground import Ground, millions
from bench.machine import others, usage
from bench.provider import provider
from bench.served import Served, serving
from bench.table import Row, Target
from bench.wrk import Load

TARGET = Target(2, "slower")
(QUERY,) = LOOKUPS.values()


def run(ground: Ground) -> Iterator[Row]:
    """A row for 8 connections, and one for a single one, which waits for nobody before it."""
    wrk.command()
    triples = ground.scale.triples
    first, second = ground.source(Recipe(triples)), ground.source(Recipe(triples, catalogue="d"))
    with ground.room("meanwhile") as room, provider(room / "files") as files:
        files.announce("p", first)
        with serving(room / "ours") as served:
            ground.say(f"importing {millions(triples)}")
            served.register({"p": f"{files.url}/p.ttl"})
            served.until("p", 1)
            names = {"p": f"{files.url}/p.ttl"}
            for name, connections in (("q", wrk.CONNECTIONS), ("r", 1)):
                ground.say(f"importing {millions(triples)} more, {connections} connections")
                files.announce(name, second)
                names[name] = f"{files.url}/{name}.ttl"
                yield _row(ground, served, names, connections)


def _row(ground: Ground, served: Served, names: dict[str, str], connections: int) -> Row:
    triples, newest = ground.scale.triples, list(names)[-1]
    items = Recipe(triples).items
    query = path(served.url, QUERY)
    served.rest()
    idle = [
        wrk.run(served.url, Load(query, items, turn * 104_729, connections=connections), ground.scale.wrk_s)
        for turn in range(ground.scale.rounds)
    ]
    before, began = usage(), time.monotonic()
    with wrk.running(served.url, Load(query, items, 15_485_863, connections=connections)) as running:
        served.register(names)
        served.until(newest, 1)
    busy = running.answered
    row = Row(
        f"p99 of point lookups while importing, {connections} connections",
        millions(triples),
        busy.p99_s * 1000,
        unit="ms",
    )
    row.peer, row.unit, row.target = median(each.p99_s for each in idle) * 1000, "ms", TARGET
    row.others = others(before, usage())
    errors = busy.errors + sum(each.errors for each in idle)
    row.spoiled = errors > 0
    rates = f"{busy.rate:.0f} requests a second beside {median(each.rate for each in idle):.0f}"
    late = f"median {busy.median_s * 1000:.1f} ms beside {median(each.median_s for each in idle) * 1000:.1f} ms"
    row.notes.append(f"{rates}; {late}; the import took {time.monotonic() - began:.0f} s; {errors} requests failed")
    return row
