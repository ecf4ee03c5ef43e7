"""Redirects are followed by hand: each is judged, and each is recorded."""

from __future__ import annotations

import pytest

from harvest.errors import FetchError, RefusedError, StatusError, TransferError
from harvest.model import Validators
from tests.fetch.conftest import Bench
from tests.fetch.server import Answer, End, Request, Step, moved, reply


def by_path(**answers: bytes) -> Answer:
    def answer(request: Request) -> list[Step]:
        return [answers[request.target.strip("/").split("?")[0]]]

    return answer


def test_redirects_are_followed_and_recorded(bench: Bench) -> None:
    """The last URL is the base of relative IRIs; a PURL is found again in the record."""
    server = bench.serve(by_path(a=moved("/b?x=1"), b=moved("c", "303 See Other"), c=reply(b"here")))
    fetched = bench.client().get(server.url("/a"), into=bench.into)
    assert fetched.capture.redirects == (server.url("/a"), server.url("/b?x=1"))
    assert (fetched.capture.url, fetched.capture.final_url) == (server.url("/a"), server.url("/c"))
    assert (fetched.tries, fetched.notes) == (1, ())
    assert len({request.connection for request in server.requests}) == 1


@pytest.mark.parametrize("status", ["301 Moved Permanently", "308 Permanent Redirect"])
def test_a_move_for_good_is_noted(bench: Bench, status: str) -> None:
    """The registry or the description should name the new place."""
    server = bench.serve(by_path(a=moved("/b", status), b=reply()))
    (note,) = bench.client().get(server.url("/a"), into=bench.into).notes
    assert note.kind == "moved-permanently"
    assert server.url("/b") in note.message
    assert note.url == server.url("/a")


def test_a_304_may_come_after_a_redirect(bench: Bench) -> None:
    """The conditions go with every request of the way."""
    server = bench.serve(by_path(a=moved("/b", "307 Temporary Redirect"), b=reply(b"", "304 Not Modified")))
    fetched = bench.client().get(server.url("/a"), Validators('"v1"'), into=bench.into)
    assert (fetched.path, fetched.capture.redirects) == (None, (server.url("/a"),))
    assert [request.headers["if-none-match"] for request in server.requests] == ['"v1"', '"v1"']


def test_ten_redirects_are_followed_and_eleven_refused(bench: Bench) -> None:
    """Ten is the limit of the LOD Laundromat document."""

    def answer(request: Request) -> list[Step]:
        left = int(request.target.strip("/"))
        return [moved(f"/{left - 1}") if left else reply()]

    server = bench.serve(answer)
    assert len(bench.client().get(server.url("/10"), into=bench.into).capture.redirects) == 10
    with pytest.raises(RefusedError, match=r"more than 10 redirects: .*/11 -> .*/10") as caught:
        bench.client().get(server.url("/11"), into=bench.into)
    assert server.url("/11") in caught.value.message


def test_a_loop_is_reported_as_such(bench: Bench) -> None:
    """ "Too many redirects" would send people looking for a long chain."""
    server = bench.serve(by_path(a=moved("/b"), b=moved("/a")))
    with pytest.raises(RefusedError, match=r"a redirect loop: .*/a -> .*/b -> .*/a"):
        bench.client().get(server.url("/a"), into=bench.into)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://10.0.0.1/x", "10.0.0.1 is a private address"),
        ("http://169.254.169.254/latest/meta-data/", "link-local"),
        ("http://[::ffff:192.168.0.1]/", "private"),
        ("//0.0.0.0/", "unspecified"),
        ("http://inside.example/", r"inside\.example \(192\.168\.7\.7\) is a private address"),
        ("file:///etc/passwd", "redirects to no usable URL"),
        ("ftp://example.org/", "not an http or https URL"),
        ("http://:80/", "no usable URL"),
    ],
)
def test_a_redirect_to_a_forbidden_place_is_refused(bench: Bench, location: str, reason: str) -> None:
    """The address guard judges every request, not only the first."""
    bench.names["inside.example"] = ["192.168.7.7"]
    server = bench.serve(moved(location))
    with pytest.raises(RefusedError, match=reason) as caught:
        bench.client().get(server.url("/start"), into=bench.into)
    assert server.url("/start") in caught.value.message
    assert (len(server.requests), bench.naps) == (1, [])


