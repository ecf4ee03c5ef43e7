"""A process and all that it started: their processor time, their memory, and whether they are gone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.machine import process_fields
from bench.memory import memory
from sparql.worker.worker import NAME

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
EVERY_S = 0.1
"""Seconds between two looks at the memory of a family."""


@dataclass(frozen=True, slots=True)
class Process:
    """
    One process; a number alone may be given to another one later.

    Attributes:
        pid: Its id.
        since: When it was started, in ticks since the start of the machine.
    """

    pid: int
    since: str

    def lives(self) -> bool:
        """Whether it runs; one that waits to be taken away by its parent does not."""
        fields = process_fields(str(self.pid))
        return bool(fields) and fields[19] == self.since and fields[0] != "Z"

    def command(self) -> str:
        """What it was started as; empty when it has ended."""
        with suppress(OSError):
            return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return ""


def family(pid: int) -> set[Process]:
    """A process and its descendants."""
    facts = {int(entry): process_fields(entry) for entry in os.listdir("/proc") if entry.isdigit()}
    found = {pid}
    while more := {each for each, fields in facts.items() if fields and int(fields[1]) in found} - found:
        found |= more
    return {Process(each, facts[each][19]) for each in found if facts.get(each)}


def processor_s(pid: int) -> float:
    """Seconds of processor time of a process, its descendants, and those of them that were waited for."""
    fields = (process_fields(str(process.pid)) for process in family(pid))
    return sum(sum(map(int, each[11:15])) for each in fields if each) * TICK_S


@dataclass(slots=True)
class Memory:
    """
    Memory of a family as time went by, in bytes, shared pages counted once.

    Attributes:
        fronts: Of the front: each look.
        workers: Of its query workers together: each look.
        seen: All processes that there were.
    """

    fronts: list[int] = field(default_factory=list)
    workers: list[int] = field(default_factory=list)
    seen: set[Process] = field(default_factory=set)

    def look(self, pid: int) -> None:
        """Add a look at the family of a front."""
        front = workers = 0
        for process in family(pid):
            self.seen.add(process)
            worker = is_worker(process)  # Asked first: when it has ended, it has no memory either.
            size = memory(str(process.pid))
            if worker:
                workers += size
            else:
                front += size
        self.fronts.append(front)
        self.workers.append(workers)


def is_worker(process: Process) -> bool:
    """Whether a process answers queries."""
    with suppress(OSError):
        return Path(f"/proc/{process.pid}/comm").read_text() == f"{NAME}\n"
    return False


@contextmanager
def watched(pid: int, every_s: float = EVERY_S) -> Iterator[Memory]:
    """The memory of a front while the block runs: first and last look are at its ends."""
    found, stop = Memory(), threading.Event()
    found.look(pid)

    def watch() -> None:
        while not stop.wait(every_s):
            found.look(pid)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()
        found.look(pid)


def left(processes: set[Process], patience_s: float) -> list[str]:
    """The commands of those that still run after some seconds, which are all waited for only if one does."""
    end = time.monotonic() + patience_s
    while any(process.lives() for process in processes) and time.monotonic() < end:
        time.sleep(0.05)
    return [process.command() for process in processes if process.lives()]
