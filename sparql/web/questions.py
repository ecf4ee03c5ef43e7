"""
Queries that pages ask, from their threads, of the same workers and within the same limits as those of clients.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable
from typing import Final

import pyoxigraph
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolution

from sparql.cache.recall import Recall
from sparql.errors import Overloaded, QueryTimeout, StoreError, TooLarge
from sparql.protocol.request import QueryRequest
from sparql.protocol.results import JSON, Choice
from sparql.query.ticket import Ticket
from sparql.worker.limits import QueryLimits

LARGEST: Final = 32 << 20
"""Bytes of the largest result that a page is made of; pages ask for no more than they show."""
SPARE_S: Final = 5.0
"""What an answer may take beyond all limits before it is given up."""


Ask = Callable[[str, float], bytes]
"""Has a SELECT or ASK answered within so many seconds, as JSON; raises SparqlError."""


class Questions:
    """Has queries of pages answered; threads that wait for an answer are bounded."""

    def __init__(self, recall: Recall, limits: QueryLimits, at_once: int) -> None:
        self._recall = recall
        self._limits = limits
        self._at_once = at_once
        self._places = threading.BoundedSemaphore(at_once)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to answer; to be called on the event loop."""
        self._loop = asyncio.get_running_loop()

    def ask(self, text: str, timeout_s: float) -> bytes:
        """
        The result of a SELECT or ASK as JSON; to be called in a thread that is not the event loop's.

        Raises:
            SparqlError: There is none, and why.
        """
        if self._loop is None:
            raise StoreError("The query workers have not started yet; try again in a moment.")
        if not self._places.acquire(blocking=False):
            raise Overloaded(f"{self._at_once} pages are waiting for the store already; try again in a while.")
        try:
            asked = asyncio.run_coroutine_threadsafe(self.answer(text, timeout_s), self._loop)
            return _outcome(asked, timeout_s + self._limits.wait_s + SPARE_S)
        finally:
            self._places.release()

    async def answer(self, text: str, timeout_s: float | None = None) -> bytes:
        """
        The same, on the event loop.

        Raises:
            SparqlError: There is none, and why.
        """
        request = QueryRequest(text, Choice(JSON, None), timeout_s=timeout_s)
        result = await self._recall.ask(self._recall.name(request), Ticket(_not_watched))
        try:
            if result.whole is not None:
                return result.whole
            pieces, size = [], 0
            async for piece in result:
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST:
                    raise TooLarge(f"What the page would show has more than {LARGEST >> 20} MiB; take it as data.")
            if result.cut is not None:
                raise result.cut
            return b"".join(pieces)
        finally:
            result.close()


class Budget:
    """Answers to the queries of one page, which share the time that one query may take."""

    def __init__(self, ask: Ask, seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def rows(self, text: str) -> list[QuerySolution]:
        """The rows of a SELECT. Raises: SparqlError."""
        answer = self._answered(text)
        try:
            found = pyoxigraph.parse_query_results(answer, format=QueryResultsFormat.JSON)
            assert not isinstance(found, QueryBoolean)
            return list(found)
        except SyntaxError as error:
            # The store takes terms that a strict reader refuses.
            raise StoreError(f"The store holds a term that cannot be shown: {error.msg}.") from error

    def holds(self, text: str) -> bool:
        """The answer of an ASK. Raises: SparqlError."""
        return is_true(self._answered(text))

    def _answered(self, text: str) -> bytes:
        left = self._end - time.monotonic()
        if left <= 0:
            raise QueryTimeout(f"The queries of this page took longer than {self._seconds:g} s and were ended.")
        return self._ask(text, left)


def is_true(answer: bytes) -> bool:
    """What the JSON result of an ASK says."""
    return bool(pyoxigraph.parse_query_results(answer, format=QueryResultsFormat.JSON))


def _outcome(asked: concurrent.futures.Future[bytes], patience_s: float) -> bytes:
    try:
        return asked.result(patience_s)
    except concurrent.futures.TimeoutError:
        asked.cancel()
        raise QueryTimeout(f"The query was not answered within {patience_s:g} s.") from None
    except concurrent.futures.CancelledError:
        raise StoreError("The query service is closing.") from None


def _not_watched() -> None:
    """A page's client is not watched: its queries are short, and others may want the same."""
