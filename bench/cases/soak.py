"""A year in little: memory, descriptors and ledger of a process that harvests and ticks for long."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.errors import BenchError
from bench.ground import Ground
from bench.table import Row, Target

MB = 1_000_000

MEMORY = Target(10, "ours")
"""MB of memory between the middle and the end: what is kept in memory on purpose is there before."""
DESCRIPTORS = Target(4, "ours")
LEDGER = Target(10, "ours")
"""kB of ledger a harvest, which is kept for good."""

Figures = Mapping[str, int]


def run(ground: Ground) -> Iterator[Row]:
    """Four rows: what grows from the middle of the harvests to their end, and over ticks that find nothing."""
    harvests, ticks = ground.scale.harvests, ground.scale.ticks
    with ground.room("soak") as room:
        found = _soaked(room, harvests, ticks, ground)
    middle, end, after = (found[at] for at in ("middle", "end", "ticks"))
    data, half = f"{harvests} harvests", end["harvests"] - middle["harvests"]
    memory = Row("soak, memory", data, (end["memory"] - middle["memory"]) / MB, unit="MB", target=MEMORY)
    memory.notes += [f"{at}: {_summary(figures)}" for at, figures in found.items()]
    memory.details |= {at: dict(figures) for at, figures in found.items()}
    yield memory
    yield Row("soak, descriptors", data, end["descriptors"] - middle["descriptors"], unit="", target=DESCRIPTORS)
    ledger = Row("soak, ledger", data, (end["ledger"] - middle["ledger"]) / half / 1000, unit="kB each", target=LEDGER)
    disk, files = (end["disk"] - middle["disk"]) / half / 1000, (end["files"] - middle["files"]) / half
    ledger.notes.append(f"all of the disk {disk:.0f} kB and {files:.1f} files a harvest")
    yield ledger
    idle = Row("soak, ticks", f"{ticks} ticks", (after["memory"] - end["memory"]) / MB, unit="MB", target=MEMORY)
    idle.notes.append(
        f"ledger {after['ledger'] - end['ledger']} bytes and {after['files'] - end['files']} files more after the ticks"
    )
    yield idle


def _summary(figures: Figures) -> str:
    sizes = ", ".join(f"{name} {figures[name] / MB:.1f} MB" for name in ("memory", "ledger", "store", "disk"))
    return f"{sizes}, {figures['files']} files, {figures['descriptors']} descriptors, {figures['threads']} threads"


def _soaked(room: Path, harvests: int, ticks: int, ground: Ground) -> dict[str, Figures]:
    command = [sys.executable, "-c", "from bench.soak import run; run()", str(room), str(harvests), str(ticks)]
    found: dict[str, Figures] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            figures = json.loads(line)
            found[figures["at"]] = figures
            ground.say(f"{figures['at']}: {_summary(figures)}")
    if process.returncode != 0 or len(found) != 4:
        raise BenchError(f"the soak ended with {process.returncode} after {', '.join(found) or 'nothing'}")
    return found
