"""Letting the rows of versions go of which nothing is kept but what they came to: a baseline."""

from __future__ import annotations

import sqlite3

from harvest.ledger.database import Database
from harvest.ledger.downloads import insert_note
from harvest.model import Note


def compact(database: Database, name: str, baseline: int, note: Note) -> None:
    """Have a provider begin with the version `baseline`, and the next provenance log say so, in one step."""
    with database.transaction() as db:
        set_baseline(db, name, baseline)
        insert_note(db, note)


def baselines(database: Database) -> dict[str, int]:
    """The first versions that are kept of the providers of which some were dropped, by name."""
    rows = database.rows("SELECT name, baseline FROM provider WHERE baseline > 0")
    return {row["name"]: row["baseline"] for row in rows}


def set_baseline(db: sqlite3.Connection, name: str, baseline: int) -> None:
    """Have a provider begin with the version `baseline`; the runs that made those before it stay, as history."""
    db.execute("UPDATE provider SET baseline = ? WHERE name = ?", (baseline, name))
    db.execute("DELETE FROM version WHERE provider = ? AND n < ?", (name, baseline))
