"""What is tried again, and when."""

from __future__ import annotations

import pytest

from harvest.errors import StatusError, TransferError
from harvest.model import Limits, Validators
from tests.fetch.conftest import Bench
from tests.fetch.server import End, broken, reply

RETRIED = ["408 Request Timeout", "425 Too Early", "429 Too Many Requests", "500 X", "502 X", "503 X", "504 X"]


@pytest.mark.parametrize("status", RETRIED)
def test_a_passing_trouble_is_tried_again(bench: Bench, status: str) -> None:
    """The waits between the tries double."""
    server = bench.serve(reply(b"", status), reply(b"", status), reply(b"x"))
    fetched = bench.client().get(server.url(), into=bench.into)
    assert (fetched.tries, fetched.capture.status) == (3, 200)
    assert bench.naps == [1.0, 2.0]


@pytest.mark.parametrize("status", ["400 X", "401 X", "403 X", "404 X", "406 X", "410 X", "416 X", "451 X", "300 X"])
def test_a_lasting_trouble_is_not_tried_again(bench: Bench, status: str) -> None:
    """The server has said no."""
    server = bench.serve(reply(b"", status))
    with pytest.raises(StatusError):
        bench.client().get(server.url(), into=bench.into)
    assert (len(server.requests), bench.naps) == (1, [])


def test_the_tries_come_to_an_end(bench: Bench) -> None:
    """The error is that of the last one, and says how many there were."""
    server = bench.serve(reply(b"first", "500 X"), reply(b"last", "503 Busy"))
    with pytest.raises(StatusError, match=r"answered 503 Busy.*given up at try 4 of 4, with 0 bytes") as caught:
        bench.client(retries=3).get(server.url(), into=bench.into)
    assert (caught.value.status, caught.value.excerpt, caught.value.retriable) == (503, "last", True)
    assert len(server.requests) == 4


def test_a_lost_connection_is_tried_again(bench: Bench) -> None:
    """In order or by a reset, before or within the answer."""
    whole = reply(b"0123456789")
    server = bench.serve(
        lambda request: (End.CLOSE,), lambda request: (End.RESET,), broken(whole, 3), broken(whole, 3, End.RESET), whole
    )
    fetched = bench.client().get(server.url(), into=bench.into)
    assert (fetched.tries, fetched.capture.length) == (5, 10)


def test_a_server_that_asks_for_a_pause_gets_it(bench: Bench) -> None:
    """In seconds, as a date, or none that is longer than our own."""
    server = bench.serve(
        reply(b"", "503 X", Retry_After="120"),
        reply(b"", "429 X", Retry_After="Sun, 01 Mar 2026 12:01:30 GMT"),
        reply(b"", "503 X", Retry_After="1"),
        reply(b"", "503 X", Retry_After="later"),
        reply(b"x"),
    )
    assert bench.client(total_s=1e6).get(server.url(), into=bench.into).tries == 5
    assert bench.naps == [120.0, 90.0, 4.0, 8.0]


def test_a_server_that_asks_for_too_long_a_pause_is_left_alone(bench: Bench) -> None:
    """The next tick asks again; a thread must not sleep for a day."""
    server = bench.serve(reply(b"", "503 X", Retry_After="86400"))
    with pytest.raises(StatusError, match=r"asks to come back in 86,400 s, more than the 300 s") as caught:
        bench.client().get(server.url(), into=bench.into)
    assert caught.value.retriable
    assert (len(server.requests), bench.naps) == (1, [])


def test_a_pause_past_the_total_limit_is_not_begun(bench: Bench) -> None:
    """It could only end in a time-out."""
    server = bench.serve(reply(b"", "503 X", Retry_After="200"))
    with pytest.raises(TransferError, match=r"not done within total_s of 100 s .*answered 503"):
        bench.client().get(server.url(), limits=Limits(total_s=100), into=bench.into)
    assert bench.naps == []


def test_a_try_again_is_conditional_too(bench: Bench) -> None:
    """The document may have gone back to what is there."""
    server = bench.serve(broken(reply(b"0123456789"), 3), reply(b"", "304 Not Modified"))
    fetched = bench.client().get(server.url(), Validators('"v1"'), into=bench.into)
    assert (fetched.path, fetched.tries) == (None, 2)
    assert [request.headers["if-none-match"] for request in server.requests] == ['"v1"', '"v1"']
    assert bench.files() == []
