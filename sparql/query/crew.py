"""The worker processes of a front: as many as are needed, alive, and on the current generation."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sparql.errors import QueryCrash
from sparql.query.limits import QueryLimits
from sparql.query.process import Events, WorkerProcess
from sparql.query.worker import Options

log = logging.getLogger(__name__)

START_S: Final = 60.0
AGAIN_S: Final = 1.0
"""How long to wait before a worker that did not even start is replaced."""
BRISK_S: Final = 0.01
"""For how long a query is taken for one that is done at once."""
ALONE_S: Final = 0.0006
"""Where queries take less than this, one worker answers as many as a front can pass on, and the caches are its own."""
GROW_S: Final = 1.0
"""Seconds between two starts of workers that are not needed yet."""


class Crew:
    """
    All workers, and those of them that are idle.

    Args:
        root: Folder of the store's generations.
        limits: What queries may use, and how many workers there are.
        base_iri: What relative IRIs in queries are resolved against.
        events: What is to happen when a worker is ready, or done.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str, events: Events) -> None:
        self._root = root
        self._limits = limits
        self._base_iri = base_iri
        self._events = events
        self._idle: list[WorkerProcess] = []
        self._again = 0.0
        self._grown = time.monotonic()
        self.workers: list[WorkerProcess] = []

    def close(self) -> None:
        """End all of them."""
        for worker in self.workers:
            worker.close()

    def take(self) -> WorkerProcess | None:
        """
        A worker for a short query; None when it has to wait until one of those that have just begun is done.

        Most queries are done in a fraction of a millisecond: to wait for some of these takes less time than to wake
        another worker, or to have more processes than processors.
        """
        begun = time.monotonic() - BRISK_S
        brisk = [worker for worker in self.workers if worker.deadline is not None and worker.since > begun]
        enough = self._limits.workers if any(worker.usual_s > ALONE_S for worker in brisk) else 1
        if len(brisk) < enough and (idle := self.take_idle()) is not None:
            return idle
        return next((worker for worker in brisk if worker.takes_more()), None)

    def take_idle(self) -> WorkerProcess | None:
        """A worker that is idle, the last that was busy; None when there is none."""
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
        """Whether nothing runs and nothing starts."""
        return all(worker.ready and worker.deadline is None for worker in self.workers)

    def keep(self) -> None:
        """
        Take away workers that have ended, and start those that are missing.

        Those for long queries that pause come one by one, before they are needed: a start takes a tenth of a second of
        processor time, which is what there is too little of when they are.
        """
        now = time.monotonic()
        for worker in list(self.workers):
            if worker.is_over():
                self._remove(worker)
                self._again = now + (0 if worker.generation or worker.ready else AGAIN_S)
            elif not worker.ready and now > worker.since + START_S:
                worker.end(QueryCrash(f"A query worker did not start within {START_S:g} s."))
        limits, count = self._limits, len(self.workers)
        long = sum(worker.long for worker in self.workers)
        wanted = max(limits.workers, long) + limits.spare
        if count < wanted and now >= self._again:
            for _ in range(wanted - count):
                self._start()
        elif count < limits.workers + limits.spare + limits.paused and now >= max(self._again, self._grown + GROW_S):
            self._grown = now
            self._start()

    def refresh_one(self, generation: int) -> None:
        """Have one idle worker move to the current generation, so that old ones can be collected."""
        for worker in self._idle:
            if worker.generation != generation and not worker.ended:
                self._idle.remove(worker)
                worker.refresh()
                return

    def _remove(self, worker: WorkerProcess) -> None:
        self.workers.remove(worker)
        with contextlib.suppress(ValueError):
            self._idle.remove(worker)
        worker.close()

    def _start(self) -> None:
        try:
            self.workers.append(WorkerProcess(self._options, self._events))
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
