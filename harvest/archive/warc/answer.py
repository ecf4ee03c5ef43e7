"""What an answer as it went over the wire says, read in one pass."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from warcio.bufferedreaders import ChunkedDataReader
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

_CHUNK: Final = 1 << 18
_TOKEN: Final = re.compile(r"[\w.+-]+/[\w.+-]+")


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """
    An answer as records and lines need it.

    Attributes:
        status: Three digits.
        mimetype: Without parameters, or `unk`.
        redirect: Where it leads to as it says, or `-`.
        head: Its bytes up to the end of its headers.
        length: Of what is behind them, in bytes.
        block: Digest of all of it.
        payload: Digest of what is behind the headers, chunks as they were, which is what tools check.
        entity: Digest of that without chunks: two answers with the same bytes may be cut into other chunks.
    """

    status: str
    mimetype: str
    redirect: str
    head: bytes
    length: int
    block: str
    payload: str
    entity: str


def read_answer(file: IO[bytes]) -> RecordedAnswer | None:
    """The answer in a file; None where it was cut off before its headers ended."""
    file.seek(0)
    try:
        headers = StatusAndHeadersParser(["HTTP/1.0", "HTTP/1.1"]).parse(file)
    except (StatusAndHeadersParserException, EOFError):
        return None
    size = file.tell()
    file.seek(0)
    head = file.read(size)
    block, payload, length = hashlib.sha1(head, usedforsecurity=False), hashlib.sha1(usedforsecurity=False), 0
    for piece in _pieces(file):
        block.update(piece)
        payload.update(piece)
        length += len(piece)
    entity = payload
    if (headers.get_header("Transfer-Encoding") or "").strip().lower() == "chunked":
        file.seek(size)
        entity = hashlib.sha1(usedforsecurity=False)
        for piece in _pieces(ChunkedDataReader(file)):
            entity.update(piece)
    token = _TOKEN.match((headers.get_header("Content-Type") or "").strip())
    return RecordedAnswer(
        headers.get_statuscode(),
        token[0].lower() if token else "unk",
        headers.get_header("Location") or "-",
        head,
        length,
        sha1(block.digest()),
        sha1(payload.digest()),
        sha1(entity.digest()),
    )


def sha1(digest: bytes) -> str:
    """A SHA-1 as WARC files have it. Source: ISO 28500:2017, section 5.8."""
    return f"sha1:{base64.b32encode(digest).decode('ascii')}"


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK):
        yield piece
