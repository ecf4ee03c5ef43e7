"""
How the last tries at each dataset ended: written in the transaction that ends a run.

A row says the outcome of the last run that counts, and, where that is bad, since when and in how many
tries. A description that cannot be read is tried like a dataset, one without an IRI.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Final

from harvest.ledger.notifications import Event, notify_of_description, notify_of_run
from harvest.ledger.records import stamp

DESCRIPTION: Final = ""
"""What stands in place of a dataset's IRI for tries at reading the description."""

_FAIL = """
    INSERT INTO attempt (provider, iri, outcome, since, tries, tried) VALUES (?, '', 'failed', ?, 1, ?)
    ON CONFLICT (provider, iri) DO UPDATE SET tries = tries + 1, tried = excluded.tried
"""

_NOTE = """
    INSERT INTO attempt (provider, iri, outcome, run, since, tries, tried)
        SELECT provider, dataset, outcome, id, iif(outcome IN ('failed', 'held'), started, NULL),
            outcome IN ('failed', 'held'), ended
        FROM run WHERE id = ? AND dataset IS NOT NULL
    ON CONFLICT (provider, iri) DO UPDATE SET outcome = excluded.outcome, run = excluded.run, tried = excluded.tried,
        since = iif(excluded.tries, coalesce(attempt.since, excluded.since), NULL),
        tries = iif(excluded.tries, attempt.tries + 1, 0)
"""


def note_attempt(db: sqlite3.Connection, run: int) -> None:
    """File how a run that ended leaves its dataset, and whom it is to be sent to."""
    db.execute(_NOTE, (run,))
    notify_of_run(db, run)


def fail_description(db: sqlite3.Connection, name: str, now: datetime) -> None:
    """File that a description could not be read, once more or for the first time."""
    db.execute(_FAIL, (name, stamp(now), stamp(now)))
    notify_of_description(db, name, Event.FAILING, now)


def mend_description(db: sqlite3.Connection, name: str, now: datetime) -> None:
    """File that a description could be read."""
    notify_of_description(db, name, Event.MENDED, now)
    db.execute("DELETE FROM attempt WHERE provider = ? AND iri = ?", (name, DESCRIPTION))


def mend_dataset(db: sqlite3.Connection, name: str, iri: str) -> None:
    """File that the dumps of a dataset could be asked for again, and are what they were at its last harvest."""
    db.execute("DELETE FROM attempt WHERE provider = ? AND iri = ?", (name, iri))


def ask_again(db: sqlite3.Connection, name: str, iri: str, now: datetime) -> None:
    """File that the dumps of a dataset could once more not be asked for, for the same reason."""
    values = (stamp(now), name, iri)
    db.execute("UPDATE attempt SET tries = tries + 1, tried = ? WHERE provider = ? AND iri = ?", values)


def try_again(db: sqlite3.Connection, announcement: int, now: datetime) -> None:
    """File that a try ended as the one before, and has no run of its own."""
    db.execute(
        "UPDATE attempt SET tries = tries + 1, tried = ?"
        " WHERE (provider, iri) = (SELECT provider, iri FROM announcement WHERE id = ?)",
        (stamp(now), announcement),
    )
