"""
The query workers of a front, and the way to an answer.

Everything here happens on the event loop's thread, so nothing needs a lock: a query is given to an idle worker or waits
for one, and a task looks now and then for what has gone past a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from pathlib import Path
from typing import Final

from sparql.errors import ClientGone, Overloaded, QueryCrash, QueryMemory, QueryTimeout
from sparql.query.answer import Answer, read_failure
from sparql.query.frames import Job, Kind
from sparql.query.limits import QueryLimits
from sparql.query.process import WorkerProcess
from sparql.query.request import QueryRequest
from sparql.query.results import FORMATS
from sparql.query.ticket import Place, Ticket
from sparql.query.worker import Options
from sparql.store.generations import Generations

log = logging.getLogger(__name__)

BUSY_TICK_S: Final = 0.05
IDLE_TICK_S: Final = 1.0
START_S: Final = 60.0
SLOW_S: Final = 0.1
"""How long a query may take before its client is watched: most are done by then."""
AGAIN_S: Final = 1.0
"""How long to wait before a worker that did not even start is replaced."""


class Pool:
    """
    Query workers over the current generation of a store.

    Attributes:
        base_iri: What relative IRIs in queries are resolved against.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str) -> None:
        self._root = root
        self._limits = limits
        self.base_iri = base_iri
        self._generations = Generations(root)
        self._workers: list[WorkerProcess] = []
        self._idle: list[WorkerProcess] = []
        self._queue: deque[Place] = deque()
        self._look = asyncio.Event()
        self._again = 0.0
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
        for worker in self._workers:
            worker.close()

    def generation(self) -> int:
        """The number of the current generation; 0 while there is none."""
        current = self._generations.current()
        return 0 if current is None else current.number

    def served(self) -> int:
        """The newest generation that a worker has open; 0 while none has one."""
        return max((worker.generation for worker in self._workers), default=0)

    async def ask(self, request: QueryRequest, ticket: Ticket) -> Answer:
        """
        Have a query answered, and return when its result begins.

        Raises:
            SparqlError: There is no result, and why.
        """
        timeout_s = min(request.timeout_s or self._limits.timeout_s, self._limits.timeout_s)
        worker = await self._take(ticket)
        if ticket.reason is not None:
            self._offer(worker)
            raise ticket.reason
        ticket.leave = worker.end
        worker.slow = ticket.slow
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
        if worker.finish():
            self._offer(worker)
        else:
            self._look.set()

    def _offer(self, worker: WorkerProcess) -> None:
        while self._queue:
            place = self._queue.popleft()
            if not place.worker.done():
                place.worker.set_result(worker)
                return
        self._idle.append(worker)

    async def _take(self, ticket: Ticket) -> WorkerProcess:
        while self._idle:
            worker = self._idle.pop()
            if not worker.ended:
                return worker
        limits = self._limits
        if sum(not place.worker.done() for place in self._queue) >= limits.waiting:
            raise Overloaded(f"{limits.waiting} queries are waiting already; try again in a while.")
        return await self._wait(ticket)

    async def _wait(self, ticket: Ticket) -> WorkerProcess:
        place = Place(ticket, time.monotonic(), asyncio.get_running_loop().create_future())
        ticket.leave = place.leave
        self._queue.append(place)
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
            self._queue = deque(place for place in self._queue if not place.worker.done())
            for place in self._queue:
                self._look_at_place(place)
            for worker in list(self._workers):
                self._look_at(worker)
            while len(self._workers) < self._limits.workers and time.monotonic() >= self._again:
                self._start_worker()
            await self._refresh_one()
            if not self._queue and all(worker.ready and worker.deadline is None for worker in self._workers):
                self._look.clear()
                # Not asyncio.wait_for: in Python 3.11 it loses a cancellation that comes with what it waits for.
                timer = asyncio.get_running_loop().call_later(IDLE_TICK_S, self._look.set)
                await self._look.wait()
                timer.cancel()
            else:
                await asyncio.sleep(BUSY_TICK_S)

    def _start_worker(self) -> None:
        try:
            self._workers.append(WorkerProcess(self._options, self._offer))
        except OSError as error:
            log.error("No query worker could be started: %s", error)
            self._again = time.monotonic() + AGAIN_S

    def _look_at_place(self, place: Place) -> None:
        waited = time.monotonic() - place.since
        limit = self._limits.wait_s
        if waited > limit:
            place.leave(Overloaded(f"No query worker was free within {limit:g} s; try again in a while."))
        elif waited > SLOW_S:
            place.ticket.slow()

    def _look_at(self, worker: WorkerProcess) -> None:
        now, limits = time.monotonic(), self._limits
        if worker.is_over():
            self._workers.remove(worker)
            worker.close()
            self._again = now + (0 if worker.generation or worker.ready else AGAIN_S)
        elif worker.deadline is not None:
            self._look_at_query(worker, worker.deadline, now)
        elif not worker.ready and now > worker.since + START_S:
            worker.end(QueryCrash(f"A query worker did not start within {START_S:g} s."))
        elif worker.memory() > limits.memory_bytes // 2:
            worker.end(QueryCrash("A query worker had grown too large."))

    def _look_at_query(self, worker: WorkerProcess, deadline: float, now: float) -> None:
        limit = self._limits.memory_bytes
        if now > deadline:
            seconds = deadline - worker.since
            worker.end(QueryTimeout(f"The query took longer than {seconds:g} s and was ended."))
        elif worker.memory() > limit:
            worker.end(QueryMemory(f"The query took more than {limit >> 20} MiB of memory and was ended."))
        elif now > worker.since + SLOW_S:
            worker.slow()

    async def _refresh_one(self) -> None:
        """Have one idle worker move to the current generation, so that old ones can be collected."""
        current = self.generation()
        for worker in self._idle:
            if worker.generation != current and not worker.ended:
                self._idle.remove(worker)
                with contextlib.suppress(QueryCrash):  # It has just died, and is replaced.
                    await worker.refresh()
                return

    def _options(self, descriptor: int) -> Options:
        limits = self._limits
        return Options(
            descriptor=descriptor,
            parent=os.getpid(),
            root=str(self._root),
            base_iri=self.base_iri,
            max_rows=limits.max_rows,
            max_bytes=limits.max_bytes,
            union=limits.union_default_graph,
        )


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
