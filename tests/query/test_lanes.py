"""Short queries beside long ones, and the states of workers. Real processes over a real store."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pyoxigraph import QueryResultsFormat

from sparql.errors import ClientGone, Overloaded, QueryTimeout, SparqlError
from sparql.query import lanes
from sparql.query.lanes import LongQueries
from sparql.query.pool import Pool
from sparql.query.state import AFTER, BUSY, WorkerState
from sparql.query.ticket import Ticket
from sparql.worker.counting import RowCounter
from sparql.worker.frames import CHUNK_BYTES, HEAD
from sparql.worker.limits import QueryLimits
from sparql.worker.sink import FIRST_BYTES, FIRST_S, ResultBounds, ResultSink
from sparql.worker.worker import LOWEST
from tests.processes import stop
from tests.query.stores import PublishedStore, items
from tests.query.test_pool import COUNT, ENDLESS, count, csv, idle, request, running, seconds_of, text, until

OWN = os.nice(0)
"""The nice value of the tests, and so of a worker that has not been lowered."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    """Two graphs of 1,000 items."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add([*items(1000, "a"), *items(1000, "b", 1000)])
    return published


async def ended(pool: Pool, query: str, ticket: Ticket) -> SparqlError | None:
    """Why a query had no answer, or None when it had one."""
    try:
        await pool.ask(request(query), ticket)
    except SparqlError as error:
        return error
    return None


def priorities(pid: int) -> list[int]:
    """The nice value of each thread of a process."""
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # A thread may end between being listed and being looked at.
            found.append(os.getpriority(os.PRIO_PROCESS, int(thread.name)))
    return sorted(found)


def test_short_queries_do_not_wait_for_long_ones(published: PublishedStore) -> None:
    """The one who must not suffer from another's endless query is whoever asks for a little."""

    async def test() -> None:
        limits = QueryLimits(workers=1, spare=1, extra=3, wait_s=60)
        async with running(published.root, limits) as pool, AsyncExitStack() as stack:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(4)]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            stack.callback(lambda: [ticket.end(ClientGone("enough")) for ticket in tickets])
            await until(lambda: count(pool, WorkerState.LONG) == 4)
            for _ in range(20):
                start = time.monotonic()
                assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
                assert time.monotonic() - start < 30
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            assert all(isinstance(error, ClientGone) for error in await asyncio.gather(*tasks))
            await until(lambda: idle(pool) >= 2)

    asyncio.run(test())


def test_long_queries_share_the_time_that_short_ones_leave(published: PublishedStore) -> None:
    """Whoever comes second gets a share of the time, not the rest of it."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=1, extra=1, timeout_s=240, wait_s=240)) as pool:
            tickets = [Ticket(lambda: None, client) for client in "ab"]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            await until(lambda: count(pool, WorkerState.LONG) == 2)
            long = [worker.pid for worker in pool.workers if worker.state is WorkerState.LONG]
            before = [seconds_of(pid) for pid in long]
            await until(lambda: all(seconds_of(pid) > had + 0.3 for pid, had in zip(long, before, strict=True)))
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_the_limit_is_on_processor_time(published: PublishedStore) -> None:
    """It is on what a query takes, not on what others take from it."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, wait_s=240, timeout_s=0.5)) as pool:
            (worker,) = pool.workers
            task = asyncio.create_task(ended(pool, ENDLESS, Ticket(lambda: None)))
            await until(lambda: worker.busy)
            stop(worker.pid)  # As one that gets no processor.
            await asyncio.sleep(1)
            assert not task.done()
            os.kill(worker.pid, signal.SIGCONT)
            failure = await task
            assert type(failure) is QueryTimeout
            assert "longer than 0.5 s" in failure.message

    asyncio.run(test())


