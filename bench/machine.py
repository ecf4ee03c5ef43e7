"""The machine that measures: what it has, what is installed, how busy others keep it."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Usage:
    """
    Processor time since the start of the machine, in clock ticks over all cores.

    Attributes:
        whole: That went by.
        busy: In which a core did something.
        own: That this process took, with all that it started.
    """

    whole: int
    busy: int
    own: int


def usage() -> Usage:
    """What the machine and this process have used so far."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    return Usage(sum(ticks), sum(ticks) - idle, _own())


def others(before: Usage, after: Usage) -> float:
    """Share of all cores that other processes used between two looks, from 0 to 1."""
    busy, own = after.busy - before.busy, after.own - before.own
    return min(max((busy - own) / max(after.whole - before.whole, 1), 0.0), 1.0)


def _own() -> int:
    """
    Ticks of this process, of all its descendants, and of those of them that have ended.

    What has ended is counted where it was waited for, so the sum over the tree never falls.
    """
    parents, ticks = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := process_fields(entry)):
            parents[int(entry)] = int(fields[1])
            ticks[int(entry)] = sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks.get(pid, 0) for pid in family)


def process_fields(pid: str) -> list[str]:
    """
    The fields of `/proc/PID/stat` from the third on, which is the state; empty when the process has ended.

    Source: proc_pid_stat(5).
    """
    try:
        # The name, in parentheses before them, may hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
