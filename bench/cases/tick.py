"""A tick over many registered providers of which none changed: it is quick, and writes nothing anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from bench.data import TRIPLES_PER_ITEM, Recipe
from bench.errors import Disagreement
from bench.ground import Ground
from bench.instance import Instance, instance
from bench.measure import Sample, clocked, interleaved
from bench.provider import provider
from bench.table import Row, Target, compared
from harvest.config.settings import ScheduleSettings
from harvest.model import Outcome
from harvest.pipeline import Harvester
from harvest.pipeline import Instance as HarvestInstance
from harvest.service.schedule import Scheduler

TARGET = Target(5, "ours")

NEVER_S = 86_400.0
"""Seconds between the schedule's own ticks, so that only the measured ones run."""


def run(ground: Ground) -> Iterator[Row]:
    """One row."""
    names = [f"p{number:05d}" for number in range(ground.scale.providers)]
    dump = ground.source(Recipe(TRIPLES_PER_ITEM))
    with ground.room("tick") as room, provider(room / "served") as served:
        for name in names:
            served.announce(name, dump)
        with instance(room / "ours", {name: f"{served.url}/{name}.ttl" for name in names}) as ours:
            ground.say(f"importing {len(names)} providers")
            _harvest_all(ours.harvester, names)
            ours.harvester.export()
            ground.say("ticking")
            yield _row(ours, len(names), ground.scale.runs)


def _harvest_all(harvester: Harvester, names: Iterable[str]) -> None:
    def harvest(name: str) -> None:
        harvester.look(name)
        results = harvester.work(name)
        if [result.outcome for result in results] != [Outcome.COMMITTED]:
            raise Disagreement(f"{name} was not harvested: {results}")

    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(harvest, names):
            pass


def _row(ours: Instance, providers: int, runs: int) -> Row:
    schedule = ScheduleSettings(NEVER_S, NEVER_S, NEVER_S)
    quiet = replace(ours.harvester.instance, settings=replace(ours.settings, schedule=schedule))
    scheduler = Scheduler(Harvester(quiet))
    scheduler.start()
    try:
        scheduler.update()
        scheduler.settle()
        _wait_for_notifications(quiet)
        watched = (ours.settings.data_dir, ours.settings.exports_dir, ours.settings.registry)
        before = marks(watched)

        def tick() -> Sample:
            with clocked() as sample:
                scheduler.update()
                scheduler.settle()
            return sample

        series = interleaved({"ours": tick}, runs)["ours"]
        written = sorted(str(path) for path, _ in before.items() ^ marks(watched).items())
    finally:
        scheduler.stop()
    row = compared("tick", f"{providers} unchanged providers", series, None, TARGET)
    row.notes.append(_note(written))
    row.details["written"] = written
    row.spoiled = bool(written)
    return row


def _wait_for_notifications(instance: HarvestInstance) -> None:
    """Return when those of the imports are gone: nobody is to be notified, and they go a hundred at a time."""
    while instance.ledger.notifications.due(instance.clock(), 1):
        time.sleep(0.5)


def _note(written: list[str]) -> str:
    if not written:
        return "no file of the data directory, the exports or the registry changed its size or time"
    return f"{len(written)} files were written although nothing changed: {', '.join(written[:5])}"


def marks(places: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """Size and time of change of every file and folder below some places."""
    found: dict[Path, tuple[int, int]] = {}
    for place in places:
        for path in (place, *place.rglob("*")):
            status = path.lstat()
            found[path] = status.st_size, status.st_mtime_ns
    return found
