"""
Which queries are long, and which have gone past a limit.

Each query begins as a short one, for its text does not show what it takes; those are never kept waiting by long
ones. After `lowered_s` of processor time it has the lowest priority, after `long_s` it is long, and so it is when its
client is still reading after `reading_s`. There are so many long ones at once, which share the processors that short
ones leave; when there are more, the last of whoever has most waits, and begins again later. What was long once is
taken for long from the beginning when it is asked again.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Final

from sparql.errors import Overloaded, QueryCrash, QueryMemory, QueryTimeout, SparqlError
from sparql.protocol.syntax import gist
from sparql.query.process import WorkerProcess
from sparql.query.state import WorkerState
from sparql.query.ticket import QueryPlace
from sparql.worker.limits import QueryLimits

MEASURE_S: Final = 0.01
"""How often memory is looked at."""
SLOW_S: Final = 0.1
"""How long a query may take before its client is watched: most are done by then."""
KNOWN: Final = 4096
"""Queries that are known as long; the one that was noted first is forgotten first."""


class LongQueries:
    """The queries that were long when they were last asked, whatever their remarks and white space."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, asked: str) -> bool:
        return bool(self._known) and hash(gist(asked)) in self._known

    def add(self, asked: str) -> None:
        """Note that a query took long."""
        self._known[hash(gist(asked))] = None
        self._known.move_to_end(hash(gist(asked)))
        if len(self._known) > KNOWN:
            self._known.popitem(last=False)

    def discard(self, asked: str) -> None:
        """Note that a query was quick."""
        self._known.pop(hash(gist(asked)), None)


class Lanes:
    """
    Looks at the workers that have a query, and holds them to the limits; all on the event loop's thread.

    Attributes:
        known: The queries that are taken for long from the beginning.
    """

    def __init__(self, limits: QueryLimits) -> None:
        self._limits = limits
        self._measured = 0.0
        self.known = LongQueries()

    def has_room(self, workers: Sequence[WorkerProcess]) -> bool:
        """Whether one more long query may begin."""
        return sum(worker.state is WorkerState.LONG for worker in workers) < self._limits.workers + self._limits.extra

    def learn(self, worker: WorkerProcess) -> None:
        """Forget that the query of a worker was long before if it was not this time."""
        if worker.state is WorkerState.LONG and worker.spent() < self._limits.long_s:
            self.known.discard(worker.asked)

    def look(self, workers: Sequence[WorkerProcess]) -> list[QueryPlace]:
        """End what is past a limit; returns the queries that are to begin again later."""
        now = time.monotonic()
        for worker in workers:
            if worker.busy and now > worker.since + self._limits.lowered_s:
                self._look_at(worker, now - worker.since)
        if now >= self._measured + MEASURE_S:
            self._measured = now
            self._bound_memory(workers)
        return self._postpone_excess([worker for worker in workers if worker.state is WorkerState.LONG])

    def _look_at(self, worker: WorkerProcess, wall_s: float) -> None:
        limits, spent = self._limits, worker.spent()
        if spent > worker.timeout_s:
            worker.end(QueryTimeout(f"The query took longer than {worker.timeout_s:g} s and was ended."))
        elif wall_s > worker.wall_s:
            worker.end(_late(worker, spent))
        elif spent > limits.long_s and worker.state is not WorkerState.LONG:
            self.known.add(worker.asked)
            worker.become_long()
        elif wall_s > limits.reading_s and worker.state is not WorkerState.LONG and not worker.waits():
            worker.become_long()
        elif spent > limits.lowered_s and worker.state is WorkerState.SHORT:
            worker.lower()
        if wall_s > SLOW_S:
            worker.slow()

    def _bound_memory(self, workers: Sequence[WorkerProcess]) -> None:
        """End queries that take too much memory, alone or together; and idle workers that kept too much of it."""
        limit, total, most = self._limits.memory_bytes, 0, 0
        largest = None
        for worker in workers:
            size = worker.memory()
            total += size
            if worker.state is WorkerState.IDLE:
                if size > min((worker.new_bytes or 0) + self._limits.kept_bytes, limit // 2):
                    worker.end(QueryCrash("A query worker had grown too large."))
            elif size > limit:
                worker.end(QueryMemory(f"The query took more than {limit >> 20} MiB of memory and was ended."))
            elif size > most:
                largest, most = worker, size
        if total > limit * self._limits.workers and largest is not None:
            largest.end(_crowded("all queries together take too much memory, and this one most"))

    def _postpone_excess(self, long: list[WorkerProcess]) -> list[QueryPlace]:
        """
        Take off long queries until no more are left than there may be, the last of whoever has most; returns those.

        Those that have sent something already go last, and are broken off.
        """
        later = []
        while len(long) > self._limits.workers + self._limits.extra:
            shares = Counter(worker.client for worker in long)
            last = max(long, key=lambda worker: (worker.waits(), shares[worker.client], worker.since))
            long.remove(last)
            place = last.postpone(_crowded(f"{len(long)} long queries are running already"))
            if place is not None:
                later.append(place)
        return later


def _late(worker: WorkerProcess, spent: float) -> SparqlError:
    """Why a query ends that had less processor time than it may have: others had it, or its client was slow."""
    if worker.waits() and worker.wall_s > worker.timeout_s:
        return _crowded(f"in {worker.wall_s:g} s the query had a processor for {spent:.1f} s")
    return QueryTimeout(f"The query took longer than {worker.wall_s:g} s, sending its result included, and was ended.")


def _crowded(why: str) -> Overloaded:
    return Overloaded(f"The service is busy: {why}; try again in a while.")
