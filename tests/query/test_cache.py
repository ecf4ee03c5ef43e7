"""Remembered results: the right answer always, within the bound, whatever happens."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparql.cache.cache import DRAFTS, HEADER, Cache, Draft
from sparql.cache.edition import Editions
from sparql.cache.kept import SMALL, Result
from sparql.cache.recall import Recall
from sparql.errors import ClientGone, QueryTimeout, StoreError
from sparql.protocol.request import QueryRequest
from sparql.protocol.syntax import Grammar
from sparql.query.answer import QueryAnswer
from sparql.query.pool import Pool
from sparql.query.ticket import Ticket
from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, PublishedStore, items
from tests.query.test_pool import BASE_IRI, request, running, ticket, until

ROOT = Path(__file__).resolve().parents[2]
EDITION = "7-1a-2b"
KEY = "0" * 40
HEAVY = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . FILTER(?c != ?f) }"
SLOW = f"SELECT (COUNT(*) AS ?n) {{ ?a <{BASE}next> ?c . ?d ?e ?f . ?g <{BASE}value> ?h . FILTER(?c != ?f) }}"
LONG = "SELECT ?s ?p ?o ?n { ?s ?p ?o VALUES ?n { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 } }"


def store(cache: Cache, key: str, body: bytes, edition: str = EDITION) -> None:
    draft = cache.begin(key, 0)
    assert draft is not None
    draft.write(body)
    draft.keep(edition, key)


def read(cache: Cache, key: str, edition: str = EDITION) -> bytes | None:
    entry = cache.find(edition, key)
    if entry is None:
        return None
    pieces = iter(lambda: entry.read(1000), b"")
    try:
        return b"".join(pieces)
    finally:
        entry.close()


def on_disk(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # It may be removed meanwhile.
            total += path.stat().st_size if path.is_file() else 0
    return total


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty one of 1 MiB."""
    return Cache(tmp_path / "cache", 1 << 20)


def test_what_was_kept_is_found(cache: Cache) -> None:
    """To the byte, empty and long, by another process too."""
    for number, body in enumerate((b"", b"x", os.urandom(60_000))):
        store(cache, str(number), body)
        assert read(cache, str(number)) == body
        assert read(Cache(cache.folder, 1 << 20), str(number)) == body
    assert read(cache, "3") is None
    assert read(cache, "0", "8-1a-2b") is None


def test_after_a_sweep_the_disk_is_asked_for_known_names_alone(cache: Cache) -> None:
    """What was there and what this process adds is known; what another one adds is, after the next sweep."""
    store(cache, "0", b"before")
    cache.sweep(EDITION)
    store(cache, "1", b"after")
    store(Cache(cache.folder, 1 << 20), "2", b"another's")
    assert [read(cache, str(number)) for number in range(3)] == [b"before", b"after", None]
    cache.sweep(EDITION)
    assert read(cache, "2") == b"another's"


def test_half_an_entry_is_never_there(cache: Cache) -> None:
    """Neither while it is written nor when it is given up."""
    draft = cache.begin(KEY, 0)
    assert draft is not None
    draft.write(b"half")
    assert cache.find(EDITION, KEY) is None
    draft.drop()
    assert on_disk(cache.folder) == 0
    draft.keep(EDITION, KEY)
    assert cache.find(EDITION, KEY) is None


@pytest.mark.parametrize("damage", ["cut", "empty", "zeroes", "bit", "longer", "foreign", "header", "place"])
def test_a_damaged_entry_is_not_served(cache: Cache, damage: str) -> None:
    """As a power cut or a bad disk leaves it; it is removed when it is met."""
    store(cache, KEY, b"result" * 1000)
    path = cache.folder / EDITION / KEY
    data = path.read_bytes()
    middle = HEADER.size + 3000
    path.write_bytes(
        {
            "cut": data[:-1],
            "empty": b"",
            "zeroes": data[: HEADER.size] + bytes(6000),
            "bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "longer": data + b"x",
            "foreign": b"#!/bin/sh" * 100,
            "header": data[:5],
            "place": data[:4] + bytes([data[4] ^ 1]) + data[5:],
        }[damage]
    )
    if damage in ("zeroes", "bit", "place"):
        with pytest.raises(ValueError, match="checksum"):
            read(cache, KEY)
    assert read(cache, KEY) is None
    assert not path.exists()