def test_a_redirect_without_a_place_is_an_error(bench: Bench) -> None:
    """There is nothing to follow."""
    with pytest.raises(StatusError) as caught:
        bench.client().get(bench.serve(reply(b"", "302 Found")).url(), into=bench.into)
    assert caught.value.status == 302


def test_a_cut_location_is_not_followed(bench: Bench) -> None:
    """http.client would take what came of it for the whole."""
    cut = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /du"
    server = bench.serve(lambda request: (cut, End.CLOSE))
    with pytest.raises(TransferError):
        bench.client(retries=0).get(server.url(), into=bench.into)
    assert [request.target for request in server.requests] == ["/"]


def test_an_error_after_a_redirect_names_both_urls(bench: Bench) -> None:
    """The one that failed, and the one that people know."""
    server = bench.serve(by_path(a=moved("/b"), b=reply(b"no", "404 Not Found")))
    with pytest.raises(StatusError, match="asked for as") as caught:
        bench.client().get(server.url("/a"), into=bench.into)
    assert caught.value.url == server.url("/b")
    assert server.url("/a") in caught.value.message


def test_credentials_stay_with_their_origin(bench: Bench) -> None:
    """A redirect must not carry a password to another server, nor to another port."""
    other = bench.serve(reply(b"x"))
    server = bench.serve(by_path(a=moved("/b"), b=moved(other.url("/c"))))
    url = server.url("/a").replace("//", "//user:secret@")
    fetched = bench.client().get(url, into=bench.into)
    assert [request.headers.get("authorization") for request in server.requests] == ["Basic dXNlcjpzZWNyZXQ="] * 2
    assert "authorization" not in other.requests[0].headers
    assert "secret" not in fetched.capture.final_url + "".join(fetched.capture.redirects)


def test_a_password_is_in_no_message(bench: Bench) -> None:
    """Messages end on public pages."""
    url = bench.serve(reply(b"", "401 Unauthorized")).url().replace("//", "//user:secret@")
    with pytest.raises(StatusError) as caught:
        bench.client().get(url, into=bench.into)
    assert "secret" not in f"{caught.value.message} {caught.value.url}"


def test_a_server_cannot_have_credentials_sent(bench: Bench) -> None:
    """A user and password in a Location are dropped."""
    other = bench.serve(reply())
    server = bench.serve(moved(other.url().replace("//", "//user:secret@")))
    fetched = bench.client().get(server.url(), into=bench.into)
    assert "authorization" not in other.requests[0].headers
    assert fetched.capture.final_url == other.url()


def test_a_raw_utf8_location_is_followed(bench: Bench) -> None:
    """It is not allowed, and common."""
    location = "/é".encode().decode("latin-1")
    server = bench.serve(moved(location), reply())
    bench.client().get(server.url(), into=bench.into)
    assert server.requests[1].target == "/%C3%A9"


def test_a_large_redirect_page_is_not_read(bench: Bench) -> None:
    """Only a small one is worth reading, to keep the connection."""
    page = moved("/b").replace(b"Content-Length: 5", b"Content-Length: 1000000000")
    server = bench.serve(page + bytes(100_000), reply(b"x"))
    assert bench.client().get(server.url(), into=bench.into).capture.length == 1
    assert [request.connection for request in server.requests] == [0, 1]


@pytest.mark.parametrize(
    "location", ["http://[bad/x", "//[::1", "http://[fe80::1%25eth0]/", "http://x:99999999/", "/\x00"]
)
def test_a_redirect_to_what_is_no_url_is_an_error(bench: Bench, location: str) -> None:
    """Whatever the parser of URLs makes of it."""
    server = bench.serve(moved(location))
    with pytest.raises(FetchError) as caught:
        bench.client(retries=0).get(server.url("/a"), into=bench.into)
    assert server.url("/a") in f"{caught.value.url} {caught.value.asked}"
