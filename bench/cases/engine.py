"""
The store on an engine: a first load beside the engine's own over HTTP, and a full dump again beside subject deletion.

Both servers are of one kind, Oxigraph's unless TESTED_ENGINES names others, each with a folder of its own; the peer is
given what we are given.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from bench.cases.again import Pair
from bench.data import Recipe
from bench.errors import BenchError
from bench.ground import Ground, millions
from bench.instance import instance, settings_in
from bench.literal import Twin, twin
from bench.measure import Sample, Series, clocked, interleaved
from bench.provider import provider
from bench.table import Row, Target, compared
from harvest.config.engine import EngineSettings
from harvest.config.settings import METADATA
from harvest.model import Outcome
from sparql.store.address import EngineAddress
from sparql.store.engine import Engine
from sparql.store.remote import RemoteStore
from tests.engines import ENGINES, serving

FIRST = Target(1.3, "slower")
AGAIN = Target(12, "faster")


def run(ground: Ground) -> Iterator[Row]:
    """Two rows an engine: the first load, where the engine takes whole graphs, and 1 % changed."""
    for name in ENGINES:
        yield from _rows(ground, name)


def _rows(ground: Ground, name: str) -> Iterator[Row]:
    recipe = Recipe(ground.scale.triples)
    first, changed = (ground.source(r) for r in (recipe, Recipe(recipe.triples, edition=1)))
    with (
        ground.room("engine") as room,
        provider(room / "served") as served,
        serving(name, room / "a") as mine,
        serving(name, room / "b") as its,
    ):
        served.announce("p", first)
        named = EngineSettings(mine.address.query, mine.address.update, mine.address.graph_store)
        with (
            instance(room / "ours", {"p": f"{served.url}/p.ttl"}, store=named) as ours,
            twin(room / "twin", "p") as made,
        ):
            ground.say(f"importing into {name}")
            began = ours.harvest("p")
            snapshot = ours.harvester.instance.files("p").snapshot_file(1)
            literal = over_engine(made, its.address, room / "remote")
            if its.address.graph_store:
                loaded, put = Series(), Series()
                loaded.samples.append(Sample(began.steps["load"] + began.steps["describe"] + began.steps["publish"]))
                put.samples.append(put_whole(its.address, made.graph, snapshot))
                yield compared("first load of an engine", f"{name}, {millions(recipe.triples)}", loaded, put, FIRST)
            else:
                with snapshot.open("rb") as lines:
                    made.store.replace_graph(made.graph, lines)
            ground.say(f"announcing 1 % changed subjects to {name}")
            pair = Pair(served, ours, literal)
            found = interleaved(pair.contest(cycle([changed, first]), Outcome.COMMITTED), ground.scale.runs)
            what = f"{name}, {millions(recipe.triples)}, 1 % of the subjects changed"
            yield compared("full dump again in an engine", what, found["ours"], found["peer"], AGAIN)


def over_engine(made: Twin, address: EngineAddress, folder: Path) -> Twin:
    """The twin with an engine in place of its store."""
    settings = settings_in(folder)
    made.store.close()
    engine = Engine(replace(address, dialect=Engine(address).identify()))
    made.store = RemoteStore(engine, folder, settings.graph(METADATA), settings.graph_base)
    return made


def put_whole(address: EngineAddress, graph: str, snapshot: Path) -> Sample:
    """What the engine takes for the lines of a snapshot by its own Graph Store Protocol, as curl would send them."""
    ending = f" <{graph}> .\n".encode()
    triples = snapshot.with_name("bench.nt")
    with snapshot.open("rb") as lines, triples.open("wb") as out:
        out.writelines(line.removesuffix(ending) + b" .\n" for line in lines)
    command = ["curl", "--silent", "--show-error", "--fail", "--request", "PUT", "--upload-file", str(triples)]
    command += ["--header", "Content-Type: application/n-triples", f"{address.graph_store}?graph={graph}"]
    with clocked() as sample:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    triples.unlink()
    if done.returncode:
        raise BenchError(f"the engine did not take {graph}: {done.stderr.strip()}")
    return sample
