"""
Sealing: what was recorded becomes a provenance log, chained to the one before.

    1. the log is written and filed as content
    2. the index names it as what comes after the last one
    3. the ledger files it and marks what it holds, in one transaction

A crash before 2 leaves bytes that the next start writes again as they were. A crash before 3 leaves a log that the
index names: the next start adopts it, by the IRIs in it, before it writes another one. So is every log adopted whose
rows the ledger never had or has lost.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from uuid import uuid4

import structlog

from harvest.archive.content import ContentStore
from harvest.archive.index import HAS_VERSION, PREVIOUS_VERSION, ROOT, Index, entry
from harvest.archive.layout import HashName, find
from harvest.archive.provenance import activity_after, log_lines
from harvest.archive.recall import recalled
from harvest.errors import StorageError
from harvest.ledger.downloads import Downloads, LogRecord, Unlogged
from harvest.model import CrawlLog

log = structlog.get_logger()


class Seal:
    """Writes the logs of an instance, one at a time."""

    def __init__(self, downloads: Downloads, content: ContentStore, base_url: str) -> None:
        self.downloads = downloads
        self.content = content
        self.index = Index(content.root)
        self.base_url = base_url
        self._lock = threading.Lock()

    def seal(self) -> list[str]:
        """
        Write the logs of all that no log holds yet; returns their SHA-256.

        Raises:
            StorageError: One cannot be written, or the index is damaged.
        """
        # The guard first, as whoever prunes has it when the removal is to be logged: the other order is a deadlock.
        with self.content.guard, self._lock:
            last = self._adopted(self.downloads.last_log())
            written: list[str] = []
            while (unlogged := self.downloads.unlogged()).downloads or unlogged.notes:
                last = self._written(unlogged, last)
                written.append(last.digest)
            return written

    def remake(self, digest: str) -> None:
        """
        File a log that is damaged or gone again, from the rows that it holds.

        Raises:
            StorageError: The ledger no longer has all of them.
        """
        crawl = _crawl(self.downloads.logged(digest), self.downloads.log_before(digest))
        place = self.content.place(digest)
        if hashlib.sha256(b"".join(log_lines(crawl, self.base_url))).hexdigest() != digest:
            raise StorageError(f"the log {place} cannot be made again; copy it from a backup", url=str(place))
        with self.content.guard, self._lock:
            self.content.discard(digest)
            self._file(log_lines(crawl, self.base_url))

    def reindex(self) -> None:
        """Write the entries of the index that are damaged or gone again."""
        with self.content.guard, self._lock:
            before: HashName | None = None
            for record in reversed(self.downloads.logs()):
                path, name = self.index.path(before), HashName(record.digest)
                if not path.is_file() or entry(path) != name:
                    path.unlink(missing_ok=True)
                    self.index.put(*((PREVIOUS_VERSION, before.uri) if before else (ROOT, HAS_VERSION)), name)
                before = name

    def _written(self, unlogged: Unlogged, last: LogRecord | None) -> LogRecord:
        crawl = _crawl(unlogged, last)
        digest = self._file(log_lines(crawl, self.base_url))
        if last is None:
            self.index.put(ROOT, HAS_VERSION, HashName(digest))
        else:
            self.index.put(PREVIOUS_VERSION, HashName(last.digest).uri, HashName(digest))
        record = LogRecord(digest, crawl.activity, crawl.began, crawl.ended)
        self.downloads.sealed(record, unlogged)
        log.info("provenance log written", sha256=digest, downloads=len(unlogged.downloads), notes=len(unlogged.notes))
        return record

    def _file(self, pieces: Iterable[bytes]) -> str:
        found = hashlib.sha256()
        temporary = self.content.incoming / f"log-{uuid4()}"
        try:
            with temporary.open("xb") as stream:
                for piece in pieces:
                    stream.write(piece)
                    found.update(piece)
            self.content.file(temporary, found.hexdigest())
        except OSError as error:
            raise StorageError(f"the provenance log {temporary} cannot be written: {error}") from error
        finally:
            temporary.unlink(missing_ok=True)
        return found.hexdigest()

    def _adopted(self, last: LogRecord | None) -> LogRecord | None:
        """The newest log of the index, once the ledger has all that the index has."""
        while (name := self.index.first() if last is None else self.index.after(HashName(last.digest))) is not None:
            last = self._adopt(name, last)
        return last

    def _adopt(self, name: HashName, last: LogRecord | None) -> LogRecord:
        """File a log that stands in the index alone, and what it holds."""
        path = find(self.content.root, name)
        if path is None:
            after = HashName(last.digest).uri if last else "the beginning"
            raise StorageError(
                f"the index has the log {name.uri} after {after}, and it is not filed; restore it from a copy of the"
                " archive, or no further log can be written"
            )
        crawl = recalled(path, name)
        record = LogRecord(name.digest, crawl.activity, crawl.began, crawl.ended)
        self.downloads.adopted(record, crawl.downloads, crawl.notes)
        log.info("provenance log adopted", sha256=name.digest, downloads=len(crawl.downloads))
        return record


def _crawl(unlogged: Unlogged, last: LogRecord | None) -> CrawlLog:
    downloads, notes = tuple(unlogged.downloads.values()), tuple(unlogged.notes.values())
    times = [*(d.began for d in downloads), *(d.ended for d in downloads), *(n.at for n in notes)]
    first = downloads[0].activity if downloads else notes[0].activity
    previous = last.digest if last else None
    return CrawlLog(activity_after(first), min(times), max(times), previous, downloads, notes)
