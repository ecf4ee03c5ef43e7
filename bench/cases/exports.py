"""Exporting ten equal providers, of which one changed or all are new, beside `oxigraph dump` of the store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from isal import igzip

from bench import peer
from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.instance import Instance, instance
from bench.measure import Sample, Series, clocked, interleaved
from bench.provider import Provider, provider
from bench.table import Row, Target, compared

ONE_CHANGED = Target(10, "faster")
FROM_SCRATCH = Target(2, "faster")
PROVIDERS = 10


@dataclass(frozen=True, slots=True)
class Exporter:
    """An instance with ten providers, and what is run in turn."""

    ground: Ground
    served: Provider
    ours: Instance
    room: Path
    turns: Iterator[int]

    def announce(self, number: int, edition: int) -> None:
        """Announce an edition of a provider's catalogue and harvest it."""
        recipe = Recipe(self.ground.scale.exported, edition=edition, catalogue=f"c{number}")
        self.served.announce(f"p{number}", self.ground.source(recipe))
        self.ours.harvest(f"p{number}")

    def from_scratch(self) -> Sample:
        """Export everything into an empty folder."""
        shutil.rmtree(self.ours.settings.exports_dir, ignore_errors=True)
        return self._export(PROVIDERS + 1)

    def one_changed(self) -> Sample:
        """Export after another provider changed."""
        turn = next(self.turns)
        self.announce(turn % PROVIDERS, turn // PROVIDERS + 1)
        return self._export(2)

    def _export(self, files: int) -> Sample:
        with clocked() as sample:
            written = self.ours.harvester.export()
        if len(written) != files:
            raise Disagreement(f"{len(written)} files were exported and not {files}: {', '.join(written)}")
        return sample

    def dump(self) -> Sample:
        """Dump the published store by the peer."""
        generation = self.ours.harvester.instance.generations.current()
        assert generation is not None
        target = self.room / "out.nq"
        target.unlink(missing_ok=True)
        return peer.dump(generation.path, target)

    def agree(self) -> None:
        """
        See that the export holds as many statements of the providers as the dump.

        Raises:
            Disagreement: It does not.
        """
        ours = peers = 0
        with igzip.open(self.ours.settings.exports_dir / "all.nq.gz", "rb") as packed:
            ours = sum(1 for _ in packed)
        metadata = f" <{self.ours.harvester.instance.metadata_graph}> .\n".encode()
        with (self.room / "out.nq").open("rb") as dumped:
            peers = sum(not line.endswith(metadata) for line in dumped)
        if ours != peers:
            raise Disagreement(f"the export holds {ours} statements, the dump {peers}")


def run(ground: Ground) -> Iterator[Row]:
    """A row for one changed provider, and one for all."""
    names = [f"p{number}" for number in range(PROVIDERS)]
    with ExitStack() as stack:
        room = stack.enter_context(ground.room("export"))
        served = stack.enter_context(provider(room / "served"))
        urls = {name: f"{served.url}/{name}.ttl" for name in names}
        ours = stack.enter_context(instance(room / "ours", urls))
        exporter = Exporter(ground, served, ours, room, count())
        ground.say(f"importing {PROVIDERS} providers of {millions(ground.scale.exported)}")
        for number in range(PROVIDERS):
            exporter.announce(number, 0)
        ground.say("exporting")
        contest = {
            "from scratch": exporter.from_scratch,
            "one changed": exporter.one_changed,
            "peer": exporter.dump,
        }
        series = interleaved(contest, ground.scale.runs)
        exporter.agree()
    yield _row(ground, "one changed", series, ONE_CHANGED)
    yield _row(ground, "from scratch", series, FROM_SCRATCH)


def _row(ground: Ground, what: str, series: dict[str, Series], target: Target) -> Row:
    data = f"{PROVIDERS} x {millions(ground.scale.exported)}, {what}"
    return compared("export", data, series[what], series["peer"], target)
