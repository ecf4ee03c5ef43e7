"""
Peak memory: what a command and all it starts hold at once.

The command gets a session of its own, which its children stay in even where they change their process group or are
forked from a server. A page that several processes share is counted once: forked processes have most of an interpreter
in common, and the plain sum of their resident pages is 50 MB more than they take.

Source: proc_pid_smaps_rollup(5), "Pss".
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from bench.machine import process_fields

EVERY_S = 0.01
"""Seconds between two looks."""

_DISCOVER = 3
"""New processes are searched for at every so many looks, because that reads all of /proc."""


@dataclass(frozen=True, slots=True)
class Peak:
    """
    What a command took.

    Attributes:
        bytes: Memory of all its processes at the moment when that was most, shared pages counted once.
        seconds: Wall time, measured beside the looking.
        output: What it printed.
    """

    bytes: int
    seconds: float
    output: str


def peak(command: Sequence[str], folder: Path) -> Peak:
    """
    Run a command in `folder` and watch its memory.

    Raises:
        BenchError: It failed.
    """
    began = time.monotonic()
    said = folder / "said"
    with said.open("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            most = _watch(process)
        finally:
            _end(process.pid)
            process.wait()
        seconds = time.monotonic() - began
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        raise BenchError(f"`{' '.join(command)}` ended with {process.returncode}: {text.strip()[-1000:]}")
    return Peak(most, seconds, text)


def _watch(process: subprocess.Popen[bytes]) -> int:
    most, look = 0, 0
    members: list[str] = []
    while process.poll() is None:
        if look % _DISCOVER == 0:
            members = _members(process.pid)
        look += 1
        most = max(most, sum(map(memory, members)))
        time.sleep(EVERY_S)
    return most


def _members(session: int) -> list[str]:
    """The processes of a session."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and _session(pid) == session]


def _session(pid: str) -> int:
    fields = process_fields(pid)
    return int(fields[3]) if fields else 0


def memory(pid: str) -> int:
    """Resident bytes of a process, its part of what it shares with others; 0 when it has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def _end(session: int) -> None:
    """Kill what is left of a session."""
    for pid in _members(session):
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            continue
