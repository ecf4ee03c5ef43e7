"""Remembered results over HTTP, and a front that is killed while it writes one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.web.instance import Server, serve
from tests.web.test_breaking import send, until

HEAVY = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f FILTER(?c != ?f) }"
LONG = "SELECT * { ?s ?p ?o . VALUES ?n { 1 2 3 4 5 6 7 8 9 } . ?o ?q ?r } ORDER BY ?s ?p ?n ?q"
STREAM = "SELECT ?s ?p ?o ?x { ?s ?p ?o . ?x ?y ?z }"
LIMITS = QueryLimits(workers=1, timeout_s=20, wait_s=240, cache_bytes=1 << 30)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedStore:
    """A graph of 200 items."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(200))
    return published


@pytest.fixture(scope="module")
def front(folder: Path, published: PublishedStore) -> Iterator[Server]:
    """A server that remembers."""
    server = serve(folder, published.root, LIMITS)
    yield server
    server.stop()


def size_of(path: Path) -> int:
    """Its size in bytes; 0 where it has gone since it was listed."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def ask(front: Server, query: str, **headers: str) -> requests.Response:
    return requests.get(f"{front.url}/sparql", params={"query": query}, headers=headers, timeout=240)


@pytest.mark.parametrize("query", [HEAVY, LONG])
def test_the_second_answer_is_the_first(front: Server, query: str) -> None:
    """The answers are equal to the byte, with the same headers; only `X-Cache` says which it is."""
    first, second = ask(front, query), ask(front, query)
    assert first.content == second.content
    assert [answer.headers["X-Cache"] for answer in (first, second)] == ["miss", "hit"]
    for name in ("ETag", "Content-Type", "Cache-Control", "Vary"):
        assert first.headers[name] == second.headers[name]
    again = ask(front, query, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"]


def test_a_remembered_answer_is_that_of_post_and_head_too(front: Server) -> None:
    """What is asked counts, not how."""
    query = f"{HEAVY} # asked in three ways"
    first = ask(front, query)
    posted = requests.post(f"{front.url}/sparql", data={"query": query}, timeout=240)
    head = requests.head(f"{front.url}/sparql", params={"query": query}, timeout=240)
    assert posted.content == first.content
    assert [answer.headers["X-Cache"] for answer in (posted, head)] == ["hit", "hit"]
    assert head.headers["Content-Length"] == str(len(first.content))


def test_a_remembered_answer_needs_no_worker(front: Server) -> None:
    """The only one is busy."""
    ask(front, HEAVY)
    with send(front, "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"):
        answer = ask(front, HEAVY)
    assert (answer.headers["X-Cache"], answer.elapsed.total_seconds() < 1) == ("hit", True)


def test_a_front_that_is_killed_while_it_writes_leaves_nothing_that_is_served(folder: Path, tmp_path: Path) -> None:
    """The next one gives the whole answer, and takes the rest away."""
    published = PublishedStore(tmp_path)
    published.add(items(100))
    writing = tmp_path / "cache" / "writing"
    server = serve(folder, published.root, LIMITS)
    try:
        with send(server, STREAM) as connection:
            assert b"200 OK" in connection.recv(1000)
            until(lambda: writing.is_dir() and any(size_of(path) > 100_000 for path in writing.iterdir()), 240)
            server.process.kill()
            server.process.wait(60)
    finally:
        server.stop()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["writing"]
    server = serve(folder, published.root, LIMITS)
    try:
        first, second = (requests.get(f"{server.url}/sparql", params={"query": STREAM}, timeout=240) for _ in range(2))
        assert len(first.json()["results"]["bindings"]) == 300 * 300
        assert [answer.headers["X-Cache"] for answer in (first, second)] == ["miss", "hit"]
        assert first.content == second.content
        until(lambda: not list(writing.iterdir()), 240)
    finally:
        server.stop()
