"""
The way of a query to a worker, and of its answer back.

Everything here happens on the event loop's thread, so nothing needs a lock: a query is given to an idle worker or waits
for one, and a task looks now and then for what has gone past a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sparql.errors import ClientGone, Overloaded
from sparql.query.answer import Answer, read_failure
from sparql.query.crew import Crew
from sparql.query.fair import FairQueue
from sparql.query.frames import Job, Kind
from sparql.query.lanes import SLOW_S, Lanes
from sparql.query.limits import QueryLimits
from sparql.query.process import WorkerProcess
from sparql.query.request import QueryRequest
from sparql.query.results import FORMATS
from sparql.query.ticket import Events, Place, Ticket
from sparql.store.generations import Generations

BUSY_TICK_S: Final = 0.005
IDLE_TICK_S: Final = 1.0


class Pool:
    """
    Query workers over the current generation of a store.

    Attributes:
        base_iri: What relative IRIs in queries are resolved against.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str) -> None:
        self._limits = limits
        self.base_iri = base_iri
        self._generations = Generations(root)
        self._crew = Crew(root, limits, base_iri, Events(self._offer, self._give_back, self._put_back))
        self._lanes = Lanes(limits)
        self._queue = FairQueue(limits.waiting)
        self._long_queue = FairQueue(limits.waiting)
        self._look = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the workers; to be called on the event loop."""
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def close(self) -> None:
        """End all queries and workers."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        self._crew.close()

    def generation(self) -> int:
        """The number of the current generation; 0 while there is none."""
        current = self._generations.current()
        return 0 if current is None else current.number

    def served(self) -> int:
        """The newest generation that a worker has open; 0 while none has one."""
        return max((worker.generation for worker in self._crew.workers), default=0)

    async def ask(self, request: QueryRequest, ticket: Ticket) -> Answer:
        """
        Have a query answered, and return when its result begins.

        Raises:
            SparqlError: There is no result, and why.
        """
        if ticket.reason is not None:
            raise ticket.reason
        place = self._place(request, ticket)
        try:
            first = await place.first
        except asyncio.CancelledError:
            ticket.leave(ClientGone("The client went away."))
            raise
        if first.kind == Kind.FAIL:
            raise read_failure(first.payload)
        return Answer(first, self._give_back)

    def _place(self, request: QueryRequest, ticket: Ticket) -> Place:
        """A place at a worker, or in a queue."""
        limits, now = self._limits, time.monotonic()
        timeout_s = min(request.timeout_s or limits.timeout_s, limits.timeout_s)
        asked = request.graph_name or request.text
        place = Place(ticket, _job(request), timeout_s, asked, now, asyncio.get_running_loop().create_future())
        heavy = self._lanes.is_heavy(asked)
        worker = self._take(heavy)
        if worker is None:
            self._enqueue(place, self._long_queue if heavy else self._queue)
        else:
            self._begin(worker, place, heavy)
        if not self._look.is_set():
            self._look.set()
        return place

    def _begin(self, worker: WorkerProcess, place: Place, heavy: bool) -> None:
        if heavy and self._crew.is_busy():
            worker.step_back()
        elif heavy:  # The signal would delay the first bytes.
            worker.be_long()
        worker.start(place)

    def _give_back(self, worker: WorkerProcess) -> None:
        """Take back a worker whose query is done, and give it the next."""
        self._lanes.learn(worker)
        if worker.finish():
            self._offer(worker)
        else:
            self._put_back(worker.take_back())
            self._look.set()

    def _offer(self, worker: WorkerProcess) -> None:
        """Let a worker be idle that has nothing to do, or give it what waits."""
        if worker.deadline is None:
            self._crew.put(worker)
        self._hand_out()

    def _hand_out(self) -> None:
        """Give short queries that wait to workers."""
        while self._queue and (worker := self._crew.take()) is not None:
            place = self._next()
            if place is not None:
                worker.start(place)
            elif worker.deadline is None:
                self._crew.put(worker)

    def _next(self) -> Place | None:
        """The place whose turn it is; those whose queries turned out to be long meanwhile go to the others of these."""
        while (place := self._queue.pop()) is not None and self._lanes.is_heavy(place.asked):
            self._enqueue(place, self._long_queue)
        return place

    def _take(self, heavy: bool) -> WorkerProcess | None:
        """A worker for a query, if it is its turn already."""
        if heavy:
            return self._crew.take_idle() if not self._long_queue and self._lanes.has_room(self._crew.workers) else None
        return None if self._queue else self._crew.take()

    def _serve_queues(self) -> None:
        """Give idle workers to those who wait; long queries may have those that short ones leave."""
        self._hand_out()
        while self._long_queue and self._lanes.has_room(self._crew.workers):
            worker = self._crew.take_idle()
            place = None if worker is None else self._long_queue.pop()
            if worker is None or place is None:
                return
            self._begin(worker, place, True)
        if self._long_queue and self._lanes.may_try(self._crew.workers):
            self._try_one()

    def _try_one(self) -> None:
        """Try a query once more that may be a short one, though there is no room for long ones."""
        worker = self._crew.take_idle()
        place = None if worker is None else self._long_queue.take(self._lanes.only_seems_heavy)
        if worker is not None and place is not None:
            worker.put_on_trial()
            worker.start(place)
        elif worker is not None:
            self._crew.put(worker)

    def _put_back(self, places: Sequence[Place]) -> None:
        """Look for other workers for queries that were sent to one already."""
        for place in places:
            place.ticket.leave = place.leave
        self._queue.put_back(places)

    def _enqueue(self, place: Place, queue: FairQueue) -> None:
        place.ticket.leave = place.leave
        ousted = queue.push(place)
        if ousted is not None:
            ousted.leave(Overloaded(f"{queue.bound} queries are waiting already; try again in a while."))

    async def _watch(self) -> None:
        """Keep the workers alive, within their limits and on the current generation."""
        while True:
            for queue in (self._queue, self._long_queue):
                queue.tidy()
                for place in queue:
                    self._look_at_place(place)
            for worker in self._crew.workers:
                self._put_back(worker.held_up(time.monotonic()))
            for place in self._lanes.look(self._crew.workers):
                self._enqueue(place, self._long_queue)
            generation = self.generation()
            self._crew.renew_one(generation)
            self._crew.keep(generation)
            self._serve_queues()
            if not self._queue and not self._long_queue and self._crew.at_rest():
                self._look.clear()
                # Not asyncio.wait_for: in Python 3.11 it loses a cancellation that comes with what it waits for.
                timer = asyncio.get_running_loop().call_later(IDLE_TICK_S, self._look.set)
                await self._look.wait()
                timer.cancel()
            else:
                await asyncio.sleep(BUSY_TICK_S)

    def _look_at_place(self, place: Place) -> None:
        waited = time.monotonic() - place.since
        limit = self._limits.wait_s
        if waited > limit:
            place.leave(Overloaded(f"No query worker was free within {limit:g} s; try again in a while."))
        elif waited > SLOW_S:
            place.ticket.slow()


def _job(request: QueryRequest) -> bytes:
    solutions, graph = request.formats.solutions, request.formats.graph
    return Job(
        text=request.text,
        solutions=FORMATS.index(solutions) if solutions else None,
        graph=FORMATS.index(graph) if graph else None,
        default_graphs=request.default_graphs,
        named_graphs=request.named_graphs,
        graph_name=request.graph_name,
        head=request.head,
    ).pack()
