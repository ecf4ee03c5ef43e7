"""The sitemaps that fill the seed list: when each is to be read again, and which seeds it lists."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, TypeVar

from harvest.ledger.database import Database
from harvest.ledger.records import moment, stamp

LONGEST: Final = timedelta(days=1)
"""The longest time between two readings of a sitemap."""

T = TypeVar("T")

BATCH: Final = 5_000
"""Seeds of one transaction: a harvest may write between two."""

_RECORDS = (
    "SELECT url, interval, added, read, state, every, next_read, entries, failures, trouble,"
    " (SELECT count(*) FROM seed WHERE sitemap = url AND vanished IS NOT NULL AND listed) AS vanished FROM sitemap"
)


@dataclass(frozen=True, slots=True)
class SitemapRecord:
    """
    A sitemap that fills the seed list.

    Attributes:
        url: As given.
        interval: Of its seeds in seconds, where that was given; None: what their `changefreq` says.
        added: When it was registered (aware, UTC).
        read: When it was last read whole, or None.
        state: SHA-256 that names what it and all below it were then, or None.
        every: Seconds between two readings.
        next_read: When it is to be read again.
        entries: URIs that it listed when it was last read.
        failures: Readings in a row that failed.
        trouble: Why the last one failed, or None.
        vanished: Seeds of the list that it listed and lists no more.
    """

    url: str
    interval: float | None
    added: datetime
    read: datetime | None
    state: str | None
    every: float
    next_read: datetime
    entries: int
    failures: int
    trouble: str | None
    vanished: int

    @property
    def reading(self) -> SitemapReading:
        """What it was when it was last read."""
        return SitemapReading(self.interval, self.state, self.every, self.entries)


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """
    What a sitemap was when it was read whole.

    Attributes:
        interval: As of a SitemapRecord.
        state: As of a SitemapRecord.
        every: As of a SitemapRecord.
        entries: As of a SitemapRecord.
    """

    interval: float | None
    state: str | None
    every: float
    entries: int


class Sitemaps:
    """The sitemaps of the seed list."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def all(self) -> list[SitemapRecord]:
        """All of them, in the order in which they were added."""
        return [_record(row) for row in self.database.rows(f"{_RECORDS} ORDER BY rowid")]

    def get(self, url: str) -> SitemapRecord | None:
        """One by its address, or None."""
        row = self.database.row(f"{_RECORDS} WHERE url = ?", url)
        return None if row is None else _record(row)

    def due(self, now: datetime) -> list[str]:
        """Those that are to be read again; a time that was written while the clock was ahead is not waited for."""
        far = stamp(now + LONGEST + timedelta(minutes=1))
        rows = self.database.rows(
            "SELECT url FROM sitemap WHERE next_read <= ? OR next_read > ? ORDER BY next_read", stamp(now), far
        )
        return [row["url"] for row in rows]

    def read(self, url: str, reading: SitemapReading, now: datetime) -> None:
        """File that a sitemap was read whole; one that is new is read again from now on."""
        values = (reading.interval, stamp(now), reading.state, reading.every, reading.entries)
        self.database.write(
            "INSERT INTO sitemap (interval, read, state, every, entries, next_read, url, added)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET interval = excluded.interval,"
            " read = excluded.read, state = excluded.state, every = excluded.every, entries = excluded.entries,"
            " next_read = excluded.next_read, failures = 0, trouble = NULL",
            *values,
            stamp(now + timedelta(seconds=reading.every)),
            url,
            stamp(now),
        )

    def failed(self, url: str, trouble: str, now: datetime) -> None:
        """File that a sitemap could not be read: it is tried again after a minute, then twice as long each time."""
        with self.database.transaction() as db:
            row = db.execute("SELECT failures, every FROM sitemap WHERE url = ?", (url,)).fetchone()
            if row is not None:
                wait = min(timedelta(minutes=2 ** min(row["failures"], 20)), timedelta(seconds=row["every"]))
                db.execute(
                    "UPDATE sitemap SET failures = failures + 1, trouble = ?, next_read = ? WHERE url = ?",
                    (trouble, stamp(now + wait), url),
                )

    def remove(self, url: str) -> bool:
        """Have a sitemap read no more; returns whether it was. Its seeds stay in the list."""
        with self.database.transaction() as db:
            return db.execute("DELETE FROM sitemap WHERE url = ?", (url,)).rowcount > 0

    def set_seeds(self, url: str, listed: Mapping[str, datetime | None], now: datetime) -> int:
        """
        File which seeds a sitemap lists, by hash, with their `lastmod`; returns how many became stale by that.

        A seed is stale once by each later `lastmod`, and once more when the day of that is over, if it was downloaded
        before. Those that the sitemap listed before and lists no more are marked as vanished.
        """
        known = self.database.rows("SELECT hash FROM seed WHERE sitemap = ? AND vanished IS NULL", url)
        gone = [row["hash"] for row in known if row["hash"] not in listed]
        for hashes in _parts(gone):
            with self.database.transaction() as db:
                values = ((stamp(now), hash, url) for hash in hashes)
                db.executemany("UPDATE seed SET vanished = ? WHERE hash = ? AND sitemap = ?", values)
        outdated = 0
        for items in _parts(listed.items()):
            with self.database.transaction() as db:
                outdated += sum(_list_seed(db, url, hash, stamp(lastmod)) for hash, lastmod in items)
        return outdated + self.outdate(url, now)

    def outdate(self, url: str, now: datetime) -> int:
        """Make the seeds of a sitemap stale that were downloaded before their `lastmod` was over; returns how many."""
        with self.database.transaction() as db:
            return db.execute(
                "UPDATE seed SET stale_at = '' WHERE sitemap = ? AND vanished IS NULL AND processed < lastmod"
                " AND lastmod <= ? AND stale_at != ''",
                (url, stamp(now)),
            ).rowcount

    def taken_off(self) -> set[str]:
        """The hashes of the seeds that a sitemap listed and that somebody took off the list."""
        rows = self.database.rows("SELECT hash FROM seed WHERE sitemap IS NOT NULL AND NOT listed")
        return {row["hash"] for row in rows}

    def count_seeds(self, *, listed: bool = True, vanished: bool = False) -> int:
        """How many seeds a sitemap listed; with `vanished`, those of them that it lists no more."""
        also = f"{' AND listed' if listed else ''}{' AND vanished IS NOT NULL' if vanished else ''}"
        row = self.database.row(f"SELECT count(*) AS n FROM seed WHERE sitemap IS NOT NULL{also}")
        assert row is not None
        return int(row["n"])


def _list_seed(db: sqlite3.Connection, url: str, hash: str, lastmod: str | None) -> int:
    """File that a sitemap lists a seed; 1 if a later `lastmod` makes it stale, else 0."""
    changed = "UPDATE seed SET stale_at = '' WHERE hash = ? AND processed < ? AND stale_at != ''"
    changed += " AND (lastmod IS NULL OR lastmod < ?)"
    stale = 0 if lastmod is None else db.execute(changed, (hash, lastmod, lastmod)).rowcount
    db.execute("UPDATE seed SET sitemap = ?, lastmod = ?, vanished = NULL WHERE hash = ?", (url, lastmod, hash))
    return stale


def _parts(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists of BATCH."""
    rest = iter(items)
    while part := list(islice(rest, BATCH)):
        yield part


def _record(row: sqlite3.Row) -> SitemapRecord:
    values: dict[str, Any] = dict(row)
    for name in ("added", "read", "next_read"):
        values[name] = moment(values[name])
    return SitemapRecord(**values)
