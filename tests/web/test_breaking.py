"""Answers that break off, and clients that do."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import requests

from sparql.worker.limits import QueryLimits
from sparql.worker.worker import NAME
from tests.processes import descendants, name_of, seconds_of
from tests.query.stores import PublishedStore, items
from tests.web.conftest import VERSION
from tests.web.instance import Server, serve

PATIENCE_S = 180.0
"""For an answer: `query.timeout_s` counts processor time, of which a busy machine has little."""
SOON_S = 240.0
"""Seconds in which what takes less than one has come to pass on a busy machine too; all else takes a minute or more."""

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
LONG = "SELECT * { ?a ?b ?c . ?d ?e ?f }"
MIDDLE = "SELECT ?s ?n { ?s ?p ?o . VALUES ?n { 1 2 3 } }"
"""9,000 rows: more than is sent at once, fewer than the limit."""


@pytest.fixture(scope="module")
def front(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with one worker and tight limits."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(1000))
    limits = QueryLimits(workers=1, spare=0, extra=0, timeout_s=3, wait_s=120, max_rows=20_000)
    server = serve(folder, published.root, limits)
    yield server
    server.stop()


def workers(server: Server) -> set[int]:
    """The query workers of a server."""
    return {pid for pid in descendants(server.process.pid) if name_of(pid) == NAME}


def until(true: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def the_worker(server: Server) -> int:
    """The only query worker of a server, once it has answered a query and waits for the next."""
    ask(server, COUNT)
    until(lambda: len(workers(server)) == 1, SOON_S)  # one that was killed is seen until it has ended
    return workers(server).pop()


def send(server: Server, query: str, version: str = "1.1") -> socket.socket:
    """A connection on which a query has been sent."""
    return send_lines(server, f"GET /sparql?query={quote(query)} HTTP/{version}", "Accept: text/csv")


def send_lines(server: Server, *lines: str, body: str = "") -> socket.socket:
    """A connection on which a request has been sent."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
    connection.sendall("\r\n".join([*lines, f"Host: {host}", "", body]).encode())
    return connection


def ask(server: Server, query: str) -> str:
    answer = requests.get(
        f"{server.url}/sparql", params={"query": query}, headers={"Accept": "text/csv"}, timeout=PATIENCE_S
    )
    return answer.text


def test_a_result_that_grows_too_long_never_looks_whole(front: Server) -> None:
    """The connection breaks, so that every client sees an error; test_truncation has what ends in a comment."""
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        requests.get(f"{front.url}/sparql", params={"query": LONG, "format": "json"}, timeout=PATIENCE_S)
    assert ask(front, COUNT) == "n\r\n3000\r\n"


def test_a_result_that_takes_too_long_never_looks_whole(front: Server) -> None:
    """The time limit ends a result of which a part is sent already, and the part has no end mark."""
    text = (
        "SELECT * { { ?a ?b ?c . VALUES ?x { 1 2 3 4 5 } } UNION { ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER(?f < ?h) } }"
    )
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        ask(front, text)


def test_a_worker_that_dies_on_the_way_never_looks_whole(front: Server) -> None:
    """Whatever the cause, a client can tell half a result from a whole one."""
    worker = the_worker(front)
    with send(front, LONG) as connection:
        assert b"200 OK" in connection.recv(1000)
        os.kill(worker, signal.SIGKILL)
        received = b""
        while data := connection.recv(1 << 16):
            received += data
    assert not received.endswith(b"0\r\n\r\n")


def test_http_1_0_gets_a_long_result_with_its_length(front: Server) -> None:
    """HTTP 1.0 has no other way to tell a whole body from a part."""
    with send(front, MIDDLE, "1.0") as connection:
        received = b""
        while data := connection.recv(1 << 16):
            received += data
    head, body = received.split(b"\r\n\r\n", 1)
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert body.count(b"\r\n") == 9001


def test_http_1_0_gets_a_version_with_its_length_or_an_error(front: Server) -> None:
    """A version, which the pages make while they send it, has its length or is an error too."""
    for version, status in ((1, b"200"), (2, b"500")):
        with send_lines(front, f"GET /providers/a/versions/{version}.nq HTTP/1.0") as connection:
            received = b""
            while data := connection.recv(1 << 16):
                received += data
        head, body = received.split(b"\r\n\r\n", 1)
        assert head.split(b" ")[1] == status
        assert version == 2 or (f"content-length: {len(body)}".encode() in head.lower() and body == VERSION)


