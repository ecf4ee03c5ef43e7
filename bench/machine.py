"""The machine that measures: what it has, what is installed, how busy others keep it."""

from __future__ import annotations

import os
import platform
import shutil
import time
from importlib.metadata import version
from pathlib import Path

from bench.errors import BenchError

BYTES_PER_TRIPLE = 2_000
"""Disk that a case takes for each triple of its graphs: sources, filed dumps, snapshots, and the stores of both."""


def description(folder: Path) -> str:
    """The machine and the versions in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = len(os.sched_getaffinity(0))
    python = f"Python {platform.python_version()}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("pyoxigraph", "oxigraph"))
    return f"{_processor()}, {cores} cores, {memory:.0f} GB of memory, {_filesystem(folder)}; {python}, {packages}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return " ".join(line.split(":", 1)[1].split())
    return platform.machine()


def _filesystem(folder: Path) -> str:
    """The type of the file system that holds `folder`: memory files would make every fsync free."""
    found = "", "unknown file system"
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, kind = line.split()[:3]
        if folder.resolve().is_relative_to(mount) and len(mount) >= len(found[0]):
            found = mount, kind
    return found[1]


def check_disk(folder: Path, triples: int) -> None:
    """
    See that the disk has room for graphs of this many triples.

    Raises:
        BenchError: It has not.
    """
    needed, free = triples * BYTES_PER_TRIPLE, shutil.disk_usage(folder).free
    if free < needed:
        raise BenchError(
            f"{folder} has {free / 1e9:.1f} GB free and the cases need {needed / 1e9:.1f} GB: "
            "make room, or set TMPDIR to a folder that has it"
        )


def others(seconds: float = 0.3) -> float:
    """
    Share of all cores that other processes use, from 0 to 1, looked at while this one waits.

    What this process does in the background, such as compacting a store, is not counted.
    """
    (busy, whole), own = _ticks(), time.process_time()
    time.sleep(seconds)
    (later_busy, later_whole), own = _ticks(), time.process_time() - own
    return max(later_busy - busy - own * os.sysconf("SC_CLK_TCK"), 0) / max(later_whole - whole, 1)


def _ticks() -> tuple[int, int]:
    """Clock ticks since the start of the machine in which its cores were busy, and all of them."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, sum(ticks)
