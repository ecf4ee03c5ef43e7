"""Query workers: answers, limits, generations, accidents. Real processes over a real store."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

import pytest

from sparql.errors import (
    ClientGone,
    ForbiddenError,
    NotAcceptable,
    Overloaded,
    QueryCrash,
    QueryMemory,
    QueryTimeout,
    RequestError,
    SparqlError,
    StoreError,
    TooLarge,
)
from sparql.protocol.request import HttpRequest, QueryRequest, read_request
from sparql.query.answer import QueryAnswer
from sparql.query.pool import Pool
from sparql.query.state import WorkerState
from sparql.query.ticket import Ticket
from sparql.worker.limits import QueryLimits
from tests.processes import is_running, seconds_of
from tests.query.stores import BASE, PublishedStore, items

T = TypeVar("T")
BASE_IRI = "http://localhost/sparql"
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
HUGE = "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f"
LONG = "SELECT * { ?a ?b ?c . ?d ?e ?f }"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    """Two graphs of 1,000 items; tests that publish have a store of their own."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add([*items(1000, "a"), *items(1000, "b", 1000)])
    return published


def request(text: str, accept: str | None = None, **parameters: str) -> QueryRequest:
    made = read_request(HttpRequest("GET", urlencode({"query": text, **parameters}), accept=accept))
    assert made is not None
    return made


def ticket() -> Ticket:
    return Ticket(lambda: None)


@asynccontextmanager
async def running(root: Path, limits: QueryLimits) -> AsyncIterator[Pool]:
    """A pool with all its workers ready."""
    pool = Pool(root, limits, BASE_IRI)
    pool.start()
    try:
        await until(lambda: idle(pool) >= limits.workers + limits.spare)
        yield pool
    finally:
        await pool.close()


def count(pool: Pool, *states: WorkerState) -> int:
    """How many workers are in one of these states."""
    return sum(worker.state in states for worker in pool.workers)


def idle(pool: Pool) -> int:
    """How many workers have nothing to do."""
    return count(pool, WorkerState.IDLE)


