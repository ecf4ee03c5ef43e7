"""
Which queries run and which pause, and which have gone past a limit.

A query is short until it has taken `LONG_S` of processor time, or its client has read for `LATE_S`. Short ones always
find a worker, so that those who ask little never wait for those who ask much; those that have taken `BRIEF_S` give way
to others. Long ones have the lowest priority. Of those that have taken `PROOF_S` as many run at once as there are to be
workers; when there are more, they take turns of `TURN_S`, and those whose turn it is not are stopped by SIGSTOP. When
there are too many long ones for that, the last of whoever has most wait, and begin again later. What was long once is
taken for long from the beginning when it is asked again.

That has to be decided soon, and so by little: a short query that found nothing in the caches may seem long. So of those
that wait and have never taken `PROOF_S` one at a time is tried once more, beside the long ones. It is done then, or has
proved that it is long.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

from sparql.errors import Overloaded, QueryCrash, QueryMemory, QueryTimeout
from sparql.query.limits import QueryLimits
from sparql.query.process import WorkerProcess
from sparql.query.repute import Repute
from sparql.query.ticket import Place

BRIEF_S: Final = 0.005
LONG_S: Final = 0.01
PROOF_S: Final = 0.05
LATE_S: Final = 1.0
TURN_S: Final = 0.5
KEPT_BYTES: Final = 96 << 20
"""
What a worker may keep of its long queries; beyond that it is replaced. Three of the store's caches have room in it, as
those of two indexes and of the strings: to fill them again is up to a tenth of the time of a query over everything.
"""
MEASURE_S: Final = 0.01
"""How often memory is looked at."""
SLOW_S: Final = 0.1
"""How long a query may take before its client is watched: most are done by then."""


class Lanes:
    """Looks at workers that have a query, and holds them to the limits; all on the event loop's thread."""

    def __init__(self, limits: QueryLimits) -> None:
        self._limits = limits
        self._repute = Repute()
        self._measured = 0.0

    def is_heavy(self, asked: str) -> bool:
        """Whether a query took long when it was last asked."""
        return self._repute.is_long(asked)

    def may_try(self, workers: Sequence[WorkerProcess]) -> bool:
        """Whether a query that only seemed long may begin, though there is no room for long ones."""
        return not any(worker.on_trial for worker in workers)

    def only_seems_heavy(self, place: Place) -> bool:
        """Whether a query that waits may be a short one."""
        return self._repute.only_seems(place.asked)

    def has_room(self, workers: Sequence[WorkerProcess]) -> bool:
        """Whether one more long query may begin."""
        return sum(worker.long for worker in workers) < self._limits.workers + self._limits.paused

    def learn(self, worker: WorkerProcess) -> None:
        """Note how long the query of a worker took that is done."""
        if (worker.long or worker.on_trial) and worker.meter.spent() < LONG_S:
            self._repute.clear(worker.asked)

    def look(self, workers: Sequence[WorkerProcess]) -> list[Place]:
        """End what is past a limit, and let the long queries take their turns; returns those that begin again later."""
        now = time.monotonic()
        busy = [worker for worker in workers if worker.deadline is not None and not worker.ended]
        for worker in busy:
            self._look_at(worker, now)
        if now >= self._measured + MEASURE_S:
            self._measured = now
            self._bound_memory(workers)
        long = [worker for worker in busy if worker.long and worker.deadline is not None and not worker.ended]
        later = self._postpone_excess(long)
        self._take_turns([worker for worker in long if worker.proved], now)
        return later

    def _look_at(self, worker: WorkerProcess, now: float) -> None:
        assert worker.deadline is not None
        if worker.waited(now) > self._limits.wait_s:
            worker.end(_crowded(f"others took all the time for {self._limits.wait_s:g} s"))
        elif worker.paused is None and now > worker.deadline:
            worker.end(QueryTimeout(f"The query took longer than {worker.timeout_s:g} s and was ended."))
        elif not worker.proved and now > worker.since + BRIEF_S:
            self._judge(worker, now)
        if now > worker.since + SLOW_S:
            worker.slow()

    def _judge(self, worker: WorkerProcess, now: float) -> None:
        """
        Take a query for long when it is; one whose client reads slowly is, but need not be the next time.

        One that has taken little, and has nothing to tell yet, had no processor: that is no fault of its own.
        """
        spent = worker.meter.spent()
        if spent > PROOF_S:
            worker.proved = True
            self._repute.note(worker.asked, proved=True)
            worker.step_back()
        elif worker.long or (now > worker.since + LATE_S and not worker.can_wait()):
            worker.step_back()
        elif worker.on_trial:
            return
        elif spent > LONG_S:
            self._repute.note(worker.asked, proved=False)
            worker.step_back()
        elif spent > BRIEF_S:
            worker.give_way()

    def _bound_memory(self, workers: Sequence[WorkerProcess]) -> None:
        """End queries that take too much memory, alone or together; and idle workers that kept too much of it."""
        limit, total, largest = self._limits.memory_bytes, 0, None
        most = 0
        for worker in workers:
            size = worker.memory()
            total += size
            if worker.deadline is None:
                if worker.ready and size > min(worker.slim + KEPT_BYTES, limit // 2):
                    worker.end(QueryCrash("A query worker had grown too large."))
            elif size > limit:
                worker.end(QueryMemory(f"The query took more than {limit >> 20} MiB of memory and was ended."))
            elif size > most:
                largest, most = worker, size
        if total > limit * self._limits.workers and largest is not None:
            largest.end(_crowded("all queries together take too much memory, and this one most"))

    def _postpone_excess(self, long: list[WorkerProcess]) -> list[Place]:
        """
        Take off the list the long queries that may not go on, the last of whoever has most; returns them.

        Those that have sent something already go last, and are broken off.
        """
        later = []
        while len(long) > self._limits.workers + self._limits.paused:
            shares = Counter(worker.client for worker in long)
            last = max(long, key=lambda worker: (worker.can_wait(), shares[worker.client], worker.since))
            long.remove(last)
            place = last.postpone(_crowded(f"{len(long)} long queries are running already"))
            if place is not None:
                later.append(place)
        return later

    def _take_turns(self, long: list[WorkerProcess], now: float) -> None:
        """Stop those whose turn is over, and those for whom there is no room; let the next ones go on."""
        running = [worker for worker in long if worker.paused is None]
        waiting = sorted((worker for worker in long if worker.paused is not None), key=_paused_at)
        room = self._limits.workers
        over = [worker for worker in running if now > worker.turn + TURN_S]
        if waiting and len(running) == room and over:
            _stop(_greediest(over), running, now)
        while len(running) > room:
            _stop(_greediest(running), running, now)
        while waiting and len(running) < room:
            shares = Counter(worker.client for worker in running)
            worker = min(waiting, key=lambda each: shares[each.client])  # Among equals whoever waits longest.
            waiting.remove(worker)
            worker.resume(now)
            running.append(worker)


def _stop(worker: WorkerProcess, running: list[WorkerProcess], now: float) -> None:
    running.remove(worker)
    worker.pause(now)


def _greediest(workers: list[WorkerProcess]) -> WorkerProcess:
    """A worker of the client that has most of them: the one whose turn began last."""
    shares = Counter(worker.client for worker in workers)
    return max(workers, key=lambda worker: (shares[worker.client], worker.turn))


def _paused_at(worker: WorkerProcess) -> float:
    return worker.paused or 0.0


def _crowded(why: str) -> Overloaded:
    return Overloaded(f"The service is busy: {why}; try again in a while.")
