"""What one GET gives: the body and what was said of it, or an error that says what to do."""

from __future__ import annotations

import gzip
import hashlib
import os
import resource
import socket
import stat
import threading
import zlib
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest

from harvest.errors import FetchError, RefusedError, StatusError, StorageError, TransferError
from harvest.fetch.client import user_agent
from harvest.model import Validators
from tests.fetch.conftest import NOW, Bench
from tests.fetch.server import End, Request, Step, broken, chunks, reply

BODY = b'<http://example.org/s> <http://example.org/p> "o" .\n' * 5000


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_body_lands_in_a_file(bench: Bench) -> None:
    """The capture says what was asked, what came, when, and how to ask the next time."""
    answer = reply(
        BODY, Content_Type="application/n-triples", ETag='"v1"', Last_Modified="Sun, 01 Feb 2026 00:00:00 GMT"
    )
    server = bench.serve(answer)
    fetched = bench.client().get(server.url("/d.nt"), accept="text/turtle", into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == BODY
    capture = fetched.capture
    assert (capture.url, capture.final_url, capture.redirects) == (server.url("/d.nt"), server.url("/d.nt"), ())
    assert (capture.at, capture.status, capture.media_type) == (NOW, 200, "application/n-triples")
    assert (capture.digest, capture.length) == (sha256(BODY), len(BODY))
    assert capture.validators == Validators('"v1"', "Sun, 01 Feb 2026 00:00:00 GMT")
    assert (fetched.tries, fetched.notes) == (1, ())
    assert 0 < fetched.wall_s < 10
    assert bench.files() == [fetched.path]


def test_the_file_has_usual_permissions(bench: Bench) -> None:
    """It is renamed into the archive, which other processes read."""
    fetched = bench.client().get(bench.serve(reply(b"x")).url(), into=bench.into)
    assert fetched.path is not None
    fresh = bench.into / "fresh"
    fresh.touch()
    assert stat.S_IMODE(fetched.path.stat().st_mode) == stat.S_IMODE(fresh.stat().st_mode)


def test_the_request_says_who_asks(bench: Bench) -> None:
    """An operator of a provider must be able to find out who asks, and whom to write to."""
    server = bench.serve(reply())
    bench.client(contact="mailto:ops@example.org").get(server.url(), into=bench.into)
    bench.client().get(server.url(), accept="text/turtle", into=bench.into)
    first, second = (request.headers for request in server.requests)
    assert first["user-agent"].startswith("sparql-harvest/")
    assert first["user-agent"].endswith(" (+mailto:ops@example.org)")
    assert second["user-agent"].endswith(" (+http://instance.example)")
    assert (first["accept"], second["accept"]) == ("*/*", "text/turtle")
    assert first["accept-encoding"] == "gzip"
    assert first["host"] == f"127.0.0.1:{server.port}"
    assert not {"authorization", "cookie", "range", "if-none-match", "if-modified-since"} & first.keys()


def test_a_contact_cannot_break_the_header() -> None:
    """It is free text of the settings."""
    assert user_agent("Zoë\r\nX: (y)").endswith(" (+Zo%C3%AB%0D%0AX: %28y%29)")


def test_the_request_line_is_as_given(bench: Bench) -> None:
    """Neither requests nor urllib3 may respell what is signed."""
    server = bench.serve(reply())
    bench.client().get(server.url("/a%7eb%2f/ü?q=%7e%2f+100%&x=|"), into=bench.into)
    assert server.requests[0].target == "/a%7eb%2f/%C3%BC?q=%7e%2f+100%&x=|"


def test_an_idn_host_is_asked_by_its_a_labels(bench: Bench) -> None:
    """DNS and the Host header know no others."""
    bench.names["xn--bcher-kva.example"] = ["127.0.0.1"]
    server = bench.serve(reply())
    fetched = bench.client().get(server.url("/", host="bücher.example"), into=bench.into)
    assert server.requests[0].headers["host"] == f"xn--bcher-kva.example:{server.port}"
    assert fetched.capture.final_url == server.url("/", host="bücher.example")


def test_connections_are_kept(bench: Bench) -> None:
    """A tick asks the same hosts again and again."""
    server = bench.serve(reply(b"1"), reply(b"", "404 Not Found"), reply(b"3"), reply(b"", "304 Not Modified"))
    client = bench.client()
    client.get(server.url(), into=bench.into)
    with pytest.raises(StatusError):
        client.get(server.url(), into=bench.into)
    client.get(server.url(), into=bench.into)
    client.get(server.url(), Validators('"x"'), into=bench.into)
    client.get(server.url(), Validators('"x"'), into=bench.into)
    assert [request.connection for request in server.requests] == [0] * 5


def test_a_connection_that_the_server_closed_is_replaced(bench: Bench) -> None:
    """Servers drop idle connections after seconds, and ticks are a minute apart."""
    server = bench.serve(lambda request: (reply(b"1"), End.CLOSE), reply(b"2"))
    client = bench.client()
    for _ in range(2):
        client.get(server.url(), into=bench.into)
    assert [request.connection for request in server.requests] == [0, 1]


@pytest.mark.parametrize("size", [0, 1, 1 << 16, 3_000_001])
def test_bodies_of_any_size_come_whole(bench: Bench, size: int) -> None:
    """An empty body is a body; the caller judges it."""
    body = bytes(range(256)) * (size // 256 + 1)
    fetched = bench.client().get(bench.serve(reply(body[:size])).url(), into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == body[:size]
    assert (fetched.capture.digest, fetched.capture.length) == (sha256(body[:size]), size)


def test_a_chunked_body_is_put_together(bench: Bench) -> None:
    """Chunks with extensions and trailers included."""
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(b"abc", b"d" * 70000)
    server = bench.serve(answer + b"2;name=value\r\nef\r\n0\r\nTrailer: x\r\n\r\n", reply(b"next"))
    client = bench.client()
    fetched = client.get(server.url(), into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == b"abc" + b"d" * 70000 + b"ef"
    assert fetched.notes == ()
    client.get(server.url(), into=bench.into)
    assert server.requests[1].connection == 0


def test_a_body_that_ends_with_the_connection_is_noted(bench: Bench) -> None:
    """HTTP/1.0 servers do so, and then a truncation cannot be told from the end."""
    server = bench.serve(lambda request: (b"HTTP/1.0 200 OK\r\n\r\nsome text", End.CLOSE))
    fetched = bench.client().get(server.url(), into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == b"some text"
    assert [note.kind for note in fetched.notes] == ["unframed-body"]


@pytest.mark.parametrize(
    ("coding", "packed"),
    [("gzip", gzip.compress(BODY)), ("x-gzip", gzip.compress(BODY)), ("deflate", zlib.compress(BODY))],
)
def test_a_content_encoding_is_undone(bench: Bench, coding: str, packed: bytes) -> None:
    """Digest and length are of what the encoding held."""
    server = bench.serve(reply(packed, Content_Encoding=coding))
    fetched = bench.client().get(server.url(), into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == BODY
    assert (fetched.capture.digest, fetched.capture.length) == (sha256(BODY), len(BODY))


def test_a_gz_file_stays_compressed(bench: Bench) -> None:
    """Its compression is its format, which washing undoes."""
    packed = gzip.compress(BODY)
    server = bench.serve(reply(packed, Content_Type="application/gzip"))
    fetched = bench.client().get(server.url("/d.nt.gz"), into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == packed


def test_a_gz_file_that_is_said_to_be_encoded_is_decoded(bench: Bench) -> None:
    """Apache does so by default with AddEncoding; the header is what counts."""
    server = bench.serve(reply(gzip.compress(BODY), Content_Type="application/gzip", Content_Encoding="gzip"))
    fetched = bench.client().get(server.url("/d.nt.gz"), into=bench.into)
    assert fetched.path is not None
    assert fetched.path.read_bytes() == BODY


def test_an_empty_body_needs_no_encoding(bench: Bench) -> None:
    """Servers name the encoding of nothing."""
    fetched = bench.client().get(bench.serve(reply(b"", Content_Encoding="gzip")).url(), into=bench.into)
    assert fetched.capture.length == 0


def test_an_unknown_content_encoding_is_not_filed(bench: Bench) -> None:
    """Nobody asked for brotli, and its bytes are no RDF."""
    server = bench.serve(reply(b"x", Content_Encoding="br"))
    with pytest.raises(FetchError, match="'br'") as caught:
        bench.client().get(server.url(), into=bench.into)
    assert not caught.value.retriable
    assert len(server.requests) == 1
    assert bench.files() == []


def test_a_conditional_request_answered_304_writes_nothing(bench: Bench) -> None:
    """Most ticks find nothing new."""
    server = bench.serve(reply(b"", "304 Not Modified", Content_Length=None, ETag='W/"v2"'))
    client = bench.client()
    fetched = client.get(server.url(), Validators('"v1"', "Sun, 01 Feb 2026 00:00:00 GMT"), into=bench.into)
    headers = server.requests[0].headers
    assert (headers["if-none-match"], headers["if-modified-since"]) == ('"v1"', "Sun, 01 Feb 2026 00:00:00 GMT")
    assert (fetched.path, fetched.capture.digest, fetched.capture.length) == (None, None, 0)
    assert fetched.capture.status == 304
    assert fetched.capture.validators == Validators('W/"v2"', "Sun, 01 Feb 2026 00:00:00 GMT")
    assert bench.files() == []


def test_a_304_to_an_unconditional_request_is_an_error(bench: Bench) -> None:
    """There is nothing that could be unchanged."""
    with pytest.raises(StatusError) as caught:
        bench.client().get(bench.serve(reply(b"", "304 Not Modified")).url(), into=bench.into)
    assert caught.value.status == 304


def test_an_unasked_part_is_an_error(bench: Bench) -> None:
    """A part must never pass as the whole."""
    server = bench.serve(reply(b"ab", "206 Partial Content", Content_Range="bytes 0-1/10"))
    with pytest.raises(StatusError) as caught:
        bench.client().get(server.url(), into=bench.into)
    assert caught.value.status == 206
    assert bench.files() == []


def test_an_unusual_success_is_noted(bench: Bench) -> None:
    """202 may be "come back later"; the caller should know."""
    fetched = bench.client().get(bench.serve(reply(b"soon", "202 Accepted")).url(), into=bench.into)
    assert (fetched.capture.status, [note.kind for note in fetched.notes]) == (202, ["unusual-status"])


@pytest.mark.parametrize(
    ("status", "advice"), [("404 Not Found", "correct the URL"), ("403 Forbidden", "access"), ("410 Gone", "owner")]
)
def test_another_status_is_an_error(bench: Bench, status: str, advice: str) -> None:
    """It says where, and keeps the begin of what the server said."""
    page = gzip.compress(("é" * 2000).encode("latin-1"))
    server = bench.serve(reply(page, status, Content_Encoding="gzip", Content_Type="text/plain; charset=ISO-8859-1"))
    with pytest.raises(StatusError, match=advice) as caught:
        bench.client().get(server.url("/x"), into=bench.into)
    error = caught.value
    assert (error.status, error.url, error.excerpt) == (int(status[:3]), server.url("/x"), "é" * 1000)
    assert server.url("/x") in error.message
    assert not error.retriable
    assert (len(server.requests), bench.naps, bench.files()) == (1, [], [])


@pytest.mark.parametrize(
    "headers",
    [{"Content_Encoding": "br"}, {"Content_Encoding": "gzip"}, {"Content_Type": "text/plain; charset=none-such"}],
)
def test_an_error_page_that_cannot_be_decoded_is_kept_as_it_is(bench: Bench, headers: dict[str, str]) -> None:
    """It must not hide the status."""
    with pytest.raises(StatusError) as caught:
        bench.client().get(bench.serve(reply(b"gone", "404 Not Found", **headers)).url(), into=bench.into)
    assert caught.value.excerpt == "gone"


@pytest.mark.parametrize(
    ("page", "media_type", "said"),
    [
        ("<!DOCTYPE html><html><head><title>Not &amp;\n found</title><style>p {}</style>", "text/html", "Not & found"),
        ("<html><head><style>p { color: red }</style></head><body><h1>Sorry</h1>", "text/plain", None),
        ("<p>gone</p>", "text/html; charset=utf-8", None),
        ("no such file", "text/plain", "no such file"),
        ('{"error": "gone"}', "application/json", '{"error": "gone"}'),
    ],
)
def test_of_an_error_page_in_html_the_title_is_kept(bench: Bench, page: str, media_type: str, said: str | None) -> None:
    """A thousand characters of style sheet filled the terminal."""
    server = bench.serve(reply(page.encode(), "404 Not Found", Content_Type=media_type))
    with pytest.raises(StatusError) as caught:
        bench.client().get(server.url(), into=bench.into)
    assert caught.value.excerpt == said


def test_an_endless_error_page_is_cut(bench: Bench) -> None:
    """A page of an error is not worth a download."""
    server = bench.serve(lambda request: (reply(b"x" * 100_000, "404 Not Found", Content_Length=1 << 40), End.CLOSE))
    with pytest.raises(StatusError) as caught:
        bench.client().get(server.url(), into=bench.into)
    assert caught.value.excerpt == "x" * 1000


WHOLE = reply(BODY, Content_Type="text/plain")
PACKED = gzip.compress(BODY)
TRUNCATED = {
    "length": broken(WHOLE, 1000),
    "length, reset": broken(WHOLE, 1000, End.RESET),
    "nothing": broken(WHOLE, 0),
    "no answer": lambda request: (End.CLOSE,),
    "half a header": lambda request: (b"HTTP/1.1 200 OK\r\nContent-Le", End.CLOSE),
    "no HTTP": lambda request: (b"\x15\x03\x01\x00\x02\x02\x16", End.CLOSE),
    "chunks": lambda request: (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(b"abc"), End.CLOSE),
    "inside a chunk": lambda request: (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc", End.CLOSE),
    "no chunk": lambda request: (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", End.CLOSE),
    "gzip": reply(PACKED[:-20], Content_Encoding="gzip"),
    "gzip, unframed": lambda request: (
        b"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + PACKED[:-20],
        End.CLOSE,
    ),
    "gzip, unframed and empty": lambda request: (b"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n", End.CLOSE),
    "not gzip": reply(BODY, Content_Encoding="gzip"),
    "two lengths": reply(BODY, Content_Length=f"{len(BODY)}, 7"),
}


@pytest.mark.parametrize("answer", TRUNCATED.values(), ids=TRUNCATED)
def test_what_is_not_whole_never_becomes_a_file(bench: Bench, answer: bytes) -> None:
    """Washing a cut dump would remove half a graph."""
    server = bench.serve(answer)
    with pytest.raises(TransferError, match="given up at try 2 of 2") as caught:
        bench.client(retries=1).get(server.url("/d"), into=bench.into)
    assert server.url("/d") in caught.value.message
    assert caught.value.url == server.url("/d")
    assert caught.value.retriable
    assert bench.files() == []


def stated(data: bytes) -> str:
    return f"sha-256=:{b64encode(hashlib.sha256(data).digest()).decode()}:"


@pytest.mark.parametrize("coding", [None, "gzip"])
@pytest.mark.parametrize("header", ["Repr_Digest", "Content_Digest"])
def test_a_stated_digest_is_compared(bench: Bench, header: str, coding: str | None) -> None:
    """It is of the bytes as sent; a wrong one is a broken transfer, and the next try may be right."""
    sent = gzip.compress(BODY) if coding else BODY
    right = reply(sent, Content_Encoding=coding, **{header: f"unixsum=:MzA2Mzc=:, {stated(sent)}"})
    wrong = reply(sent, Content_Encoding=coding, **{header: stated(b"other")})
    fetched = bench.client().get(bench.serve(wrong, right).url(), into=bench.into)
    assert (fetched.tries, fetched.capture.digest) == (2, sha256(BODY))
    with pytest.raises(TransferError, match=f"{header.replace('_', '-')} header states .* but .* came"):
        bench.client(retries=2).get(bench.serve(wrong).url(), into=bench.into)
    assert len(bench.files()) == 1


def test_a_digest_of_what_was_compressed_in_passing_counts(bench: Bench) -> None:
    """Servers compress after stating the digest of the file: the bytes are proven all the same."""
    answer = reply(gzip.compress(BODY), Content_Encoding="gzip", Repr_Digest=stated(BODY))
    assert bench.client().get(bench.serve(answer).url(), into=bench.into).tries == 1


@pytest.mark.parametrize("value", ["", "sha-256", "sha-256=:AAAA:", f"sha-256={sha256(BODY)}", "sha-1=:AAAA:"])
def test_a_digest_that_cannot_be_read_is_passed_over(bench: Bench, value: str) -> None:
    """A digest in hexadecimal is a mistake of the header, not of the body."""
    assert bench.client().get(bench.serve(reply(BODY, Repr_Digest=value)).url(), into=bench.into).tries == 1


def test_loopback_is_refused_unless_the_settings_allow_it(bench: Bench) -> None:
    """By address, and by a name that resolves to it."""
    server = bench.serve(reply())
    client = bench.client(allow_loopback=False)
    bench.names["public.example"] = ["127.0.0.1"]
    for host in ("127.0.0.1", "localhost", "public.example"):
        with pytest.raises(RefusedError, match=r"loopback address.*http\.allow_loopback"):
            client.get(server.url("/", host), into=bench.into)
    assert server.requests == []
    assert bench.naps == []


def test_a_name_is_looked_up_once_for_a_connection(bench: Bench) -> None:
    """An address that is judged and one that is connected to by another look-up could differ."""
    looked: list[str] = []
    bench.names["twice.example"] = ["127.0.0.1"]
    resolve = bench.resolve

    def counting(host: str, port: int) -> object:
        looked.append(host)
        found = resolve(host, port)
        bench.names["twice.example"] = ["10.0.0.1"]
        return found

    server = bench.serve(reply())
    bench.resolve = counting  # type: ignore[method-assign, assignment]  # a resolver that changes its mind
    bench.client().get(server.url("/", "twice.example"), into=bench.into)
    assert looked == ["twice.example"]


def test_the_next_address_is_tried_when_one_does_not_answer(bench: Bench) -> None:
    """Hosts have dead addresses, of IPv6 above all."""
    bench.names["two.example"] = ["127.0.0.2", "127.0.0.1"]
    server = bench.serve(reply(b"x"))
    assert bench.client().get(server.url("/", "two.example"), into=bench.into).tries == 1


def test_a_refused_connection_is_tried_again(bench: Bench) -> None:
    """Servers are restarted."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # so that nobody else listens there
        port = deaf.getsockname()[1]
        with pytest.raises(TransferError, match=f"127.0.0.1 port {port} cannot be reached.*try 3 of 3"):
            bench.client(retries=2).get(f"http://127.0.0.1:{port}/", into=bench.into)
    assert bench.naps == [1.0, 2.0]


def test_a_proxy_of_the_environment_is_not_used(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would resolve names itself, past the address guard."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    assert bench.client().get(bench.serve(reply()).url(), into=bench.into).tries == 1


def test_a_folder_that_cannot_be_written_is_reported(bench: Bench) -> None:
    """Trying again would ask the provider for nothing."""
    server = bench.serve(reply(b"x"))
    with pytest.raises(StorageError, match=r"none.*cannot be written.*see to the disk"):
        bench.client().get(server.url(), into=bench.into / "none")
    assert len(server.requests) == 1


def test_a_full_disk_is_reported(bench: Bench) -> None:
    """The file is removed, so that the disk is less full; a limit on file sizes stands in for the end of the disk."""
    server, client = bench.serve(reply(BODY)), bench.client()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(StorageError, match="File too large") as caught:
            client.get(server.url(), into=bench.into)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.retriable
    assert (len(server.requests), bench.files()) == (1, [])


def test_a_name_of_no_web_address_is_refused(bench: Bench) -> None:
    """Descriptions hold all sorts of IRIs."""
    with pytest.raises(RefusedError, match="not an http or https URL"):
        bench.client().get("ftp://example.org/x", into=bench.into)


def test_a_closed_client_ends_what_runs(bench: Bench) -> None:
    """A shutdown does not wait for a download of hours."""
    started = threading.Event()

    def hang(request: Request) -> list[Step]:
        started.set()
        request.ended.wait(10)
        return []

    server, client = bench.serve(hang), bench.client(read_s=60)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(client.get, server.url(), into=bench.into)
        assert started.wait(10)
        client.close()
        with pytest.raises(TransferError, match="stopped"):
            running.result(10)
    with pytest.raises(TransferError, match="stopped"):
        client.get(server.url(), into=bench.into)
    client.close()


def test_a_client_is_closed_by_its_block(bench: Bench) -> None:
    """Its connections go with it."""
    server = bench.serve(reply())
    with bench.client() as client:
        client.get(server.url(), into=bench.into)
    with pytest.raises(TransferError):
        client.get(server.url(), into=bench.into)


def test_nothing_is_left_open(bench: Bench) -> None:
    """A process that runs for months must not lose descriptors or threads, whatever servers do."""
    server = bench.serve(broken(WHOLE, 10), reply(b"", "404 X"), reply(b"", "302 X", Location="ftp://x/"), WHOLE)
    bench.client().close()

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    before = held()
    with bench.client(retries=0) as client:
        for expected in (TransferError, StatusError, RefusedError):
            with pytest.raises(expected):
                client.get(server.url(), into=bench.into)
        client.get(server.url(), into=bench.into)
    server.close()
    after = held()
    assert after[0] <= before[0]
    assert after[1] <= before[1]


def test_threads_share_a_client(bench: Bench) -> None:
    """Each gets its own answer."""

    def echo(request: Request) -> list[Step]:
        return [reply(request.target.encode())]

    server, client = bench.serve(echo), bench.client()

    def ask(number: int) -> bytes:
        fetched = client.get(server.url(f"/{number}"), into=bench.into)
        assert fetched.path is not None
        return fetched.path.read_bytes()

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(ask, range(200))) == [b"/%d" % number for number in range(200)]
    assert len({request.connection for request in server.requests}) <= 16
