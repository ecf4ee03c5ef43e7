"""The worker processes of a front: as many as are needed, alive, and on the current generation."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from sparql.errors import QueryCrash
from sparql.query.limits import QueryLimits
from sparql.query.process import WorkerProcess
from sparql.query.worker import Options

log = logging.getLogger(__name__)

START_S: Final = 60.0
AGAIN_S: Final = 1.0
"""How long to wait before a worker that did not even start is replaced."""
BRISK_S: Final = 0.01
"""For how long a query is taken for one that is done at once."""
IDLE_S: Final = 30.0
"""For how long more workers than usual stay when they have nothing to do."""


class Crew:
    """
    All workers, and those of them that are idle.

    Args:
        root: Folder of the store's generations.
        limits: What queries may use, and how many workers there are.
        base_iri: What relative IRIs in queries are resolved against.
        offer: Called with a worker that is ready for a query.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str, offer: Callable[[WorkerProcess], None]) -> None:
        self._root = root
        self._limits = limits
        self._base_iri = base_iri
        self._offer = offer
        self._idle: list[WorkerProcess] = []
        self._again = 0.0
        self._busy = 0.0
        self.workers: list[WorkerProcess] = []

    def close(self) -> None:
        """End all of them."""
        for worker in self.workers:
            worker.close()

    def take(self) -> WorkerProcess | None:
        """
        A worker that is idle, the last that was busy; None when there is none, or too many others have just begun.

        Most queries are done in a millisecond: to wait for one of these takes less time than to have more processes
        than processors.
        """
        begun = time.monotonic() - BRISK_S
        if sum(worker.deadline is not None and worker.since > begun for worker in self.workers) >= self._limits.workers:
            return None
        while self._idle:
            worker = self._idle.pop()
            if not worker.ended:
                return worker
        return None

    def put(self, worker: WorkerProcess) -> None:
        """Note that a worker is idle."""
        self._idle.append(worker)

    def idle(self) -> Iterator[WorkerProcess]:
        """Yield the workers that are idle."""
        return (worker for worker in self._idle if not worker.ended)

    def at_rest(self) -> bool:
        """Whether nothing runs, nothing starts, and there are no more workers than usual."""
        usual = self._limits.workers + self._limits.spare
        return len(self.workers) <= usual and all(worker.ready and worker.deadline is None for worker in self.workers)

    def keep(self) -> None:
        """Take away workers that have ended, start those that are missing, and let those go that are too many."""
        now = time.monotonic()
        for worker in list(self.workers):
            if worker.is_over():
                self._remove(worker)
                self._again = now + (0 if worker.generation or worker.ready else AGAIN_S)
            elif not worker.ready and now > worker.since + START_S:
                worker.end(QueryCrash(f"A query worker did not start within {START_S:g} s."))
        wanted = self._wanted(now)
        while len(self.workers) < wanted and now >= self._again:
            self._start()
        if len(self.workers) > wanted and self._idle and now > self._busy + IDLE_S:
            self._remove(self._idle.pop(0))

    async def refresh_one(self, generation: int) -> None:
        """Have one idle worker move to the current generation, so that old ones can be collected."""
        for worker in self._idle:
            if worker.generation != generation and not worker.ended:
                self._idle.remove(worker)
                with contextlib.suppress(QueryCrash):  # It has just died, and is replaced.
                    await worker.refresh()
                return

    def _wanted(self, now: float) -> int:
        """One for each long query, and enough for the short ones beside them."""
        limits = self._limits
        long = sum(worker.long for worker in self.workers)
        if long > limits.workers:
            self._busy = now
        return min(max(long, limits.workers) + limits.spare, limits.workers + limits.paused + limits.spare)

    def _remove(self, worker: WorkerProcess) -> None:
        self.workers.remove(worker)
        with contextlib.suppress(ValueError):
            self._idle.remove(worker)
        worker.close()

    def _start(self) -> None:
        try:
            self.workers.append(WorkerProcess(self._options, self._offer))
        except OSError as error:
            log.error("No query worker could be started: %s", error)
            self._again = time.monotonic() + AGAIN_S

    def _options(self, descriptor: int) -> Options:
        limits = self._limits
        return Options(
            descriptor=descriptor,
            parent=os.getpid(),
            root=str(self._root),
            base_iri=self._base_iri,
            max_rows=limits.max_rows,
            max_bytes=limits.max_bytes,
            union=limits.union_default_graph,
            service=limits.service,
        )
