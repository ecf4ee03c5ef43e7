"""The seed list: which URIs are registered, and when each is to be downloaded again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from harvest.ledger.ahead import try_seeds_now
from harvest.ledger.database import Database, Value
from harvest.ledger.records import moment, stamp
from harvest.model.seeds import is_relative, seed_hash

_STALE = "listed AND NOT relative AND stale_at < ?"
_FIELDS = (
    "hash, uri, relative, listed, provider, added, interval, status, download, processed, failures, retry_at,"
    " stale_at = '' AND processed IS NOT NULL AS outdated, sitemap, vanished"
)


@dataclass(frozen=True, slots=True)
class SeedRecord:
    """
    A registered URI.

    Attributes:
        hash: MD5 of the normalised URI, 32 lower-case hex digits.
        uri: As given.
        relative: Whether it is a relative reference, which is never fetched.
        listed: Whether it stands in the seed list.
        provider: Whose description names it, or None.
        added: When it was registered (aware, UTC).
        interval: Seconds after which a download of it is stale.
        status: `added`, or that of its latest download.
        download: Hash of that, or None.
        processed: When it was last downloaded, or None.
        failures: Tries in a row that failed.
        retry_at: Not to be tried before, or None.
        outdated: Whether it is known to have changed since it was downloaded.
        sitemap: Address of the sitemap that listed it last, or None.
        vanished: Since when that lists it no more, or None.

    Source: LOD Laundromat 2, "Adding a seedpoint".
    """

    hash: str
    uri: str
    relative: bool
    listed: bool
    provider: str | None
    added: datetime
    interval: float
    status: str
    download: str | None
    processed: datetime | None
    failures: int
    retry_at: datetime | None
    outdated: bool = False
    sitemap: str | None = None
    vanished: datetime | None = None


class Seeds:
    """
    The registered URIs: those of the seed list, and those that providers' descriptions name.

    Only listed ones are ever stale. A relative URI is registered and counted, and never fetched.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(
        self, uri: str, now: datetime, interval: float, listed: bool = True, provider: str | None = None
    ) -> tuple[str, bool]:
        """
        Register a URI; returns its hash, and whether it is new to the seed list, or to the instance if not `listed`.

        One that is there keeps its dates, and one that is listed its interval (in seconds).
        """
        [(hash, new)] = self.add_all([uri], now, interval, listed=listed, provider=provider)
        return hash, new

    def add_all(
        self, uris: Iterable[str], now: datetime, interval: float, *, listed: bool = True, provider: str | None = None
    ) -> list[tuple[str, bool]]:
        """Register URIs in one transaction; as `add`."""
        with self.database.transaction() as db:
            found = []
            for uri in uris:
                hash = seed_hash(uri)
                values = (hash, uri, is_relative(uri), listed, provider, stamp(now), interval)
                found.append((hash, _register(db, values)))
            return found

    def get(self, hash: str) -> SeedRecord | None:
        """A seed by its hash, or None."""
        row = self.database.row(f"SELECT {_FIELDS} FROM seed WHERE hash = ?", hash)
        return None if row is None else seed_of(row)

    def page(
        self, status: str | None = None, *, listed: bool = True, limit: int = -1, offset: int = 0
    ) -> list[SeedRecord]:
        """Seeds in the order in which they were added; `listed` leaves out those that only providers name."""
        where, values = _filter(status, listed)
        rows = self.database.rows(
            f"SELECT {_FIELDS} FROM seed {where} ORDER BY rowid LIMIT ? OFFSET ?", *values, limit, offset
        )
        return [seed_of(row) for row in rows]

    def count(self, status: str | None = None, *, listed: bool = True) -> int:
        """How many seeds there are that `page` gives from."""
        where, values = _filter(status, listed)
        row = self.database.row(f"SELECT count(*) AS n FROM seed {where}", *values)
        assert row is not None
        return int(row["n"])

    def counts(self, *, listed: bool = True) -> dict[str, int]:
        """How many seeds are in each state; `relative` counts those that can never be fetched, whatever their state."""
        where, values = _filter(None, listed)
        rows = self.database.rows(f"SELECT status, count(*) AS n FROM seed {where} GROUP BY status", *values)
        also = self.database.row(f"SELECT coalesce(sum(relative), 0) AS n FROM seed {where}", *values)
        assert also is not None
        return {str(row["status"]): int(row["n"]) for row in rows} | {"relative": int(also["n"])}

    def stale(self, now: datetime) -> list[SeedRecord]:
        """The seeds that are to be downloaded: never processed, or `processed + interval < now`."""
        try_seeds_now(self.database, now)
        rows = self.database.rows(f"SELECT {_FIELDS} FROM seed WHERE {_STALE} ORDER BY stale_at, rowid", stamp(now))
        return [seed_of(row) for row in rows]

    def due(self, now: datetime, limit: int) -> list[SeedRecord]:
        """The stale seeds that do not wait after a failure, the longest stale first."""
        try_seeds_now(self.database, now)
        at = stamp(now)
        rows = self.database.rows(
            f"SELECT {_FIELDS} FROM seed WHERE {_STALE} AND (retry_at IS NULL OR retry_at <= ?)"
            " ORDER BY stale_at, rowid LIMIT ?",
            at,
            at,
            limit,
        )
        return [seed_of(row) for row in rows]

    def unsettled(self, now: datetime, limit: int) -> list[SeedRecord]:
        """The listed seeds that were downloaded and whose last try did not come to its end, and that do not wait."""
        rows = self.database.rows(
            f"SELECT {_FIELDS} FROM seed WHERE retry_at <= ? AND listed AND NOT relative AND stale_at >= ?"
            " ORDER BY retry_at LIMIT ?",
            stamp(now),
            stamp(now),
            limit,
        )
        return [seed_of(row) for row in rows]

    def tried(self, hash: str, now: datetime) -> None:
        """
        File that a seed is tried now: until `processed` is said it counts as failed, and waits longer each time.

        So a seed that brings the process down is not the first to be taken after the next start.
        """
        with self.database.transaction() as db:
            row = db.execute("SELECT failures, interval FROM seed WHERE hash = ?", (hash,)).fetchone()
            if row is not None:
                wait = min(timedelta(minutes=2 ** min(row["failures"], 20)), timedelta(seconds=row["interval"]))
                db.execute(
                    "UPDATE seed SET failures = failures + 1, retry_at = ? WHERE hash = ?", (stamp(now + wait), hash)
                )

    def processed(self, hash: str, now: datetime) -> None:
        """File that a seed was downloaded; it is stale again after its interval."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE seed SET processed = ?, failures = 0, retry_at = NULL WHERE hash = ?", (stamp(now), hash)
            )
            _set_stale(db, hash)

    def processed_since(self, since: datetime) -> list[str]:
        """The hashes of the seeds that were downloaded at this time or later."""
        return [row["hash"] for row in self.database.rows("SELECT hash FROM seed WHERE processed >= ?", stamp(since))]

    def settled(self, hash: str) -> None:
        """File that a try came to its end, whatever came of it."""
        self.database.write("UPDATE seed SET failures = 0, retry_at = NULL WHERE hash = ?", hash)

    def set_interval(self, hashes: Iterable[str], interval: float) -> None:
        """Change after how many seconds a download of these seeds is stale."""
        with self.database.transaction() as db:
            for hash in hashes:
                db.execute("UPDATE seed SET interval = ? WHERE hash = ?", (interval, hash))
                _set_stale(db, hash)

    def entries(self, *, listed: bool = True) -> dict[str, int]:
        """How many entries of archives, at any depth, the latest downloads of seeds have, by the entries' state."""
        rows = self.database.rows(
            # In this order, so that seeds without archives cost nothing.
            "SELECT document.status, count(*) AS n FROM document CROSS JOIN seed"
            " ON seed.hash = document.seed AND seed.download = document.download"
            f" WHERE document.name IS NOT NULL {'AND listed' if listed else ''} GROUP BY document.status"
        )
        return {str(row["status"]): int(row["n"]) for row in rows}

    def remove(self, hash: str) -> bool:
        """
        Take a seed off the list; returns whether it was there. What was downloaded stays, and so its record.

        That of a sitemap stays known, too, so that the next reading of the sitemap does not bring it back.
        """
        with self.database.transaction() as db:
            was = db.execute("UPDATE seed SET listed = 0 WHERE hash = ? AND listed", (hash,)).rowcount > 0
            unneeded = "hash = ? AND download IS NULL AND provider IS NULL AND sitemap IS NULL"
            db.execute(f"DELETE FROM seed WHERE {unneeded}", (hash,))
            return was