def test_what_is_too_large_a_share_is_not_kept(cache: Cache) -> None:
    """One result must not drive out all others."""
    store(cache, "fits", bytes(cache.largest))
    store(cache, "large", bytes(cache.largest + 1))
    assert read(cache, "fits") is not None
    assert read(cache, "large") is None


def test_the_bound_holds_and_the_least_used_go_first(cache: Cache) -> None:
    """Whatever is added."""
    for number in range(400):
        store(cache, str(number), os.urandom(10_000))
        if cache.due():
            cache.sweep(EDITION)
        assert on_disk(cache.folder) <= 1 << 20
        assert read(cache, "0") is not None
        os.utime(cache.folder / EDITION / "0")
    assert read(cache, "399") is not None
    assert read(cache, "200") is None


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can grow beyond a size, which stands for a disk that is full: writing fails as it does there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_only_means_that_nothing_is_kept(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    """Half a write is taken back and logged once, and the next one may try again."""
    for number in range(2 * DRAFTS):
        draft = cache.begin(str(number), 0)
        assert draft is not None
        draft.write(b"x" * 10_000)
        with room_for(20_000):
            draft.write(b"x" * 40_000)
        assert on_disk(cache.folder) == 0
        draft.write(b"x")
        draft.keep(EDITION, str(number))
        assert cache.find(EDITION, str(number)) is None
    assert caplog.text.count("A result is not kept: [Errno 27]") == 2 * DRAFTS
    store(cache, KEY, b"x" * 50_000)
    assert read(cache, KEY) == b"x" * 50_000


def test_an_entry_that_cannot_get_its_name_is_not_kept(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    """Something else stands where its folder should be."""
    store(cache, KEY, b"x", "6-1a-2b")
    (cache.folder / EDITION).write_bytes(b"")
    for number in range(2 * DRAFTS):
        store(cache, str(number), b"x")
    assert cache.find(EDITION, "0") is None
    assert list((cache.folder / "writing").iterdir()) == []
    assert caplog.text.count("A result is not kept") == 2 * DRAFTS


def test_only_so_many_are_written_at_once(cache: Cache) -> None:
    """What is being written counts in the bound only so; each gives its place back, however it ends."""

    def begun() -> list[Draft]:
        drafts = [cache.begin(str(number), 0) for number in range(DRAFTS + 2)]
        assert drafts[DRAFTS:] == [None, None]
        return [draft for draft in drafts if draft is not None]

    for _ in range(2):
        kept, dropped, large, again = begun()
        assert cache.begin(KEY, 0) is None
        kept.keep(EDITION, "kept")
        dropped.drop()
        large.write(bytes(cache.largest + 1))
        again.drop()
        again.drop()
        large.drop()
        kept.drop()
    assert read(cache, "kept") == b""
    for draft in begun():
        draft.drop()


def test_a_folder_that_cannot_be_made_only_means_that_nothing_is_kept(tmp_path: Path) -> None:
    """Nor found; and no place is taken for what was not begun."""
    (tmp_path / "file").write_bytes(b"")
    cache = Cache(tmp_path / "file" / "cache", 1 << 20)
    for _ in range(DRAFTS + 1):
        assert cache.begin(KEY, 0) is None
    assert cache.find(EDITION, KEY) is None
    cache.sweep(EDITION)
    (tmp_path / "file").unlink()
    store(cache, KEY, b"x")
    assert read(cache, KEY) == b"x"


def test_other_editions_and_what_crashed_are_swept_away(cache: Cache) -> None:
    """And nothing else: what is being written, and what is read, stays."""
    store(cache, KEY, b"old", "6-1a-2b")
    store(cache, KEY, b"new")
    old = cache.find("6-1a-2b", KEY)
    assert old is not None
    (cache.folder / "notes.txt").write_text("mine")
    (cache.folder / "writing" / "crashed.tmp").write_bytes(b"half")
    living = cache.begin("living", 0)
    assert living is not None
    living.write(b"living")
    cache.sweep(EDITION)
    living.keep(EDITION, "living")
    assert read(cache, "living") == b"living"
    assert old.read(10) == b"old"
    assert {str(p.relative_to(cache.folder)) for p in cache.folder.rglob("*") if p.is_file()} == {
        "notes.txt",
        f"{EDITION}/{KEY}",
        f"{EDITION}/living",
    }


def test_what_another_process_adds_is_found_and_what_it_removes_is_not(cache: Cache) -> None:
    """The folder is the only list of entries."""
    other = Cache(cache.folder, 1 << 20)
    assert read(cache, KEY) is None
    store(other, KEY, b"x")
    assert read(cache, KEY) == b"x"
    (cache.folder / EDITION / KEY).unlink()
    assert read(cache, KEY) is None


WRITER = """
import sys
from pathlib import Path
from sparql.cache.cache import Cache
cache = Cache(Path(sys.argv[1]), 1 << 30)
number = 0
while True:
    number += 1
    draft = cache.begin(f"{number % 50}", 0)
    for piece in range(50):
        draft.write(bytes([number % 50]) * 10_000)
        if number == 60 and piece == 25:
            print("half", flush=True)
    draft.keep("7-1a-2b", f"{number % 50}")
"""


@pytest.mark.parametrize("delay", [0, 0.003, 0.01, 0.03])
def test_a_writer_that_is_killed_leaves_no_half_entry(tmp_path: Path, delay: float) -> None:
    """All that is found is whole, and the next sweep removes the rest."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    with writer.stdout:
        assert writer.stdout.readline() == b"half\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    cache = Cache(tmp_path, 1 << 30)
    found = {key: read(cache, str(key)) for key in range(50)}
    assert all(body == bytes([key]) * 500_000 for key, body in found.items())
    assert len(list((tmp_path / "writing").iterdir())) <= 1
    cache.sweep(EDITION)
    assert list((tmp_path / "writing").iterdir()) == []


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """Two write the same entries at once while a third reads: each read gives all of one or nothing."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    try:
        cache, found, end = Cache(tmp_path, 1 << 30), 0, time.monotonic() + 120
        while found < 500 and time.monotonic() < end:
            body = read(cache, str(found % 50))
            assert body is None or body == bytes([found % 50]) * 500_000
            found += body is not None
        assert found == 500
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    """A graph of 60 items, which no test here changes."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(60))
    return published


@asynccontextmanager
async def recalling(root: Path, folder: Path, limits: QueryLimits) -> AsyncIterator[Recall]:
    """A cache before a pool."""
    async with running(root, limits) as pool:
        yield Recall(pool, limits, Editions(root), Cache(folder, 1 << 30))


async def ask(recall: Recall, text: str, accept: str | None = "text/csv", **parameters: str) -> tuple[bytes, bool]:
    """The bytes of a result, and whether it was remembered."""
    result = await recall.ask(recall.name(request(text, accept, **parameters)), ticket())
    return await taken(result), result.remembered


async def taken(result: Result) -> bytes:
    try:
        return result.whole if result.whole is not None else b"".join([chunk async for chunk in result])
    finally:
        result.close()


async def settled(recall: Recall) -> None:
    """Return when all that is to be kept is."""
    await until(lambda: not recall.flights)


@pytest.mark.parametrize(("query", "accept"), [(HEAVY, "text/csv"), (LONG, "text/csv"), (LONG, "application/json")])
def test_a_heavy_query_is_answered_once(published: PublishedStore, tmp_path: Path, query: str, accept: str) -> None:
    """The second answer is the first to the byte, also after a restart."""

    async def run(first: bytes | None) -> bytes:
        async with recalling(published.root, tmp_path, QueryLimits(workers=1, timeout_s=240, wait_s=240)) as recall:
            body, remembered = await ask(recall, query, accept)
            assert remembered is (first is not None)
            await settled(recall)
            assert await ask(recall, query, accept) == (body, True)
            assert (await ask(recall, query, "text/tab-separated-values"))[1] is False or first is not None
            return body

    assert asyncio.run(run(asyncio.run(run(None)))) != b""


def test_what_is_quick_is_not_kept(published: PublishedStore, tmp_path: Path) -> None:
    """A worker gives it as soon as the disk; on a busy machine nothing is quick, so a minute is."""

    async def run() -> None:
        async with recalling(published.root, tmp_path, QueryLimits(workers=1, keep_s=60)) as recall:
            for _ in range(3):
                assert await ask(recall, "SELECT (1 AS ?n) {}") == (b"n\r\n1\r\n", False)

    asyncio.run(run())


class SlowDisk(Cache):
    """A cache on a disk that answers when the event is set."""

    event = threading.Event()

    def begin(self, key: str, place: int) -> Draft | None:
        """Wait, and have no room."""
        self.event.wait(60)
        return None


def test_the_first_bytes_do_not_wait_for_the_disk(published: PublishedStore, tmp_path: Path) -> None:
    """Whoever waits for a long result sees it begin as soon as without a cache."""

    async def run() -> None:
        limits, disk = QueryLimits(workers=1, timeout_s=240, wait_s=240), SlowDisk(tmp_path, 1 << 30)
        async with running(published.root, limits) as pool:
            recall = Recall(pool, limits, Editions(published.root), disk)
            asked = recall.name(request("SELECT * { ?a ?b ?c . ?d ?e ?f }", "text/csv"))
            result = await recall.ask(asked, ticket())
            try:
                assert await result.__anext__()
                assert not disk.event.is_set()
            finally:
                result.close()
                disk.event.set()

    asyncio.run(run())


def test_other_settings_ask_something_else(published: PublishedStore, tmp_path: Path) -> None:
    """Parameters, formats, and settings that an answer depends on have entries of their own."""

    async def run(limits: QueryLimits) -> list[bytes]:
        async with recalling(published.root, tmp_path, limits) as recall:
            bodies = []
            for parameters in ({}, {"default-graph-uri": f"{BASE}graph/none"}, {"named-graph-uri": f"{BASE}graph/a"}):
                body, remembered = await ask(recall, HEAVY, **parameters)
                assert not remembered
                bodies.append(body)
            return bodies

    many, none, named = asyncio.run(run(QueryLimits(workers=1, timeout_s=240, wait_s=240)))
    assert many != none == named
    assert asyncio.run(run(QueryLimits(workers=1, union_default_graph=False)))[0] == none


@pytest.mark.parametrize(
    ("query", "volatile"),
    [
        ("SELECT (RAND() AS ?x) {}", True),
        ("SELECT * { BIND(now ( ) AS ?x) }", True),
        ("SELECT (StrUUID#\n() AS ?x) {}", True),
        ("SELECT (UUID() AS ?x) {}", True),
        ("SELECT (BNODE('a') AS ?x) {}", True),
        ("SELECT (r\\u0061nd() AS ?x) {}", True),
        ("SELECT (\\U0000004eOW() AS ?x) {}", True),
        ("SELECT * { { SELECT * { ?s ?p ?o FILTER(?o > RAND()) } } }", True),
        ("SELECT * { ?s ?p ?o } ORDER BY RAND()", True),
        ("SELECT ('RAND()' AS ?rand) { ?now <http://uuid/now()> ?bnode } # NOW()", False),
        ("PREFIX now: <http://a/> SELECT * { ?s now:rand now:uuid }", False),
        ("SELECT ('''x\nUUID()\n''' AS ?x) {}", False),
        ("CONSTRUCT { [] ?p ?o } WHERE { ?brand ?p ?o }", False),
        ("SELECT ?known ?o { ?known ?operand ?o }", False),
    ],
)
def test_a_query_that_has_another_answer_each_time_is_known(query: str, volatile: bool) -> None:
    """By the grammar: what stands in literals, names, IRIs and comments calls nothing."""
    assert Grammar("http://a/").is_volatile(query) is volatile


def test_a_volatile_answer_is_not_kept(published: PublishedStore, tmp_path: Path) -> None:
    """However long it took."""

    async def run() -> None:
        async with recalling(published.root, tmp_path, QueryLimits(workers=1, timeout_s=240, wait_s=240)) as recall:
            answers = {await ask(recall, HEAVY.replace("AS ?n", "+ RAND() AS ?n")) for _ in range(3)}
            assert len(answers) == 3
            assert {remembered for _, remembered in answers} == {False}

    asyncio.run(run())


def test_a_new_generation_is_asked_anew_and_the_old_entries_go(tmp_path: Path) -> None:
    """The answer is always that of the data."""
    published = PublishedStore(tmp_path / "store")
    published.add(items(60))

    async def run() -> None:
        async with recalling(
            published.root, tmp_path / "cache", QueryLimits(workers=2, timeout_s=240, wait_s=240)
        ) as recall:
            for graphs in range(2, 5):
                body, remembered = await ask(recall, HEAVY)
                assert not remembered
                await settled(recall)
                assert await ask(recall, HEAVY) == (body, True)
                published.add(items(4, str(graphs), graphs * 1000))
                assert (await ask(recall, HEAVY))[0] != body
                await settled(recall)
                editions = {path.name for path in (tmp_path / "cache").iterdir()} - {"writing"}
                assert editions == {Editions(published.root).current()}
                published.add(items(4, f"{graphs}-", graphs * 1000 + 500))

    asyncio.run(run())


def test_a_store_that_is_made_again_has_no_old_answers(tmp_path: Path) -> None:
    """Its generations are counted from 1 again."""

    async def run(count: int) -> bytes:
        published = PublishedStore(tmp_path / "store")
        assert published.add(items(count)).number == 1
        async with recalling(
            published.root, tmp_path / "cache", QueryLimits(workers=1, timeout_s=240, wait_s=240)
        ) as recall:
            body, remembered = await ask(recall, HEAVY)
            assert not remembered
            await settled(recall)
            return body

    first = asyncio.run(run(60))
    (tmp_path / "store").rename(tmp_path / "before")
    assert asyncio.run(run(61)) != first


def test_equal_queries_at_once_are_one(published: PublishedStore, tmp_path: Path) -> None:
    """With one worker, ten heavy ones are evaluated once; the others are given what it found."""

    async def run() -> None:
        async with recalling(published.root, tmp_path, QueryLimits(workers=1, timeout_s=240, wait_s=240)) as recall:
            answers = await asyncio.gather(*(ask(recall, HEAVY) for _ in range(10)))
            assert len({body for body, _ in answers}) == 1
            assert sorted(remembered for _, remembered in answers) == [False] + [True] * 9

    asyncio.run(run())


class Counted(Pool):
    """A pool that counts what it is asked."""

    asked = 0

    async def ask(self, request: QueryRequest, ticket: Ticket) -> QueryAnswer:
        """Count, and answer."""
        self.asked += 1
        return await super().ask(request, ticket)


def test_a_failure_is_that_of_all_who_wait_for_it(published: PublishedStore, tmp_path: Path) -> None:
    """Asked again by each, it would take as long again."""
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"

    async def run() -> None:
        limits = QueryLimits(workers=1, timeout_s=1)
        pool = Counted(published.root, limits, BASE_IRI)
        recall = Recall(pool, limits, Editions(published.root), Cache(tmp_path, 1 << 30))
        pool.start()
        try:
            asked = (ask(recall, endless, timeout="1") for _ in range(10))
            failed = await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await pool.close()
        assert {type(error) for error in failed} == {QueryTimeout}
        assert pool.asked == 1

    asyncio.run(run())


@pytest.mark.timeout(1000)
def test_who_waits_goes_on_when_the_first_goes_away(published: PublishedStore, tmp_path: Path) -> None:
    """Another one asks in its place; and who waits may go away too."""

    async def run() -> None:
        async with recalling(published.root, tmp_path, QueryLimits(workers=1, timeout_s=240, wait_s=240)) as recall:
            asked = recall.name(request(SLOW, "text/csv"))
            tickets = [Ticket(lambda: None) for _ in range(4)]
            tasks = []
            for ticket in tickets:
                tasks.append(asyncio.create_task(recall.ask(asked, ticket)))
                await asyncio.sleep(0.01)
            for leaves in (0, 2):
                tickets[leaves].end(ClientGone("gone"))
            first, second, third, fourth = await asyncio.gather(*tasks, return_exceptions=True)
            assert isinstance(first, ClientGone)
            assert isinstance(third, ClientGone)
            assert not isinstance(second, BaseException)
            assert not isinstance(fourth, BaseException)
            assert second.whole == fourth.whole is not None

    asyncio.run(run())


def test_a_long_result_that_is_not_read_to_its_end_is_not_kept(published: PublishedStore, tmp_path: Path) -> None:
    """The client went away."""

    async def run() -> None:
        async with recalling(published.root, tmp_path, QueryLimits(workers=1, timeout_s=240, wait_s=240)) as recall:
            result = await recall.ask(recall.name(request(LONG, "text/csv")), ticket())
            assert result.whole is None
            assert len([chunk async for chunk in _first(result)]) == 1
            result.close()
            await until(lambda: on_disk(tmp_path) == 0)
            assert (await ask(recall, LONG))[1] is False

    asyncio.run(run())


async def _first(result: Result) -> AsyncIterator[bytes]:
    yield await result.__anext__()


def test_a_result_that_is_cut_is_not_kept(published: PublishedStore, tmp_path: Path) -> None:
    """Another limit would give another one."""

    async def run() -> None:
        limits = QueryLimits(workers=1, max_rows=3000)
        async with recalling(published.root, tmp_path, limits) as recall:
            for _ in range(2):
                result = await recall.ask(recall.name(request(LONG, "text/csv")), ticket())
                assert (await taken(result)).rstrip().rsplit(b"\n", 1)[1].startswith(b"# truncated")
                assert result.cut is not None
                assert not result.remembered
            await until(lambda: on_disk(tmp_path) == 0)  # Closed behind what was being written.

    asyncio.run(run())


def test_a_damaged_result_is_computed_again(published: PublishedStore, tmp_path: Path) -> None:
    """A short one before anything is sent; a long one breaks off once, and never passes for whole."""

    async def run(query: str) -> None:
        folder = tmp_path / str(len(query))
        async with recalling(published.root, folder, QueryLimits(workers=1, timeout_s=240, wait_s=240)) as recall:
            body, _ = await ask(recall, query)
            await settled(recall)
            assert await ask(recall, query) == (body, True)
            (path,) = (path for path in folder.rglob("*") if path.is_file())
            assert (path.stat().st_size > HEADER.size + SMALL) is (query is LONG)
            path.write_bytes(path.read_bytes()[:-2] + b"x\n")
            if query is LONG:
                with pytest.raises(StoreError, match="the checksum is another one"):
                    await ask(recall, query)
            fresh, remembered = await ask(recall, query)
            assert not remembered
            assert sorted(fresh.splitlines()) == sorted(body.splitlines())
            await settled(recall)
            assert (await ask(recall, query))[1] is True

    for query in (HEAVY, LONG):
        asyncio.run(run(query))


TERMS = st.sampled_from(["?a", "?b", "?c", f"<{BASE}item/1>", f"<{BASE}value>", f"<{BASE}next>", "7"])
PATTERNS = st.lists(st.tuples(TERMS, TERMS, TERMS).map(" ".join), min_size=1, max_size=3).map(" . ".join)
QUERIES = st.tuples(
    st.sampled_from(["SELECT *", "SELECT DISTINCT ?a", "SELECT (COUNT(*) AS ?n)", "ASK", "CONSTRUCT { ?a ?b ?c }"]),
    PATTERNS.filter(lambda pattern: not pattern.startswith("7") and " . 7" not in pattern),
    st.sampled_from(["", " LIMIT 50", " LIMIT 3000", " OFFSET 10 LIMIT 20"]),
    st.sampled_from([None, "text/csv", "application/sparql-results+xml", "application/n-triples", "*/*;q=0.1"]),
).map(lambda made: (f"{made[0]} {{ {made[1]} }}{made[2] if made[0] != 'ASK' else ''}", made[3]))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    """A graph of 20 items: products of three patterns stay small."""
    published = PublishedStore(tmp_path_factory.mktemp("small"))
    published.add(items(20))
    return published


@pytest.fixture(scope="module")
def both(
    small: PublishedStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[asyncio.Runner, Recall, Pool]]:
    """A cache that keeps everything, and the pool behind it."""
    limits = QueryLimits(workers=1, timeout_s=10, keep_s=0)
    with asyncio.Runner() as runner:
        pool = Pool(small.root, limits, BASE_IRI)

        async def start() -> None:
            pool.start()

        runner.run(start())
        kept = Cache(tmp_path_factory.mktemp("cache"), 1 << 30)
        yield runner, Recall(pool, limits, Editions(small.root), kept), pool
        runner.run(pool.close())


@given(query=QUERIES)
@settings(max_examples=60, deadline=None)
def test_cached_is_uncached(both: tuple[asyncio.Runner, Recall, Pool], query: tuple[str, str | None]) -> None:
    """Whatever is asked, in whatever format, errors included."""
    runner, recall, pool = both

    async def run() -> None:
        results = []
        for source in ("pool", "cache", "cache"):
            try:
                asked = request(*query)
                answer = (
                    await pool.ask(asked, ticket())
                    if source == "pool"
                    else await recall.ask(recall.name(asked), ticket())
                )
                results.append((answer.form.media_type, await taken(answer)))
            except Exception as error:  # noqa: BLE001  # Compared, whatever it is.
                results.append((type(error).__name__, str(error).encode()))
            await settled(recall)
        fresh, first, again = results
        assert first == again
        assert (fresh[0], sorted(fresh[1])) == (first[0], sorted(first[1]))

    runner.run(run())
