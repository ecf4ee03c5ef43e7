"""Large documents, and many, that are washed by several workers side by side."""

from __future__ import annotations

import queue
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, TypeVar

from harvest.errors import StoppedError
from harvest.model import Document
from harvest.pipeline.workers.local import LocalWorkers, Workers
from harvest.pipeline.workers.task import Task
from harvest.wash import apart, pieces, process
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Progress, Terms

T = TypeVar("T")

PIECE: Final = 32 << 20
"""Bytes of text that are worth a task of their own."""

PACKED: Final = 16
"""How many times larger than its file a document is taken to be at most: looking at one costs a process."""

LEAST_MEMORY: Final = 16 << 20
"""Bytes of memory that each may have however many there are."""


def union(workers: Workers, whole: Task[Washed], graph: str, bounds: process.Bounds, room: Path) -> Washed:
    """
    What `whole`, a task of `harvest.wash.tasks.union`, gives.

    Of several documents each is read by itself, and a large one of lines in pieces.

    Raises:
        HarvestError: As of `Workers.call`.
    """
    if any(document.keep is not None for document in whole.documents) or not _large(whole.documents):
        return workers.call(whole, bounds, room)
    width = workers.width(bounds)
    if width < 2:
        return workers.call(whole, bounds, room)
    sides = _Sides(workers, bounds, room, width)
    if len(whole.documents) > 1:
        terms = _shared(whole.terms, width)
        found = sides.read([Task(apart.read_apart, (document,), terms) for document in whole.documents])
        return sides.last(Task(partial(apart.unite, graph=graph, found=found), whole.documents, whole.terms))
    of = workers.call(Task(pieces.cut, whole.documents, whole.terms), sides.left(), room)
    count = min(width, of.examined.size // PIECE) if of is not None else 0
    if of is None or count < 2:
        return workers.call(whole, sides.left(), room)
    read = sides.read(list(_pieces(whole, of, count)))
    return sides.last(Task(partial(pieces.join, graph=graph, of=of, pieces=read), whole.documents, whole.terms))


def _large(documents: Sequence[Document]) -> bool:
    """Whether there may be enough to read for two."""
    return sum(document.path.stat().st_size for document in documents) * PACKED >= 2 * PIECE


@dataclass(slots=True)
class _Sides:
    """
    Tasks that are done side by side; the first that fails ends the others.

    Attributes:
        workers: Who does them.
        bounds: What ends all of it.
        room: A temporary folder.
        width: How many are done at once.
        began: When it began, by the monotonic clock.
        failed: Set by the first that fails.
    """

    workers: Workers
    bounds: process.Bounds
    room: Path
    width: int
    began: float = field(default_factory=time.monotonic)
    failed: threading.Event = field(default_factory=threading.Event)

    def is_set(self) -> bool:
        """Whether what still runs is to be given up."""
        return self.failed.is_set() or self.bounds.stop.is_set()

    def left(self) -> process.Bounds:
        """The bounds of what begins now."""
        return replace(self.bounds, timeout_s=max(0.1, self.bounds.timeout_s - (time.monotonic() - self.began)))

    def last(self, task: Task[Washed]) -> Washed:
        """What puts together what was read, on this machine, which has the files."""
        return LocalWorkers().call(task, self.left(), self.room)

    def read(self, tasks: Sequence[Task[T]]) -> tuple[T, ...]:
        """What the tasks give, in order; who waits hears how far they are."""
        heard: queue.SimpleQueue[Progress] = queue.SimpleQueue()
        with ThreadPoolExecutor(min(self.width, len(tasks)), "wash") as threads:
            futures = [threads.submit(self._call, task, heard) for task in tasks]
            try:
                while wait(futures, process.STOP_S, FIRST_EXCEPTION).not_done and not _faults(futures):
                    with suppress(queue.Empty):
                        while True:
                            self.bounds.on_report(heard.get_nowait())
                for fault in _faults(futures):
                    raise fault
            except BaseException:
                self.failed.set()
                raise
        return tuple(future.result() for future in futures)

    def _call(self, task: Task[T], heard: queue.SimpleQueue[Progress]) -> T:
        folder = Path(mkdtemp(prefix="side-", dir=self.room))
        bounds = replace(self.left(), url=task.documents[0].url, stop=self, on_report=heard.put)
        try:
            return self.workers.call(task, bounds, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)  # all may be done again, as where a context is missing
            raise


def _faults(futures: Sequence[Future[T]]) -> list[BaseException]:
    """What went wrong so far, those that were given up for it last."""
    faults = [fault for future in futures if future.done() and (fault := future.exception())]
    return sorted(faults, key=lambda fault: isinstance(fault, StoppedError))


def _shared(terms: Terms, count: int) -> Terms:
    """The terms for so many at once."""
    return replace(terms, memory=max(LEAST_MEMORY, terms.memory // count))


def _pieces(whole: Task[Washed], of: pieces.Cut, count: int) -> Iterator[Task[pieces.Piece]]:
    """The document in so many pieces of about one size; the last one has what follows, however much that is."""
    step = of.examined.size // count
    for n in range(count):
        end = (n + 1) * step if n + 1 < count else None
        function = partial(pieces.read_piece, of=of, begin=n * step, end=end)
        yield Task(function, whole.documents, _shared(whole.terms, count))
