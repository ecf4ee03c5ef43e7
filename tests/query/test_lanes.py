"""Short queries beside long ones, and the turns of these. Real processes over a real store."""

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
from sparql.query import crew, lanes
from sparql.query.counting import RowCounter
from sparql.query.frames import CHUNK_BYTES, HEAD
from sparql.query.limits import QueryLimits
from sparql.query.pool import Pool
from sparql.query.sink import FIRST_BYTES, FIRST_S, Bounds, Sink
from sparql.query.ticket import Ticket
from sparql.query.worker import CALM_S, GIVE_WAY, NICE, STEP_BACK
from tests.query.stores import Shelf, items
from tests.query.test_pool import COUNT, ENDLESS, csv, request, running, seconds_of, text, until


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Two graphs of 1,000 items."""
    shelf = Shelf(tmp_path_factory.mktemp("store"))
    shelf.add([*items(1000, "a"), *items(1000, "b", 1000)])
    return shelf


async def ended(pool: Pool, query: str, ticket: Ticket) -> SparqlError | None:
    """Why a query had no answer, or None when it had one."""
    try:
        await pool.ask(request(query), ticket)
    except SparqlError as error:
        return error
    return None


def state(pid: int) -> str:
    """R or S for a process that runs, T for one that is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def priorities(pid: int) -> list[int]:
    """The nice value of each thread of a process."""
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # A thread may end between being listed and being looked at.
            found.append(os.getpriority(os.PRIO_PROCESS, int(thread.name)))
    return sorted(found)


def test_short_queries_do_not_wait_for_long_ones(shelf: Shelf) -> None:
    """The one who must not suffer from another's endless query is whoever asks for a little."""

    async def test() -> None:
        limits = QueryLimits(workers=1, spare=1, paused=3, wait_s=60)
        async with running(shelf.root, limits) as pool, AsyncExitStack() as stack:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(4)]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            stack.callback(lambda: [ticket.end(ClientGone("enough")) for ticket in tickets])
            await until(lambda: sum(worker.long for worker in pool._crew.workers) == 4)
            for _ in range(20):
                start = time.monotonic()
                assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
                assert time.monotonic() - start < 5
            await until(lambda: [state(w.pid) for w in pool._crew.workers if w.long].count("T") == 3)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            assert all(isinstance(error, ClientGone) for error in await asyncio.gather(*tasks))
            await until(lambda: len(list(pool._crew.idle())) >= 2)

    asyncio.run(test())


def test_long_queries_take_turns(shelf: Shelf) -> None:
    """Whoever comes second gets a share of the time, not the rest of it."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=1, wait_s=60)) as pool:
            tickets = [Ticket(lambda: None, client) for client in "ab"]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            await until(lambda: sum(worker.long for worker in pool._crew.workers) == 2)
            long = [worker.pid for worker in pool._crew.workers if worker.long]
            before = [seconds_of(pid) for pid in long]
            await until(lambda: all(seconds_of(pid) > had + 0.3 for pid, had in zip(long, before, strict=True)), 60)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_time_stands_still_for_what_is_stopped(shelf: Shelf) -> None:
    """The limit is on what a query takes, not on what others take from it."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=1, wait_s=60, timeout_s=1)) as pool:
            start = time.monotonic()
            errors = await asyncio.gather(*(ended(pool, ENDLESS, Ticket(lambda: None, client)) for client in "ab"))
            assert [type(error) for error in errors] == [QueryTimeout, QueryTimeout]
            # Not 2 s: both run until they have proved to be long, which takes a while where others have the processors.
            assert 1.5 < time.monotonic() - start < 60
            assert "longer than 1 s" in errors[0].message if errors[0] else False

    asyncio.run(test())


