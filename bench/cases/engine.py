"""
The store on an engine: a first load beside the engine's own over HTTP, and a full dump again beside subject deletion.

Both servers are of one kind, Oxigraph's unless TESTED_ENGINES names others, each with a folder of its own; the peer is
given what we are given.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import cycle, islice
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
PARTS = {"virtuoso": 50_000}
"""Lines of one file for the Graph Store Protocol: Virtuoso took those quickest, and gave no answer for 500,000."""


def run(ground: Ground) -> Iterator[Row]:
    """Two rows an engine: the first load, and 1 % of the subjects changed."""
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
            took = began.steps["load"] + began.steps["describe"] + began.steps["publish"]
            loaded = Series([Sample(took, others=began.others)])
            put = Series([its_first(name, literal, its.address, snapshot)])
            yield compared("first load of an engine", f"{name}, {millions(recipe.triples)}", loaded, put, FIRST)
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


def its_first(name: str, literal: Twin, address: EngineAddress, snapshot: Path) -> Sample:
    """What the engine takes for the lines of a snapshot by its own Graph Store Protocol, sent by curl."""
    ending = f" <{literal.graph}> .\n".encode()
    part = snapshot.with_name("bench.nt")
    taken = []
    with snapshot.open("rb") as lines:
        triples = (line.removesuffix(ending) + b" .\n" for line in lines)
        while write(part, islice(triples, PARTS.get(name))):
            taken.append(sent(address, literal.graph, part, "POST" if name in PARTS else "PUT"))
    part.unlink()
    return Sample(sum(sample.seconds for sample in taken), others=max(sample.others for sample in taken))


def write(path: Path, lines: Iterable[bytes]) -> int:
    """Make a file these lines; gives its bytes."""
    with path.open("wb") as out:
        out.writelines(lines)
        return out.tell()


def sent(address: EngineAddress, graph: str, triples: Path, method: str) -> Sample:
    """What the engine takes for one file."""
    command = ["curl", "--silent", "--show-error", "--fail", "--request", method, "--upload-file", str(triples)]
    command += ["--header", "Content-Type: application/n-triples", f"{address.graph_store}?graph={graph}"]
    with clocked() as sample:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"the engine did not take {graph}: {done.stderr.strip()}")
    return sample
