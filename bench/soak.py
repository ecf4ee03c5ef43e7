"""
Many harvests and ticks in one process, under a clock that runs ahead.

It is run by `python -c "from bench.soak import run; run()" FOLDER HARVESTS TICKS`: with `-m` each washing process would
import all of this again.

It prints one JSON object a line: at the start, when every provider was harvested a few times, in the middle and at the
end of the harvests, and at the end of the ticks. An hour passes with each harvest and a minute with each tick, so that
`keep.age` is over for the first harvests before the last.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from bench.instance import Instance, instance
from bench.provider import Provider, provider
from harvest.pipeline import Retention

PROVIDERS: Final = 10
STATEMENTS: Final = 500
EVERY: Final = 50
"""Harvests after which the exports are made, and the past is let go."""
WARM: Final = 5
"""Harvests of each provider before the start."""


class Clock:
    """A clock that stands still until `forward`."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The time now (aware, UTC)."""
        return self.now

    def forward(self, **delta: float) -> None:
        """Let so much time pass."""
        self.now += timedelta(**delta)


class Soak:
    """Harvests and ticks of one instance."""

    def __init__(self, ours: Instance, served: Provider, clock: Clock) -> None:
        self._ours = ours
        self._served = served
        self._clock = clock
        self._past = Retention(ours.harvester.instance)
        self._done = 0

    def harvest(self, times: int) -> None:
        """Harvest the providers in turn, each with 2 % of its statements changed."""
        for _ in range(times):
            number = self._done % PROVIDERS
            dump = self._served.folder.parent / f"p{number}.nt"
            dump.write_text("".join(_statements(self._done // PROVIDERS)))
            self._served.announce(f"p{number}", dump)
            self._ours.harvest(f"p{number}")
            self._clock.forward(hours=1)
            self._done += 1
            if self._done % EVERY == 0:
                self._ours.harvester.export()
                self._past.let_go()

    def tick(self, times: int) -> None:
        """Look at the providers, none of which changed, in turn."""
        for number in range(times):
            self._ours.harvester.look(f"p{number % PROVIDERS}")
            self._clock.forward(minutes=1)

    def figures(self, at: str) -> dict[str, int | str]:
        """What the process and the data directory take now."""
        gc.collect()
        data = self._ours.settings.data_dir
        files = [path for path in data.rglob("*") if path.is_file() and not path.is_symlink()]
        sizes = {(status.st_dev, status.st_ino): status.st_blocks * 512 for status in map(os.stat, files)}
        return {
            "at": at,
            "harvests": self._done,
            "memory": _resident(),
            "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task")),
            "ledger": sum(path.stat().st_size for path in data.glob("ledger.sqlite*")),
            "files": len(files),
            "disk": sum(sizes.values()),
            "store": sum(path.stat().st_size for path in (data / "store" / "working").iterdir()),
        }


def _statements(edition: int) -> list[str]:
    return [
        f'<http://x.example/{n}> <http://x.example/p> "{edition if n % 50 == edition % 50 else 0}" .\n'
        for n in range(STATEMENTS)
    ]


def _resident() -> int:
    """Bytes of memory of this process. Source: proc_pid_status(5), "VmRSS"."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def main(folder: Path, harvests: int, ticks: int) -> None:
    """Soak, and print what it took."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    clock = Clock()
    with provider(folder / "served") as served:
        registry = {f"p{number}": f"{served.url}/p{number}.ttl" for number in range(PROVIDERS)}
        with instance(folder / "ours", registry, clock) as ours:
            soak = Soak(ours, served, clock)
            soak.harvest(WARM * PROVIDERS)
            _print(soak.figures("start"))
            soak.harvest(harvests // 2)
            _print(soak.figures("middle"))
            soak.harvest(harvests - harvests // 2)
            _print(soak.figures("end"))
            soak.tick(ticks)
            _print(soak.figures("ticks"))


def _print(figures: dict[str, int | str]) -> None:
    print(json.dumps(figures), flush=True)


def run() -> None:
    """Soak as the command line says."""
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