def test_a_request_that_breaks_off_is_no_request(front: Server) -> None:
    """Half a query may be a query."""
    with send_lines(
        front, "POST /sparql HTTP/1.1", "Content-Type: application/sparql-query", "Content-Length: 99", body="ASK {}"
    ):
        pass
    assert ask(front, COUNT) == "n\r\n3000\r\n"


def test_http_1_0_gets_a_status_for_a_result_that_fails(front: Server) -> None:
    """Nothing is sent before all is there."""
    with send(front, LONG, "1.0") as connection:
        assert b" 413 " in connection.recv(1000).split(b"\r\n")[0]


@pytest.fixture(scope="module")
def patient(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with one worker and no limit that ends anything while the tests run."""
    published = PublishedStore(tmp_path_factory.mktemp("patient"))
    published.add(items(1000))
    server = serve(
        folder, published.root, QueryLimits(workers=1, spare=0, extra=0, timeout_s=600, wait_s=240, max_rows=1 << 40)
    )
    yield server
    server.stop()


@pytest.mark.parametrize(
    "query", [ENDLESS, "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?c), STR(?f), STR(?i)) = 'none') }"]
)
def test_a_client_that_goes_away_ends_its_query(patient: Server, query: str) -> None:
    """Before the first byte; the worker is free for others long before the time limit."""
    worker = the_worker(patient)
    before = seconds_of(worker)
    connection = send(patient, query)
    until(lambda: seconds_of(worker) > before + 0.2, SOON_S)
    connection.close()
    until(lambda: seconds_of(worker) == float("inf"), SOON_S)
    assert ask(patient, COUNT) == "n\r\n3000\r\n"


def test_a_client_that_goes_away_while_it_reads_ends_its_query(patient: Server) -> None:
    """A closed browser tab must not keep a worker busy."""
    worker = the_worker(patient)
    connection = send(patient, LONG)
    assert b"200 OK" in connection.recv(1000)
    connection.close()
    until(lambda: seconds_of(worker) == float("inf"), SOON_S)


def test_a_slow_client_holds_neither_memory_nor_pages(front: Server) -> None:
    """It is sent as much as it reads; the rest waits in the worker."""
    with send(front, MIDDLE.replace("1 2 3", "1 2 3 4 5 6")) as connection:
        assert b"200 OK" in connection.recv(100)
        began = time.monotonic()
        assert requests.get(f"{front.url}/providers.json", timeout=PATIENCE_S).status_code == 200
        assert time.monotonic() - began < SOON_S
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            received += connection.recv(1 << 16)
    assert received.count(b"\r\nhttp") > 17_000


def test_stopping_the_server_leaves_no_process(folder: Path, tmp_path: Path) -> None:
    """Stopping ends the worker of a query that would never end, too."""
    published = PublishedStore(tmp_path)
    published.add(items(1000))
    server = serve(folder, published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=60))
    below = descendants(server.process.pid)
    assert len(below) == 4, "the server of the requests, the fork server and two workers"
    with send(server, ENDLESS):
        until(lambda: any(0.2 < seconds_of(worker) < float("inf") for worker in workers(server)), SOON_S)
        server.stop()
    until(lambda: all(seconds_of(pid) == float("inf") for pid in below), SOON_S)


def test_killing_the_server_leaves_no_process(folder: Path, tmp_path: Path) -> None:
    """Nothing of it can clean up then."""
    published = PublishedStore(tmp_path)
    published.add(items(1000))
    server = serve(folder, published.root, QueryLimits(workers=2, spare=0, extra=0, timeout_s=60))
    below = descendants(server.process.pid)
    with send(server, ENDLESS):
        until(lambda: any(0.2 < seconds_of(worker) < float("inf") for worker in workers(server)), SOON_S)
        server.process.kill()
        server.process.wait(SOON_S)
        until(lambda: all(seconds_of(pid) == float("inf") for pid in below), SOON_S)
