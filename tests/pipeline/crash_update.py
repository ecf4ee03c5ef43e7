"""
An operator's update that kills its process: `python -m tests.pipeline.crash_update FOLDER STEP [change]`.

It opens the instance in FOLDER, carries out an update of the graph of `notes`, and sends itself SIGKILL when STEP
begins; with `load+` in the middle of the load. With `change` it is a change that is sent, and no SPARQL update.
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


CHANGE = b'-<http://b> <http://p> "x" .\n+<http://b> <http://p> "y" .\n'


def main(folder: Path, fatal: str, what: str = "update") -> None:
    """Write once, and die on the way."""
    instance = TemporaryInstance(folder)
    instance.clock.forward(days=10)
    with opened(instance.settings, instance.clock, dying_at(fatal)) as running:
        harvester = Harvester(running)
        if what == "change":
            harvester.writing.change(GRAPH, CHANGE)
        else:
            harvester.update(UPDATE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