def test_what_is_stopped_for_too_long_is_told_to_come_back(shelf: Shelf) -> None:
    """Somebody who waits gets an answer, even if it is that there is none."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=1, wait_s=0.8, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, client) for client in "ab"]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            done, _ = await asyncio.wait(tasks, timeout=30, return_when=asyncio.FIRST_COMPLETED)
            assert [type(task.result()) for task in done] == [Overloaded]
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_there_is_an_end_to_long_queries(shelf: Shelf) -> None:
    """Each one takes memory while it stands still; what is too many waits, that of the greediest client first."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=1, wait_s=60)) as pool:
            tickets = [Ticket(lambda: None, client) for client in ("a", "b", "b")]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(3)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            await until(lambda: len(pool._long_queue) == 1)
            (waiting,) = pool._long_queue
            assert waiting.ticket in tickets[1:]
            await asyncio.sleep(0.2)
            assert not any(task.done() for task in tasks)
            tickets[0].end(ClientGone("enough"))
            await until(lambda: len(pool._long_queue) == 0)
            await until(lambda: {worker.client for worker in pool._crew.workers if worker.long} == {"b"})
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            assert {type(found) for found in await asyncio.gather(*tasks)} == {ClientGone}

    asyncio.run(test())


def test_too_many_at_once_that_are_not_quite_short_are_all_answered(shelf: Shelf) -> None:
    """Twenty charts on one page: each of them takes a few tens of milliseconds, and none is refused."""
    query = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 150000 } }"

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=2, paused=1)) as pool:
            asked = [text(pool, request(query.replace("?n", f"?n{number}"), "text/csv")) for number in range(20)]
            found = await asyncio.gather(*asked)
            assert found == [f"n{number}\r\n150000\r\n" for number in range(20)]

    asyncio.run(test())


