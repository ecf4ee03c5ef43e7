"""
A harvester that kills itself: `python -m tests.pipeline.crash FOLDER STEP`.

It opens the instance in FOLDER, looks at provider `p`, harvests, and sends itself SIGKILL when STEP begins; with
`load+` in the middle of the load, when a part of the statements is in the store.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from harvest.pipeline import Harvester, opened
from sparql.store import embedded
from tests.pipeline.conftest import TemporaryInstance


def die() -> None:
    """As the kernel would end it: no handler, no flush."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_batch(number: int) -> None:
    """Let the store write some batches of three statements and die before the next."""
    setattr(embedded, "BATCH", 3)  # noqa: B010  # Final for the type checker, and rightly so elsewhere
    count = iter(range(1, number))

    def counted() -> None:
        if next(count, None) is None:
            die()

    embedded.on_batch = counted


def dying_at(fatal: str) -> Callable[[str, str], None]:
    """What hears of each step, and dies at one; at `load+` in the middle of the load."""

    def on_step(name: str, step: str) -> None:
        if step == fatal:
            die()
        if step == "load" and fatal == "load+":
            die_at_batch(4)

    return on_step


def main(folder: Path, fatal: str) -> None:
    """Harvest once, and die on the way."""
    instance = TemporaryInstance(folder)
    instance.guard(1_000_000, 1)
    instance.clock.forward(days=10)
    with opened(instance.settings, instance.clock, dying_at(fatal)) as running:
        harvester = Harvester(running)
        harvester.look("p")
        harvester.work("p")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
