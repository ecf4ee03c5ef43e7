"""Asking for a document's head: what is answered, and that its body stays where it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harvest.errors import RefusedError, StatusError, TransferError
from harvest.fetch.probe import probe
from tests.fetch.conftest import Bench

SIZE = 50_000_000


class Heads(ThreadingHTTPServer):
    """
    Answers HEAD and GET with statuses of their own; remembers the requests.

    Attributes:
        head: Status of a HEAD.
        get: Status of a GET.
        asked: Method and Range header of each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.head = self.get = 200
        self.asked: list[tuple[str, str | None]] = []

    def url(self, path: str = "/a.nt") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Heads

    def do_HEAD(self) -> None:
        self._answer("HEAD", self.server.head, SIZE)

    def do_GET(self) -> None:
        partial = self.server.get == 206
        self._answer("GET", self.server.get, 1024 if partial else 4)
        self.wfile.write(b"x" * (1024 if partial else 4))

    def _answer(self, method: str, status: int, length: int) -> None:
        self.server.asked.append((method, self.headers.get("Range")))
        if self.path == "/moved":
            status = 302
            self.send_response(status)
            self.send_header("Location", "/a.nt")
            length = 0
        else:
            self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes 0-1023/{SIZE}")
        self.send_header("Content-Type", "application/n-triples")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays clean."""


@pytest.fixture
def heads() -> Iterator[Heads]:
    server = Heads()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_head_says_size_and_type(bench: Bench, heads: Heads) -> None:
    """Nothing else has to be sent."""
    found = probe(bench.client(), heads.url(), "*/*")
    assert (found.total, found.media_type, found.final_url) == (SIZE, "application/n-triples", heads.url())
    assert heads.asked == [("HEAD", None)]
    assert bench.files() == []


def test_redirects_are_followed(bench: Bench, heads: Heads) -> None:
    """A HEAD request follows redirects, too."""
    assert probe(bench.client(), heads.url("/moved"), "*/*").final_url == heads.url()
    assert [method for method, _ in heads.asked] == ["HEAD", "HEAD"]


@pytest.mark.parametrize("status", [403, 404, 405, 501])
def test_a_server_that_refuses_head_is_asked_for_the_first_bytes(bench: Bench, heads: Heads, status: int) -> None:
    """Some answer HEAD with 404 for what is there."""
    heads.head, heads.get = status, 206
    assert probe(bench.client(), heads.url(), "*/*").total == SIZE
    assert heads.asked == [("HEAD", None), ("GET", "bytes=0-1023")]


@pytest.mark.parametrize("status", [404, 410, 403])
def test_what_is_not_there_is_an_error(bench: Bench, heads: Heads, status: int) -> None:
    """The answer to the GET counts."""
    heads.head = heads.get = status
    with pytest.raises(StatusError) as caught:
        probe(bench.client(), heads.url(), "*/*")
    assert caught.value.status == status


def test_the_guard_holds_for_it(bench: Bench, heads: Heads) -> None:
    """It is a request like others."""
    with pytest.raises(RefusedError):
        probe(bench.client(allow_loopback=False), heads.url(), "*/*")
    assert heads.asked == []


def test_a_server_that_is_not_there_is_an_error(bench: Bench) -> None:
    """After one more try."""
    with pytest.raises(TransferError):
        probe(bench.client(retries=0), "http://127.0.0.1:9/a.nt", "*/*")