def test_what_waits_too_long_for_its_turn_to_begin_is_told(shelf: Shelf) -> None:
    """With a reason and when to come back, not by an answer that never comes."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=0, wait_s=0.5, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, client) for client in "ab"]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(2)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            done, _ = await asyncio.wait(tasks, timeout=30, return_when=asyncio.FIRST_COMPLETED)
            assert [type(task.result()) for task in done] == [Overloaded]
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_a_long_query_steps_back_and_its_worker_forward_again(shelf: Shelf) -> None:
    """The processor is first for those who ask little; a worker must not stay slow for the next query."""
    middling = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f FILTER(?a = <http://example.org/item/1>) }"

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0, timeout_s=60)) as pool:
            (worker,) = pool._crew.workers
            assert priorities(worker.pid)[-1] == 0
            ticket = Ticket(lambda: None)
            task = asyncio.create_task(ended(pool, middling.replace("?a = ", "?a != "), ticket))
            await until(lambda: priorities(worker.pid)[-1] == 19)
            await task
            await until(lambda: priorities(worker.pid)[-1] == 0)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert pool._crew.workers == [worker]

    asyncio.run(test())


def test_all_queries_together_have_a_bound_of_memory(shelf: Shelf) -> None:
    """Queries that stand still keep what they have; the machine must not run out by their number."""
    sorts = "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f"

    async def test() -> None:
        limits = QueryLimits(workers=1, spare=1, paused=3, wait_s=60, timeout_s=60, memory_bytes=400 << 20)
        async with running(shelf.root, limits) as pool:
            tickets = [Ticket(lambda: None, client) for client in "abcd"]
            tasks = [asyncio.create_task(ended(pool, sorts, ticket)) for ticket in tickets]
            await asyncio.wait(tasks, timeout=30, return_when=asyncio.FIRST_COMPLETED)
            peak = 0
            for _ in range(40):
                peak = max(peak, sum(worker.memory() for worker in pool._crew.workers))
                await asyncio.sleep(0.05)
            assert peak < 2 * (400 << 20)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            errors = await asyncio.gather(*tasks)
            assert any("memory" in error.message for error in errors if error)

    asyncio.run(test())


def test_a_query_gives_way_before_it_counts_as_long(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """When many come at once of which nobody knows how long they take, the shortest are answered first."""
    monkeypatch.setattr(lanes, "LONG_S", 0.5)
    monkeypatch.setattr(lanes, "PROOF_S", 60.0)
    monkeypatch.setattr(lanes, "LATE_S", 60.0)

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0, timeout_s=60)) as pool:
            (worker,) = pool._crew.workers
            ticket = Ticket(lambda: None)
            task = asyncio.create_task(ended(pool, ENDLESS, ticket))
            await until(lambda: priorities(worker.pid)[-1] == 10)
            assert not worker.long
            await until(lambda: priorities(worker.pid)[-1] == 19)
            assert worker.long and not worker.proved
            ticket.end(ClientGone("enough"))
            assert isinstance(await task, ClientGone)

    asyncio.run(test())


def test_what_only_seemed_long_is_tried_once_more(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """It took a little longer, as on a machine that is busy: others' endless queries must not keep it waiting."""
    monkeypatch.setattr(lanes, "LONG_S", 0.0)
    monkeypatch.setattr(lanes, "BRIEF_S", 0.0)
    middling = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 50000 } }"

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=2, paused=1, wait_s=60, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(2)]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            await until(lambda: sum(worker.proved for worker in pool._crew.workers) == 2)
            tried = []
            take = pool._long_queue.take
            monkeypatch.setattr(pool._long_queue, "take", lambda wanted: tried.append(place := take(wanted)) or place)
            monkeypatch.setattr(lanes, "PROOF_S", 5.0)
            assert await text(pool, request(middling, "text/csv")) == csv(50000)
            assert any(place is not None and place.asked == middling for place in tried)
            assert sum(worker.proved for worker in pool._crew.workers) == 2, "the endless ones go on"
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_what_has_proved_to_be_long_is_not_tried_again(shelf: Shelf) -> None:
    """One at a time has another chance, and only once: endless ones must not take all the time in this way."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=2, paused=0, wait_s=60, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(4)]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(4)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            on_trial = 0
            end = time.monotonic() + 30
            while any(map(pool._lanes.only_seems_heavy, pool._long_queue)) or len(pool._long_queue) < 3:
                on_trial = max(on_trial, sum(worker.on_trial for worker in pool._crew.workers))
                assert time.monotonic() < end
                await asyncio.sleep(0.002)
            assert on_trial == 1
            await asyncio.sleep(0.2)
            assert not any(worker.on_trial for worker in pool._crew.workers)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_a_query_on_trial_whose_client_reads_slowly_lets_others_be_tried(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is long by its client's fault, and has its answer already."""
    monkeypatch.setattr(lanes, "LATE_S", 0.2)
    monkeypatch.setattr(lanes, "PROOF_S", 60.0)
    rows = "SELECT * { ?a ?b ?c . ?d ?e ?f }"

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=2, paused=0, wait_s=60, timeout_s=60)) as pool:
            pool._lanes._repute.note(rows, proved=False)
            endless = Ticket(lambda: None, "a")
            task = asyncio.create_task(ended(pool, ENDLESS, endless))
            await until(lambda: any(worker.long for worker in pool._crew.workers))
            slow = Ticket(lambda: None, "b")
            await pool.ask(request(rows, "text/csv"), slow)  # It is not read.
            await until(lambda: any(worker.asked == rows and worker.long for worker in pool._crew.workers))
            await until(lambda: any(worker.asked == ENDLESS and worker.on_trial for worker in pool._crew.workers))
            for ticket in (endless, slow):
                ticket.end(ClientGone("enough"))
            await task

    asyncio.run(test())


