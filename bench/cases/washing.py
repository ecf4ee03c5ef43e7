"""Washing alone, beside a pipe of `oxigraph convert` and `sort`, which leaves blank nodes as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench import peer
from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.measure import Sample, clocked, interleaved
from bench.stage import GRAPH
from bench.table import Row, compared
from harvest.model import Document
from harvest.settings import WashSettings
from harvest.wash import process
from harvest.wash.canonical import Washed, wash

KINDS = (("no blank nodes", 0.0), ("30 % of them touch blank nodes", 0.8))
"""What is told of a file, and the share of items with an address: three of the eight triples of those touch it."""


def run(ground: Ground) -> Iterator[Row]:
    """A row for each kind of file."""
    for told, share in KINDS:
        source = ground.source(Recipe(ground.scale.triples, blank_share=share))
        ground.say(f"washing {source.name}")
        yield _row(ground, source, f"{millions(ground.scale.triples)}, {told}")


def _row(ground: Ground, source: Path, label: str) -> Row:
    counts: dict[str, int] = {}

    def ours() -> Sample:
        with ground.room("wash") as room:
            sample, washed = _washed(source, room / "snapshot.nq")
        counts["ours"] = washed.snapshot.triples
        return sample

    def theirs() -> Sample:
        with ground.room("peer") as room:
            sample = peer.convert_and_sort(source, room / "sorted.nt")
            with (room / "sorted.nt").open("rb") as lines:
                counts["peer"] = sum(1 for _ in lines)
        return sample

    series = interleaved({"ours": ours, "peer": theirs}, ground.scale.runs)
    if counts["ours"] != counts["peer"]:
        raise Disagreement(f"{label}: we keep {counts['ours']} triples, the peer {counts['peer']}")
    return compared("washing", label, series["ours"], series["peer"], None)


def _washed(source: Path, target: Path) -> tuple[Sample, Washed]:
    limits = WashSettings()
    document = Document(source, source.as_uri(), "application/n-triples")
    with clocked() as sample:
        washed: Washed = process.call(
            wash, process.Bounds(limits.timeout_s, str(source)), [document], GRAPH, target, limits.memory
        )
    return sample, washed
