"""The process that query workers are forked from; and how many there are, and for how long."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from pathlib import Path

import pytest

from sparql.errors import QueryCrash
from sparql.query import crew
from sparql.query.crew import CROWD
from sparql.query.pool import Pool
from sparql.query.state import WorkerState
from sparql.worker import child
from sparql.worker.limits import QueryLimits
from sparql.worker.worker import NAME
from tests.processes import command_of, descendants, is_running, name_of, parent_of, stop
from tests.query.stores import PublishedStore, items
from tests.query.test_pool import (
    BASE_IRI,
    COUNT,
    ENDLESS,
    csv,
    error,
    idle,
    pids,
    request,
    running,
    text,
    ticket,
    until,
)

MIDDLING = "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 300000 } }"
"""A tenth of a second or so: long, and answered."""

FORBIDDING = """
import os, runpy, sys

sys.argv = sys.argv[1:]
fork, tries = os.fork, iter(range(100))

def refused_twice():
    if next(tries) < 2:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return fork()

os.fork = refused_twice
runpy.run_module("sparql.worker.forkserver", run_name="__main__")
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(2000))
    return published


def zombies() -> list[int]:
    """Processes below this one that have ended, and whose parents have not heard of it."""
    return [pid for pid in descendants(os.getpid()) if not is_running(pid) and Path(f"/proc/{pid}").exists()]


def test_workers_are_forked_from_one_process_and_called_what_they_are(published: PublishedStore) -> None:
    """Whoever looks at the machine's processes sees which are which."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=2, spare=1, extra=0, timeout_s=240, wait_s=240)) as pool:
            (server,) = {parent_of(pid) for pid in pids(pool)}
            assert parent_of(server) == os.getpid()
            assert b"sparql.worker.forkserver" in command_of(server)
            assert {name_of(pid) for pid in pids(pool)} == {NAME}
            assert name_of(server) != NAME

    asyncio.run(test())


def test_a_fork_server_that_dies_is_replaced_with_its_workers(published: PublishedStore) -> None:
    """The kernel may take any process when memory runs out."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            before, workers = pids(pool), list(pool.workers)
            asked = asyncio.create_task(error(pool.ask(request(ENDLESS), ticket())))
            await until(lambda: any(worker.busy for worker in workers))
            os.kill(parent_of(next(iter(before))), signal.SIGKILL)
            assert "brought its worker down" in (await asked).message
            await until(lambda: all(worker.state is WorkerState.ENDED for worker in workers))
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert not before & pids(pool)
            assert not any(map(is_running, before))

    asyncio.run(test())


