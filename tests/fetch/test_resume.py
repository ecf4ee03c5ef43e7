"""A broken transfer goes on where it broke off, when the bytes are sure to be the same."""

from __future__ import annotations

import gzip
import hashlib
import random
from base64 import b64encode
from collections.abc import Callable, Iterable

import pytest

from harvest.errors import StatusError, TransferError
from tests.fetch.conftest import Bench
from tests.fetch.server import Answer, End, Request, Step, broken, chunks, reply

BODY = random.Random(1).randbytes(100_000)
OTHER = random.Random(2).randbytes(100_000)
DATE = "Sun, 01 Mar 2026 12:00:00 GMT"
OLD = "Sun, 01 Feb 2026 00:00:00 GMT"


def part(body: bytes, first: int, last: int | None = None, **headers: object) -> bytes:
    """A right 206 answer."""
    end = len(body) if last is None else last + 1
    return reply(
        body[first:end], "206 Partial Content", Content_Range=f"bytes {first}-{end - 1}/{len(body)}", **headers
    )


def breaks(body: bytes, at: int, **headers: object) -> Callable[[Request], Iterable[Step]]:
    return broken(reply(body, **headers), at)


def fetch(bench: Bench, *answers: Answer, retries: int = 5) -> tuple[bytes, list[dict[str, str]], list[str]]:
    """The body that came, the headers of each request, and the kinds of the notes."""
    server = bench.serve(*answers)
    fetched = bench.client(retries=retries).get(server.url(), into=bench.into)
    assert fetched.path is not None
    body = fetched.path.read_bytes()
    assert fetched.capture.digest == hashlib.sha256(body).hexdigest()
    assert fetched.capture.length == len(body)
    assert fetched.capture.status == 200
    assert bench.files() == [fetched.path]
    return body, [request.headers for request in server.requests], [note.kind for note in fetched.notes]


def test_a_broken_transfer_is_continued(bench: Bench) -> None:
    """Twice, with what came first kept."""
    body, requests, notes = fetch(
        bench,
        breaks(BODY, 40_000, ETag='"v1"'),
        broken(part(BODY, 40_000, ETag='"v1"'), 30_000),
        part(BODY, 70_000, ETag='"v1"'),
    )
    assert body == BODY
    assert "range" not in requests[0]
    assert [(r["range"], r["if-range"]) for r in requests[1:]] == [
        ("bytes=40000-", '"v1"'),
        ("bytes=70000-", '"v1"'),
    ]
    assert notes == ["resumed", "resumed"]


def test_a_transfer_is_continued_after_a_busy_answer(bench: Bench) -> None:
    """The trouble that broke it off often lasts a while."""
    body, requests, _ = fetch(
        bench, breaks(BODY, 40_000, ETag='"v1"'), reply(b"busy", "503 X"), part(BODY, 40_000, ETag='"v1"')
    )
    assert body == BODY
    assert [r.get("range") for r in requests] == [None, "bytes=40000-", "bytes=40000-"]


def test_a_date_that_lies_before_the_answer_is_good_enough(bench: Bench) -> None:
    """Where there is no entity tag."""
    headers = {"Last_Modified": OLD, "Date": DATE}
    body, requests, _ = fetch(bench, breaks(BODY, 5, **headers), part(BODY, 5, **headers))
    assert body == BODY
    assert requests[1]["if-range"] == OLD


@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": 'W/"v1"'},
        {"ETag": 'W/"v1"', "Last_Modified": OLD, "Date": DATE},
        {"ETag": "unquoted"},
        {"Last_Modified": DATE, "Date": DATE},
        {"Last_Modified": OLD},
        {"Last_Modified": "yesterday", "Date": DATE},
        {},
    ],
)
def test_without_a_strong_validator_it_starts_anew(bench: Bench, headers: dict[str, str]) -> None:
    """Two bodies with one weak tag may differ in bytes, and two within one second in everything."""
    body, requests, notes = fetch(bench, breaks(OTHER, 40_000, **headers), reply(BODY, **headers))
    assert body == BODY
    assert not {"range", "if-range"} & requests[1].keys()
    assert notes == []


def test_a_changed_entity_starts_anew(bench: Bench) -> None:
    """The server sees by If-Range that it has other bytes now, and sends them all."""
    body, requests, _ = fetch(bench, breaks(OTHER, 40_000, ETag='"v1"'), reply(BODY, ETag='"v2"'))
    assert body == BODY
    assert requests[1]["if-range"] == '"v1"'
    assert len(requests) == 2


def test_an_entity_that_changes_and_breaks_is_continued_by_its_new_tag(bench: Bench) -> None:
    """What came of the first is forgotten."""
    body, requests, _ = fetch(
        bench,
        breaks(OTHER, 40_000, ETag='"v1"'),
        breaks(BODY, 10_000, ETag='"v2"'),
        part(BODY, 10_000, ETag='"v2"'),
    )
    assert body == BODY
    assert (requests[2]["range"], requests[2]["if-range"]) == ("bytes=10000-", '"v2"')


