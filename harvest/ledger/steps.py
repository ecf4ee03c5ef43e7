"""
The steps of runs, filed while they go: who looks at a run sees what it does now.

They describe work and are no part of it, so they are written without waiting for the disk: a killed process loses none
of them, a power cut the last few.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime

from harvest.ledger.database import Database
from harvest.ledger.records import moment, stamp
from sparql.reports import StepReport

Figure = int | str


class Steps:
    """The steps of all runs; each begins where the one before ends, and the last one ends with its run."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, run: int, name: str, now: datetime) -> None:
        """File that a step begins, and with that the end of the one before."""
        with self.database.transaction(durable=False) as db:
            begin_step(db, run, name, now)

    def record(self, run: int, figures: Mapping[str, Figure]) -> None:
        """Replace the figures of the step that goes on."""
        with self.database.transaction(durable=False) as db:
            db.execute(
                "UPDATE step SET figures = ? WHERE run = ? AND ended IS NULL",
                (json.dumps(dict(figures), ensure_ascii=False), run),
            )

    def resume(self, announcement: int, name: str, now: datetime) -> int | None:
        """Begin the next step of the run of an announcement that was downloaded and waits; its id, or None."""
        with self.database.transaction() as db:
            row = db.execute(
                "SELECT id FROM run WHERE announcement = ? AND ended IS NULL ORDER BY id DESC LIMIT 1", (announcement,)
            ).fetchone()
            if row is not None:
                begin_step(db, row["id"], name, now)
            return None if row is None else int(row["id"])

    def break_off(self, run: int, now: datetime) -> None:
        """End the step in which a process ended that is gone."""
        with self.database.transaction() as db:
            end_step(db, run, now, broken=True)

    def of(self, runs: Iterable[int]) -> dict[int, tuple[StepReport, ...]]:
        """The steps of these runs, in order; those without steps are left out."""
        found: dict[int, list[StepReport]] = {}
        wanted = json.dumps(list(runs))
        for row in self.database.rows(
            "SELECT * FROM step WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run, place", wanted
        ):
            found.setdefault(row["run"], []).append(step_of(row))
        return {run: tuple(steps) for run, steps in found.items()}


def begin_step(db: sqlite3.Connection, run: int, name: str, now: datetime) -> None:
    """Add a step to a run."""
    end_step(db, run, now)
    db.execute(
        "INSERT INTO step (run, place, name, started)"
        " SELECT ?, 1 + coalesce(max(place), 0), ?, ? FROM step WHERE run = ?",
        (run, name, stamp(now), run),
    )


def end_step(db: sqlite3.Connection, run: int, now: datetime, *, broken: bool = False) -> None:
    """End the step of a run that goes on, if there is one."""
    db.execute("UPDATE step SET ended = ?, broken = ? WHERE run = ? AND ended IS NULL", (stamp(now), int(broken), run))


def step_of(row: sqlite3.Row) -> StepReport:
    """A row of `step`."""
    started, ended = moment(row["started"]), moment(row["ended"])
    assert started is not None
    seconds = None if ended is None else round((ended - started).total_seconds(), 3)
    return StepReport(row["name"], started, ended, seconds, bool(row["broken"]), json.loads(row["figures"]))
