"""The worker processes of a front: as many as are needed, alive, and on the current generation."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Final

from sparql.errors import QueryCrash
from sparql.query.process import Events, WorkerProcess
from sparql.query.state import WorkerState
from sparql.worker.child import ForkServer
from sparql.worker.limits import QueryLimits

log = logging.getLogger(__name__)

AGAIN_S: Final = 1.0
"""How long to wait before a worker that did not even start is replaced."""
ALONE_S: Final = 0.0006
"""Where queries take less than this, one worker answers as many as a front can pass on, and the caches are its own."""
CROWD: Final = 8
"""Workers that there may be more for a moment, for each long query beyond `QueryLimits.workers`."""


class Crew:
    """
    All workers of a pool.

    Args:
        root: Folder of the store's generations.
        limits: What queries may use, and how many workers there are.
        base_iri: What relative IRIs in queries are resolved against.
        events: What is to happen when a worker is ready, or done.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str, events: Events) -> None:
        self._limits = limits
        self._given = root, limits, base_iri
        self._server: ForkServer | None = None
        self._events = events
        self._again = 0.0
        self._generation = 0
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
        begun = time.monotonic() - self._limits.brisk_s
        brisk = [worker for worker in self.workers if worker.state is WorkerState.SHORT and worker.since > begun]
        enough = self._limits.workers if any(worker.usual_s > ALONE_S for worker in brisk) else 1
        if len(brisk) < enough and (idle := self.take_idle()) is not None:
            return idle
        return next((worker for worker in brisk if worker.takes_more()), None)

    def take_idle(self) -> WorkerProcess | None:
        """The idle worker that was busy last; None when none is idle."""
        return max(self._idle(), key=lambda worker: worker.since, default=None)

    def at_rest(self) -> bool:
        """Whether nothing runs and nothing starts."""
        return all(worker.state is WorkerState.IDLE for worker in self.workers)

    def keep(self, generation: int) -> None:
        """
        Take away workers that have ended, and start those that are missing, over the current generation.

        Those for long queries are there before they are needed, for then there is too little time for that.
        """
        if generation != self._generation:
            self._generation = generation
            if self._server is not None:
                self._server.move()
        now = time.monotonic()
        for worker in list(self.workers):
            if worker.is_over():
                self.workers.remove(worker)
                worker.close()
                self._again = now + (AGAIN_S if worker.new_bytes is None else 0)
            elif worker.state is WorkerState.STARTING and now > worker.since + self._limits.start_s:
                worker.end(QueryCrash(f"A query worker did not start within {self._limits.start_s:g} s."))
        wanted = self._wanted(now)
        if now >= self._again:
            for _ in range(wanted - len(self.workers)):
                self._start(generation)
        for worker in self._idle()[: max(0, len(self.workers) - wanted)]:
            worker.end(QueryCrash("There are more workers than are needed."))

    def renew_one(self, generation: int) -> None:
        """
        End one idle worker that has an old generation open, so that it can be collected.

        Not those that were started since and could not open the current one: others would not do better.
        """
        old = (each for each in self._idle() if generation not in (each.generation, each.wanted))
        if (worker := next(old, None)) is not None:
            worker.end(QueryCrash("There is a newer generation."))

    def _wanted(self, now: float) -> int:
        """
        How many workers there are to be.

        Those that have had a query for a while may not be done soon. When many such queries come at once, short ones
        find other workers until it is known which of the many are long, and how many of these may go on.
        """
        limits, begun = self._limits, now - self._limits.brisk_s
        usual = limits.workers + limits.spare + limits.extra
        slow = sum(worker.busy and worker.since < begun for worker in self.workers)
        return min(max(usual, slow + limits.workers + limits.spare), usual + CROWD * limits.extra)

    def _idle(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.state is WorkerState.IDLE]

    def _start(self, generation: int) -> None:
        try:
            if self._server is not None and self._server.is_over():
                self._server.close()
                self._server = None
            self._server = self._server or ForkServer(*self._given)
            self.workers.append(WorkerProcess(self._server.start(), self._events, generation))
        except OSError as error:
            log.error("No query worker could be started: %s", error)
            self._again = time.monotonic() + AGAIN_S