async def until(true: Callable[[], bool], seconds: float = 240) -> None:
    """Return when something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        await asyncio.sleep(0.01)


async def whole(answer: QueryAnswer) -> bytes:
    """All of an answer."""
    return answer.whole if answer.whole is not None else b"".join([chunk async for chunk in answer])


async def text(pool: Pool, asked: QueryRequest) -> str:
    return (await whole(await pool.ask(asked, ticket()))).decode()


async def error(awaitable: Awaitable[object]) -> SparqlError:
    with pytest.raises(SparqlError) as caught:
        await awaitable
    return caught.value


def pids(pool: Pool) -> set[int]:
    return {worker.pid for worker in pool.workers}


def csv(count: int) -> str:
    return f"n\r\n{count}\r\n"


FORMATS = [
    ("ASK {}", "json", '{"head":{},"boolean":true}'),
    ("ASK {}", "xml", "<boolean>true</boolean>"),
    ("ASK {}", "csv", "true"),
    ("ASK {}", "tsv", "true"),
    ("SELECT (1 AS ?x) {}", "json", '"bindings":[{"x":{"type":"literal","value":"1"'),
    ("SELECT (1 AS ?x) {}", "xml", "<result><binding"),
    ("SELECT (1 AS ?x) {}", "csv", "x\r\n1\r\n"),
    ("SELECT (1 AS ?x) {}", "tsv", "?x\n1\n"),
    ("CONSTRUCT { <a:s> <a:p> 'x' } {}", "ttl", '<a:s> <a:p> "x" .'),
    ("CONSTRUCT { <a:s> <a:p> 'x' } {}", "nt", '<a:s> <a:p> "x" .\n'),
    ("CONSTRUCT { <a:s> <a:p> 'x' } {}", "nq", '<a:s> <a:p> "x" .\n'),
    ("CONSTRUCT { <a:s> <a:p> 'x' } {}", "trig", '<a:s> <a:p> "x" .'),
    ("CONSTRUCT { <a:s> <a:p> 'x' } {}", "n3", '<a:s> <a:p> "x" .'),
    ("CONSTRUCT { <a:s> <http://a/p> 'x' } {}", "rdf", "<rdf:RDF"),
    ("CONSTRUCT { <a:s> <a:p> 'x' } {}", "jsonld", '"@id":"a:s"'),
    (f"DESCRIBE <{BASE}item/1>", "nt", f"<{BASE}item/1> <{BASE}value>"),
]

DATASETS = [
    ({}, COUNT, 6000),
    ({}, COUNT.replace("{", f"FROM <{BASE}graph/a> {{"), 3000),
    ({}, COUNT.replace("{", f"FROM NAMED <{BASE}graph/a> {{"), 0),
    ({}, "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", 6000),
    ({"default-graph-uri": f"{BASE}graph/a"}, COUNT, 3000),
    ({"default-graph-uri": f"{BASE}graph/a"}, COUNT.replace("{", f"FROM <{BASE}graph/none> {{"), 3000),
    ({"default-graph-uri": f"{BASE}graph/a"}, "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", 0),
    ({"named-graph-uri": f"{BASE}graph/b"}, COUNT, 0),
    ({"named-graph-uri": f"{BASE}graph/b"}, "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", 3000),
]


@pytest.fixture(scope="module")
def ask(published: PublishedStore) -> Iterator[Callable[[QueryRequest], str]]:
    """Answers one request, from a pool that all tests share that end no worker."""
    with asyncio.Runner() as runner:
        pool = Pool(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240), BASE_IRI)

        async def start() -> None:
            pool.start()

        runner.run(start())
        yield lambda asked: runner.run(text(pool, asked))
        runner.run(pool.close())


@pytest.mark.parametrize(("query", "name", "expected"), FORMATS)
def test_every_format_can_be_had(ask: Callable[[QueryRequest], str], query: str, name: str, expected: str) -> None:
    """All that the store writes."""
    assert expected in ask(request(query, format=name))


@pytest.mark.parametrize(("parameters", "query", "count"), DATASETS)
def test_the_dataset_is_that_of_the_request_then_the_query_then_the_setting(
    ask: Callable[[QueryRequest], str], parameters: dict[str, str], query: str, count: int
) -> None:
    """Source: SPARQL 1.1 Protocol, section 2.1.4."""
    assert ask(request(query, "text/csv", **parameters)) == csv(count)


@pytest.mark.parametrize(
    ("asked", "kind", "message"),
    [
        (
            request("SELECT * {\n ?s ex:p ?o }"),
            RequestError,
            r"line 2, column 5 \(the prefix ex: is not declared\)",
        ),
        (request("SELECT (<http://a/f>(1) AS ?x) {}"), RequestError, "custom function"),
        (request("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"), ForbiddenError, "SERVICE"),
        (request("INSERT DATA { <a:b> <a:c> <a:d> }"), RequestError, "line 1, column 1"),
        (request("SELECT * {}", "text/turtle"), NotAcceptable, "application/sparql-results"),
        (request("CONSTRUCT WHERE { ?s ?p ?o }", format="csv"), NotAcceptable, "text/turtle"),
    ],
)
def test_what_cannot_be_answered_is_an_error(
    ask: Callable[[QueryRequest], str], asked: QueryRequest, kind: type[SparqlError], message: str
) -> None:
    """Each such query raises the error of its kind, and the worker goes on."""
    with pytest.raises(kind, match=message):
        ask(asked)
    assert "true" in ask(request("ASK {}"))


def test_relative_iris_are_resolved_against_the_endpoint(ask: Callable[[QueryRequest], str]) -> None:
    """Source: SPARQL 1.1 Query Language, section 4.1.1.2."""
    assert "http://localhost/x" in ask(request("SELECT (STR(<x>) AS ?x) {}", "text/csv"))


def test_a_long_result_comes_whole(ask: Callable[[QueryRequest], str]) -> None:
    """A long result comes in chunks, with each row once."""
    lines = ask(
        request("SELECT ?s ?o { ?s <http://example.org/value> ?o . ?x <http://example.org/value> 5 }", "text/csv")
    )
    assert len(set(lines.split("\r\n"))) == 2002
    rows = ask(
        request("SELECT ?s ?p ?o ?x { ?s ?p ?o . VALUES ?x { 1 2 3 4 5 6 7 8 9 } }", "text/tab-separated-values")
    )
    assert rows.count("\n") == 54_001


def test_a_statement_in_two_graphs_is_found_twice_in_the_union(tmp_path: Path) -> None:
    """The store does not make them one, as the page says; whoever needs that writes DISTINCT."""

    async def test() -> None:
        published = PublishedStore(tmp_path)
        published.add([*items(1, "a"), *items(1, "b")])
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            assert await text(pool, request(f"SELECT ?n {{ ?s <{BASE}value> ?n }}", "text/csv")) == "n\r\n0\r\n0\r\n"
            assert await text(pool, request(f"SELECT DISTINCT ?n {{ ?s <{BASE}value> ?n }}", "text/csv")) == csv(0)

    asyncio.run(test())


def test_no_union_leaves_the_default_graph_empty(published: PublishedStore) -> None:
    """The setting: named graphs are then to be named."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, union_default_graph=False)) as pool:
            assert await text(pool, request(COUNT, "text/csv")) == csv(0)

    asyncio.run(test())


