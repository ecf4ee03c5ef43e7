"""The progress of a run: its steps, and how far each step is, filed in the ledger while the run goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from harvest.model import Status
from harvest.pipeline.instance import Instance
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Progress

EVERY_S: Final = 1.0
"""Seconds between two writes of how far a step is."""

AT_ONCE: Final = 3
"""Writes of a step that need not wait: washing reports all of a lone file in its first moments, and nothing after."""


class RunProgress:
    """
    One run while it goes; may be figures of by several threads.

    Attributes:
        run: Ledger key of the run.
    """

    def __init__(self, instance: Instance, provider: str, run: int) -> None:
        self.run = run
        self._instance = instance
        self._provider = provider
        self._recorded_at = time.monotonic()
        self._at_once = 0
        self._guard = threading.Lock()

    def step(self, name: str) -> None:
        """A step begins."""
        self._instance.ledger.steps.begin(self.run, name, self._instance.clock())
        self.begun(name)

    def begun(self, name: str) -> None:
        """A step begins that the ledger knows of already."""
        self._recorded_at = time.monotonic()
        self._at_once = AT_ONCE if name == "wash" else 0
        self._instance.on_step(self._provider, name)

    def record(self, **figures: int | str) -> None:
        """Record what the step in hand has done."""
        self._instance.ledger.steps.record(self.run, figures)

    def record_if_due(self, **figures: int | str) -> bool:
        """Record what the step in hand has done at most once a second; True if recorded. For calls at each piece."""
        with self._guard:
            now = time.monotonic()
            if self._at_once:
                self._at_once -= 1
            elif now - self._recorded_at < EVERY_S:
                return False
            self._recorded_at = now
        self.record(**figures)
        return True

    def on_washing(self, filed: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """A callback that records how far the washing is, and passes it on."""
        files: set[tuple[str, ...]] = set()

        def advanced(progress: Progress) -> None:
            filed(progress)
            files.add((progress.url, *progress.names))
            self.record_if_due(
                files=len(files), at="/".join(progress.names) or progress.url, doing=progress.status.value
            )

        return advanced

    def record_washed(self, washed: Washed, length: int) -> None:
        """Report what washing gave out of so many bytes."""
        parts = [part for document in washed.documents for part in document]
        figures = {
            "files": sum(part.status is not Status.DEPLETED for part in parts),
            "bytes": length,
            "triples": washed.snapshot.triples,
        }
        more = {
            "reused": len(washed.reused),
            "blank_nodes": washed.blank_nodes,
            "left_out": sum(part.dropped for part in parts),
        }
        self.record(**figures, **{name: figure for name, figure in more.items() if figure})
