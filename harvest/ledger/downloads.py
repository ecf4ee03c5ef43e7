"""Downloads: what every URL gave and when, which provenance log holds it, and which bytes are needed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harvest.ledger.database import Database
from harvest.ledger.records import dump_captures, load_captures, moment, stamp
from harvest.model import Download, Note
from sparql.rdf import HASH_URI

_FIELDS: Final = (
    "d.id, d.activity, d.url, d.digest, d.began, d.ended, d.capture, d.status, d.reason, d.informed, l.digest AS log"
)
_INSERT: Final = "INSERT INTO download (activity, url, digest, began, ended, capture, status, reason, informed)"
_FROM: Final = "FROM download AS d LEFT JOIN log AS l ON l.id = d.log"

BATCH: Final = 10_000
"""Downloads that one log holds at most."""
_VERSION: Final = re.compile(r"/providers/([a-zA-Z0-9]+)/versions/\d+\.nq>")


@dataclass(frozen=True, slots=True)
class DownloadRecord:
    """
    A download as filed.

    Attributes:
        id: Ascending in the order in which they ended.
        download: What happened.
        log: SHA-256 of the provenance log that holds it; None until there is one.
    """

    id: int
    download: Download
    log: str | None


@dataclass(frozen=True, slots=True)
class LogRecord:
    """
    A provenance log.

    Attributes:
        digest: Its SHA-256.
        activity: IRI of the crawl that it records.
        began: When that began (aware, UTC).
        ended: When that ended (aware, UTC).
    """

    digest: str
    activity: str
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Unlogged:
    """
    What no log holds yet.

    Attributes:
        downloads: By their ids, oldest first.
        notes: Likewise.
    """

    downloads: dict[int, Download]
    notes: dict[int, Note]


class Downloads:
    """The downloads of an instance and their logs."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, download: Download) -> None:
        """File a download."""
        self.database.write(f"{_INSERT} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *_values(download))

    def note(self, note: Note) -> None:
        """File statements for the next log."""
        with self.database.transaction() as db:
            insert_note(db, note)

    def last(self, url: str) -> Download | None:
        """The last download of a URL, or None."""
        found = self.history(url, 1)
        return found[0].download if found else None

    def history(self, url: str, limit: int = -1) -> list[DownloadRecord]:
        """The downloads of a URL, newest first."""
        rows = self.database.rows(f"SELECT {_FIELDS} {_FROM} WHERE d.url = ? ORDER BY d.id DESC LIMIT ?", url, limit)
        return [_record(row) for row in rows]

    def at(self, url: str, time: datetime | None) -> Download | None:
        """The last download of a URL that gave bytes, up to a time; None when there is none."""
        row = self.database.row(
            f"SELECT {_FIELDS} {_FROM} WHERE d.url = ? AND d.digest IS NOT NULL AND (? IS NULL OR d.ended <= ?)"
            " ORDER BY d.id DESC LIMIT 1",
            url,
            stamp(time),
            stamp(time),
        )
        return None if row is None else _record(row).download

    def of_digest(self, digest: str) -> Download | None:
        """The first download that gave these bytes, or None."""
        row = self.database.row(f"SELECT {_FIELDS} {_FROM} WHERE d.digest = ? ORDER BY d.id LIMIT 1", digest)
        return None if row is None else _record(row).download

    def captured(self) -> list[tuple[str, str, datetime]]:
        """URL, SHA-256 and time of every download that gave bytes, newest first."""
        rows = self.database.rows("SELECT url, digest, ended FROM download WHERE digest IS NOT NULL ORDER BY id DESC")
        return [(row["url"], row["digest"], datetime.fromisoformat(row["ended"])) for row in rows]

    def unlogged(self) -> Unlogged:
        """What no log holds yet, the oldest `BATCH` of each."""
        downloads = self.database.rows(f"SELECT {_FIELDS} {_FROM} WHERE d.log IS NULL ORDER BY d.id LIMIT ?", BATCH)
        notes = self.database.rows("SELECT * FROM note WHERE log IS NULL ORDER BY id LIMIT ?", BATCH)
        return _unlogged(downloads, notes)

    def logged(self, log: str) -> Unlogged:
        """What a log holds, by its SHA-256."""
        [row] = self.database.rows("SELECT id FROM log WHERE digest = ?", log)
        downloads = self.database.rows(f"SELECT {_FIELDS} {_FROM} WHERE d.log = ? ORDER BY d.id", row["id"])
        notes = self.database.rows("SELECT * FROM note WHERE log = ? ORDER BY id", row["id"])
        return _unlogged(downloads, notes)

    def log_before(self, log: str) -> LogRecord | None:
        """The log before another one, or None."""
        before = "SELECT * FROM log WHERE id < (SELECT id FROM log WHERE digest = ?) ORDER BY id DESC LIMIT 1"
        row = self.database.row(before, log)
        return None if row is None else _log(row)

    def logs(self) -> list[LogRecord]:
        """The provenance logs, newest first."""
        return [_log(row) for row in self.database.rows("SELECT * FROM log ORDER BY id DESC")]

    def last_log(self) -> LogRecord | None:
        """The newest provenance log, or None."""
        row = self.database.row("SELECT * FROM log ORDER BY id DESC LIMIT 1")
        return None if row is None else _log(row)

    def sealed(self, log: LogRecord, held: Unlogged) -> None:
        """File a log with what it holds, in one transaction."""
        with self.database.transaction() as db:
            id = _insert(db, log)
            db.executemany("UPDATE download SET log = ? WHERE id = ?", [(id, key) for key in held.downloads])
            db.executemany("UPDATE note SET log = ? WHERE id = ?", [(id, key) for key in held.notes])

    def adopted(self, log: LogRecord, downloads: Iterable[Download], notes: Iterable[Note]) -> None:
        """File a log that the archive has and the ledger has not, with what it holds, in one transaction."""
        with self.database.transaction() as db:
            id = _insert(db, log)
            db.executemany(
                f"{_INSERT[:-1]}, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (activity) DO UPDATE SET log = excluded.log WHERE log IS NULL",
                ((*_values(download), id) for download in downloads),
            )
            for note in notes:
                db.execute("DELETE FROM note WHERE log IS NULL AND activity = ?", (note.activity,))
                values = (note.activity, stamp(note.at), note.facts, id)
                db.execute("INSERT INTO note (activity, at, facts, log) VALUES (?, ?, ?, ?)", values)

    def waits(self) -> bool:
        """Whether there is anything that no log holds yet."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM download WHERE log IS NULL) OR EXISTS (SELECT 1 FROM note WHERE log IS NULL)"
        )
        row = self.database.row(query)
        return bool(row and row[0])

    def needed(self) -> set[str]:
        """
        The SHA-256 of all bytes that something else in the ledger leads to.

        That is: the logs; the descriptions and dumps that are current; the dumps of announcements that are open or
        held, and of all that were harvested; what notes of versions name; the documents of seeds; every capture of a
        JSON-LD context, since an old version may need an old one.
        """
        queries = (
            "SELECT digest FROM log",
            "SELECT description FROM provider",
            "SELECT c.value ->> 'digest' FROM dataset, json_each(captures) AS c",
            "SELECT c.value ->> 'digest' FROM announcement, json_each(captures) AS c"
            " WHERE state IN ('seen', 'fetched', 'held')",
            "SELECT d.value ->> 'sha256' FROM run, json_each(dumps) AS d WHERE outcome IN ('committed', 'unchanged')",
            "SELECT d.value ->> 'sha256' FROM run, json_each(dumps) AS d"
            " WHERE run.id IN (SELECT run FROM version WHERE state = 'loading')",
            "SELECT sha256 FROM document",
            "SELECT digest FROM download WHERE url IN (SELECT substr(key, 9) FROM meta WHERE key LIKE 'context %')",
        )
        found = {row[0] for query in queries for row in self.database.rows(query)}
        return {digest for digest in found if digest} | self._pinned()

    def named_by_versions(self, provider: str) -> set[str]:
        """The SHA-256 of all bytes that the notes of a provider's versions name."""
        rows = self.database.rows("SELECT facts FROM note WHERE facts LIKE ?", f"%/providers/{provider}/versions/%")
        return {digest for row in rows for digest in HASH_URI.findall(row["facts"])}

    def _pinned(self) -> set[str]:
        """What providers, waiting announcements, filed versions and notes of versions name by a hash URI."""
        rows = self.database.rows(
            "SELECT dataset FROM announcement WHERE state IN ('seen', 'fetched', 'held')"
            " UNION ALL SELECT url FROM provider WHERE url LIKE 'hash://%'"
            " UNION ALL SELECT facts FROM version WHERE facts IS NOT NULL"
            " UNION ALL SELECT facts FROM note WHERE facts NOT LIKE '%prov#invalidatedAtTime%'"
        )
        known = {row["name"] for row in self.database.rows("SELECT name FROM provider")}
        return {digest for row in rows if not _is_forgotten(row[0], known) for digest in HASH_URI.findall(row[0])}


def _is_forgotten(facts: str, known: Container[str]) -> bool:
    """Whether statements are about a version of a provider that is none any more."""
    version = _VERSION.search(facts)
    return version is not None and version[1] not in known


def _unlogged(downloads: Iterable[sqlite3.Row], notes: Iterable[sqlite3.Row]) -> Unlogged:
    return Unlogged(
        {row["id"]: _record(row).download for row in downloads},
        {row["id"]: Note(row["activity"], _moment(row["at"]), row["facts"]) for row in notes},
    )


def insert_note(db: sqlite3.Connection, note: Note) -> None:
    """File statements for the next log, in the transaction of what they are about."""
    values = (note.activity, stamp(note.at), note.facts)
    db.execute("INSERT INTO note (activity, at, facts) VALUES (?, ?, ?)", values)


def _insert(db: sqlite3.Connection, log: LogRecord) -> int | None:
    values = (log.digest, log.activity, stamp(log.began), stamp(log.ended))
    return db.execute("INSERT INTO log (digest, activity, began, ended) VALUES (?, ?, ?, ?)", values).lastrowid


def _values(download: Download) -> tuple[str | int | None, ...]:
    """The values that `_INSERT` takes."""
    capture = download.capture
    return (
        download.activity,
        download.url,
        capture.digest if capture else None,
        stamp(download.began),
        stamp(download.ended),
        dump_captures((capture,)) if capture else None,
        download.status,
        download.reason,
        download.informed,
    )


def _record(row: sqlite3.Row) -> DownloadRecord:
    capture = load_captures(row["capture"])[0] if row["capture"] else None
    download = Download(
        row["activity"],
        row["url"],
        _moment(row["began"]),
        _moment(row["ended"]),
        capture,
        row["status"],
        row["reason"],
        row["informed"],
    )
    return DownloadRecord(row["id"], download, row["log"])


def _log(row: sqlite3.Row) -> LogRecord:
    return LogRecord(row["digest"], row["activity"], _moment(row["began"]), _moment(row["ended"]))


def _moment(text: str) -> datetime:
    found = moment(text)
    assert found is not None
    return found