def test_an_endless_query_is_ended_and_its_processor_time_stops(published: PublishedStore) -> None:
    """The store cannot be interrupted, so its process is; another takes its place."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=0.5, wait_s=300)) as pool:
            (before,) = pids(pool)
            failure = await error(pool.ask(request(ENDLESS), ticket()))
            assert type(failure) is QueryTimeout
            assert "0.5 s" in failure.message
            await until(lambda: not is_running(before))
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)
            assert pids(pool) != {before}

    asyncio.run(test())


def test_a_client_can_ask_for_less_time_but_not_for_more(published: PublishedStore) -> None:
    """The limit protects others."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=0.6)) as pool:
            assert "0.2 s" in (await error(pool.ask(request(ENDLESS, timeout="0.2"), ticket()))).message
            assert "0.6 s" in (await error(pool.ask(request(ENDLESS, timeout="60"), ticket()))).message

    asyncio.run(test())


def test_a_query_that_takes_too_much_memory_is_ended(published: PublishedStore) -> None:
    """Before it takes the machine's."""

    async def test() -> None:
        async with running(
            published.root, QueryLimits(workers=1, spare=0, extra=0, memory_bytes=150 << 20, timeout_s=240, wait_s=240)
        ) as pool:
            failure = await error(pool.ask(request(HUGE), ticket()))
            assert type(failure) is QueryMemory
            assert "150 MiB" in failure.message
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_a_result_with_too_many_rows_is_refused_while_nothing_is_sent(published: PublishedStore) -> None:
    """Then the client still gets a status."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, max_rows=50)) as pool:
            for asked in (
                request("SELECT ?s { ?s ?p ?o } LIMIT 51"),
                request("SELECT ?s { ?s ?p ?o } LIMIT 51", "text/csv"),
                request("CONSTRUCT WHERE { ?s ?p ?o }", format="ttl"),
                request("CONSTRUCT WHERE { ?s ?p ?o }", format="nt"),
            ):
                assert type(await error(pool.ask(asked, ticket()))) is TooLarge
            assert (await text(pool, request("SELECT ?s { ?s ?p ?o } LIMIT 50", "text/csv"))).count("\n") == 51

    asyncio.run(test())


def test_a_result_that_grows_too_long_raises_on_its_way(published: PublishedStore) -> None:
    """A part must not pass for the whole."""

    async def test() -> None:
        async with running(
            published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240, max_rows=20_000)
        ) as pool:
            answer = await pool.ask(request(LONG), ticket())
            assert answer.whole is None
            assert type(await error(whole(answer))) is TooLarge
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_time_counts_while_a_result_is_sent(published: PublishedStore) -> None:
    """A client that reads nothing must not hold a worker."""

    async def test() -> None:
        async with running(
            published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=0.5, wait_s=5, max_rows=1 << 40)
        ) as pool:
            answer = await pool.ask(request(LONG), ticket())
            (worker,) = pool.workers
            assert worker.busy
            await until(lambda: worker.state is WorkerState.ENDED)
            assert type(await error(whole(answer))) is QueryTimeout

    asyncio.run(test())


def test_an_answer_that_is_closed_ends_its_query(published: PublishedStore) -> None:
    """Its client is gone."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, max_rows=1 << 40)) as pool:
            (before,) = pids(pool)
            answer = await pool.ask(request(LONG), ticket())
            answer.close()
            await until(lambda: not is_running(before))
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_a_ticket_that_is_given_up_ends_its_query(published: PublishedStore) -> None:
    """Before the first byte, at a worker or in the queue."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            slow: list[float] = []
            first, second = Ticket(lambda: slow.append(1)), Ticket(lambda: slow.append(2))
            asked = asyncio.create_task(error(pool.ask(request(ENDLESS), first)))
            queued = asyncio.create_task(error(pool.ask(request(ENDLESS), second)))
            await until(lambda: {1, 2} <= {*slow})
            second.end(ClientGone("gone"))
            assert type(await queued) is ClientGone
            first.end(ClientGone("gone"))
            assert type(await asked) is ClientGone
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_a_cancelled_task_gives_its_worker_back(published: PublishedStore) -> None:
    """Servers cancel what they run when they shut down."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            asked = asyncio.create_task(pool.ask(request(ENDLESS), ticket()))
            queued = asyncio.create_task(pool.ask(request(COUNT), ticket()))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            queued.cancel()
            asked.cancel()
            await asyncio.wait([asked, queued])
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_waiting_for_a_worker_is_bounded(published: PublishedStore) -> None:
    """Queries wait for a limited time and in limited number; the others are refused for now."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, wait_s=0.3, waiting=1)) as pool:
            busy = Ticket(lambda: None)
            endless = asyncio.create_task(error(pool.ask(request(ENDLESS), busy)))
            await asyncio.sleep(0)
            waiting = asyncio.create_task(error(pool.ask(request(COUNT), ticket())))
            await asyncio.sleep(0)
            refused = await error(pool.ask(request(COUNT), ticket()))
            assert (type(refused), refused.retriable) == (Overloaded, True)
            assert "already" in refused.message
            assert "0.3 s" in (await waiting).message
            busy.end(ClientGone("gone"))
            await endless

    asyncio.run(test())


def test_queries_are_answered_in_the_order_they_came(published: PublishedStore) -> None:
    """Nobody waits for ever."""

    async def test() -> list[int]:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            done: list[int] = []

            async def one(number: int) -> None:
                await text(pool, request(f"SELECT ({number} AS ?x) {{}}"))
                done.append(number)

            await asyncio.gather(*(one(number) for number in range(20)))
            return done

    assert asyncio.run(test()) == list(range(20))


def test_a_worker_that_breaks_down_is_replaced(published: PublishedStore) -> None:
    """The query that it had is lost, no other."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            (before,) = pids(pool)
            asked = asyncio.create_task(error(pool.ask(request(ENDLESS), ticket())))
            await until(lambda: 0.2 < seconds_of(before) < float("inf"))
            os.kill(before, signal.SIGKILL)
            assert type(await asked) is QueryCrash
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_an_idle_worker_that_dies_is_replaced_unnoticed(published: PublishedStore) -> None:
    """The kernel may need its memory."""

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            workers = list(pool.workers)
            for worker in workers:
                os.kill(worker.pid, signal.SIGKILL)
            await until(lambda: all(worker.state is WorkerState.ENDED for worker in workers))
            assert await text(pool, request(COUNT, "text/csv")) == csv(6000)

    asyncio.run(test())


