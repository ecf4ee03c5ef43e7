"""
The way of a query to a worker, and of its answer back.

Everything here happens on the event loop's thread, so nothing needs a lock: a query is given to an idle worker or waits
for one, and a task looks now and then for what has gone past a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
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
from sparql.query.ticket import Place, Ticket
from sparql.store.generations import Generations

BUSY_TICK_S: Final = 0.025
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
        self._crew = Crew(root, limits, base_iri, self._offer)
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
        timeout_s = min(request.timeout_s or self._limits.timeout_s, self._limits.timeout_s)
        asked = hash((request.text, request.graph_name))
        heavy = self._lanes.is_heavy(asked)
        worker = self._take(heavy) or await self._wait(ticket, self._long_queue if heavy else self._queue)
        if ticket.reason is not None:
            self._offer(worker)
            raise ticket.reason
        ticket.leave = worker.end
        worker.slow, worker.client, worker.asked = ticket.slow, ticket.client, asked
        if heavy:
            worker.step_back()
        if not self._look.is_set():
            self._look.set()
        try:
            kind, payload = await worker.begin(_job(request), timeout_s)
        except BaseException:
            worker.end(ClientGone("The client went away."))
            self._give_back(worker)
            raise
        if kind == Kind.FAIL:
            self._give_back(worker)
            raise read_failure(payload)
        return Answer(worker, (kind, payload), self._give_back)

    def _give_back(self, worker: WorkerProcess) -> None:
        """Take back a worker whose query is done."""
        self._lanes.learn(worker)
        if worker.finish():
            self._offer(worker)
        else:
            self._look.set()

    def _offer(self, worker: WorkerProcess) -> None:
        place = self._queue.pop()
        if place is None:
            self._crew.put(worker)
        else:
            place.worker.set_result(worker)

    def _take(self, heavy: bool) -> WorkerProcess | None:
        """An idle worker for a query, if it is its turn already."""
        if heavy:
            return self._crew.take() if not self._long_queue and self._lanes.has_room(self._crew.workers) else None
        return None if self._queue else self._crew.take()

    def _serve_queues(self) -> None:
        """Give idle workers to those who wait; long queries may have those that short ones leave."""
        while self._queue and (worker := self._crew.take()) is not None:
            self._offer(worker)
        while self._long_queue and self._lanes.has_room(self._crew.workers):
            worker = self._crew.take()
            place = None if worker is None else self._long_queue.pop()
            if worker is None or place is None:
                return
            worker.long = True  # It counts from now on, though it begins in a moment.
            place.worker.set_result(worker)

    async def _wait(self, ticket: Ticket, queue: FairQueue) -> WorkerProcess:
        place = Place(ticket, time.monotonic(), asyncio.get_running_loop().create_future())
        ticket.leave = place.leave
        ousted = queue.push(place)
        self._look.set()
        if ousted is not None:
            ousted.leave(Overloaded(f"{queue.bound} queries are waiting already; try again in a while."))
        try:
            return await place.worker
        except asyncio.CancelledError:
            found = place.worker
            if found.done() and not found.cancelled() and found.exception() is None:
                self._offer(found.result())
            raise

    async def _watch(self) -> None:
        """Keep the workers alive, within their limits and on the current generation."""
        while True:
            for queue in (self._queue, self._long_queue):
                queue.tidy()
                for place in queue:
                    self._look_at_place(place)
            self._lanes.look(self._crew.workers)
            self._crew.keep()
            self._serve_queues()
            await self._crew.refresh_one(self.generation())
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
