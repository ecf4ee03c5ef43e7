"""The queue: announcements that wait, are held, were harvested, or gave way to newer ones."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

from harvest.ledger.attempts import try_again
from harvest.ledger.database import Database
from harvest.ledger.downloads import insert_note
from harvest.ledger.records import dump_captures, dump_dataset, stamp
from harvest.ledger.rows import announcement_of
from harvest.ledger.runs import end_overtaken, end_skipped
from harvest.ledger.standing import OPEN, Waiting, waiting_of
from harvest.model import Announcement, Capture, Coverage, Dataset, Finding, Note

LONGEST: Final = timedelta(hours=6)
"""The longest wait after failures; a time further away was written while the clock was ahead."""


class Announcements:
    """
    The queue of an instance; it lives in the ledger, so that a crash loses nothing of it.

    States: seen -> fetched -> done, or held, superseded, skipped, failed.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, name: str, dataset: Dataset, now: datetime) -> int:
        """
        File a dataset as to be harvested; returns its id.

        Waiting and held announcements of the same dataset give way when both are full: only the newest counts. A
        partial one never gives way, for it holds what no later one repeats.
        """
        with self.database.transaction() as db:
            return announce(db, name, dataset, now)

    def latest(self, name: str, iri: str) -> tuple[Announcement, str] | None:
        """The newest announcement of a dataset and its state, or None."""
        row = self.database.row(
            "SELECT * FROM announcement WHERE provider = ? AND iri = ? ORDER BY id DESC LIMIT 1", name, iri
        )
        return None if row is None else (announcement_of(row), row["state"])

    def is_open(self, name: str, iri: str) -> bool:
        """Whether something of a dataset is announced and neither harvested nor dropped."""
        query = "SELECT 1 FROM announcement WHERE provider = ? AND iri = ? AND state IN ('seen', 'fetched', 'held')"
        return self.database.row(query, name, iri) is not None

    def is_skipped(self, name: str, captures: tuple[Capture, ...]) -> bool:
        """Whether somebody skipped just these dumps."""
        query = "SELECT 1 FROM announcement WHERE provider = ? AND state = 'skipped' AND captures = ?"
        return self.database.row(query, name, dump_captures(captures)) is not None

    def waiting(self, now: datetime, name: str | None = None) -> list[tuple[Announcement, str]]:
        """
        Announcements that can be worked on now, oldest first, each with its state.

        A partial one whose dumps are filed waits for every older one of its dataset, also for one that is held or that
        failed and is tried later: taken before it, it would be overwritten by older data. A full one waits for none,
        and no download waits for anything: the next dump may have the same URL.
        """
        rows = self.database.rows(
            "SELECT * FROM announcement AS a WHERE state IN ('seen', 'fetched')"
            " AND (retry_at IS NULL OR retry_at <= ?) AND (? IS NULL OR provider = ?)"
            " AND (state = 'seen' OR dataset ->> 'coverage' = 'full' OR NOT EXISTS (SELECT 1 FROM announcement AS older"
            " WHERE older.provider = a.provider AND older.iri = a.iri AND older.id < a.id"
            " AND older.state IN ('seen', 'fetched', 'held'))) ORDER BY id",
            stamp(now),
            name,
            name,
        )
        return [(announcement_of(row), row["state"]) for row in rows]

    def unfetched(self, now: datetime, name: str) -> list[Announcement]:
        """Announcements of a provider whose dumps can be downloaded now, whatever waits before them; oldest first."""
        rows = self.database.rows(
            "SELECT * FROM announcement WHERE provider = ? AND state = 'seen'"
            " AND (retry_at IS NULL OR retry_at <= ?) ORDER BY id",
            name,
            stamp(now),
        )
        return [announcement_of(row) for row in rows]

    def failed(self, now: datetime) -> list[str]:
        """Providers with announcements that failed and may be tried again."""
        rows = self.database.rows(
            "SELECT DISTINCT provider FROM announcement WHERE state IN ('seen', 'fetched') AND retry_at <= ?",
            stamp(now),
        )
        return [row["provider"] for row in rows]

    def fetched(self, announcement: int, captures: tuple[Capture, ...]) -> None:
        """File the dumps of an announcement; one that was superseded meanwhile stays so."""
        self.database.write(
            "UPDATE announcement SET state = 'fetched', captures = ? WHERE id = ? AND state IN ('seen', 'fetched')",
            dump_captures(captures),
            announcement,
        )

    def describe(self, announcement: int, dataset: Dataset) -> None:
        """File what an announced dataset turned out to be."""
        self.database.write("UPDATE announcement SET dataset = ? WHERE id = ?", dump_dataset(dataset), announcement)

    def state(self, announcement: int) -> str | None:
        """The state of an announcement, or None."""
        row = self.database.row("SELECT state FROM announcement WHERE id = ?", announcement)
        return None if row is None else str(row["state"])

    def postpone(self, announcement: int, now: datetime, finding: Finding | None = None) -> int:
        """
        Set an announcement aside after a failure, to be fetched anew, later and later; returns its failures in a row.

        Without a finding the one before stays as the reason.
        """
        retry_at = now + backoff(self.failures(announcement))
        with self.database.transaction() as db:
            db.execute(
                "UPDATE announcement SET failures = failures + 1, retry_at = ?, state = 'seen', tried = ?,"
                " since = CASE WHEN failures THEN since ELSE ? END, finding = coalesce(?, finding)"
                " WHERE id = ? AND state IN ('seen', 'fetched')",
                (stamp(retry_at), stamp(now), stamp(now), _dumped(finding), announcement),
            )
            if finding is None:
                try_again(db, announcement, now)
        return self.failures(announcement)

    def hold(self, announcement: int, now: datetime, finding: Finding, input: str | None = None) -> None:
        """
        Keep an announcement until it is approved; one that was superseded or skipped meanwhile stays so.

        `input` is what `approved` is asked by afterwards: an approval holds for that alone.
        """
        self.database.write(
            "UPDATE announcement SET state = 'held', retry_at = NULL, tried = ?, since = ?, finding = ?, input = ?,"
            " approved = 0 WHERE id = ? AND state NOT IN ('superseded', 'skipped')",
            stamp(now),
            stamp(now),
            _dumped(finding),
            input,
            announcement,
        )

    def was_harvested(self, announcement: int) -> bool:
        """Whether an announcement was harvested once, so that it is applied again."""
        query = "SELECT 1 FROM run WHERE announcement = ? AND outcome IN ('committed', 'unchanged')"
        return self.database.row(query, announcement) is not None

    def failures(self, announcement: int) -> int:
        """How often in a row an announcement failed."""
        row = self.database.row("SELECT failures FROM announcement WHERE id = ?", announcement)
        return 0 if row is None else int(row["failures"])

    def hurry(self, name: str) -> None:
        """Let what was set aside be tried at once."""
        self.database.write(
            "UPDATE announcement SET retry_at = NULL WHERE provider = ? AND state IN ('seen', 'fetched')", name
        )

    def open(self, name: str) -> list[Waiting]:
        """The open announcements of a provider, oldest first, each with how it stands."""
        query = f"SELECT * FROM announcement WHERE provider = ? AND state IN {OPEN} ORDER BY id"
        by_dataset = waiting_of(self.database.rows(query, name))
        return sorted((each for its in by_dataset.values() for each in its), key=lambda each: each.announcement)

    def skip(self, announcement: int, now: datetime, note: Note) -> bool:
        """Drop an open announcement for good, and have the next log say so; False if it is not open any more."""
        with self.database.transaction() as db:
            dropped = f"UPDATE announcement SET state = 'skipped', retry_at = NULL WHERE id = ? AND state IN {OPEN}"
            if not db.execute(dropped, (announcement,)).rowcount:
                return False
            end_skipped(db, announcement, now)
            insert_note(db, note)
            return True

    def held(self, name: str) -> list[Announcement]:
        """Announcements that the shrink guard holds."""
        rows = self.database.rows("SELECT * FROM announcement WHERE provider = ? AND state = 'held' ORDER BY id", name)
        return [announcement_of(row) for row in rows]

    def approve(self, name: str) -> int:
        """Let the held announcements through; returns how many."""
        with self.database.transaction() as db:
            return db.execute(
                "UPDATE announcement SET state = 'fetched', approved = 1, retry_at = NULL, since = NULL, finding = NULL"
                " WHERE provider = ? AND state = 'held'",
                (name,),
            ).rowcount

    def approved(self, announcement: int, input: str | None = None) -> bool:
        """Whether the shrink guard is off for an announcement, and was put off for this input."""
        row = self.database.row("SELECT approved, input FROM announcement WHERE id = ?", announcement)
        return bool(row and row["approved"] and row["input"] in (None, input))

    def settle(self, announcement: int, state: str) -> None:
        """Set the state of an announcement; one that was superseded or skipped meanwhile stays so."""
        self.database.write(
            "UPDATE announcement SET state = ?, retry_at = NULL"
            " WHERE id = ? AND state NOT IN ('superseded', 'skipped')",
            state,
            announcement,
        )

    def get(self, id: int) -> Announcement | None:
        """One announcement, or None."""
        row = self.database.row("SELECT * FROM announcement WHERE id = ?", id)
        return None if row is None else announcement_of(row)

    def of_run(self, run: int) -> Announcement | None:
        """What a run tries, or None where it is a description or gone."""
        row = self.database.row(
            "SELECT * FROM announcement WHERE id = (SELECT announcement FROM run WHERE id = ?)", run
        )
        return None if row is None else announcement_of(row)


