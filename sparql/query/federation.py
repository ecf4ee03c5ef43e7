"""
Queries that ask other endpoints, apart from all others.

The workers of the pool have no network. A query with SERVICE, if the settings allow any endpoint, runs in a second pool
whose workers have; these refuse every endpoint that is not on the list. Which pool gets a query is no matter of safety:
the word alone sends it to the second.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from sparql.protocol.request import QueryRequest
from sparql.query.answer import QueryAnswer
from sparql.query.pool import Pool
from sparql.query.ticket import Ticket
from sparql.worker.limits import QueryLimits

AT_ONCE: Final = 2
"""Workers with the network; mostly they wait for other endpoints."""


class Pools:
    """
    The pool of all queries, and that of those with SERVICE, if there may be any.

    Attributes:
        base_iri: What relative IRIs in queries are resolved against.
        workers: The worker processes of the first.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str) -> None:
        self.base_iri = base_iri
        self._main = Pool(root, replace(limits, service=()), base_iri)
        self.workers = self._main.workers
        apart = replace(limits, workers=AT_ONCE, spare=0)
        self._apart = Pool(root, apart, base_iri) if limits.service else None

    def start(self) -> None:
        """Start the workers; to be called on the event loop."""
        self._main.start()
        if self._apart is not None:
            self._apart.start()

    async def close(self) -> None:
        """End all queries and workers."""
        await self._main.close()
        if self._apart is not None:
            await self._apart.close()

    def served(self) -> int:
        """The newest generation that a worker has open; 0 while none has one."""
        return self._main.served()

    async def ask(self, request: QueryRequest, ticket: Ticket) -> QueryAnswer:
        """
        Have a query answered, and return when its result begins.

        Raises:
            SparqlError: There is no result, and why.
        """
        if self._apart is not None and "service" in request.text.lower():
            return await self._apart.ask(request, ticket)
        return await self._main.ask(request, ticket)