def test_what_was_long_once_waits_among_the_long_ones(shelf: Shelf) -> None:
    """Whoever sends the same endless query again and again must not find it tried each time."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=0, wait_s=1, timeout_s=60)) as pool:
            first, again = Ticket(lambda: None, "a"), Ticket(lambda: None, "b")
            tasks = [asyncio.create_task(ended(pool, ENDLESS, first))]
            await until(lambda: any(worker.long for worker in pool._crew.workers))
            tasks.append(asyncio.create_task(ended(pool, f"{ENDLESS} # once more", again)))
            await until(lambda: len(pool._long_queue) == 1)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert isinstance(await tasks[1], Overloaded)
            first.end(ClientGone("enough"))
            await tasks[0]
            tasks[1] = asyncio.create_task(ended(pool, ENDLESS, again))
            await asyncio.sleep(0)  # It begins here, and nobody has looked yet how long it takes.
            assert any(worker.long for worker in pool._crew.workers)
            again.end(ClientGone("enough"))
            assert isinstance(await tasks[1], ClientGone)

    asyncio.run(test())


def test_a_query_that_was_long_is_forgotten_when_it_is_quick(shelf: Shelf) -> None:
    """It may have been long over other data; then it counts as any other again."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0)) as pool:
            pool._lanes._repute.note(COUNT, proved=True)
            assert pool._lanes.is_heavy(f"{COUNT}  # twin")
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert not pool._lanes.is_heavy(COUNT)

    asyncio.run(test())


def test_workers_of_those_that_are_to_wait_are_replaced_at_once(shelf: Shelf) -> None:
    """Short queries need workers most of all when there are too many long ones."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=2, paused=1, wait_s=60, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(5)]
            queries = [ENDLESS.replace("?n", f"?n{number}") for number in range(5)]
            tasks = [
                asyncio.create_task(ended(pool, query, ticket)) for query, ticket in zip(queries, tickets, strict=True)
            ]
            await until(lambda: len(pool._long_queue) == 3)
            await until(lambda: len(list(pool._crew.idle())) >= 2, 5)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_a_client_that_goes_when_its_answer_is_there_ends_nobody_elses_query(shelf: Shelf) -> None:
    """Its worker may have the next query already."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0)) as pool:
            done = Ticket(lambda: None)
            await pool.ask(request(COUNT), done)
            running_ = asyncio.create_task(text(pool, request(COUNT.replace("?n", "?m"), "text/csv")))
            await asyncio.sleep(0)
            done.end(ClientGone("gone"))
            assert await running_ == "m\r\n6000\r\n"

    asyncio.run(test())


def test_what_turns_out_to_be_long_is_not_tried_by_all_who_wait_with_it(shelf: Shelf) -> None:
    """When many send the same endless query at once, the first tells what the others are."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0, wait_s=60, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None, f"10.0.0.{number}") for number in range(4)]
            tasks = [asyncio.create_task(ended(pool, ENDLESS, ticket)) for ticket in tickets]
            await until(lambda: any(worker.long for worker in pool._crew.workers))
            waiting = asyncio.create_task(text(pool, request(COUNT, "text/csv")))
            tickets[0].end(ClientGone("enough"))
            assert await waiting == csv(6000), "it came last, and was answered before the other endless ones"
            assert len(pool._long_queue) >= 2
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_no_more_short_queries_run_at_once_than_there_are_to_be_workers(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More processes than processors take each other's time; the spare ones are for when others are held up."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=2, paused=0)) as pool:
            monkeypatch.setattr(crew, "BRISK_S", 1000)
            places = [pool._place(request(COUNT), Ticket(lambda: None)) for _ in range(3)]
            assert len(pool._queue) == 2
            await asyncio.gather(*(place.first for place in places))
            monkeypatch.setattr(crew, "BRISK_S", 0)
            places = [pool._place(request(COUNT), Ticket(lambda: None)) for _ in range(3)]
            assert len(pool._queue) == 0
            await asyncio.gather(*(place.first for place in places))

    asyncio.run(test())


def test_workers_for_long_queries_are_there_before_they_are_needed(shelf: Shelf) -> None:
    """And no more than there may be."""

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=1, paused=2)) as pool:
            await until(lambda: len(list(pool._crew.idle())) == 4)
            await asyncio.sleep(1.5)
            assert len(pool._crew.workers) == 4

    asyncio.run(test())


def test_a_long_result_begins_before_a_whole_chunk_is_there() -> None:
    """Whoever waits for a million rows sees the first of them at once."""
    begun: list[bool] = []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        counter = RowCounter(QueryResultsFormat.TSV)
        sink = Sink(theirs, HEAD.pack(1, 0, False), Bounds(10**6, 10**9), counter, lambda: begun.append(True))
        row = b"value\n" * (FIRST_BYTES // 6)
        sink.write(row)
        time.sleep(2 * FIRST_S)
        assert not begun
        sink.write(row)
        assert begun == [True]
        ours.settimeout(5)
        assert len(ours.recv(1 << 20)) > FIRST_BYTES
        sink.write(row)
        ours.settimeout(0.05)
        with pytest.raises(TimeoutError):  # From then on whole chunks.
            ours.recv(1 << 20)
        sink.write(b"value\n" * (CHUNK_BYTES // 6))
        assert len(ours.recv(1 << 20)) > FIRST_BYTES
        assert begun == [True]


def test_the_first_bytes_of_a_long_result_are_not_held_up_by_the_rest(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody else asks, a worker whose result has begun leaves the processor to the front, which passes it on."""
    monkeypatch.setattr(lanes, "BRIEF_S", 60.0)

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0, timeout_s=60)) as pool:
            (worker,) = pool._crew.workers
            assert await text(pool, request("SELECT (1 AS ?one) {}", "text/csv")) == "one\r\n1\r\n"
            assert priorities(worker.pid)[-1] == 0
            await asyncio.sleep(2 * CALM_S)
            answer = await pool.ask(request("SELECT * { ?a ?b ?c . ?d ?e ?f }", "text/csv"), Ticket(lambda: None))
            await until(lambda: priorities(worker.pid)[-1] == NICE[GIVE_WAY])
            answer.close()

    asyncio.run(test())


