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
from sparql.protocol.request import QueryRequest
from sparql.protocol.results import FORMATS
from sparql.query.answer import QueryAnswer
from sparql.query.crew import Crew
from sparql.query.fair import FairQueue
from sparql.query.lanes import SLOW_S, Lanes
from sparql.query.process import Events, WorkerProcess
from sparql.query.state import WorkerState
from sparql.query.ticket import QueryPlace, Ticket
from sparql.store.generations import Generations
from sparql.worker.frames import QueryJob
from sparql.worker.limits import QueryLimits

BUSY_TICK_S: Final = 0.005
IDLE_TICK_S: Final = 1.0


class Pool:
    """
    Query workers over the current generation of a store.

    Attributes:
        base_iri: What relative IRIs in queries are resolved against.
        workers: The worker processes.
        queue: The queries that wait for a worker.
        long_queue: Those that wait until there is room for one more long query.
        known: The queries that are taken for long from the beginning.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str) -> None:
        self._limits = limits
        self.base_iri = base_iri
        self._generations = Generations(root)
        self._crew = Crew(root, limits, base_iri, Events(self._hand_out, self._give_back, self._put_back))
        self._lanes = Lanes(limits)
        self.workers = self._crew.workers
        self.queue = FairQueue(limits.waiting)
        self.long_queue = FairQueue(limits.waiting)
        self.known = self._lanes.known
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
        return max((worker.generation for worker in self.workers), default=0)

    async def ask(self, request: QueryRequest, ticket: Ticket) -> QueryAnswer:
        """
        Have a query answered, and return when its result begins.

        Raises:
            SparqlError: There is no result, and why.
        """
        if ticket.reason is not None:
            raise ticket.reason
        place = self._place(request, ticket)
        try:
            return await place.first
        except asyncio.CancelledError:
            ticket.leave(ClientGone("The client went away."))
            raise

    def _place(self, request: QueryRequest, ticket: Ticket) -> QueryPlace:
        """A place at a worker, or in a queue."""
        limits, asked = self._limits, request.graph_name or request.text
        timeout_s = min(request.timeout_s or limits.timeout_s, limits.timeout_s)
        first = asyncio.get_running_loop().create_future()
        # Who says how long it waits means wall time, and of other endpoints no processor time is known.
        patient = request.timeout_s is None and not limits.service
        wall_s = timeout_s + limits.wait_s if patient else timeout_s
        place = QueryPlace(ticket, _job(request), timeout_s, wall_s, asked, time.monotonic(), first)
        long = asked in self.known
        worker = self._take(long)
        if worker is None:
            self._enqueue(place, self.long_queue if long else self.queue)
        else:
            worker.start(place, long)
        if not self._look.is_set():
            self._look.set()
        return place

    def _take(self, long: bool) -> WorkerProcess | None:
        """A worker for a query, if it is its turn already."""
        if long:
            return self._crew.take_idle() if not self.long_queue and self._lanes.has_room(self.workers) else None
        return None if self.queue else self._crew.take()

    def _give_back(self, worker: WorkerProcess) -> None:
        """Take back a worker whose query is done, or that has ended, and give out what waits."""
        self._lanes.learn(worker)
        worker.finish()
        if worker.state is WorkerState.ENDED:
            self._put_back(worker.take_back())
            self._look.set()
        else:
            self._hand_out(worker)

    def _hand_out(self, _: WorkerProcess | None = None) -> None:
        """Give short queries that wait to workers."""
        while self.queue and (worker := self._crew.take()) is not None and (place := self._next()) is not None:
            worker.start(place)

    def _next(self) -> QueryPlace | None:
        """The place whose turn it is; those whose queries turned out to be long meanwhile go to the others of these."""
        while (place := self.queue.pop()) is not None and place.asked in self.known:
            self._enqueue(place, self.long_queue)
        return place

    def _serve_queues(self) -> None:
        """Give workers to those who wait; long queries may have those that short ones leave."""
        self._hand_out()
        while self.long_queue and self._lanes.has_room(self.workers):
            worker = self._crew.take_idle()
            place = None if worker is None else self.long_queue.pop()
            if worker is None or place is None:
                return
            worker.start(place, long=True)

    def _put_back(self, places: Sequence[QueryPlace]) -> None:
        """Look for other workers for queries that were sent to one already."""
        for place in places:
            place.ticket.leave = place.leave
        self.queue.put_back(places)

    def _enqueue(self, place: QueryPlace, queue: FairQueue) -> None:
        place.ticket.leave = place.leave
        ousted = queue.push(place)
        if ousted is not None:
            ousted.leave(Overloaded(f"{queue.bound} queries are waiting already; try again in a while."))

    async def _watch(self) -> None:
        """Keep the workers alive, within their limits and on the current generation."""
        while True:
            for queue in (self.queue, self.long_queue):
                queue.tidy()
                for place in queue:
                    self._look_at_place(place)
            for worker in self.workers:
                self._put_back(worker.held_up(time.monotonic()))
            for place in self._lanes.look(self.workers):
                self._enqueue(place, self.long_queue)
            generation = self.generation()
            self._crew.renew_one(generation)
            self._crew.keep(generation)
            self._serve_queues()
            if not self.queue and not self.long_queue and self._crew.at_rest():
                self._look.clear()
                # Not asyncio.wait_for: in Python 3.11 it loses a cancellation that comes with what it waits for.
                timer = asyncio.get_running_loop().call_later(IDLE_TICK_S, self._look.set)
                await self._look.wait()
                timer.cancel()
            else:
                await asyncio.sleep(BUSY_TICK_S)

    def _look_at_place(self, place: QueryPlace) -> None:
        waited = time.monotonic() - place.since
        limit = self._limits.wait_s
        if waited > limit:
            place.leave(Overloaded(f"No query worker was free within {limit:g} s; try again in a while."))
        elif waited > SLOW_S:
            place.ticket.slow()


def _job(request: QueryRequest) -> bytes:
    solutions, graph = request.formats.solutions, request.formats.graph
    return QueryJob(
        text=request.text,
        solutions=FORMATS.index(solutions) if solutions else None,
        graph=FORMATS.index(graph) if graph else None,
        default_graphs=request.default_graphs,
        named_graphs=request.named_graphs,
        graph_name=request.graph_name,
        head=request.head,
    ).pack()
