"""A query on its way to a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sparql.errors import SparqlError
from sparql.query.answer import QueryAnswer

OWN = ""
"""The client of queries that the instance's own pages ask."""


class Ticket:
    """
    A client's hold on its query, in the queue or at a worker, by which the query can be ended.

    Attributes:
        slow: Called once, or a few times, when the query is not answered soon.
        client: Whose query it is: an address, to which the queue is fair.
        leave: Gives up the place that the query has at the moment.
        reason: Why the query was ended, or None.
    """

    def __init__(self, slow: Callable[[], None], client: str = OWN) -> None:
        self.slow = slow
        self.client = client
        self.leave: Callable[[SparqlError], None] = self._remember
        self.reason: SparqlError | None = None

    def end(self, reason: SparqlError) -> None:
        """Give the query up; whoever waits for the answer gets the reason."""
        self.reason = self.reason or reason
        self.leave(reason)

    def _remember(self, reason: SparqlError) -> None:
        """Nothing has begun: `reason` is looked at when it does."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryPlace:
    """
    A query that waits for a worker, or has one.

    Attributes:
        ticket: Whose query it is.
        job: What a worker is sent, packed.
        timeout_s: Seconds of processor time that the query may take.
        wall_s: Seconds of wall time that it may take, sending its result included.
        asked: The text of the query, or the name of the graph.
        since: Monotonic time at which the query came.
        first: Done when the answer begins, or when there is no hope of one.
    """

    ticket: Ticket
    job: bytes
    timeout_s: float
    wall_s: float
    asked: str
    since: float
    first: asyncio.Future[QueryAnswer]

    def leave(self, reason: SparqlError) -> None:
        """Give the query up."""
        if not self.first.done():
            self.first.set_exception(reason)
