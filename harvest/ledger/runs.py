"""How runs end, each in the transaction of what ends it."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Final

from harvest.ledger.attempts import mend_dataset, note_attempt
from harvest.ledger.records import stamp
from harvest.ledger.run_records import RunFacts, dump_facts
from harvest.ledger.steps import end_step
from harvest.model import Finding, Outcome

INTERRUPTED: Final = Finding("interrupted", "the harvester stopped during this run; it is tried again")
OVERTAKEN: Final = Finding("superseded", "a newer dump of the dataset took the place of this one before its turn came")

SKIPPED: Final = Finding("skipped", "somebody skipped this dump by `harvest skip`; the graph lacks what it held")

WAIT: Final = "wait"
"""The step of a run whose dumps are filed and whose turn has not come: it goes on after a restart."""


def end_run(db: sqlite3.Connection, id: int, outcome: str, now: datetime, facts: RunFacts) -> None:
    """End a run and its last step; its outcome is that of the last try at its dataset."""
    _close_run(db, id, outcome, now, facts)
    note_attempt(db, id)


def _close_run(db: sqlite3.Connection, id: int, outcome: str, now: datetime, facts: RunFacts) -> None:
    set_run(db, id, facts)
    db.execute("UPDATE run SET ended = ?, outcome = ? WHERE id = ?", (stamp(now), outcome, id))
    end_step(db, id, now)


def set_run(db: sqlite3.Connection, id: int, facts: RunFacts) -> None:
    """File facts of a run."""
    columns = dump_facts(facts)
    if not columns:
        return
    assignments = ", ".join(f"{name} = ?" for name in columns)
    db.execute(f"UPDATE run SET {assignments} WHERE id = ?", (*columns.values(), id))


def end_overtaken(db: sqlite3.Connection, name: str, now: datetime) -> None:
    """End the runs of a provider whose announcement gave way while they waited."""
    rows = db.execute(
        "SELECT run.id FROM run JOIN announcement ON announcement.id = run.announcement"
        " JOIN step ON step.run = run.id AND step.ended IS NULL"
        " WHERE run.provider = ? AND run.ended IS NULL AND announcement.state = 'superseded' AND step.name = ?",
        (name, WAIT),
    ).fetchall()
    for row in rows:
        _close_run(db, row["id"], Outcome.UNCHANGED, now, RunFacts(findings=(OVERTAKEN,)))


def end_skipped(db: sqlite3.Connection, announcement: int, now: datetime) -> None:
    """End the run of an announcement that was dropped while it waited; its dataset fails no more for it."""
    rows = db.execute("SELECT id FROM run WHERE announcement = ? AND ended IS NULL", (announcement,)).fetchall()
    for row in rows:
        _close_run(db, row["id"], Outcome.UNCHANGED, now, RunFacts(findings=(SKIPPED,)))
    key = db.execute("SELECT provider, iri FROM announcement WHERE id = ?", (announcement,)).fetchone()
    mend_dataset(db, key["provider"], key["iri"])


def abandon(db: sqlite3.Connection, now: datetime) -> int:
    """
    End the runs that a crash left open and nothing will end; returns how many.

    What ends others: of a version that is filed, its loading; of dumps that are filed, their turn.
    """
    rows = db.execute(
        "SELECT id FROM run WHERE ended IS NULL AND id NOT IN (SELECT run FROM version WHERE state = 'loading')"
        " AND NOT EXISTS (SELECT 1 FROM step WHERE run = run.id AND name = ? AND step.ended IS NULL)",
        (WAIT,),
    ).fetchall()
    for row in rows:
        end_step(db, row["id"], now, broken=True)
        end_run(db, row["id"], Outcome.FAILED, now, RunFacts(findings=(INTERRUPTED,)))
    return len(rows)
