"""
Exchanges as WARC files with CDX lines, for the tools of web archives.

    <14 digits>-<number>.warc.gz        one member of gzip a record: warcinfo, then each request and its answer
    <14 digits>-<number>.cdx            one line an answer, sorted
    <14 digits>-<number>.warc.gz.open   the file that is being written
    <14 digits>-<number>.cdx.open       its lines, in the order in which they came

An answer whose payload stands in one of the last files is a revisit record. An answer that was cut off has
WARC-Truncated, and no revisit record refers to it.

Source: ISO 28500:2017 (WARC 1.1); IIPC, "The WARC Format 1.1".
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import IO, Final, NamedTuple
from uuid import uuid4

from isal import isal_zlib
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from harvest.archive.cdx import HEADER, REVISIT, CdxLine, read_lines, url_key, write_lines
from harvest.archive.warc_answer import Answer, read_answer
from harvest.errors import StorageError
from harvest.model import WireExchange

MOST_BYTES: Final = 1 << 30
"""Of one file; the record that passes it is the last. Source: ISO 28500:2017, annex C.1."""

MOST_AGE: Final = timedelta(days=1)
"""Of one file, so that what is a day old can be copied elsewhere."""

OPEN: Final = ".open"
"""Behind the name of a file that is being written."""

_KNOWN: Final = 100_000
"""Payloads that revisit records can refer to, the last ones."""

_ENDINGS: Final = ("warc.gz", f"warc.gz{OPEN}", "cdx", f"cdx{OPEN}")
_NOT_MODIFIED: Final = "304"
_PROFILE: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_GZIP: Final = 31
_LEVEL: Final = 1


class _Original(NamedTuple):
    """Where a payload stands: what was asked for and when, and its digest in the record."""

    url: str
    date: str
    payload: str


class WarcFiles:
    """The WARC files of a folder; any number of threads may add to them."""

    def __init__(self, folder: Path, software: str, clock: Callable[[], datetime]) -> None:
        """
        Finish what an earlier process left open; a record that it did not finish is cut off.

        Raises:
            StorageError: The folder cannot be written.
        """
        self._folder = folder
        self._software = software
        self._clock = clock
        self._lock = threading.Lock()
        self._open: _OpenFile | None = None
        self._known: OrderedDict[str, _Original] = OrderedDict()
        with self._storing():
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob(f"*.warc.gz{OPEN}")):
                _finish(path)
            for left in folder.glob(f"*.cdx{OPEN}"):
                left.unlink()
            for path in sorted(folder.glob("*.cdx")):
                self._learn(path)

    def add(self, exchange: WireExchange) -> None:
        """
        Write an exchange; an answer 304 is left out, as it brings nothing that is not there.

        Raises:
            StorageError: It cannot be written.
        """
        answer = read_answer(exchange.answer)
        if answer is None or answer.status == _NOT_MODIFIED:
            return
        with self._lock, self._storing():
            file = self._current()
            file.write(exchange, answer, self._known.get(answer.entity) if answer.length else None)
            if exchange.is_whole and answer.length and answer.status == "200":
                self._know(answer.entity, _Original(exchange.url, _date(exchange.at), answer.payload))

    def close(self) -> None:
        """
        Finish the file that is being written.

        Raises:
            StorageError: It cannot be finished; the next start does so.
        """
        with self._lock, self._storing():
            self._finish_current()

    def _current(self) -> _OpenFile:
        now = self._clock()
        if self._open is not None and (self._open.size > MOST_BYTES or now - self._open.began > MOST_AGE):
            self._finish_current()
        if self._open is None:
            self._open = _OpenFile(self._folder, self._software, now)
        return self._open

    def _finish_current(self) -> None:
        if self._open is not None:
            file, self._open = self._open, None
            file.close()
            _finish(file.path)

    def _learn(self, path: Path) -> None:
        """Take in the payloads of an earlier file; one that came in chunks is known again when it comes in the same."""
        for line in sorted(read_lines(path), key=lambda each: each.offset):
            if line.mimetype != REVISIT and line.status == "200":
                at = datetime.strptime(line.timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
                digest = f"sha1:{line.digest}"
                self._know(digest, _Original(line.url, _date(at), digest))

    def _know(self, entity: str, original: _Original) -> None:
        if entity not in self._known:
            self._known[entity] = original
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)

    @contextmanager
    def _storing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"the WARC files in {self._folder} cannot be written: {error}; see to the disk"
            raise StorageError(message, url=str(self._folder)) from error


class _OpenFile:
    """
    The file that is being written, and its lines.

    Attributes:
        path: Where it is.
        began: When it was begun.
    """

    def __init__(self, folder: Path, software: str, now: datetime) -> None:
        self.began = now
        self._name = _free_name(folder, now)
        self.path = folder / f"{self._name}{OPEN}"
        self._records = self.path.open("xb")
        self._lines = _lines_of(self.path).open("x", encoding="utf-8")
        self._lines.write(HEADER)
        about = (f"software: {software}", "format: WARC File Format 1.1")
        text = "".join(f"{line}\r\n" for line in about).encode()
        headers = [("WARC-Type", "warcinfo"), ("WARC-Filename", self._name), *_named(_date(now))]
        self._append(headers, BytesIO(text), len(text), "application/warc-fields")

    @property
    def size(self) -> int:
        """Of what was written, in bytes."""
        return self._records.tell()

    def write(self, exchange: WireExchange, answer: Answer, original: _Original | None) -> None:
        """Write an exchange and its line; `original` is where its payload stands already."""
        begin = self.size
        date = _date(exchange.at)
        try:
            about = [("WARC-Target-URI", exchange.url), *_named(date)]
            request = [("WARC-Type", "request"), *about]
            size = len(exchange.request)
            self._append(request, BytesIO(exchange.request), size, "application/http; msgtype=request")
            offset = self.size
            about = [("WARC-Target-URI", exchange.url), *_named(date), ("WARC-Concurrent-To", request[-1][1])]
            self._append(*_response(about, exchange, answer, original), "application/http; msgtype=response")
        except OSError:
            self._records.truncate(begin)
            self._records.seek(begin)
            raise
        line = CdxLine(
            url_key(exchange.url),
            f"{exchange.at:%Y%m%d%H%M%S}",
            exchange.url,
            REVISIT if original else answer.mimetype,
            answer.status,
            (original.payload if original else answer.payload).removeprefix("sha1:"),
            answer.redirect,
            "-",
            self.size - offset,
            offset,
            self._name,
        )
        self._lines.write(str(line))
        self._lines.flush()

    def close(self) -> None:
        """Close both files."""
        self._records.close()
        self._lines.close()

    def _append(self, headers: list[tuple[str, str]], block: IO[bytes], length: int, media_type: str) -> None:
        record = ArcWarcRecord(
            "warc", headers[0][1], StatusAndHeaders("", headers, "WARC/1.1"), block, None, media_type, length
        )
        # Else the writer would take the headers of a request for its payload, and leave the head of a revisit out.
        record.rec_type = "warcinfo"
        WARCWriter(_Member(self._records), gzip=False, warc_version="1.1").write_record(record)


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
        self._file.flush()


def _response(
    about: list[tuple[str, str]], exchange: WireExchange, answer: Answer, original: _Original | None
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
    headers = [("WARC-Type", "response"), *about, ("WARC-Payload-Digest", answer.payload), *cut]
    return headers, exchange.answer, len(answer.head) + answer.length


def _named(date: str) -> list[tuple[str, str]]:
    """Date and identifier of a record; the identifier is last."""
    return [("WARC-Date", date), ("WARC-Record-ID", f"<urn:uuid:{uuid4()}>")]


def _date(at: datetime) -> str:
    """As records and lines have it, in seconds."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _free_name(folder: Path, now: datetime) -> str:
    number = 0
    while any((folder / f"{now:%Y%m%d%H%M%S}-{number:05}.{ending}").exists() for ending in _ENDINGS):
        number += 1
    return f"{now:%Y%m%d%H%M%S}-{number:05}.warc.gz"


def _lines_of(path: Path) -> Path:
    """The file of the lines of a WARC file."""
    return path.with_name(path.name.replace(".warc.gz", ".cdx"))


def _finish(path: Path) -> None:
    """
    Cut off what no line leads to, put the lines in order, and give both files their names.

    A crash in between is mended by doing it again.
    """
    lines = list(read_lines(_lines_of(path))) if _lines_of(path).exists() else []
    done = _lines_of(path.with_name(path.name.removesuffix(OPEN)))
    if lines:
        end = max(line.offset + line.length for line in lines)
        with path.open("r+b") as records:
            records.truncate(end)
            os.fsync(records.fileno())
        write_lines(done, lines)
        path.rename(path.with_name(path.name.removesuffix(OPEN)))
    else:
        path.unlink()
    _lines_of(path).unlink(missing_ok=True)
