"""Requests that nobody should send and somebody does: each gets a status that says what is wrong."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.web.instance import Server

READ = {"GET", "HEAD", "OPTIONS"}
ADDRESSES = [
    "/",
    "/api",
    "/openapi.json",
    "/exports/",
    "/exports/all.nq.gz",
    "/.well-known/void",
    "/providers/",
    "/providers/a",
    "/providers/a/",
    "/providers/a.json",
    "/providers/a/versions/1",
    "/providers/a/versions/1.nq",
    "/providers/a/changes/2.nqud",
    "/documents/",
    "/entity",
    "/graphs",
    "/graph/a",
    "/graph/a/below",
    "/status",
    "/healthz",
    "/static/copy.js",
]


def send(front: Server, method: str, target: bytes, *headers: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send a request byte for byte; status, headers and what follows them."""
    address = urlsplit(front.url)
    assert address.hostname is not None
    with socket.create_connection((address.hostname, address.port or 80), timeout=240) as connection:
        host = address.netloc.encode() if not any(h.lower().startswith(b"host:") for h in headers) else None
        own = [b"Connection: close", b"Content-Length: 0", *([b"Host: " + host] if host else []), *headers]
        connection.sendall(method.encode() + b" " + target + b" HTTP/1.1\r\n" + b"\r\n".join(own) + b"\r\n\r\n")
        received = b""
        while data := connection.recv(1 << 16):
            received += data
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), {n.lower(): v for n, _, v in (line.partition(": ") for line in lines)}, body


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/documents/?page=0", 400),
        ("/documents/?page=two", 400),
        ("/documents/?page=", 400),
        ("/documents/?page=%D9%A1", 400),
        ("/documents/?page=1_0", 400),
        ("/documents/?page=1000001", 400),
        ("/documents/?page=" + "9" * 5000, 400),
        ("/documents.json?state=%00", 400),
        ("/entity?iri=http://example.org/item/1&page=two", 400),
        ("/entity?iri=http://example.org/item/1&links=100001&format=ttl", 400),
        ("/entity?page=0", 400),
        ("/entity?format=docx", 400),
        ("/entity?iri=http://x/%00", 400),
        ("/entity?iri=%ff", 400),
        ("/graphs?graph=%ff", 400),
        ("/graphs?graph=http://x/%ed%a0%80", 400),
        ("/sparql?query=%ed%a0%80", 400),
        ("/sparql?query=ASK{}%00", 400),
        ("/sparql?query=ASK{}&timeout=1&timeout=never", 400),
        ("/sparql?query=ASK{}&format=csv&format=docx", 400),
        ("/exports/" + "a" * 300 + ".nq.gz", 404),
        ("/exports/" + "a" * 100 + ".nq.gz", 404),
        ("/exports/%00", 404),
        ("/static/%00", 404),
        ("/static/" + "a" * 300, 404),
        ("/providers/" + "a" * 101, 404),
        ("/providers/a/versions/" + "9" * 5000, 404),
        ("/providers/a/versions/%D9%A1", 404),
        ("/providers/a/versions/1?after=" + "a" * 8001, 400),
        ("/%ff%00", 404),
        ("/" + "a" * 5000, 404),
    ],
)
def test_what_cannot_be_meant_is_refused(front: Server, path: str, status: int) -> None:
    """In figures, names, bytes that are no text, and lengths; with a reason that is no longer than people read."""
    code, headers, body = send(front, "GET", path.encode(), b"Accept: application/json")
    assert (code, headers["content-type"]) == (status, "application/json")
    error = json.loads(body)
    assert (error["status"], error["retriable"]) == (status, False)
    assert 10 < len(error["message"]) < 500


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_method_that_is_not_there_is_answered_with_those_that_are(front: Server, path: str) -> None:
    """405 with Allow, which OPTIONS says as well. Source: RFC 9110, sections 15.5.6 and 9.3.7."""
    allowed = READ | {"POST"} if path in ("/graphs", "/graph/a") else READ
    for method in {"POST", "PUT", "DELETE", "PATCH", "TRACE", "QUERY", "FOO"} - allowed:
        code, headers, body = send(front, method, path.encode())
        assert (code, set(headers["allow"].split(", "))) == (405, allowed), method
        assert body
    code, headers, _ = send(front, "OPTIONS", path.encode())
    assert code in (200, 204)
    assert set(headers["allow"].split(", ")) == allowed
    assert headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", [*ADDRESSES, "/sparql", "/sparql?query=ASK{}", "/nowhere", "/documents/?page=0"])
