"""The WARC files of a folder: which is written to, and which payloads stand there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from harvest.archive.warc.answer import RecordedAnswer, read_answer
from harvest.archive.warc.cdx import REVISIT, read_lines
from harvest.archive.warc.current import OPEN, OpenFile, finish
from harvest.archive.warc.records import Original, date, pack
from harvest.errors import StorageError
from harvest.model import WireExchange

MOST_BYTES: Final = 1 << 30
"""Of one file; the record that passes it is the last. Source: ISO 28500:2017, annex C.1."""

MOST_AGE: Final = timedelta(days=1)
"""Of one file, so that what is a day old can be copied elsewhere."""

_KNOWN: Final = 100_000
"""Payloads that revisit records can refer to, the last ones."""

_IN_MEMORY: Final = 4 << 20
"""Bytes of the records of one exchange that are kept in memory; with more they are a file."""

_NOT_MODIFIED: Final = "304"


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
        self._open: OpenFile | None = None
        self._known: OrderedDict[str, Original] = OrderedDict()
        with self._storing():
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob(f"*.warc.gz{OPEN}")):
                finish(path)
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
        with self._storing(), SpooledTemporaryFile(_IN_MEMORY, dir=str(self._folder)) as records:
            with self._lock:
                original = self._known.get(answer.entity) if answer.length else None
            # Packing is most of the work, and threads do it side by side.
            offset = pack(exchange, answer, original, records)
            self._put(exchange, answer, original, (records, offset))

    def _put(
        self, exchange: WireExchange, answer: RecordedAnswer, original: Original | None, packed: tuple[IO[bytes], int]
    ) -> None:
        with self._lock:
            self._current().append(exchange, answer, original, packed)
            if exchange.is_whole and answer.length and answer.status == "200":
                self._know(answer.entity, Original(exchange.url, date(exchange.at), answer.payload))

    def close(self) -> None:
        """
        Finish the file that is being written.

        Raises:
            StorageError: It cannot be finished; the next start does so.
        """
        with self._lock, self._storing():
            self._finish_current()

    def _current(self) -> OpenFile:
        now = self._clock()
        if self._open is not None and (self._open.size > MOST_BYTES or now - self._open.began > MOST_AGE):
            self._finish_current()
        if self._open is None:
            self._open = OpenFile(self._folder, self._software, now)
        return self._open

    def _finish_current(self) -> None:
        if self._open is not None:
            file, self._open = self._open, None
            file.close()
            finish(file.path)

    def _learn(self, path: Path) -> None:
        """Take in the payloads of an earlier file; one that came in chunks is known again when it comes in the same."""
        for line in sorted(read_lines(path), key=lambda each: each.offset):
            if line.mimetype != REVISIT and line.status == "200":
                at = datetime.strptime(line.timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
                digest = f"sha1:{line.digest}"
                self._know(digest, Original(line.url, date(at), digest))

    def _know(self, entity: str, original: Original) -> None:
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
