"""What one query may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """
    Limits of the query side.

    Attributes:
        timeout_s: Seconds of wall time of one query, sending its result included.
        memory_bytes: Bytes that one worker process may have written to memory of its own; all together may have so
            many for each of `workers`.
        workers: Long queries that run at once.
        paused: Long queries beyond these that take turns with them.
        spare: Worker processes that are there for short queries, whatever the long ones do.
        max_rows: Rows of a SELECT or triples of a CONSTRUCT or DESCRIBE.
        max_bytes: Bytes of one result.
        union_default_graph: Whether the default graph is the union of all graphs.
        wait_s: Seconds that a query waits for a free worker, and that it stands still for others while it runs.
        waiting: Queries that may wait at once.
        cache_bytes: Bytes on disk that remembered results may take; 0 remembers none.
        service: Endpoints that SERVICE may ask.
    """

    timeout_s: float = 30
    memory_bytes: int = 2 << 30
    workers: int = 2
    paused: int = 4
    spare: int = 2
    max_rows: int = 1_000_000
    max_bytes: int = 1 << 30
    union_default_graph: bool = True
    wait_s: float = 10
    waiting: int = 64
    cache_bytes: int = 0
    service: tuple[str, ...] = ()