def test_a_query_that_others_leave_no_processor_is_refused_for_now(published: PublishedStore) -> None:
    """Somebody who waits gets an answer, even if it is that there is none."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, wait_s=0.2, timeout_s=0.5)) as pool:
            (worker,) = pool.workers
            task = asyncio.create_task(ended(pool, ENDLESS, Ticket(lambda: None)))
            await until(lambda: worker.busy)
            stop(worker.pid)
            failure = await task
            assert type(failure) is Overloaded
            assert "had a processor for 0." in failure.message

    asyncio.run(test())


def test_there_is_an_end_to_long_queries(published: PublishedStore) -> None:
    """Each one takes memory while it stands still; what is too many waits, that of the greediest client first."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=1, extra=1, timeout_s=240, wait_s=240)) as pool:
            tickets = [Ticket(lambda: None, client) for client in ("a", "b", "b")]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(3)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            await until(lambda: len(pool.long_queue) == 1)
            (waiting,) = pool.long_queue
            assert waiting.ticket in tickets[1:]
            await asyncio.sleep(0.2)
            assert not any(task.done() for task in tasks)
            tickets[0].end(ClientGone("enough"))
            await until(lambda: len(pool.long_queue) == 0)
            await until(lambda: {worker.client for worker in pool.workers if worker.state is WorkerState.LONG} == {"b"})
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            assert {type(found) for found in await asyncio.gather(*tasks)} == {ClientGone}

    asyncio.run(test())


def test_too_many_at_once_that_are_not_quite_short_are_all_answered(published: PublishedStore) -> None:
    """Twenty charts on one page: each of them takes a few tens of milliseconds, and none is refused."""
    query = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 150000 } }"

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=2, extra=1, wait_s=300)) as pool:
            asked = [text(pool, request(query.replace("?n", f"?n{number}"), "text/csv")) for number in range(20)]
            found = await asyncio.gather(*asked)
            assert found == [f"n{number}\r\n150000\r\n" for number in range(20)]

    asyncio.run(test())


def test_a_query_that_waits_too_long_for_its_turn_is_refused_for_now(published: PublishedStore) -> None:
    """The client gets a reason and a time to come back, not an answer that never comes."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=1, extra=0, wait_s=0.5, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, client) for client in "ab"]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(2)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            done, _ = await asyncio.wait(tasks, timeout=120, return_when=asyncio.FIRST_COMPLETED)
            assert [type(task.result()) for task in done] == [Overloaded]
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_a_query_is_lowered_and_its_worker_raised_again(published: PublishedStore) -> None:
    """The processor is first for those who ask little; a worker must not stay slow for the next query."""
    middling = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 2000000 } }"

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=60, wait_s=300)) as pool:
            (worker,) = pool.workers
            assert priorities(worker.pid)[-1] == OWN
            ticket = Ticket(lambda: None)
            task = asyncio.create_task(ended(pool, middling, ticket))
            await until(lambda: priorities(worker.pid)[-1] == LOWEST)
            await task
            await until(lambda: priorities(worker.pid)[-1] == OWN)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert pool.workers == [worker]

    asyncio.run(test())


def test_all_queries_together_have_a_bound_of_memory(published: PublishedStore) -> None:
    """Queries that stand still keep what they have; the machine must not run out by their number."""
    sorts = "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f"

    async def test() -> None:
        limits = QueryLimits(workers=1, spare=1, extra=3, wait_s=60, timeout_s=60, memory_bytes=400 << 20)
        async with running(published.root, limits) as pool:
            tickets = [Ticket(lambda: None, client) for client in "abcd"]
            tasks = [asyncio.create_task(ended(pool, sorts, ticket)) for ticket in tickets]
            await asyncio.wait(tasks, timeout=120, return_when=asyncio.FIRST_COMPLETED)
            peak = 0
            for _ in range(40):
                peak = max(peak, sum(worker.memory() for worker in pool.workers))
                await asyncio.sleep(0.05)
            assert peak < 2 * (400 << 20)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            errors = await asyncio.gather(*tasks)
            assert any("memory" in error.message for error in errors if error)

    asyncio.run(test())


def test_a_query_is_lowered_before_it_counts_as_long(published: PublishedStore) -> None:
    """When many come at once of which nobody knows how long they take, the shortest are answered first."""

    async def test() -> None:
        async with running(
            published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240, long_s=0.5)
        ) as pool:
            (worker,) = pool.workers
            ticket = Ticket(lambda: None)
            task = asyncio.create_task(ended(pool, ENDLESS, ticket))
            await until(lambda: worker.state is WorkerState.LOWERED)
            assert ENDLESS not in pool.known
            await until(lambda: priorities(worker.pid)[-1] == LOWEST)
            await until(lambda: worker.state is WorkerState.LONG)
            assert ENDLESS in pool.known
            ticket.end(ClientGone("enough"))
            assert isinstance(await task, ClientGone)

    asyncio.run(test())


def test_a_query_whose_client_reads_slowly_is_long_but_not_known_for_it(published: PublishedStore) -> None:
    """It holds a worker, by its client's fault; the next client may read quickly."""
    rows = "SELECT * { ?a ?b ?c . ?d ?e ?f }"

    async def test() -> None:
        limits = QueryLimits(workers=1, spare=0, extra=0, timeout_s=60, reading_s=0.1, long_s=60)
        async with running(published.root, limits) as pool:
            answer = await pool.ask(request(rows, "text/csv"), Ticket(lambda: None))  # It is not read.
            await until(lambda: count(pool, WorkerState.LONG) == 1)
            assert rows not in pool.known
            answer.close()

    asyncio.run(test())


