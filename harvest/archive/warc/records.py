"""The records of one exchange: request and response, or request and revisit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from typing import IO, Final, NamedTuple
from uuid import uuid4

from isal import isal_zlib
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from harvest.archive.warc.answer import RecordedAnswer
from harvest.model import WireExchange

_PROFILE: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_GZIP: Final = 31
_LEVEL: Final = 1
_CHUNK: Final = 1 << 18


class Original(NamedTuple):
    """Where a payload stands: what was asked for and when, and its digest in the record."""

    url: str
    date: str
    payload: str


def pack(exchange: WireExchange, answer: RecordedAnswer, original: Original | None, into: IO[bytes]) -> int:
    """Write the records of an exchange; returns where that of the answer begins."""
    about = [("WARC-Target-URI", exchange.url)]
    request = [("WARC-Type", "request"), *about, *named(exchange.at)]
    write(into, request, BytesIO(exchange.request), len(exchange.request), "application/http; msgtype=request")
    offset = into.tell()
    about += [*named(exchange.at), ("WARC-Concurrent-To", request[-1][1])]
    write(into, *_response(about, exchange, answer, original), "application/http; msgtype=response")
    return offset


def write(into: IO[bytes], headers: list[tuple[str, str]], block: IO[bytes], length: int, media_type: str) -> None:
    """Write a record as a member of its own."""
    record = ArcWarcRecord(
        "warc", headers[0][1], StatusAndHeaders("", headers, "WARC/1.1"), block, None, media_type, length
    )
    # Else the writer would take the headers of a request for its payload, and leave the head of a revisit out.
    record.rec_type = "warcinfo"
    _Writer(_Member(into), gzip=False, warc_version="1.1").write_record(record)


class _Writer(WARCWriter):  # type: ignore[misc]  # it has no types
    """One that reads large pieces: those of 16 KB that it takes else cost as much as their compression."""

    @staticmethod
    def _iter_stream(stream: IO[bytes]) -> Iterator[bytes]:
        while piece := stream.read(_CHUNK):
            yield piece


class _Member:
    """One member of a gzip file; `flush` ends it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._packer = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP)

    def write(self, data: bytes) -> None:
        """Take in bytes."""
        self._file.write(self._packer.compress(data))

    def flush(self) -> None:
        """End the member."""
        self._file.write(self._packer.flush())


def _response(
    about: list[tuple[str, str]], exchange: WireExchange, answer: RecordedAnswer, original: Original | None
) -> tuple[list[tuple[str, str]], IO[bytes], int]:
    """The headers, the block and its length of the record of an answer."""
    if original is not None:
        refers = [
            ("WARC-Profile", _PROFILE),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", original.date),
            ("WARC-Payload-Digest", original.payload),
        ]
        return [("WARC-Type", "revisit"), *about, *refers], BytesIO(answer.head), len(answer.head)
    cut = [] if exchange.is_whole else [("WARC-Truncated", "disconnect")]
    exchange.answer.seek(0)
    headers = [("WARC-Type", "response"), *about, *_digests(answer), *cut]
    return headers, exchange.answer, len(answer.head) + answer.length


def _digests(answer: RecordedAnswer) -> list[tuple[str, str]]:
    return [("WARC-Block-Digest", answer.block), ("WARC-Payload-Digest", answer.payload)]


def named(at: datetime) -> list[tuple[str, str]]:
    """Date and identifier of a record; the identifier is last."""
    return [("WARC-Date", date(at)), ("WARC-Record-ID", f"<urn:uuid:{uuid4()}>")]


def date(at: datetime) -> str:
    """As records and lines have it, in seconds."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