WRONG_PARTS = {
    "416": reply(b"", "416 Range Not Satisfiable", Content_Range=f"bytes */{len(BODY)}"),
    "another entity": part(OTHER, 40_000, ETag='"v2"'),
    "another date": part(OTHER, 40_000, ETag='"v1"', Last_Modified=OLD),
    "another place": part(BODY, 30_000, ETag='"v1"'),
    "another size": part(OTHER + b"x", 40_000, ETag='"v1"'),
    "another length": part(BODY, 40_000).replace(b"-99999/", b"-90000/"),
    "another coding": part(OTHER, 40_000, ETag='"v1"', Content_Encoding="gzip"),
    "no range": reply(OTHER[40_000:], "206 Partial Content", ETag='"v1"'),
    "several ranges": reply(b"--x", "206 Partial Content", Content_Type="multipart/byteranges; boundary=x"),
    "nonsense": reply(OTHER[40_000:], "206 Partial Content", Content_Range="lines 1-2/3"),
    "beyond the end": reply(b"x" * 60_001, "206 Partial Content", Content_Range="bytes 40000-100000/100000"),
}


@pytest.mark.parametrize("answer", WRONG_PARTS.values(), ids=WRONG_PARTS)
def test_a_part_that_does_not_fit_starts_anew(bench: Bench, answer: bytes) -> None:
    """At once and in the same try: the break was counted already."""
    body, requests, notes = fetch(
        bench, breaks(BODY, 40_000, ETag='"v1"', Last_Modified=DATE, Date=DATE), answer, reply(BODY), retries=1
    )
    assert body == BODY
    assert "range" not in requests[2]
    assert notes == []


def test_a_part_that_is_shorter_than_asked_is_continued(bench: Bench) -> None:
    """A server may send less; that is not the end of the body."""
    body, requests, _ = fetch(
        bench, breaks(BODY, 10_000, ETag='"v1"'), part(BODY, 10_000, 49_999, ETag='"v1"'), part(BODY, 50_000)
    )
    assert body == BODY
    assert requests[2]["range"] == "bytes=50000-"


def test_a_chunked_body_is_continued(bench: Bench) -> None:
    """Its size becomes known with the second answer."""
    head = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: "v1"\r\n\r\n'

    def cut(request: Request) -> list[Step]:
        return [head + chunks(BODY[:40_000]), End.CLOSE]

    body, requests, _ = fetch(bench, cut, part(BODY, 40_000, ETag='"v1"'))
    assert body == BODY
    assert requests[1]["range"] == "bytes=40000-"


def test_an_encoded_body_is_continued_with_its_encoded_bytes(bench: Bench) -> None:
    """A range counts the bytes as sent, and the decoder goes on where it stopped."""
    text = b"".join(b"<http://example.org/%d> .\n" % i for i in range(50_000))
    packed = gzip.compress(text)
    headers = {"ETag": '"v1"', "Content_Encoding": "gzip"}
    body, requests, _ = fetch(
        bench,
        breaks(packed, 50_001, **headers),
        broken(part(packed, 50_001, **headers), 7),
        part(packed, 50_008, **headers),
    )
    assert body == text
    assert [r.get("range") for r in requests] == [None, "bytes=50001-", "bytes=50008-"]


def test_a_server_that_compresses_otherwise_each_time_is_found_out(bench: Bench) -> None:
    """The checksum of gzip is wrong then, and the whole is fetched anew."""
    text = BODY * 3
    one, two = gzip.compress(text, 1), gzip.compress(OTHER * 3, 9)
    two = two[: len(one)] + bytes(max(0, len(one) - len(two)))
    headers = {"ETag": '"v1"', "Content_Encoding": "gzip"}
    body, requests, _ = fetch(
        bench, breaks(one, 50_000, **headers), part(two, 50_000, **headers), reply(one, **headers)
    )
    assert body == text
    assert "range" not in requests[2]


def test_a_stated_digest_holds_over_a_break(bench: Bench) -> None:
    """It is of the whole; a server that sends other bytes under the same tag is found out."""
    digest = {"ETag": '"v1"', "Repr_Digest": f"sha-256=:{b64encode(hashlib.sha256(BODY).digest()).decode()}:"}
    body, requests, _ = fetch(
        bench, breaks(BODY, 40_000, **digest), part(OTHER, 40_000, ETag='"v1"'), reply(BODY, **digest)
    )
    assert body == BODY
    assert "range" not in requests[2]


def test_a_stated_digest_of_a_part_is_not_of_the_whole(bench: Bench) -> None:
    """Content-Digest speaks of one answer; that of a part proves nothing of the body, and disproves nothing."""

    def digest(data: bytes) -> str:
        return f"sha-256=:{b64encode(hashlib.sha256(data).digest()).decode()}:"

    body, requests, _ = fetch(
        bench,
        breaks(BODY, 40_000, ETag='"v1"', Content_Digest=digest(BODY)),
        part(BODY, 40_000, ETag='"v1"', Content_Digest=digest(BODY[40_000:])),
    )
    assert body == BODY
    assert [r.get("range") for r in requests] == [None, "bytes=40000-"]


def test_a_document_that_went_away_is_an_error(bench: Bench) -> None:
    """What came of it is removed."""
    server = bench.serve(breaks(BODY, 40_000, ETag='"v1"'), reply(b"", "404 Not Found"))
    with pytest.raises(StatusError):
        bench.client().get(server.url(), into=bench.into)
    assert bench.files() == []


def test_a_transfer_that_always_breaks_is_given_up(bench: Bench) -> None:
    """The message says how far it came."""
    server = bench.serve(breaks(BODY, 40_000, ETag='"v1"'), broken(part(BODY, 40_000, ETag='"v1"'), 0))
    with pytest.raises(TransferError, match=r"given up at try 3 of 3, with 40,000 bytes of 100,000"):
        bench.client(retries=2).get(server.url(), into=bench.into)
    assert bench.files() == []