def test_a_worker_goes_from_state_to_state_by_the_table() -> None:
    """Each state can be reached, and each but ENDED left again by the answer."""
    assert set(AFTER) == set(WorkerState)
    assert set().union(*AFTER.values()) == set(WorkerState) - {WorkerState.STARTING}
    assert all(WorkerState.IDLE in AFTER[state] and WorkerState.ENDED in AFTER[state] for state in BUSY)


def test_what_was_long_once_waits_among_the_long_ones(published: PublishedStore) -> None:
    """Whoever sends the same endless query again and again must not find it tried each time."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=1, extra=0, wait_s=1, timeout_s=60)) as pool:
            first, again = Ticket(lambda: None, "a"), Ticket(lambda: None, "b")
            tasks = [asyncio.create_task(ended(pool, ENDLESS, first))]
            await until(lambda: count(pool, WorkerState.LONG) == 1)
            tasks.append(asyncio.create_task(ended(pool, f"{ENDLESS} # once more", again)))
            await until(lambda: len(pool.long_queue) == 1)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert isinstance(await tasks[1], Overloaded)
            first.end(ClientGone("enough"))
            await tasks[0]
            tasks[1] = asyncio.create_task(ended(pool, ENDLESS, again))
            await asyncio.sleep(0)  # It begins here, and nobody has looked yet how long it takes.
            assert count(pool, WorkerState.LONG) == 1
            again.end(ClientGone("enough"))
            assert isinstance(await tasks[1], ClientGone)

    asyncio.run(test())


def test_a_query_that_was_long_is_forgotten_when_it_is_quick(published: PublishedStore) -> None:
    """It may have been long over other data; then it counts as any other again."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            pool.known.add(COUNT)
            assert f"{COUNT}  # twin" in pool.known
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert COUNT not in pool.known

    asyncio.run(test())


def test_workers_of_those_that_are_to_wait_are_replaced_at_once(published: PublishedStore) -> None:
    """Short queries need workers most of all when there are too many long ones."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=2, extra=1, wait_s=60, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(5)]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(5)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            await until(lambda: len(pool.long_queue) == 3)
            await until(lambda: idle(pool) >= 2)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_a_client_that_goes_when_its_answer_is_there_ends_nobody_elses_query(published: PublishedStore) -> None:
    """Its worker may have the next query already."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            done = Ticket(lambda: None)
            await pool.ask(request(COUNT), done)
            running_ = asyncio.create_task(text(pool, request(COUNT.replace("?n", "?m"), "text/csv")))
            await asyncio.sleep(0)
            done.end(ClientGone("gone"))
            assert await running_ == "m\r\n6000\r\n"

    asyncio.run(test())


def test_what_turns_out_to_be_long_is_not_tried_by_all_who_wait_with_it(published: PublishedStore) -> None:
    """When many send the same endless query at once, the first shows what the others are."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, wait_s=60, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(4)]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            await until(lambda: count(pool, WorkerState.LONG) == 1)
            waiting = asyncio.create_task(text(pool, request(COUNT, "text/csv")))
            tickets[0].end(ClientGone("enough"))
            assert await waiting == csv(6000), "it came last, and was answered before the other endless ones"
            assert len(pool.long_queue) >= 2
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


@pytest.mark.parametrize(("brisk_s", "waiting"), [(1000, 2), (0, 0)], ids=["done soon", "held up"])
def test_no_more_short_queries_run_at_once_than_there_are_to_be_workers(
    published: PublishedStore, brisk_s: float, waiting: int
) -> None:
    """More processes than processors take each other's time; the spare ones are for when others are held up."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=2, extra=0, brisk_s=brisk_s)) as pool:
            tasks = [asyncio.create_task(text(pool, request(COUNT, "text/csv"))) for _ in range(3)]
            await asyncio.sleep(0)
            assert len(pool.queue) == waiting
            assert await asyncio.gather(*tasks) == [csv(6000)] * 3

    asyncio.run(test())


