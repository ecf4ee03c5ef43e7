"""
A node of a chain that kills itself: `python -m tests.crash_following SETTINGS STEP`.

It opens the instance of the settings, harvests provider `p` or follows its origin, and sends itself SIGKILL when the
step of that number begins, whatever it is; where there are fewer it ends by itself.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from harvest.config.loader import load_settings
from harvest.pipeline import Harvester, opened
from tests.pipeline.conftest import Clock


def main(file: Path, fatal: int) -> None:
    """Work once, and die on the way."""
    settings = load_settings(file, {})
    steps = iter(range(1, fatal))

    def on_step(name: str, step: str) -> None:
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    with opened(settings, Clock(), on_step) as running:
        harvester = Harvester(running)
        if settings.follow:
            harvester.maintenance.following.tick()
        else:
            harvester.look("p")
            harvester.work("p")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
