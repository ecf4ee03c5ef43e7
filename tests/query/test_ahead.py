"""Queries that a worker is sent before it has answered those ahead of them. Real processes over a real store."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from dataclasses import replace

import pytest

from sparql.errors import ClientGone, QueryTimeout, SparqlError
from sparql.query.crew import ALONE_S
from sparql.query.pool import Pool
from sparql.query.process import AHEAD, AHEAD_S, HIGHEST_S, WorkerProcess
from sparql.query.state import WorkerState
from sparql.query.ticket import Ticket
from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, PublishedStore, items
from tests.query.test_pool import ENDLESS, LONG, csv, request, running, text, ticket, until, whole

PAIRS = 200_000
MIDDLING = f"SELECT (COUNT(*) AS ?n) {{ {{ SELECT * {{ ?a ?b ?c . ?d ?e ?f }} LIMIT {PAIRS} }} }}"
"""Some tens of milliseconds: long enough to be in the way, and answered."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(1000))
    return published


def lookup(number: int) -> str:
    return f"SELECT ?n {{ <{BASE}item/{number}> <{BASE}value> ?n }}"


async def quick(pool: Pool, number: int) -> None:
    """Ask for one item, and see to it that the answer is that item's."""
    assert await text(pool, request(lookup(number), "text/csv")) == csv(number)


def know(pool: Pool, seconds: float) -> None:
    """Have the workers be known for answering so soon."""
    for worker in pool.workers:
        worker.usual_s = seconds


async def behind(pool: Pool, first: str) -> tuple[asyncio.Task[str | SparqlError], list[asyncio.Task[None]]]:
    """Ask a query, and others that are sent behind it to the same worker."""

    async def ask() -> str | SparqlError:
        try:
            return await text(pool, request(first, "text/csv"))
        except SparqlError as error:
            return error

    task = asyncio.create_task(ask())
    others = [asyncio.create_task(quick(pool, number)) for number in range(2)]
    await asyncio.sleep(0)  # All three are sent before anybody looks how long the first takes.
    assert any(worker.ahead for worker in pool.workers), "nothing was sent ahead"
    return task, others


def run(published: PublishedStore, limits: QueryLimits, test: object) -> None:
    async def all_of_it() -> None:
        # However late the machine is, what was just begun counts as that until it is lowered.
        async with running(published.root, replace(limits, brisk_s=60)) as pool:
            know(pool, AHEAD_S / AHEAD)
            await test(pool)  # type: ignore[operator]  # A coroutine function of the pool.

    asyncio.run(all_of_it())


def test_many_quick_queries_are_sent_ahead_and_each_gets_its_own_answer(published: PublishedStore) -> None:
    """A worker that finds its next query when it is done need not sleep, and the front need not wake."""

    async def test(pool: Pool) -> None:
        (worker,) = pool.workers
        tasks = [asyncio.create_task(quick(pool, number)) for number in range(60)]
        most = 0
        while not all(task.done() for task in tasks):
            most = max(most, worker.ahead)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        assert 0 < most < AHEAD, "a few are sent ahead"

    run(published, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240), test)


@pytest.mark.parametrize("first", [ENDLESS, LONG], ids=["that never ends", "whose result is not read"])
def test_what_was_sent_behind_a_long_query_is_answered_by_another_worker(published: PublishedStore, first: str) -> None:
    """What a query will take is not known before: those behind it must not pay for that."""

    async def test(pool: Pool) -> None:
        left = Ticket(lambda: None)
        task = asyncio.create_task(pool.ask(request(first, "text/csv"), left))
        began = time.monotonic()
        others = [asyncio.create_task(quick(pool, number)) for number in range(2)]
        await asyncio.sleep(0)
        assert any(worker.ahead for worker in pool.workers), "nothing was sent ahead"
        await asyncio.gather(*others)
        assert time.monotonic() - began < 45, "the long one would take 60 s"
        left.end(ClientGone("enough"))
        if task.done():
            task.result().close()
        else:
            with pytest.raises(ClientGone):
                await task

    run(published, QueryLimits(workers=1, spare=1, extra=0, timeout_s=60), test)


def test_what_was_sent_behind_a_slow_query_is_answered_by_others_and_its_worker_goes_on(
    published: PublishedStore,
) -> None:
    """Others have been asked by then; the answers that follow must be those of the queries that follow."""

    async def test(pool: Pool) -> None:
        kept = 0
        for pairs in range(PAIRS, PAIRS + 5):  # Another query each time: one that was slow is known for it.
            know(pool, AHEAD_S / AHEAD)
            slow, others = await behind(pool, MIDDLING.replace(str(PAIRS), str(pairs)))
            worker = next(worker for worker in pool.workers if worker.ahead)
            await asyncio.gather(*others)
            assert await slow == csv(pairs)
            kept += worker.state is not WorkerState.ENDED
            await asyncio.gather(*(quick(pool, number) for number in range(100)))
        assert kept, "each had to be replaced"  # One or another is, on a busy machine, for what it takes.

    run(published, QueryLimits(workers=1, spare=1, extra=8, waiting=200, wait_s=300), test)