def test_head_says_what_get_says_and_sends_nothing(front: Server, path: str) -> None:
    """Source: RFC 9110, section 9.3.2."""
    got, had = send(front, "GET", path.encode()), send(front, "HEAD", path.encode())
    assert had[0] == got[0]
    assert had[2] == b""
    for name in ("content-type", "etag", "location", "cache-control", "vary"):
        assert had[1].get(name) == got[1].get(name)


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=-99999999", 206, slice(0, None)),
        ("lines=1-2", 200, slice(0, None)),
        ("bytes=", 200, slice(0, None)),
        ("", 200, slice(0, None)),
        ("bytes=1", 200, slice(0, None)),
        ("bytes=" + "9" * 100 + "-", 200, slice(0, None)),
        ("BYTES=0-0", 206, slice(0, 1)),
        ("bytes=99999999-", 416, None),
    ],
)
def test_an_odd_range_is_passed_over(front: Server, folder: Path, asked: str, status: int, part: slice | None) -> None:
    """
    A last part longer than the file is the file; 416 says how long that is.

    Source: RFC 9110, sections 14.1.2, 14.2 and 15.5.17.
    """
    whole = (folder / "exports" / "all.nq.gz").read_bytes()
    code, headers, body = send(front, "GET", b"/exports/all.nq.gz", b"Range: " + asked.encode())
    assert code == status
    if part is None:
        assert headers["content-range"] == f"bytes */{len(whole)}"
    else:
        assert body == whole[part]


@pytest.mark.parametrize("path", ["/documents", "/providers", "/exports", "/providers/a/"])
def test_nobody_is_led_elsewhere(front: Server, path: str) -> None:
    """Whatever host a request names: behind a proxy it is not ours, and from a stranger not theirs to choose."""
    code, headers, _ = send(front, "GET", path.encode() + b"?page=2", b"Host: evil.example")
    assert code == 308
    assert headers["location"].startswith("/")
    assert not headers["location"].startswith("//")


@pytest.mark.parametrize(
    "line",
    [
        b"Accept: \xff",
        b"Accept: ;;;,,,q=",
        b"Accept: */*;q=nan",
        b"Accept-Language: \xff;q=a",
        b"Accept-Encoding: gzip;q=x",
        b"If-None-Match: \xff",
        b'If-None-Match: "',
        b"If-Modified-Since: Fri, 99 Nov 99999 12:00:00 GMT",
        b"If-Range: \xff",
        b"Cookie: \xff",
        b"Content-Type: \xff",
    ],
)
def test_a_header_that_cannot_be_read_is_passed_over(front: Server, line: bytes) -> None:
    """Browsers and proxies send what they like; a page is still a page."""
    for path in (b"/", b"/providers/a", b"/exports/all.nq.gz", b"/sparql?query=ASK{}", b"/providers/a/changes/2.nqud"):
        assert send(front, "GET", path, line)[0] == 200, path


def test_what_data_and_pages_say_of_a_repeated_parameter_is_the_same(front: Server) -> None:
    """The first counts."""
    query = "iri=http://example.org/item/1&iri=http://example.org/item/none"
    for accept in ("text/html", "text/turtle"):
        answer = requests.get(f"{front.url}/entity?{query}", headers={"Accept": accept}, timeout=240)
        assert answer.status_code == 200
        assert "item/1" in answer.text
