"""One large document that is washed by several workers side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from harvest.errors import StoppedError
from harvest.pipeline.workers.local import LocalWorkers, Workers
from harvest.pipeline.workers.task import Task
from harvest.wash import pieces, process
from harvest.wash.canonical import Washed

PIECE: Final = 32 << 20
"""Bytes of text that are worth a task of their own."""

PACKED: Final = 16
"""How many times larger than its file a document is taken to be at most: looking at one costs a process."""

LEAST_MEMORY: Final = 16 << 20
"""Bytes that a piece may have however many there are."""


def union(workers: Workers, whole: Task[Washed], graph: str, bounds: process.Bounds, room: Path) -> Washed:
    """
    What `whole`, a task of `harvest.wash.tasks.union`, gives; a large document of lines is read in pieces.

    Raises:
        HarvestError: As of `Workers.call`.
    """
    document, size = whole.documents[0], whole.documents[0].path.stat().st_size
    if len(whole.documents) > 1 or document.keep is not None or size * PACKED < 2 * PIECE:
        return workers.call(whole, bounds, room)
    width = workers.width(bounds)
    if width < 2:
        return workers.call(whole, bounds, room)
    sides = _Sides(workers, bounds)
    of = workers.call(Task(pieces.cut, whole.documents, whole.terms), sides.left(), room)
    count = min(width, of.examined.size // PIECE) if of is not None else 0
    if of is None or count < 2:
        return workers.call(whole, sides.left(), room)
    found = sides.read(whole, of, count, room)
    function = partial(pieces.join, graph=graph, of=of, pieces=found)
    return LocalWorkers().call(Task(function, whole.documents, whole.terms), sides.left(), room)


@dataclass(slots=True)
class _Sides:
    """
    Pieces that are read side by side; the first that fails ends the others.

    Attributes:
        workers: Who reads them.
        bounds: What ends all of it.
        began: When it began, by the monotonic clock.
        failed: Set by the first that fails.
    """

    workers: Workers
    bounds: process.Bounds
    began: float = field(default_factory=time.monotonic)
    failed: threading.Event = field(default_factory=threading.Event)

    def is_set(self) -> bool:
        """Whether what still runs is to be given up."""
        return self.failed.is_set() or self.bounds.stop.is_set()

    def left(self) -> process.Bounds:
        """The bounds of what begins now."""
        return replace(self.bounds, timeout_s=max(0.1, self.bounds.timeout_s - (time.monotonic() - self.began)))

    def read(self, whole: Task[Washed], of: pieces.Cut, count: int, room: Path) -> tuple[pieces.Piece, ...]:
        """So many pieces of a document, in order."""
        with ThreadPoolExecutor(count, "piece") as threads:
            tasks = enumerate(_tasks(whole, of, count))
            futures = [threads.submit(self._call, task, room / f"piece-{n}") for n, task in tasks]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                if any(future.done() and future.exception() for future in futures):
                    self.failed.set()
        faults = [fault for future in futures if (fault := future.exception())]
        for fault in sorted(faults, key=lambda each: isinstance(each, StoppedError)):
            raise fault
        return tuple(future.result() for future in futures)

    def _call(self, task: Task[pieces.Piece], folder: Path) -> pieces.Piece:
        folder.mkdir()
        # What threads of their own would report is known: pieces are parsed.
        bounds = replace(self.left(), stop=self, on_report=lambda progress: None)
        return self.workers.call(task, bounds, folder)


def _tasks(whole: Task[Washed], of: pieces.Cut, count: int) -> Iterator[Task[pieces.Piece]]:
    """The document in so many pieces of about one size; the last one has what follows, however much that is."""
    terms = replace(whole.terms, memory=max(LEAST_MEMORY, whole.terms.memory // count))
    step = of.examined.size // count
    for n in range(count):
        end = (n + 1) * step if n + 1 < count else None
        yield Task(partial(pieces.read_piece, of=of, begin=n * step, end=end), whole.documents, terms)
