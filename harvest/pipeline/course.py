"""The course of a run: its steps, and how far each is, told to the ledger while it goes."""

from __future__ import annotations

import threading
import time
from typing import Final

from harvest.pipeline.workshop import Workshop

EVERY_S: Final = 1.0
"""Seconds between two writes of how far a step is."""

AT_ONCE: Final = 3
"""Writes of a step that need not wait: washing tells all of a lone file in its first moments, and nothing after."""


class Course:
    """
    One run while it goes; may be told of by several threads.

    Attributes:
        run: Ledger key of the run.
    """

    def __init__(self, workshop: Workshop, provider: str, run: int) -> None:
        self.run = run
        self._workshop = workshop
        self._provider = provider
        self._told_at = time.monotonic()
        self._at_once = 0
        self._guard = threading.Lock()

    def step(self, name: str) -> None:
        """A step begins."""
        self._workshop.ledger.steps.begin(self.run, name, self._workshop.clock())
        self.begun(name)

    def begun(self, name: str) -> None:
        """A step begins that the ledger knows of already."""
        self._told_at = time.monotonic()
        self._at_once = AT_ONCE if name == "wash" else 0
        self._workshop.on_step(self._provider, name)

    def tell(self, **figures: int | str) -> None:
        """What the step in hand has done."""
        self._workshop.ledger.steps.tell(self.run, figures)

    def hear(self, **figures: int | str) -> bool:
        """The same on its way, filed once in a while, so that it may be called at each piece; whether it was filed."""
        with self._guard:
            now = time.monotonic()
            if self._at_once:
                self._at_once -= 1
            elif now - self._told_at < EVERY_S:
                return False
            self._told_at = now
        self.tell(**figures)
        return True
