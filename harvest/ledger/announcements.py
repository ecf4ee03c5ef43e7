"""Datasets that are to be harvested: what waits, what is held, what gave way."""

from __future__ import annotations

from datetime import datetime, timedelta

from harvest.ledger.database import Database
from harvest.ledger.records import dump_captures, dump_dataset, stamp
from harvest.ledger.rows import announcement_of
from harvest.ledger.runs import end_overtaken
from harvest.model import Announcement, Capture, Coverage, Dataset


class Announcements:
    """
    The queue of an instance; it lives in the ledger, so that a crash loses nothing of it.

    States: seen -> fetched -> done, or held, superseded, failed.
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
            if dataset.coverage is Coverage.FULL:
                db.execute(
                    "UPDATE announcement SET state = 'superseded' WHERE provider = ? AND iri = ?"
                    " AND state IN ('seen', 'fetched', 'held') AND dataset ->> 'coverage' = 'full'",
                    (name, dataset.iri),
                )
                end_overtaken(db, name, now)
            cursor = db.execute(
                "INSERT INTO announcement (provider, iri, dataset, seen, state) VALUES (?, ?, ?, ?, 'seen')",
                (name, dataset.iri, dump_dataset(dataset), stamp(now)),
            )
            return cursor.lastrowid or 0

    def latest(self, name: str, iri: str) -> tuple[Announcement, str] | None:
        """The newest announcement of a dataset and its state, or None."""
        row = self.database.row(
            "SELECT * FROM announcement WHERE provider = ? AND iri = ? ORDER BY id DESC LIMIT 1", name, iri
        )
        return None if row is None else (announcement_of(row), row["state"])

    def waiting(self, now: datetime, name: str | None = None) -> list[tuple[Announcement, str]]:
        """
        Announcements that can be worked on now, oldest first, each with its state.

        A partial one waits for every older one of its dataset, also for one that is held or that failed and is tried
        later: taken before it, it would be overwritten by older data. A full one waits for none.
        """
        rows = self.database.rows(
            "SELECT * FROM announcement AS a WHERE state IN ('seen', 'fetched')"
            " AND (retry_at IS NULL OR retry_at <= ?) AND (? IS NULL OR provider = ?)"
            " AND (dataset ->> 'coverage' = 'full' OR NOT EXISTS (SELECT 1 FROM announcement AS older"
            " WHERE older.provider = a.provider AND older.iri = a.iri AND older.id < a.id"
            " AND older.state IN ('seen', 'fetched', 'held')"
            " AND (older.state = 'held' OR older.retry_at > ?))) ORDER BY id",
            stamp(now),
            name,
            name,
            stamp(now),
        )
        return [(announcement_of(row), row["state"]) for row in rows]

    def fetched(self, announcement: int, captures: tuple[Capture, ...]) -> None:
        """File the dumps of an announcement; one that was superseded meanwhile stays so."""
        self.database.write(
            "UPDATE announcement SET state = 'fetched', captures = ? WHERE id = ? AND state IN ('seen', 'fetched')",
            dump_captures(captures),
            announcement,
        )

    def state(self, announcement: int) -> str | None:
        """The state of an announcement, or None."""
        row = self.database.row("SELECT state FROM announcement WHERE id = ?", announcement)
        return None if row is None else str(row["state"])

    def postpone(self, announcement: int, retry_at: datetime) -> int:
        """Set an announcement aside until a time, to be fetched anew; returns its failures in a row."""
        self.database.write(
            "UPDATE announcement SET failures = failures + 1, retry_at = ?, state = 'seen'"
            " WHERE id = ? AND state IN ('seen', 'fetched')",
            stamp(retry_at),
            announcement,
        )
        return self.failures(announcement)

    def failures(self, announcement: int) -> int:
        """How often in a row an announcement failed."""
        row = self.database.row("SELECT failures FROM announcement WHERE id = ?", announcement)
        return 0 if row is None else int(row["failures"])

    def hurry(self, name: str) -> None:
        """Let what was set aside be tried at once."""
        self.database.write(
            "UPDATE announcement SET retry_at = NULL WHERE provider = ? AND state IN ('seen', 'fetched')", name
        )

    def held(self, name: str) -> list[Announcement]:
        """Announcements that the shrink guard holds."""
        rows = self.database.rows("SELECT * FROM announcement WHERE provider = ? AND state = 'held' ORDER BY id", name)
        return [announcement_of(row) for row in rows]

    def approve(self, name: str) -> int:
        """Let the held announcements through; returns how many."""
        with self.database.transaction() as db:
            return db.execute(
                "UPDATE announcement SET state = 'fetched', approved = 1, retry_at = NULL"
                " WHERE provider = ? AND state = 'held'",
                (name,),
            ).rowcount

    def approved(self, announcement: int) -> bool:
        """Whether the shrink guard is off for an announcement."""
        row = self.database.row("SELECT approved FROM announcement WHERE id = ?", announcement)
        return bool(row and row["approved"])

    def settle(self, announcement: int, state: str) -> None:
        """Set the state of an announcement; one that was superseded meanwhile stays so."""
        self.database.write(
            "UPDATE announcement SET state = ?, retry_at = NULL WHERE id = ? AND state != 'superseded'",
            state,
            announcement,
        )

    def get(self, id: int) -> Announcement | None:
        """One announcement, or None."""
        row = self.database.row("SELECT * FROM announcement WHERE id = ?", id)
        return None if row is None else announcement_of(row)


def backoff(failures: int) -> timedelta:
    """How long to wait after so many failures in a row: 1 minute, doubling, up to 6 hours."""
    return timedelta(minutes=min(2 ** min(failures, 10), 360))