def test_workers_for_long_queries_are_there_before_they_are_needed(published: PublishedStore) -> None:
    """The pool keeps workers for long queries ahead, and no more than the limits allow."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=1, extra=2, timeout_s=240, wait_s=240)) as pool:
            await until(lambda: idle(pool) == 4)
            await asyncio.sleep(1.5)
            assert len(pool.workers) == 4

    asyncio.run(test())


def test_a_long_result_begins_before_a_whole_chunk_is_there() -> None:
    """Whoever waits for a million rows sees the first of them at once."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sink = ResultSink(
            theirs, HEAD.pack(1, 0, False), ResultBounds(10**6, 10**9), RowCounter(QueryResultsFormat.TSV)
        )
        row = b"value\n" * (FIRST_BYTES // 6)
        sink.write(row)
        time.sleep(2 * FIRST_S)
        ours.settimeout(0.05)
        with pytest.raises(TimeoutError):
            ours.recv(1 << 20)
        sink.write(row)
        ours.settimeout(60)
        assert len(ours.recv(1 << 20)) > FIRST_BYTES
        sink.write(row)
        ours.settimeout(0.05)
        with pytest.raises(TimeoutError):  # From then on whole chunks.
            ours.recv(1 << 20)
        sink.write(b"value\n" * (CHUNK_BYTES // 6))
        assert len(ours.recv(1 << 20)) > FIRST_BYTES


def test_what_was_long_before_runs_at_the_lowest_priority_at_once(published: PublishedStore) -> None:
    """Nobody has to find out again, and the processors are for others from its beginning."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=60, long_s=60)) as pool:
            (worker,) = pool.workers
            pool.known.add(ENDLESS)
            ticket = Ticket(lambda: None)
            task = asyncio.create_task(ended(pool, ENDLESS, ticket))
            await asyncio.sleep(0)  # It begins here, and nobody has looked yet how long it takes.
            assert worker.state is WorkerState.LONG
            await until(lambda: priorities(worker.pid)[-1] == LOWEST)
            ticket.end(ClientGone("enough"))
            await task

    asyncio.run(test())


def test_a_query_that_found_no_processor_is_not_long(published: PublishedStore) -> None:
    """It would be one of too many, and be refused, when it is the others that take all the time."""

    async def test() -> None:
        async with running(
            published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=60, reading_s=0.1)
        ) as pool:
            (worker,) = pool.workers
            stop(worker.pid)  # As one that gets no turn.
            asked = asyncio.create_task(text(pool, request(COUNT, "text/csv")))
            await asyncio.sleep(0.5)
            assert worker.state is WorkerState.SHORT
            os.kill(worker.pid, signal.SIGCONT)
            assert await asked == csv(6000)

    asyncio.run(test())


def test_a_query_is_known_as_long_by_what_it_asks() -> None:
    """Another remark or another line break makes no other query; what was quick is no longer known."""
    known = LongQueries()
    known.add("SELECT * { ?s ?p ?o }")
    assert "SELECT *\n{ ?s ?p ?o } # again" in known
    assert "SELECT * { ?s ?p ?x }" not in known
    known.discard("SELECT * { ?s ?p ?o }")
    known.discard("SELECT * { ?s ?p ?o }")
    assert "SELECT * { ?s ?p ?o }" not in known


def test_the_memory_of_long_queries_has_a_bound() -> None:
    """Anybody can send as many different ones as he likes; what was noted last is kept."""
    known = LongQueries()
    queries = [f"ASK {{ <urn:{number}> ?p ?o }}" for number in range(lanes.KNOWN + 1)]
    for query in queries:
        known.add(query)
        known.add(queries[0])
    assert [query in known for query in queries[:3]] == [True, False, True]
