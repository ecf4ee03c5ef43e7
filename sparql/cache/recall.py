"""
Answers from the cache where it has them, else from the pool; what took its time is kept for the next one who asks.

Equal queries at the same time are one query: whoever comes while it runs waits for its answer. One whose result is long
is asked by each for themselves, as a slow client must not hold the others back.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pyoxigraph

from sparql.cache.cache import Cache, Draft
from sparql.cache.edition import Editions
from sparql.cache.kept import Recorded, Remembered, Result, in_thread, remembered
from sparql.errors import ClientGone, QueryTimeout, SparqlError
from sparql.protocol.request import QueryRequest
from sparql.protocol.results import FORMATS
from sparql.protocol.syntax import may_be_volatile
from sparql.query.answer import QueryAnswer
from sparql.query.federation import Pools
from sparql.query.pool import Pool
from sparql.query.ticket import Ticket
from sparql.worker.limits import QueryLimits


class Asked(NamedTuple):
    """
    A request and what it is called.

    Attributes:
        request: What is asked.
        key: The same for all that asks the same, in hexadecimal digits.
    """

    request: QueryRequest
    key: str


FlightKey = tuple[str, str, float]
"""Edition, key and time limit: what equal queries have in common."""
Outcome = Remembered | SparqlError | None
"""The answer to a query, why there is none, or None when the answer is long."""
Flight = asyncio.Future[Outcome]
"""A query that runs: done when it has its outcome, for those who wait for it; most have nobody."""


class Recall:
    """
    What stands before the pool and remembers; to be called on the event loop's thread.

    Attributes:
        remembers: Whether there is a cache.
        flights: The queries that run, or whose entry is being written.
    """

    def __init__(self, pool: Pool | Pools, limits: QueryLimits, editions: Editions, cache: Cache | None) -> None:
        self._pool = pool
        self._limits = limits
        self._editions = editions
        self._cache = cache
        default_graph = limits.union_default_graph, limits.own_graphs, limits.listed_graphs
        self._salt = repr(
            (pyoxigraph.__version__, pool.base_iri, limits.max_rows, limits.max_bytes, default_graph)
        ).encode()
        self._edition: str | None = None
        self.flights: dict[FlightKey, Flight] = {}
        self.remembers = cache is not None
        # One thread: what is written, read and closed of the cache's files happens one after the other.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")

    def name(self, request: QueryRequest) -> Asked:
        """A request with its key: what it asks, in which format, and the settings that an answer depends on."""
        solutions, graph = request.formats.solutions, request.formats.graph
        asked = (
            request.text,
            request.default_graphs,
            request.named_graphs,
            request.graph_name,
            solutions and solutions.media_type,
            graph and graph.media_type,
        )
        return Asked(request, hashlib.blake2s(self._salt + repr(asked).encode(), digest_size=20).hexdigest())

    def etag(self, asked: Asked, edition: str | None) -> str | None:
        """
        The tag of an answer, the same as long as asking again gives an equal one; None when the data have no name.

        Weak: the order of rows may differ.
        """
        return None if edition is None else f'W/"{edition}-{asked.key}"'

    async def ask(self, asked: Asked, ticket: Ticket, edition: str | None = None) -> Result:
        """
        The result of a request, when it begins.

        Args:
            asked: The request.
            ticket: Its place.
            edition: The current one, if the caller has just looked.

        Raises:
            SparqlError: There is none, and why.
        """
        cache, edition = self._cache, edition or self._editions.current()
        if cache is None or edition is None:
            return await self._pool.ask(asked.request, ticket)
        if edition != self._edition:
            self._edition = edition
            self._sweep(cache)
        entry = cache.find(edition, asked.key)
        found = remembered(edition, entry, self._thread) if entry else None
        if found is not None:
            return found
        if asked.request.head:
            return await self._pool.ask(asked.request, ticket)
        if may_be_volatile(asked.request.text):
            return self._recorded(cache, asked, await self._pool.ask(asked.request, ticket))
        return await self._once(cache, asked, edition, ticket)

    async def _once(self, cache: Cache, asked: Asked, edition: str, ticket: Ticket) -> Result:
        """Ask, or wait for the answer of one who asks the same with the same patience."""
        limit = self._limits.timeout_s
        place = (edition, asked.key, min(asked.request.timeout_s or limit, limit))
        while (flight := self.flights.get(place)) is not None:
            outcome = await self._join(flight, place[2] + self._limits.wait_s, ticket)
            if isinstance(outcome, Remembered):
                return outcome
            if outcome is None:
                return self._recorded(cache, asked, await self._pool.ask(asked.request, ticket))
            if not isinstance(outcome, ClientGone):
                raise type(outcome)(outcome.message)
        return await self._lead(cache, asked, place, ticket)

    async def _lead(self, cache: Cache, asked: Asked, place: FlightKey, ticket: Ticket) -> Result:
        flight = self.flights[place] = asyncio.get_running_loop().create_future()
        outcome: Outcome = ClientGone("The client went away.")
        kept = None
        try:
            answer = await self._pool.ask(asked.request, ticket)
            if answer.whole is not None:
                outcome = Remembered(answer.generation, answer.form, answer.whole)
                kept = self._keep_whole(cache, asked, answer)
                return answer
            outcome = None
        except SparqlError as error:
            outcome = error
            raise
        finally:
            flight.set_result(outcome)
            if kept is None:
                del self.flights[place]
            else:  # Until the entry is there, the flight stands for it.
                kept.add_done_callback(lambda _: self.flights.pop(place))
        return self._recorded(cache, asked, answer)

    async def _join(self, flight: Flight, patience_s: float, ticket: Ticket) -> Outcome:
        if not flight.done():
            gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            ticket.leave = lambda _: None if gone.done() else gone.set_result(None)
            ticket.slow()
            waiting: set[asyncio.Future[Any]] = {flight, gone}
            await asyncio.wait(waiting, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if ticket.reason is not None:
            raise ticket.reason
        if not flight.done():
            raise QueryTimeout(f"The same query, asked by another client, was not answered within {patience_s:g} s.")
        return flight.result()

    def _recorded(self, cache: Cache, asked: Asked, answer: QueryAnswer) -> Result:
        """The answer, which is kept if that is worth while: at once if it is whole, else while it passes."""
        if answer.volatile:
            return answer
        if answer.whole is not None:
            self._keep_whole(cache, asked, answer)
            return answer
        return Recorded(
            answer,
            lambda: cache.begin(asked.key, FORMATS.index(answer.form)),
            lambda draft: self._keep(cache, draft, asked, answer),
            lambda: self._is_slow(answer),
            self._thread,
        )

    def _is_slow(self, answer: QueryAnswer) -> bool:
        """Whether an answer took long enough to be kept."""
        return time.monotonic() - answer.since >= self._limits.keep_s

    def _keep_whole(self, cache: Cache, asked: Asked, answer: QueryAnswer) -> asyncio.Future[None] | None:
        whole = answer.whole
        if whole is None or not self._is_slow(answer):
            return None

        def write() -> None:
            draft = cache.begin(asked.key, FORMATS.index(answer.form))
            if draft is not None:
                draft.write(whole)
                self._keep(cache, draft, asked, answer)

        return in_thread(self._thread, write)

    def _keep(self, cache: Cache, draft: Draft, asked: Asked, answer: QueryAnswer) -> None:
        """Keep a complete result, if it is of the current data and took its time; to be called in a thread."""
        edition = self._editions.of(answer.generation)
        if edition is None or edition != self._editions.current() or not self._is_slow(answer):
            draft.drop()
        else:
            draft.keep(edition, asked.key)
            if cache.due():
                cache.sweep(edition)

    def _sweep(self, cache: Cache) -> None:
        self._thread.submit(lambda: cache.sweep(self._editions.current()))
