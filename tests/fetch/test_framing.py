"""Answers that do not say where their body ends, or say it in no known way."""

from __future__ import annotations

import pytest

from harvest.errors import HarvestError, TransferError
from harvest.model import Validators
from tests.fetch.conftest import Bench
from tests.fetch.server import End, broken, chunks, reply

BODY = b"<http://x/s> <http://x/p> <http://x/o> .\n"
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = f"Content-Length: {len(BODY)}\r\n".encode()


def closed(answer: bytes) -> object:
    """The answer, and then the end of the connection: what an unframed body ends with."""
    return lambda request: (answer, End.CLOSE)


NOT_DECIMAL = ["0x5", "5_0", "5.0", "\u0665", ""]
LENGTHS = ["-5", "abc", "9" * 6000, "+5", "5, 5", "5, 6", "5 5", "5\r\nContent-Length: 5", *NOT_DECIMAL]


@pytest.mark.parametrize("length", LENGTHS, ids=[text[:20] for text in LENGTHS])
def test_a_length_that_is_no_number_is_a_broken_answer(bench: Bench, length: str) -> None:
    """Read to the end of the connection, a cut body would be taken for a whole one."""
    head = HEAD + b"Content-Length: " + length.encode() + b"\r\n\r\n"
    server = bench.serve(closed(head + BODY))  # type: ignore[arg-type]  # a function of the request
    with pytest.raises(
        TransferError, match=r"the answer is broken: its Content-Length is no number of bytes"
    ) as caught:
        bench.client(retries=0).get(server.url("/d"), into=bench.into)
    assert server.url("/d") in caught.value.message
    assert len(caught.value.message) < 300
    assert bench.files() == []


BROKEN = {
    "a coding beneath": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks(BODY), "Transfer-Encoding"),
    "chunked twice": (
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(BODY),
        "Transfer-Encoding",
    ),
    "another coding": (HEAD + b"Transfer-Encoding: br\r\n\r\n" + BODY, "Transfer-Encoding"),
    "a line that is no header": (HEAD + b"nonsense\r\n" + LENGTH + b"\r\n" + BODY[:9], "Content-Length stands behind"),
    "a space before the colon": (HEAD + LENGTH.replace(b":", b" :") + b"\r\n" + BODY[:9], "Content-Length stands"),
    "a chunk below zero": (CHUNKED + b"-5\r\n" + BODY, "size of a chunk"),
    "a chunk with a sign": (CHUNKED + b"+5\r\nhello\r\n0\r\n\r\n", "size of a chunk"),
    "a chunk with a prefix": (CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n", "size of a chunk"),
    "a chunk with an underline": (CHUNKED + b"0_5\r\nhello\r\n0\r\n\r\n", "size of a chunk"),
    "a chunk of many digits": (CHUNKED + b"f" * 6000 + b"\r\nhello\r\n0\r\n\r\n", "size of a chunk"),
    "a chunk that is longer": (CHUNKED + b"5\r\nhelloworld\r\n0\r\n\r\n", "a chunk is longer than it says"),
    "a status with a sign": (b"HTTP/1.1 +200 OK\r\n" + LENGTH + b"\r\n" + BODY, "no status line"),
    "a status with an underline": (b"HTTP/1.1 2_00 OK\r\n" + LENGTH + b"\r\n" + BODY, "no status line"),
    "a status of four digits": (b"HTTP/1.1 2000 OK\r\n" + LENGTH + b"\r\n" + BODY, "no status line"),
    "no status": (b"HTTP/1.1 OK\r\n" + LENGTH + b"\r\n" + BODY, "no status line"),
    "another protocol": (b"ICY 200 OK\r\n" + LENGTH + b"\r\n" + BODY, "no status line"),
    "an endless status line": (b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n" + LENGTH + b"\r\n" + BODY, "no status line"),
}


@pytest.mark.parametrize(("answer", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_not_taken_for_absent(bench: Bench, answer: bytes, reason: str) -> None:
    """Nothing of it may become a dump."""
    server = bench.serve(closed(answer))  # type: ignore[arg-type]  # a function of the request
    with pytest.raises(TransferError, match=f"the answer is broken: .*{reason}") as caught:
        bench.client(retries=0).get(server.url("/d"), into=bench.into)
    assert len(caught.value.message) < 300
    assert bench.files() == []


WHOLE = {
    "spaces around a length": HEAD + f"Content-Length:  {len(BODY)} \r\n\r\n".encode() + BODY,
    "zeros before a length": HEAD + f"Content-Length: 000{len(BODY)}\r\n\r\n".encode() + BODY,
    "a coding in capitals": HEAD + b"Transfer-Encoding: Chunked\r\n\r\n" + chunks(BODY) + b"0\r\n\r\n",
    "a coding and a space": HEAD + b"Transfer-Encoding: chunked \r\n\r\n" + chunks(BODY) + b"0\r\n\r\n",
    "no coding": HEAD + b"Transfer-Encoding: identity\r\n" + LENGTH + b"\r\n" + BODY,
    "an extension of a chunk": CHUNKED + b"5;a=b\r\n" + BODY[:5] + b"\r\n" + chunks(BODY[5:]) + b"0 ;x\r\nA: b\r\n\r\n",
    "early hints": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 C\r\n\r\n"
    + HEAD
    + LENGTH
    + b"\r\n"
    + BODY,
    "no reason": b"HTTP/1.1 200\r\n" + LENGTH + b"\r\n" + BODY,
    "a reason of another encoding": b"HTTP/1.1 200 \xc3\x9c\r\n" + LENGTH + b"\r\n" + BODY,
    "a line that is no header": HEAD + LENGTH + b"nonsense\r\n\r\n" + BODY,
}


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE)
def test_what_is_only_odd_is_read(bench: Bench, answer: bytes) -> None:
    """On a connection that is used again afterwards."""
    server, client = bench.serve(answer), bench.client(retries=0)
    for _ in range(2):
        fetched = client.get(server.url(), into=bench.into)
        assert fetched.path is not None
        assert fetched.path.read_bytes() == BODY
        assert fetched.notes == ()
    assert len({request.connection for request in server.requests}) == 1


DATES = ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 1 00:00:00 +2359"]
NUMBERS = ["9" * 6000, "-1", "", "\xb2", *DATES]


@pytest.mark.parametrize("value", NUMBERS, ids=[text[:20] for text in NUMBERS])
@pytest.mark.parametrize("header", ["Retry-After", "Last-Modified", "Date", "Content-Range", "Age", "Digest"])
def test_no_header_is_a_fault(bench: Bench, header: str, value: str) -> None:
    """What cannot be read there is absent, or an error that says so."""
    odd = {header.replace("-", "_"): value}
    tagged = {"Last_Modified": "Sun, 01 Feb 2026 12:00:00 GMT", "Date": "Sun, 01 Mar 2026 12:00:00 GMT", **odd}
    part = reply(BODY[9:], "206 Partial Content", Content_Range=value)
    server = bench.serve(reply(b"", "503 Busy", **odd), broken(reply(BODY, **tagged), 9), part, reply(BODY, **odd))
    try:
        got = bench.client(retries=3, total_s=1e6).get(server.url(), Validators(last_modified="x"), into=bench.into)
    except HarvestError as error:
        assert len(error.message) < 500
    else:
        assert got.path is not None
        assert got.path.read_bytes() == BODY