def announce(db: sqlite3.Connection, name: str, dataset: Dataset, now: datetime) -> int:
    """File a dataset as to be harvested, in the transaction of what says so; the rest is as in `Announcements.add`."""
    if dataset.coverage is Coverage.FULL or dataset.sync_token is not None:
        # What a source lists next is counted from what is committed, so it holds what is announced and open.
        db.execute(
            "UPDATE announcement SET state = 'superseded' WHERE provider = ? AND iri = ?"
            " AND state IN ('seen', 'fetched', 'held')"
            " AND (dataset ->> 'coverage' = 'full' OR (? AND dataset -> 'listing' ->> 'sync_token' IS NOT NULL))",
            (name, dataset.iri, dataset.sync_token is not None),
        )
        end_overtaken(db, name, now)
    cursor = db.execute(
        "INSERT INTO announcement (provider, iri, dataset, seen, state) VALUES (?, ?, ?, ?, 'seen')",
        (name, dataset.iri, dump_dataset(dataset), stamp(now)),
    )
    return cursor.lastrowid or 0


def _dumped(finding: Finding | None) -> str | None:
    return None if finding is None else json.dumps(asdict(finding))


def backoff(failures: int) -> timedelta:
    """How long to wait after so many failures in a row: 1 minute, doubling, up to `LONGEST`."""
    return min(timedelta(minutes=2 ** min(failures, 10)), LONGEST)
