"""What one query may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """
    Limits of the query side.

    Attributes:
        timeout_s: Seconds of processor time of one query; of wall time, sending its result included, it may take
            `wait_s` more, unless its client said how long it waits, or it asks other endpoints.
        memory_bytes: Bytes that one worker process may have written to memory of its own; all together may have so
            many for each of `workers`.
        workers: Processors that queries are meant to have: so many short ones begin at once.
        extra: Long queries that run beside `workers` others.
        spare: Worker processes that are there for short queries, whatever the long ones do.
        max_rows: Rows of a SELECT or triples of a CONSTRUCT or DESCRIBE.
        max_bytes: Bytes of one result.
        union_default_graph: Whether the default graph is the union of graphs.
        own_graphs: What the names of the instance's own graphs begin with, which are not in that union.
        listed_graphs: Up to how many other graphs there are when they are not; else the union is of all.
        wait_s: Seconds that a query waits for a free worker, and that others may take from it while it runs.
        waiting: Queries that may wait at once.
        cache_bytes: Bytes on disk that remembered results may take; 0 remembers none.
        service: Endpoints that SERVICE may ask.
        lowered_s: Seconds of processor time after which a query has the lowest priority.
        long_s: Seconds of processor time after which it is long.
        reading_s: Seconds of wall time after which it is long if its client is still reading the answer.
        brisk_s: Seconds of wall time for which a query is taken for one that is done at once.
        keep_s: Seconds that a query has to take for its result to be kept: a worker gives it as soon as the disk else.
        start_s: Seconds in which a worker has to be ready.
        kept_bytes: What an idle worker may keep in memory beyond what it had when it was new. Three of the store's
            caches have room in 96 MiB, as those of two indexes and of the strings: to fill them again is up to a tenth
            of the time of a query over everything.
    """

    timeout_s: float = 30
    memory_bytes: int = 2 << 30
    workers: int = 2
    extra: int = 4
    spare: int = 2
    max_rows: int = 1_000_000
    max_bytes: int = 1 << 30
    union_default_graph: bool = True
    own_graphs: tuple[str, ...] = ()
    listed_graphs: int = 32
    wait_s: float = 10
    waiting: int = 64
    cache_bytes: int = 0
    service: tuple[str, ...] = ()
    lowered_s: float = 0.005
    long_s: float = 0.05
    reading_s: float = 1.0
    brisk_s: float = 0.01
    keep_s: float = 0.005
    start_s: float = 60
    kept_bytes: int = 96 << 20
