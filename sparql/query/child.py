"""The process of a query worker: started, measured, signalled and ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

import sparql
from sparql.query.worker import Options

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_SCHEDULED: Final = 2
"""What marks the clock of a process that counts in nanoseconds. Source: Linux, clock_getcpuclockid(3)."""
_PACKAGES: Final = str(Path(sparql.__file__).resolve().parents[1])


class Child:
    """A process that answers queries at the descriptor that its options name."""

    def __init__(self, options: Options) -> None:
        path = os.pathsep.join(filter(None, (_PACKAGES, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sparql.query.worker", json.dumps(asdict(options))],
            pass_fds=[options.descriptor],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )

    @property
    def pid(self) -> int:
        """Its id."""
        return self._process.pid

    def tell(self, number: int) -> None:
        """Send it a signal."""
        with contextlib.suppress(OSError):  # It has just ended.
            self._process.send_signal(number)

    def kill(self) -> None:
        """Have the system end it."""
        self._process.kill()

    def wait(self) -> None:
        """Return when it has ended; its remains are then taken away."""
        self._process.wait()

    def is_over(self) -> bool:
        """Whether it has ended; its remains are then taken away."""
        return self._process.poll() is not None

    def clock(self) -> float:
        """Its processor time in seconds; wall time where the system does not tell."""
        try:
            return time.clock_gettime(~self._process.pid << 3 | _SCHEDULED)
        except OSError:
            return time.monotonic()

    def memory(self) -> int:
        """Bytes that it has of its own: resident and not shared. 0 where the system does not tell."""
        try:
            with open(f"/proc/{self._process.pid}/statm", "rb") as sizes:
                _, resident, shared, *_ = sizes.read().split()
        except OSError:
            return 0
        return (int(resident) - int(shared)) * _PAGE
