"""Every exchange is remembered: redirects, tries and the last answer, of failed orders too."""

from __future__ import annotations

import pickle

import pytest

from harvest.errors import RefusedError, StatusError, TransferError
from harvest.fetch.answer import HEADER, HEADERS
from harvest.model import Validators
from tests.fetch.conftest import Bench
from tests.fetch.server import End, moved, reply


def test_each_redirect_and_the_last_answer_are_recorded(bench: Bench) -> None:
    """Address, status, version, headers and time of each, in order. Source: LOD Laundromat 2, HTTP_META."""
    last = reply(b"here", Content_Type="text/turtle", X_Odd="ä").replace(b"HTTP/1.1", b"HTTP/1.0")
    server = bench.serve(moved("/b"), last)
    fetched = bench.client().get(server.url("/a"), into=bench.into)
    first, second = fetched.http
    assert (first.uri, first.status, first.version) == (server.url("/a"), 302, (1, 1))
    assert dict(first.headers)["location"] == "/b"
    assert (second.uri, second.status, second.version) == (server.url("/b"), 200, (1, 0))
    assert dict(second.headers)["content-type"] == "text/turtle"
    assert dict(second.headers)["x-odd"] == "ä"
    assert 0 < first.walltime_s < 5 and 0 < second.walltime_s < 5


def test_tries_that_failed_are_recorded(bench: Bench) -> None:
    """What a server answered before it answered well says how it is."""
    server = bench.serve(reply(b"busy", "503 Service Unavailable"), reply(b"here"))
    fetched = bench.client().get(server.url("/"), into=bench.into)
    assert [hop.status for hop in fetched.http] == [503, 200]


def test_an_error_carries_what_was_answered(bench: Bench) -> None:
    """A seed that failed has its exchanges all the same; an error keeps them across processes."""
    server = bench.serve(moved("/gone"), reply(b"no", "404 Not Found"))
    with pytest.raises(StatusError) as caught:
        bench.client().get(server.url("/a"), into=bench.into)
    assert [hop.status for hop in caught.value.http] == [302, 404]
    assert pickle.loads(pickle.dumps(caught.value)).http == caught.value.http


def test_without_an_answer_there_is_nothing_to_record(bench: Bench) -> None:
    """No connection, no status."""
    server = bench.serve(lambda request: (End.RESET,))
    with pytest.raises(TransferError) as caught:
        bench.client(retries=0).get(server.url("/"), into=bench.into)
    assert caught.value.http == ()
    with pytest.raises(RefusedError) as refused:
        bench.client().get("http://10.0.0.1/", into=bench.into)
    assert refused.value.http == ()


def test_a_304_is_recorded_too(bench: Bench) -> None:
    """A 304 is an answer like others."""
    server = bench.serve(reply(b"", "304 Not Modified", ETag='"x"'))
    fetched = bench.client().get(server.url("/"), Validators('"x"'), into=bench.into)
    assert [hop.status for hop in fetched.http] == [304]


def test_headers_are_bounded_and_cookies_left_out(bench: Bench) -> None:
    """A record is public and stays for good: no session, no flood."""
    many = {f"X_{n}": "v" for n in range(80)}
    server = bench.serve(reply(b"", Set_Cookie="session=secret", Long="x" * 5000, **many))
    [hop] = bench.client().get(server.url("/"), into=bench.into).http
    headers = dict(hop.headers)
    assert len(headers) == HEADERS
    assert "set-cookie" not in headers and "secret" not in repr(hop)
    assert len(headers["long"]) == HEADER


def test_a_password_is_not_recorded(bench: Bench) -> None:
    """The address of an exchange has no user and no password."""
    server = bench.serve(reply(b""))
    url = server.url("/").replace("http://", "http://me:secret@")
    [hop] = bench.client().get(url, into=bench.into).http
    assert hop.uri == server.url("/")
