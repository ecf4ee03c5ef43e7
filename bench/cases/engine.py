"""
The store on an engine: a first load beside the engine's own over HTTP, and a full dump again beside subject deletion.

Both servers are Oxigraph's, each with a folder of its own; the peer is given what we are given.
"""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
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
from bench.peer import oxigraph
from bench.provider import provider
from bench.table import Row, Target, compared
from harvest.config.engine import EngineSettings
from harvest.config.settings import METADATA
from harvest.model import Outcome
from harvest.service.serve import free_port
from sparql.store.engine import Dialect, Engine, EngineAddress
from sparql.store.remote import RemoteStore

FIRST = Target(1.3, "slower")
AGAIN = Target(12, "faster")
PATIENCE_S = 60.0


def run(ground: Ground) -> Iterator[Row]:
    """A row for the first load, and one for 1 % changed."""
    recipe = Recipe(ground.scale.triples)
    first, changed = (ground.source(r) for r in (recipe, Recipe(recipe.triples, edition=1)))
    with (
        ground.room("engine") as room,
        provider(room / "served") as served,
        server(room / "a") as mine,
        server(room / "b") as its,
    ):
        served.announce("p", first)
        named = EngineSettings(mine.query, mine.update, mine.graph_store)
        with (
            instance(room / "ours", {"p": f"{served.url}/p.ttl"}, store=named) as ours,
            twin(room / "twin", "p") as made,
        ):
            ground.say("importing into an engine")
            began = ours.harvest("p")
            loaded, put = Series(), Series()
            loaded.samples.append(Sample(began.steps["load"] + began.steps["describe"] + began.steps["publish"]))
            snapshot = ours.harvester.instance.files("p").snapshot_file(1)
            put.samples.append(put_whole(its, made.graph, snapshot))
            yield compared("first load of an engine", millions(recipe.triples), loaded, put, FIRST)
            literal = over_engine(made, its, room / "remote")
            ground.say("announcing 1 % changed subjects")
            pair = Pair(served, ours, literal)
            found = interleaved(pair.contest(cycle([changed, first]), Outcome.COMMITTED), ground.scale.runs)
            what = f"{millions(recipe.triples)}, 1 % of the subjects changed"
            yield compared("full dump again in an engine", what, found["ours"], found["peer"], AGAIN)


def over_engine(made: Twin, address: EngineAddress, folder: Path) -> Twin:
    """The twin with an engine in place of its store."""
    settings = settings_in(folder)
    made.store.close()
    made.store = RemoteStore(Engine(address), folder, settings.graph(METADATA), settings.graph_base)
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


@contextmanager
def server(folder: Path) -> Iterator[EngineAddress]:
    """A server of Oxigraph with an empty folder; ended with the block."""
    folder.mkdir()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [oxigraph(), "serve", "--location", str(folder), "--bind", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while time.monotonic() < until:
                try:
                    urllib.request.urlopen(f"{url}/query?query=ASK%20%7B%7D", timeout=5).close()
                    break
                except urllib.error.URLError:
                    time.sleep(0.05)
            address = EngineAddress(f"{url}/query", f"{url}/update", f"{url}/store")
            yield replace(address, dialect=Dialect.OXIGRAPH)
        finally:
            process.kill()
