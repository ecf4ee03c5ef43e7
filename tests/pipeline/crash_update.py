"""
An operator's update that kills its process: `python -m tests.pipeline.crash_update FOLDER STEP`.

It opens the instance in FOLDER, carries out an update of the graph of `notes`, and sends itself SIGKILL when STEP
begins; with `load+` in the middle of the load.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harvest.pipeline import Harvester, opened
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.crash import dying_at

GRAPH = "http://h.example/graph/notes"
UPDATE = f"""
    WITH <{GRAPH}> DELETE {{ ?s <http://p> ?n }} INSERT {{ ?s <http://q> ?m }}
    WHERE {{ ?s <http://p> ?n BIND(-?n AS ?m) }}
"""


def main(folder: Path, fatal: str) -> None:
    """Update once, and die on the way."""
    instance = TemporaryInstance(folder)
    instance.clock.forward(days=10)
    with opened(instance.settings, instance.clock, dying_at(fatal)) as running:
        Harvester(running).update(UPDATE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
