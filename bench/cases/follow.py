"""A replica applies what its origin harvested: the time of both for one change, and for the load that is part of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Final

from bench.data import TRIPLES_PER_ITEM, Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.instance import Instance
from bench.measure import Sample, Series, clocked
from bench.provider import Provider, provider
from bench.table import Row, Target, compared
from harvest.config.loader import load_settings
from harvest.pipeline import Harvester, opened
from harvest.service.following import as_replica
from harvest.service.serve import Front, free_port
from harvest.wash import process

TARGET: Final = Target(1.5, "slower")

STATEMENTS: Final = 100_000
"""Of the change: half of them go, half come; an item that changes has four."""
LOADING: Final = ("load", "describe", "publish", "commit", "adopt")
"""The steps that bring a filed change to the readers."""


def run(ground: Ground) -> Iterator[Row]:
    """A row of the whole, from the look to the generation that readers open, and one of loading alone."""
    with ExitStack() as stack:
        room: Path = stack.enter_context(ground.room("follow"))
        served = stack.enter_context(provider(room / "served"))
        (room / "origin").mkdir()
        (room / "origin" / "registry.yaml").write_text(f"p:\n  void: {served.url}/p.ttl\n")
        process.call(len, process.Bounds(60, "warm-up"), "ready")
        origin = _opened(room / "origin", "", stack)
        ground.say(f"importing {millions(ground.scale.triples)}")
        origin_s, replica_s, sizes = Series(), Series(), []
        _harvested(ground, served, origin, 0)
        stack.enter_context(_Served(origin))
        replica = _opened(room / "replica", origin.settings.base_url, stack)
        _followed(origin, replica)
        ground.say("following")
        for edition in range(1, ground.scale.runs + 1):
            origin_s.samples.append(_harvested(ground, served, origin, edition))
            replica_s.samples.append(_followed(origin, replica))
            [*_, last] = origin.harvester.instance.ledger.versions("p")
            sizes.append(last.added + last.removed)
    what = f"{sizes[0]:,} statements of {millions(ground.scale.triples)}"
    whole = compared("follow", what, replica_s, origin_s, None)
    whole.notes.append("the peer is the origin's harvest of the full dump; the origin's front answers meanwhile")
    yield whole
    row = compared("follow, until readers have it", what, _adopted(replica_s), _loading(origin_s), TARGET)
    row.notes.append(f"the peer are the origin's steps {', '.join(LOADING)}; the snapshot is compared afterwards")
    yield row


class _Served:
    """The web front of an instance while the block runs."""

    def __init__(self, ours: Instance) -> None:
        self._front = Front(ours.settings)

    def __enter__(self) -> None:
        self._front.start()

    def __exit__(self, *_: object) -> None:
        self._front.stop()


def _opened(folder: Path, origin: str, stack: ExitStack) -> Instance:
    folder.mkdir(exist_ok=True)
    file, port = folder / "harvest.yaml", free_port()
    file.write_text(
        f"base_url: http://127.0.0.1:{port}\nbind: 127.0.0.1:{port}\ngraph_base: http://127.0.0.1:{port}/graph/\n"
        f"data_dir: var\nexports_dir: exports\nhttp: {{allow_loopback: true, retries: 0}}\n"
        f"guard: {{share: 1}}\n" + (f"follow: {origin}\n" if origin else "")
    )
    settings = as_replica(load_settings(file, {}))
    began: list[tuple[str, float]] = []
    made = stack.enter_context(opened(settings, on_step=lambda _, step: began.append((step, time.monotonic()))))
    return Instance(settings, Harvester(made), began)


def _harvested(ground: Ground, served: Provider, origin: Instance, edition: int) -> Sample:
    items = min(STATEMENTS // 4, ground.scale.triples // TRIPLES_PER_ITEM // 4)
    share = items / (ground.scale.triples // TRIPLES_PER_ITEM)
    served.announce("p", ground.source(Recipe(ground.scale.triples, edition=edition, changed=share)))
    return origin.harvest("p")


def _followed(origin: Instance, replica: Instance) -> Sample:
    replica.began.clear()
    with clocked() as sample:
        done = replica.harvester.maintenance.following.tick()
    there, here = (each.harvester.instance.ledger.versions("p")[-1] for each in (origin, replica))
    if not done or (there.n, there.digest) != (here.n, here.digest):
        raise Disagreement(f"the origin has version {there.n}, {there.digest}, the replica {here.n}, {here.digest}")
    ended = [*replica.began, ("", time.monotonic())]
    for (step, start), (_, end) in pairwise(ended):
        sample.steps[step] = sample.steps.get(step, 0.0) + end - start
    return sample


def _loading(series: Series) -> Series:
    """The time of loading alone."""
    return Series(
        [
            Sample(sum(sample.steps.get(step, 0.0) for step in LOADING), others=sample.others)
            for sample in series.samples
        ]
    )


def _adopted(series: Series) -> Series:
    """The time until readers have the version, from the question to the origin on."""
    return Series(
        [Sample(sample.seconds - sample.steps.get("snapshot", 0.0), others=sample.others) for sample in series.samples]
    )
