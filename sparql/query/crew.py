"""The worker processes of a front: as many as are needed, alive, and on the current generation."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sparql.errors import QueryCrash
from sparql.query.child import ForkServer
from sparql.query.limits import QueryLimits
from sparql.query.process import WorkerProcess
from sparql.query.ticket import Events
from sparql.query.worker import Options

log = logging.getLogger(__name__)

START_S: Final = 60.0
AGAIN_S: Final = 1.0
"""How long to wait before a worker that did not even start is replaced."""
BRISK_S: Final = 0.01
"""For how long a query is taken for one that is done at once."""
ALONE_S: Final = 0.0006
"""Where queries take less than this, one worker answers as many as a front can pass on, and the caches are its own."""

CROWD: Final = 3
"""Workers that there may be more for a moment, for each long query that may pause."""
TRIM_S: Final = 1.0
"""How often idle workers are looked at that are seldom needed."""
CACHE_BYTES: Final = 16 << 20
"""What such a worker may have beyond what it had when it was new: the store keeps what it read."""


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
        self._limits = limits
        self._options = _options(root, limits, base_iri)
        self._server: ForkServer | None = None
        self._events = events
        self._idle: list[WorkerProcess] = []
        self._again = 0.0
        self._generation = 0
        self._trimmed = 0.0
        self.workers: list[WorkerProcess] = []

    def close(self) -> None:
        """End all of them."""
        for worker in self.workers:
            worker.close()
        if self._server is not None:
            self._server.close()

    def take(self) -> WorkerProcess | None:
        """
        A worker for a short query; None when it has to wait until one of those that have just begun is done.

        Most queries are done in a fraction of a millisecond: to wait for some of these takes less time than to wake
        another worker, or to have more processes than processors.
        """
        begun = time.monotonic() - BRISK_S
        brisk = [worker for worker in self.workers if worker.deadline is not None and worker.since > begun]
        enough = self._limits.workers if any(worker.meter.usual_s > ALONE_S for worker in brisk) else 1
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

    def is_busy(self) -> bool:
        """Whether a worker has a query."""
        return any(worker.deadline is not None for worker in self.workers)

    def at_rest(self) -> bool:
        """Whether nothing runs and nothing starts."""
        return all(worker.ready and worker.deadline is None and not worker.ended for worker in self.workers)

    def keep(self, generation: int) -> None:
        """
        Take away workers that have ended, and start those that are missing, over the current generation.

        Those for long queries that pause are there before they are needed, for then there is too little time for that.
        """
        if generation != self._generation:
            self._generation = generation
            if self._server is not None:
                self._server.move()
        now = time.monotonic()
        for worker in list(self.workers):
            if worker.is_over():
                self._remove(worker)
                self._again = now + (0 if worker.generation or worker.ready else AGAIN_S)
            elif not worker.ready and now > worker.since + START_S:
                worker.end(QueryCrash(f"A query worker did not start within {START_S:g} s."))
        wanted = self._wanted(now)
        if now >= self._again:
            for _ in range(wanted - len(self.workers)):
                self._start(generation)
        for worker in list(self.idle())[: max(0, len(self.workers) - wanted)]:
            worker.end(QueryCrash("There are more workers than are needed."))
        if now >= self._trimmed + TRIM_S:
            self._trimmed = now
            self._trim()

    def _trim(self) -> None:
        """
        Replace idle workers that are seldom needed and have filled their caches.

        Each worker has its own. Those that were busy last keep theirs, as many as answer short queries at once.
        """
        for worker in list(self.idle())[: -self._limits.workers]:
            if worker.memory() > worker.new_bytes + CACHE_BYTES:
                worker.end(QueryCrash("An idle query worker had large caches."))

    def _wanted(self, now: float) -> int:
        """
        How many workers there are to be.

        Those that have had a query for a while may not be done soon. When many such queries come at once, short ones
        find other workers until it is known which of the many are long, and how many of these may go on.
        """
        limits, begun = self._limits, now - BRISK_S
        usual = limits.workers + limits.spare + limits.paused
        slow = sum(worker.deadline is not None and worker.since < begun for worker in self.workers)
        return min(max(usual, slow + limits.workers + limits.spare), usual + CROWD * limits.paused)

    def renew_one(self, generation: int) -> None:
        """
        End one idle worker that has an old generation open, so that it can be collected.

        Not those that were started since and could not open the current one: others would not do better.
        """
        for worker in self._idle:
            if worker.generation != generation and worker.wanted != generation and not worker.ended:
                worker.end(QueryCrash("There is a newer generation."))
                return

    def _remove(self, worker: WorkerProcess) -> None:
        self.workers.remove(worker)
        with contextlib.suppress(ValueError):
            self._idle.remove(worker)
        worker.close()

    def _start(self, generation: int) -> None:
        try:
            if self._server is not None and self._server.is_over():
                self._server.close()
                self._server = None
            self._server = self._server or ForkServer(self._options)
            self.workers.append(WorkerProcess(self._server.start(), self._events, generation))
        except OSError as error:
            log.error("No query worker could be started: %s", error)
            self._again = time.monotonic() + AGAIN_S


def _options(root: Path, limits: QueryLimits, base_iri: str) -> Options:
    return Options(
        root=str(root),
        base_iri=base_iri,
        max_rows=limits.max_rows,
        max_bytes=limits.max_bytes,
        union=limits.union_default_graph,
        service=limits.service,
    )