def test_what_was_long_before_runs_at_the_lowest_priority_at_once_only_beside_others(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To tell its worker so delays its first bytes; alone it is in nobody's way until it has gone on for a while."""
    monkeypatch.setattr(lanes, "BRIEF_S", 60.0)

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=2, spare=0, paused=0, timeout_s=60)) as pool:
            tickets = [Ticket(lambda: None) for _ in range(2)]
            pool._lanes._repute.note(ENDLESS, proved=True)
            tasks = [asyncio.create_task(ended(pool, ENDLESS, tickets[0]))]
            await until(lambda: sum(worker.long for worker in pool._crew.workers) == 1)
            first = next(worker for worker in pool._crew.workers if worker.long)
            await asyncio.sleep(0.1)
            assert priorities(first.pid)[-1] == 0
            tasks.append(asyncio.create_task(ended(pool, ENDLESS, tickets[1])))
            await until(lambda: all(worker.long for worker in pool._crew.workers))
            (second,) = (worker for worker in pool._crew.workers if worker is not first)
            await until(lambda: priorities(second.pid)[-1] == NICE[STEP_BACK])
            monkeypatch.setattr(lanes, "BRIEF_S", 0.0)
            await until(lambda: priorities(first.pid)[-1] == NICE[STEP_BACK])
            for ticket in tickets:
                ticket.end(ClientGone("enough"))
            await asyncio.gather(*tasks)

    asyncio.run(test())


def test_a_query_that_found_no_processor_is_not_long(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be one of too many, and be refused, when it is the others that take all the time."""
    monkeypatch.setattr(lanes, "LATE_S", 0.1)

    async def test() -> None:
        async with running(shelf.root, QueryLimits(workers=1, spare=0, paused=0, timeout_s=60)) as pool:
            (worker,) = pool._crew.workers
            os.kill(worker.pid, signal.SIGSTOP)  # As one that gets no turn.
            asked = asyncio.create_task(text(pool, request(COUNT, "text/csv")))
            await asyncio.sleep(0.5)
            assert not worker.long
            os.kill(worker.pid, signal.SIGCONT)
            assert await asked == csv(6000)

    asyncio.run(test())