def seed_of(row: sqlite3.Row) -> SeedRecord:
    """A row of `seed`."""
    values: dict[str, Any] = dict(row)
    for name in ("added", "processed", "retry_at", "vanished"):
        values[name] = moment(values[name])
    for name in ("relative", "listed", "outdated"):
        values[name] = bool(values[name])
    return SeedRecord(**values)


def _register(db: sqlite3.Connection, values: tuple[Value, ...]) -> bool:
    hash, _, _, listed, provider, _, interval = values
    before = db.execute("SELECT listed FROM seed WHERE hash = ?", (hash,)).fetchone()
    if before is None:
        db.execute(
            "INSERT INTO seed (hash, uri, relative, listed, provider, added, interval) VALUES (?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        return True
    if listed and not before["listed"]:
        db.execute("UPDATE seed SET listed = 1, interval = ? WHERE hash = ?", (interval, hash))
        _set_stale(db, str(hash))
    if provider is not None:
        db.execute("UPDATE seed SET provider = ? WHERE hash = ?", (provider, hash))
    return bool(listed and not before["listed"])


def _set_stale(db: sqlite3.Connection, hash: str) -> None:
    """Moments are compared as text, which the arithmetic of SQLite would round to milliseconds."""
    row = db.execute("SELECT processed, interval FROM seed WHERE hash = ?", (hash,)).fetchone()
    processed = moment(row["processed"]) if row else None
    if processed is not None:
        stale_at = stamp(processed + timedelta(seconds=row["interval"]))
        db.execute("UPDATE seed SET stale_at = ? WHERE hash = ?", (stale_at, hash))


def _filter(status: str | None, listed: bool) -> tuple[str, tuple[Value, ...]]:
    wanted = [text for text, asked in (("listed", listed), ("status = ?", status is not None)) if asked]
    return f"WHERE {' AND '.join(wanted)}" if wanted else "", (status,) if status is not None else ()