def test_a_new_generation_is_read_by_the_next_query_and_no_running_one(tmp_path: Path) -> None:
    """Readers never see half a harvest; the old generation goes when nobody reads it."""

    async def test() -> None:
        published = PublishedStore(tmp_path)
        first = published.add(items(3000, "a"))
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            assert pool.served() == 1
            answer = await pool.ask(
                request("SELECT ?s ?x { ?s ?p ?o . VALUES ?x { 1 2 3 4 5 6 7 8 9 } }", "text/csv"), ticket()
            )
            assert answer.whole is None
            second = published.add(items(3000, "b", 3000))
            assert published.generations.collect() == []
            assert (await whole(answer)).count(b"\n") == 1 + 9 * 9000
            again = await pool.ask(request(COUNT, "text/csv"), ticket())
            assert (answer.generation, again.generation) == (first.number, second.number)
            assert again.whole == csv(18_000).encode()
            await until(lambda: published.generations.collect() == [first.number])

    asyncio.run(test())


def test_idle_workers_move_to_a_new_generation_by_themselves(tmp_path: Path) -> None:
    """Otherwise one that nobody asks would keep an old generation on the disk."""

    async def test() -> None:
        published = PublishedStore(tmp_path)
        published.add(items(10, "a"))
        async with running(published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            published.add(items(10, "b"))
            await until(lambda: idle(pool) == 2 == min(worker.generation for worker in pool.workers))
            await until(lambda: published.generations.collect() == [1])

    asyncio.run(test())


def test_before_the_first_generation_there_are_no_data(tmp_path: Path) -> None:
    """An instance starts before its first harvest, and answers as soon as there is one."""

    async def test() -> None:
        published = PublishedStore(tmp_path)
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            failure = await error(pool.ask(request(COUNT), ticket()))
            assert (type(failure), failure.retriable) == (StoreError, True)
            assert pool.served() == 0
            published.add(items(5, "a"))
            assert await text(pool, request(COUNT, "text/csv")) == csv(15)

    asyncio.run(test())


def test_a_generation_that_cannot_be_opened_leaves_the_last_one_served(tmp_path: Path) -> None:
    """A damaged disk is no reason to answer nothing."""

    async def test() -> None:
        published = PublishedStore(tmp_path)
        published.add(items(5, "a"))
        async with running(published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            broken = published.root / "generations" / "000002"
            broken.mkdir()
            (published.root / "generations" / "000002.lock").touch()
            (published.root / "new").symlink_to("generations/000002")
            (published.root / "new").replace(published.root / "current")
            assert await text(pool, request(COUNT, "text/csv")) == csv(15)

    asyncio.run(test())


def test_closing_leaves_no_process(published: PublishedStore) -> None:
    """Closing the pool ends a worker with an endless query too."""

    async def test() -> set[int]:
        async with running(published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=240, wait_s=240)) as pool:
            asked = asyncio.create_task(error(pool.ask(request(ENDLESS), ticket())))
            await asyncio.sleep(0)
            started = pids(pool)
        await asked
        return started

    assert [pid for pid in asyncio.run(test()) if Path(f"/proc/{pid}").exists()] == []
