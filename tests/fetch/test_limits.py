"""Sizes and times that a document may not go over."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from time import monotonic

import pytest

from harvest.errors import RefusedError, StatusError, TooSlowError, TransferError
from harvest.model import Limits
from tests.fetch.conftest import Bench
from tests.fetch.server import WAIT_S, End, Request, Step, broken, chunks, drip, reply

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_body_that_is_announced_too_large_is_not_downloaded(bench: Bench) -> None:
    """The error names the limit and the size."""
    server = bench.serve(lambda request: (reply(b"x", Content_Length=1_000_001), End.CLOSE))
    with pytest.raises(RefusedError, match=r"1,000,001 bytes announced, more than max_bytes of 1,000,000;") as caught:
        bench.client(max_bytes=1_000_000).get(server.url("/d"), into=bench.into)
    assert caught.value.url == server.url("/d")
    assert (len(server.requests), bench.files()) == (1, [])


def test_a_body_that_becomes_too_large_is_cut(bench: Bench) -> None:
    """A chunked one announces nothing."""
    server = bench.serve(HEAD + chunks(b"x" * 60_000, b"x" * 60_000) + b"0\r\n\r\n")
    with pytest.raises(RefusedError, match=r"bytes received, more than max_bytes of 100,000"):
        bench.client(max_bytes=100_000).get(server.url(), into=bench.into)
    assert bench.files() == []


def test_a_body_of_just_the_limit_is_allowed(bench: Bench) -> None:
    """At most is not less than."""
    assert bench.client(max_bytes=10).get(bench.serve(reply(bytes(10))).url(), into=bench.into).capture.length == 10


def test_a_compression_bomb_is_cut(bench: Bench) -> None:
    """64 MiB of zeros arrive as 64 kB."""
    server = bench.serve(reply(gzip.compress(bytes(1 << 26)), Content_Encoding="gzip"))
    with pytest.raises(RefusedError, match=r"bytes decoded, more than max_bytes of 1,000,000"):
        bench.client(max_bytes=1_000_000).get(server.url(), into=bench.into)
    assert bench.files() == []


def test_a_resumed_body_counts_as_one(bench: Bench) -> None:
    """The limit is of the document, not of the answer."""
    begun = HEAD.replace(b"\r\n\r\n", b'\r\nETag: "v"\r\n\r\n') + chunks(bytes(60))
    rest = reply(bytes(60), "206 Partial Content", ETag='"v"', Content_Range="bytes 60-119/120")
    server = bench.serve(lambda request: (begun, End.CLOSE), rest)
    with pytest.raises(RefusedError, match="120 bytes announced, more than max_bytes of 100"):
        bench.client(max_bytes=100).get(server.url(), into=bench.into)


def test_the_providers_own_limits_come_first(bench: Bench) -> None:
    """Upwards and downwards."""
    server, client = bench.serve(reply(bytes(100))), bench.client(max_bytes=50)
    assert client.get(server.url(), limits=Limits(max_bytes=100), into=bench.into).capture.length == 100
    with pytest.raises(RefusedError, match="more than max_bytes of 10;"):
        client.get(server.url(), limits=Limits(max_bytes=10), into=bench.into)


DRIPS = {
    "a body": (reply(Content_Length=1000), bytes(1000)),
    "a chunked body": (HEAD, chunks(bytes(1000))),
    "the size of a chunk": (HEAD, b"0" * 1000),
    "a header": (b"HTTP/1.1 200 OK\r\n", b"X: " + b"x" * 1000),
    "an unframed body": (b"HTTP/1.0 200 OK\r\n\r\n", bytes(1000)),
    "an encoded body": (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(bytes(1000000))),
    "a status line": (b"", b"H" * 1000),
}


@pytest.mark.parametrize(("begin", "data"), DRIPS.values(), ids=DRIPS)
def test_a_server_that_drips_is_cut_off(bench: Bench, begin: bytes, data: bytes) -> None:
    """Every byte restarts the time limit of the socket, so only the total limit ends this."""

    def answer(request: Request) -> object:
        yield begin
        yield from drip(data, 0.05)(request)

    server = bench.serve(answer)  # type: ignore[arg-type]  # a generator of steps
    began = monotonic()
    with pytest.raises(TransferError, match=r"not done within total_s of 0.4 s \(try 1, .*raise the limit") as caught:
        bench.client(total_s=0.4).get(server.url("/d"), into=bench.into)
    assert 0.3 < monotonic() - began < 30  # all of it would take 50 s and more
    assert caught.value.url == server.url("/d")
    assert bench.files() == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("begin", "data"), DRIPS.values(), ids=DRIPS)
def test_a_transfer_below_the_floor_is_given_up(bench: Bench, begin: bytes, data: bytes) -> None:
    """At once, as another try would take as long; the total limit is a day, which is too long for those who wait."""

    def answer(request: Request) -> object:
        yield begin
        yield from drip(data, 0.05)(request)

    server = bench.serve(answer)  # type: ignore[arg-type]  # a generator of steps
    client = bench.client(min_rate=100_000, min_rate_s=1, read_s=1)
    with pytest.raises(
        TooSlowError, match=r"too slow: [\d,]+ bytes came in 1 s, and http.min_rate asks for 100,000 a second"
    ) as caught:
        client.get(server.url("/d"), into=bench.into)
    assert caught.value.url == server.url("/d")
    assert caught.value.retriable
    assert (len(server.requests), bench.naps, bench.files()) == (1, [], [])


def test_a_transfer_above_the_floor_may_take_its_time(bench: Bench) -> None:
    """The floor is measured anew in each span of time, and a pause at the begin is part of the first."""

    def answer(request: Request) -> object:
        yield reply(Content_Length=60)
        yield from drip(bytes(60), 0.02)(request)

    server = bench.serve(answer)  # type: ignore[arg-type]  # a generator of steps
    client = bench.client(min_rate=1, min_rate_s=1, read_s=1)
    assert client.get(server.url(), into=bench.into).capture.length == 60


def test_without_a_floor_any_server_is_waited_for(bench: Bench) -> None:
    """Until the total limit."""

    def answer(request: Request) -> object:
        yield reply(Content_Length=15)
        yield from drip(bytes(15), 0.1)(request)

    server = bench.serve(answer)  # type: ignore[arg-type]  # a generator of steps
    assert bench.client(min_rate=0, min_rate_s=0.1, read_s=1).get(server.url(), into=bench.into).capture.length == 15


def test_a_page_of_an_error_that_drips_is_cut_soon(bench: Bench) -> None:
    """It is worth two seconds, whatever the total limit; the status counts."""

    def answer(request: Request) -> object:
        yield b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngone\r\n"
        yield from drip(b"0" * 1000, 0.05)(request)

    server = bench.serve(answer)  # type: ignore[arg-type]  # a generator of steps
    began = monotonic()
    with pytest.raises(StatusError) as caught:
        bench.client().get(server.url(), into=bench.into)
    assert (caught.value.status, caught.value.excerpt) == (404, "gone")
    assert monotonic() - began < 30


def test_the_total_limit_includes_the_tries(bench: Bench) -> None:
    """A server that breaks off each time is not asked for a day."""
    server = bench.serve(broken(reply(bytes(1000)), 10))
    naps = threading.Event()
    began = monotonic()
    bench.nap = lambda stop, seconds: naps.wait(0.1)  # type: ignore[method-assign]  # one that takes time
    with pytest.raises(TransferError, match=r"not done within total_s of 2.5 s"):
        bench.client(retries=10_000, total_s=2.5).get(server.url(), into=bench.into)
    assert monotonic() - began < 30
    assert 1 < len(server.requests) < 10


def test_a_silent_server_is_given_up(bench: Bench) -> None:
    """The time between two reads has its own limit."""

    def silent(request: Request) -> list[Step]:
        request.ended.wait(WAIT_S)
        return []

    def stalled(request: Request) -> object:
        yield reply(bytes(10), Content_Length=1000)
        request.ended.wait(WAIT_S)

    server = bench.serve(silent, stalled)  # type: ignore[arg-type]  # a generator of steps
    with pytest.raises(TransferError, match=r"nothing came .*1 s.*given up at try 2 of 2, with 10 bytes of 1,000"):
        bench.client(read_s=1, retries=1).get(server.url(), into=bench.into)


@contextmanager
def unanswered() -> Iterator[str]:
    """A URL whose connection is never answered: a full queue of connections stands in for a host that drops packets."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def test_a_connection_that_is_not_answered_is_given_up(bench: Bench) -> None:
    """At its own time limit."""
    with unanswered() as url, pytest.raises(TransferError, match=r"cannot be reached \(no connection in 0.2 s\)"):
        bench.client(connect_s=0.2, retries=0).get(url, into=bench.into)


def test_a_connection_that_is_not_answered_ends_with_the_client(bench: Bench) -> None:
    """A shutdown does not wait for the time limit of a host that drops packets."""
    with unanswered() as url, ThreadPoolExecutor(1) as threads:
        client = bench.client(connect_s=60)
        running = threads.submit(client.get, url, into=bench.into)
        assert not wait([running], 0.3).done
        client.close()
        with pytest.raises(TransferError, match="stopped"):
            running.result(20)


def test_a_server_that_drips_ends_with_the_client(bench: Bench) -> None:
    """Each byte would have been waited for once more."""

    def answer(request: Request) -> object:
        yield reply(Content_Length=1000)
        yield from drip(bytes(1000), 0.05)(request)

    server = bench.serve(answer)  # type: ignore[arg-type]  # a generator of steps
    client = bench.client()
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(client.get, server.url(), into=bench.into)
        assert not wait([running], 0.3).done
        client.close()
        with pytest.raises(TransferError, match="stopped"):
            running.result(20)
