"""A query's place before it has an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sparql.errors import SparqlError
from sparql.query.process import WorkerProcess

OWN = ""
"""The client of queries that the instance's own pages ask."""


class Ticket:
    """
    A query's place, in the queue or at a worker, by which it can be ended.

    Attributes:
        slow: Called once, or a few times, when the query is not answered soon.
        client: Whose it is: an address, to which the queue is fair.
        leave: Gives up the place that it has at the moment.
        reason: Why it was ended, or None.
    """

    def __init__(self, slow: Callable[[], None], client: str = OWN) -> None:
        self.slow = slow
        self.client = client
        self.leave: Callable[[SparqlError], None] = self._remember
        self.reason: SparqlError | None = None

    def end(self, reason: SparqlError) -> None:
        """Give the place up; whoever waits for the answer gets the reason."""
        self.reason = self.reason or reason
        self.leave(reason)

    def _remember(self, reason: SparqlError) -> None:
        """Nothing has begun: `reason` is looked at when it does."""


@dataclass(frozen=True, slots=True)
class Place:
    """
    A place in the queue for a worker.

    Attributes:
        ticket: Whose it is.
        since: Monotonic time at which it was taken.
        worker: Done when there is a worker, or no hope of one.
    """

    ticket: Ticket
    since: float
    worker: asyncio.Future[WorkerProcess]

    def leave(self, reason: SparqlError) -> None:
        """Give it up."""
        if not self.worker.done():
            self.worker.set_exception(reason)
