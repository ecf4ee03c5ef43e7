"""A ResourceSync list of 200,000 resources: the time it takes, and the memory of its longest and of a shorter list."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from bench.ground import Ground
from bench.measure import Sample, clocked
from bench.table import Row
from harvest.model.resourcesync import Capability
from harvest.publish.resourcesync.writing import ListHead, ListItem, write_list

ITEMS: Final = 200_000
RUNS: Final = 3
HASH: Final = f"sha-256:{'0' * 64}"
AT: Final = datetime(2026, 1, 1, tzinfo=UTC)


def run(ground: Ground) -> Iterator[Row]:
    """The rows: seconds of the whole list, and MB that Python holds at most while it is written."""
    with ground.room("lists") as room:
        count = ITEMS if ground.scale.judged else ITEMS // 100
        ground.say(f"a list of {count:,} resources")
        samples = [_timed(room, count) for _ in range(RUNS)]
        data = f"{count:,} items"
        others = max((sample.others for sample in samples), default=0)
        yield Row("list", data, median(sample.seconds for sample in samples), others=others, notes=["at most 10 s"])
        notes = [f"{_held(room, count // 2):.0f} MB of {count // 2:,} items"]
        yield Row("list memory", data, _held(room, count), unit="MB", notes=notes)


def _timed(room: Path, count: int) -> Sample:
    with clocked() as sample:
        _write(room, count)
    return sample


def _held(room: Path, count: int) -> float:
    tracemalloc.start()
    try:
        _write(room, count)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _write(room: Path, count: int) -> None:
    md = {"hash": HASH, "length": "123456", "type": "application/n-quads"}
    items = (ListItem(f"http://h.example/items/{number}.nq", AT, md) for number in range(count))
    head = ListHead(Capability.RESOURCE_LIST, {"at": AT.isoformat()})
    write_list(room / "resourcelist.xml", "http://h.example/resourcelist.xml", head, items)
