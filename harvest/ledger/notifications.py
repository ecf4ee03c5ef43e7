"""
What is to be sent to those whom the registry's `notify` names: filed in the transaction that ends a run, sent later.

Failing, held and mended are filed once each: when the last one that was filed of the dataset is another one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from harvest.ledger.database import Database
from harvest.ledger.records import load_findings, stamp
from harvest.model import Outcome


class Event(StrEnum):
    """What a notification is about."""

    HARVESTED = "harvested"
    """A dump made a version."""
    HELD = "held"
    """The shrink guard holds a dump."""
    FAILING = "failing"
    """A dump or the description cannot be harvested."""
    MENDED = "mended"
    """What was failing or held is not any more."""


_LAST: Final = "last-notification"
"""Key of the ledger fact that says which number was given last: SQLite would give that of a removed row again."""

_BAD: Final = {Outcome.FAILED: Event.FAILING, Outcome.HELD: Event.HELD}


@dataclass(frozen=True, slots=True)
class Notification:
    """
    Something to be sent.

    Attributes:
        id: Of the notification, from 1; never given to a later one.
        provider: Name.
        dataset: IRI; empty for the description.
        run: Id of the run that it is about; None for the description.
        event: What happened.
        at: When.
        tries: To send it, so far.
    """

    id: int
    provider: str
    dataset: str
    run: int | None
    event: Event
    at: datetime
    tries: int


class Notifications:
    """What is to be sent, and what became of it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def due(self, now: datetime, most: int) -> list[Notification]:
        """The oldest that are to be sent now, at most so many."""
        rows = self.database.rows(
            "SELECT * FROM notification WHERE next_try <= ? ORDER BY id LIMIT ?", stamp(now), most
        )
        return [_notification(row) for row in rows]

    def sent(self, id: int, now: datetime) -> None:
        """File that it was accepted."""
        self.database.write(
            "UPDATE notification SET tries = tries + 1, next_try = NULL, sent = ?, error = NULL WHERE id = ?",
            stamp(now),
            id,
        )

    def not_sent(self, id: int, error: str, again: datetime | None) -> None:
        """File why it was not accepted, and when it is tried again; None gives it up."""
        self.database.write(
            "UPDATE notification SET tries = tries + 1, next_try = ?, error = ? WHERE id = ?",
            stamp(again) if again else None,
            error,
            id,
        )

    def number_from(self, moment: datetime) -> None:
        """Give no number that a ledger which is lost may have given: those that follow are beyond its seconds."""
        self.database.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", _LAST, str(int(moment.timestamp())))

    def drop(self, ids: Sequence[int]) -> None:
        """Remove some, at once: their providers name nobody."""
        marks = ", ".join("?" * len(ids))
        self.database.write(f"DELETE FROM notification WHERE id IN ({marks})", *ids)


def notify_of_run(db: sqlite3.Connection, id: int) -> None:
    """File what the end of a run is to be sent for."""
    run = db.execute("SELECT provider, dataset, outcome, ended, findings FROM run WHERE id = ?", (id,)).fetchone()
    if run["dataset"] is None or any(finding.kind == "interrupted" for finding in load_findings(run["findings"])):
        return  # A restart of ours is nobody else's trouble.
    subject = run["provider"], run["dataset"]
    last = _last(db, *subject)
    bad = _BAD.get(run["outcome"])
    if bad is not None and last != bad:
        _insert(db, subject, id, bad, run["ended"])
    if bad is None and last in _BAD.values():
        _insert(db, subject, id, Event.MENDED, run["ended"])
    if run["outcome"] == Outcome.COMMITTED:
        _insert(db, subject, id, Event.HARVESTED, run["ended"])


def notify_of_description(db: sqlite3.Connection, name: str, event: Event, now: datetime) -> None:
    """File that a description cannot be read, or can be read again; once each."""
    last = _last(db, name, "")
    if last != event and (event is Event.FAILING or last is Event.FAILING):
        _insert(db, (name, ""), None, event, now.astimezone(UTC).isoformat())


def _last(db: sqlite3.Connection, provider: str, dataset: str) -> Event | None:
    """What was last filed of a dataset, but for harvests."""
    row = db.execute(
        "SELECT event FROM notification WHERE provider = ? AND dataset = ? AND event <> 'harvested'"
        " ORDER BY id DESC LIMIT 1",
        (provider, dataset),
    ).fetchone()
    return Event(row["event"]) if row else None


def _insert(db: sqlite3.Connection, subject: tuple[str, str], run: int | None, event: Event, at: str) -> None:
    [id] = db.execute(
        "SELECT max(coalesce((SELECT max(id) FROM notification), 0),"
        " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?), 0)) + 1",
        (_LAST,),
    ).fetchone()
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LAST, str(id)))
    db.execute(
        "INSERT INTO notification (id, provider, dataset, run, event, at, next_try) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (id, *subject, run, event, at, at),
    )


def _notification(row: sqlite3.Row) -> Notification:
    return Notification(
        row["id"],
        row["provider"],
        row["dataset"],
        row["run"],
        Event(row["event"]),
        datetime.fromisoformat(row["at"]),
        row["tries"],
    )
