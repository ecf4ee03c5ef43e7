"""A query on its way to a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sparql.errors import SparqlError

if TYPE_CHECKING:
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


class First(NamedTuple):
    """
    The first frame of an answer.

    Attributes:
        kind: WHOLE, HEAD or FAIL.
        payload: What it carries.
        since: Monotonic time at which the worker got the query.
        worker: Who goes on with it after HEAD; of the others it may have the next query already.
    """

    kind: int
    payload: bytes
    since: float
    worker: WorkerProcess


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """
    A query that waits for a worker, or has one.

    Attributes:
        ticket: Whose it is.
        job: What a worker is sent, packed.
        timeout_s: Seconds that it may take.
        asked: The text of the query, or the name of the graph.
        since: Monotonic time at which it came.
        first: Done when its answer begins, or when there is no hope of one.
    """

    ticket: Ticket
    job: bytes
    timeout_s: float
    asked: str
    since: float
    first: asyncio.Future[First]

    def leave(self, reason: SparqlError) -> None:
        """Give it up."""
        if not self.first.done():
            self.first.set_exception(reason)

    def given_up(self) -> Place:
        """The same for a worker that may answer it still, when somebody else is asked."""
        first: asyncio.Future[First] = self.first.get_loop().create_future()
        first.cancel()
        return replace(self, ticket=Ticket(_nothing, self.ticket.client), first=first)


@dataclass(frozen=True, slots=True)
class Events:
    """
    What happens to a worker.

    Attributes:
        ready: It has opened the current generation and can be given a query.
        done: Its query is answered, or it has ended.
        returned: It will not answer these queries, which were sent behind another one.
    """

    ready: Callable[[WorkerProcess], None]
    done: Callable[[WorkerProcess], None]
    returned: Callable[[Sequence[Place]], None]


def _nothing() -> None:
    return
