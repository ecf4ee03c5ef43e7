"""First import: from the look at a description to the published generation, beside `oxigraph load` of the same file."""

from __future__ import annotations

import bz2
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench import peer
from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.instance import instance
from bench.measure import Sample, interleaved
from bench.provider import provider
from bench.table import Row, Target, compared

TARGET = Target(1.1, "slower")
GRAPH = "http://bench.example/graph/p"
REAL = "large/dbpedia-links"


def run(ground: Ground) -> Iterator[Row]:
    """A row for each size, and for each real file."""
    for triples in ground.scale.sizes:
        source = ground.source(Recipe(triples))
        yield _row(ground, millions(triples), source, source)
    if not ground.scale.real:
        return
    files = sorted((ground.realdata / REAL).glob("*.nt.bz2")) if ground.realdata else []
    for packed in files:
        with ground.room("real") as room:
            plain = room / packed.stem
            with bz2.open(packed) as stream, plain.open("wb") as out:
                shutil.copyfileobj(stream, out, 1 << 20)
            yield _row(ground, packed.name, packed, plain)
    if not files:
        yield Row("first import", "real data", None, notes=["not measured: no real data; set HARVEST_REALDATA"])


def _row(ground: Ground, label: str, dump: Path, plain: Path) -> Row:
    """Import `dump`; the peer loads `plain`, which is the same without compression."""
    counts: dict[str, int] = {}

    def ours() -> Sample:
        sample, counts["ours"] = _imported(ground, dump)
        return sample

    def theirs() -> Sample:
        with ground.room("peer") as room:
            sample = peer.load(room / "store", GRAPH, plain)
            counts["peer"] = peer.count(room / "store", GRAPH)
        return sample

    ground.say(f"first import of {label}")
    series = interleaved({"ours": ours, "peer": theirs}, ground.scale.runs)
    if counts["ours"] != counts["peer"]:
        raise Disagreement(f"{label}: we hold {counts['ours']} triples, oxigraph {counts['peer']}")
    row = compared("first import", label, series["ours"], series["peer"], TARGET)
    row.details["triples"] = counts["ours"]
    return row


def _imported(ground: Ground, dump: Path) -> tuple[Sample, int]:
    """The time of a first import into a new instance, and how many triples it gave."""
    with ground.room("import") as room, provider(room / "served") as served:
        served.announce("p", dump)
        with instance(room / "ours", {"p": f"{served.url}/p.ttl"}) as ours:
            return ours.harvest("p"), ours.count("p")