def test_a_fork_server_that_hangs_is_replaced(published: PublishedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that does not answer, for one: what hangs has to be noticed by somebody who does not."""
    monkeypatch.setattr(child, "NAME_S", 0.2)
    monkeypatch.setattr(child, "CLOSE_S", 0.2)

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, start_s=2, wait_s=240)) as pool:
            (worker,) = pids(pool)
            server = parent_of(worker)
            stop(server)
            os.kill(worker, signal.SIGKILL)
            await until(lambda: not is_running(server))
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_workers_that_ended_leave_nothing_behind(published: PublishedStore) -> None:
    """A process whose end nobody hears of stays in the system's table, which has an end."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            for _ in range(5):
                (worker, _) = before = pids(pool)
                os.kill(worker, signal.SIGKILL)
                await until(lambda before=before: len(pids(pool) - before) == 1 and idle(pool) == 2)
            await until(lambda: not zombies())

    asyncio.run(test())


def test_the_front_has_a_descriptor_for_the_memory_of_each_worker_and_no_more(published: PublishedStore) -> None:
    """It is asked for so often that it stays open; those of workers that ended would pile up."""

    def watched() -> set[int]:
        links = [Path(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
        paths = [os.readlink(link) for link in links if link.is_symlink()]
        found = [int(path.split("/")[2]) for path in paths if re.fullmatch(r"/proc/\d+/statm", path)]
        assert len(found) == len(set(found))
        return set(found)

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            for _ in range(3):
                before = pids(pool)
                os.kill(min(before), signal.SIGKILL)
                await until(lambda before=before: len(pids(pool) - before) == 1 and idle(pool) == 2)
                assert all(worker.memory() > 0 for worker in pool.workers)
                assert watched() == pids(pool)
            worker = pool.workers[0]
            os.kill(worker.pid, signal.SIGKILL)
            await until(lambda: worker.memory() == 0)
        assert watched() == set()

    asyncio.run(test())


@pytest.mark.parametrize("tunables", [None, "glibc.malloc.tcache_count=3"])
def test_workers_have_memory_at_hand_unless_the_operator_says_how(
    published: PublishedStore, monkeypatch: pytest.MonkeyPatch, tunables: str | None
) -> None:
    """The C library reads it when the process that they are forked from starts."""
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if tunables is not None:
        monkeypatch.setenv("GLIBC_TUNABLES", tunables)

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            (server,) = {parent_of(pid) for pid in pids(pool)}
            variables = Path(f"/proc/{server}/environ").read_text().split("\0")
            assert f"GLIBC_TUNABLES={tunables or 'glibc.malloc.tcache_count=128'}" in variables

    asyncio.run(test())


def test_starts_that_nobody_asks_about_do_not_pile_up(published: PublishedStore) -> None:
    """Workers report their ids themselves; the same ids from the fork server have to be read by somebody."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            before = len(os.listdir("/proc/self/fd"))  # With those that earlier tests of this process left open.
            for _ in range(150):  # more than twice as many as may be left
                (worker,) = pool.workers
                worker.end(QueryCrash("enough"))
                await until(lambda worker=worker: worker not in pool.workers and idle(pool) > 0)
            assert len(os.listdir("/proc/self/fd")) < before + 60

    asyncio.run(test())


def test_a_worker_that_could_not_be_forked_is_started_later(
    published: PublishedStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A limit of processes is reached, and left again."""
    monkeypatch.setattr(crew, "AGAIN_S", 0.1)

    async def test() -> None:
        pool = Pool(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240), BASE_IRI)
        monkeypatch.setattr(child, "COMMAND", ("-c", FORBIDDING, "forkserver"))
        pool.start()
        try:
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
        finally:
            await pool.close()

    asyncio.run(test())
    assert caplog.text.count("No query worker could be started: Resource temporarily unavailable") == 2


def test_a_worker_is_not_replaced_for_a_generation_that_nobody_can_open(tmp_path: Path) -> None:
    """Another one would not do better, and starting them again and again takes time."""

    async def test() -> None:
        published = PublishedStore(tmp_path)
        published.add(items(5))
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            before = pids(pool)
            (published.root / "generations" / "000002").mkdir()
            (published.root / "generations" / "000002.lock").touch()
            (published.root / "new").symlink_to("generations/000002")
            (published.root / "new").replace(published.root / "current")
            await until(lambda: not before & pids(pool) and idle(pool) == 1)
            after = pids(pool)
            await asyncio.sleep(0.5)
            assert pids(pool) == after
            assert await text(pool, request(COUNT, "text/csv")) == csv(15)

    asyncio.run(test())


def test_when_many_turn_out_to_be_slow_there_are_more_workers_for_a_moment(published: PublishedStore) -> None:
    """Nobody knows yet which of them are long, and short ones must not wait until somebody does."""
    limits = QueryLimits(workers=1, spare=1, extra=2, timeout_s=60, long_s=60, reading_s=60)

    async def test() -> None:
        async with running(published.root, limits) as pool:
            tickets = [ticket() for _ in range(7)]
            queries = [request(ENDLESS.replace("?n", f"?n{number}")) for number in range(7)]
            asked = [
                asyncio.create_task(error(pool.ask(query, each))) for query, each in zip(queries, tickets, strict=True)
            ]
            await until(lambda: sum(worker.busy for worker in pool.workers) == 7)
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert 7 < len(pool.workers) <= 4 + CROWD * 2
            for each in tickets:
                each.end(child_gone := QueryCrash("enough"))
            assert {str(found) for found in await asyncio.gather(*asked)} == {str(child_gone)}
            await until(lambda: len(pool.workers) == 4)

    asyncio.run(test())


@pytest.mark.parametrize(("kept", "same"), [(0, False), (1 << 40, True)])
def test_an_idle_worker_that_keeps_much_is_replaced(published: PublishedStore, kept: int, same: bool) -> None:
    """Else the memory of the service would only grow."""

    async def test() -> None:
        async with running(
            published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=60, kept_bytes=kept)
        ) as pool:
            (worker,) = pool.workers
            assert await text(pool, request(MIDDLING, "text/csv")) == csv(300_000)
            if same:
                await asyncio.sleep(0.2)
            else:
                await until(lambda: worker not in pool.workers)
            assert (worker in pool.workers) is same
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())