def test_what_was_sent_behind_a_query_that_is_ended_is_asked_again(published: PublishedStore) -> None:
    """Ending a query means killing its worker, and those behind it have done nothing."""

    async def test(pool: Pool) -> None:
        (worker,) = pool.workers
        endless, others = await behind(pool, ENDLESS)
        await asyncio.gather(*others)
        assert isinstance(await endless, QueryTimeout)
        assert worker not in pool.workers

    run(published, QueryLimits(workers=1, spare=0, extra=0, timeout_s=0.2, wait_s=300), test)


def test_a_worker_that_dies_loses_its_own_query_alone(published: PublishedStore) -> None:
    """What crashes it is the query that it works on; the others are answered by its successor."""

    async def test(pool: Pool) -> None:
        (worker,) = pool.workers
        endless, others = await behind(pool, ENDLESS)
        os.kill(worker.pid, signal.SIGKILL)
        await asyncio.gather(*others)
        assert isinstance(await endless, SparqlError)

    run(published, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240), test)


def test_a_client_that_goes_away_before_its_turn_changes_nothing_for_others(published: PublishedStore) -> None:
    """Its answer comes all the same, and must not be taken for the next one's."""

    async def test(pool: Pool) -> None:
        (worker,) = pool.workers
        for _ in range(20):
            tickets = [ticket() for _ in range(4)]
            asked = [
                asyncio.create_task(pool.ask(request(lookup(number), "text/csv"), each))
                for number, each in enumerate(tickets)
            ]
            await asyncio.sleep(0)
            tickets[2].end(ClientGone("gone"))
            answers = await asyncio.gather(*asked, return_exceptions=True)
            assert isinstance(answers.pop(2), ClientGone)
            assert [await whole(answer) for answer in answers if not isinstance(answer, BaseException)] == [
                csv(number).encode() for number in (0, 1, 3)
            ]
        assert pool.workers == [worker]

    run(published, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240), test)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_never_mixed_up(published: PublishedStore, seed: int) -> None:
    """Quick, slow, failing and long answers in any order, some of whose clients go away at any time."""
    chance = random.Random(seed)

    async def one(pool: Pool, number: int) -> None:
        kind, mine = chance.random(), ticket()
        if kind < 0.15:
            asyncio.get_running_loop().call_later(chance.random() / 100, mine.end, ClientGone("gone"))
        asked, expected = lookup(number % 1000), csv(number % 1000)
        if kind > 0.97:
            asked, expected = MIDDLING, csv(PAIRS)
        elif kind > 0.94:
            limit = chance.randrange(5000, 20000)
            asked = f"SELECT ?a {{ VALUES ?a {{ {number} }} ?b ?c ?d . ?e ?f ?g }} LIMIT {limit}"
            expected = "a\r\n" + f"{number}\r\n" * limit
        elif kind > 0.9:
            asked = f"SELECT {number}"
        try:
            answer = await pool.ask(request(asked, "text/csv"), mine)
            try:
                assert (await whole(answer)).decode() == expected
            finally:
                answer.close()
        except ClientGone:
            assert kind < 0.15
        except SparqlError as error:
            assert 0.9 < kind <= 0.94, error  # A syntax error, reported to the one who made it.
            assert f"SELECT {number}" in error.message or "SELECT" in error.message

    async def client(pool: Pool, first: int) -> None:
        for number in range(first, first + 60):
            await one(pool, number)

    async def test(pool: Pool) -> None:
        await asyncio.gather(*(client(pool, 1000 * number) for number in range(8)))
        await until(lambda: all(not worker.busy for worker in pool.workers))
        await asyncio.gather(*(quick(pool, number) for number in range(50)))

    run(published, QueryLimits(workers=2, spare=1, extra=1, waiting=200, wait_s=300), test)


def test_a_worker_is_sent_nothing_ahead_that_it_would_not_answer_soon(published: PublishedStore) -> None:
    """Where queries take a while, another worker is sooner than a place behind one."""

    def most(worker: WorkerProcess) -> int:
        return worker.ahead

    async def test(pool: Pool) -> None:
        seen = 0
        know(pool, HIGHEST_S)
        tasks = [asyncio.create_task(text(pool, request(f"{MIDDLING} # {n}", "text/csv"))) for n in range(6)]
        while not all(task.done() for task in tasks):
            seen = max(seen, *map(most, pool.workers))
            await asyncio.sleep(0.001)
        assert await asyncio.gather(*tasks) == [csv(PAIRS)] * 6
        assert seen == 0

    run(published, QueryLimits(workers=2, spare=0, extra=0, wait_s=300), test)


@pytest.mark.parametrize(("seconds", "busy"), [(ALONE_S / 2, 1), (HIGHEST_S, 2)], ids=["quick", "slower"])
def test_quick_queries_have_one_worker_and_slower_ones_all(
    published: PublishedStore, seconds: float, busy: int
) -> None:
    """One answers as many quick ones as the front passes on, with the caches to itself; slower ones want processors."""

    async def test(pool: Pool) -> None:
        know(pool, seconds)
        tasks = [asyncio.create_task(quick(pool, number)) for number in range(6)]
        await asyncio.sleep(0)
        assert sum(worker.busy for worker in pool.workers) == busy
        await asyncio.gather(*tasks)

    run(published, QueryLimits(workers=2, spare=1, extra=0, timeout_s=240, wait_s=240), test)
