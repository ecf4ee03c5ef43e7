"""What the system says of processes; one that ends while it is looked at is a process that has ended."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

# A file of /proc that was opened before the process ended gives ESRCH when it is read.
_ENDED = (FileNotFoundError, ProcessLookupError)


def _fields(pid: int) -> list[str]:
    """What stands behind the name in `/proc/[pid]/stat`, or nothing. Source: proc(5)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except _ENDED:
        return []


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie, which has ended and waits for its parent to hear of it."""
    fields = _fields(pid)
    return bool(fields) and fields[0] != "Z"


def stop(pid: int) -> None:
    """
    Stop a process, and return once each of its threads stands still.

    The signal is taken by one thread, and until that has its turn the others go on.
    """
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + 60
    while {_fields(int(thread))[:1] == ["T"] for thread in os.listdir(f"/proc/{pid}/task")} != {True}:
        assert time.monotonic() < end, f"{pid} does not stop"
        time.sleep(0.001)


def seconds_of(pid: int) -> float:
    """Processor time that a process has taken; infinite when it has ended."""
    fields = _fields(pid)
    if not fields or fields[0] == "Z":
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parent_of(pid: int) -> int:
    """The process that started a process; 0 when that has ended."""
    fields = _fields(pid)
    return int(fields[1]) if fields else 0


def command_of(pid: int) -> bytes:
    """Program and arguments of a process, with NUL between them; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except _ENDED:
        return b""


def name_of(pid: int) -> str:
    """What lists of processes show a process as; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except _ENDED:
        return ""


def descendants(pid: int) -> set[int]:
    """The processes below a process."""
    below: set[int] = set()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(*_ENDED):  # a thread may end between the two
            for child in map(int, children.read_text().split()):
                below |= {child, *descendants(child)}
    return below


def thread_priorities(pid: int) -> list[tuple[str, int]]:
    """The name and the nice value of each thread of a process."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):  # It has just ended.
            found.append(((thread / "comm").read_text().strip(), os.getpriority(os.PRIO_PROCESS, int(thread.name))))
    return found
