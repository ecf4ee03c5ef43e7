"""Versions whose rows were lost, filed again."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import datetime

from harvest.ledger.database import Database
from harvest.ledger.records import VersionRecord, stamp
from harvest.ledger.rows import insert_version


def restore_versions(database: Database, name: str, versions: list[VersionRecord], now: datetime) -> None:
    """Make the provider's versions these, which were made again; rows that are there stay, as do their runs."""
    last = versions[-1]
    modified = max((stamp(version.modified) or "" for version in versions), default="")
    with database.transaction() as db:
        known = {row["n"] for row in db.execute("SELECT n FROM version WHERE provider = ?", (name,))}
        for version in versions:
            if version.n not in known:
                _restore(db, version, now)
        db.execute("UPDATE version SET state = 'committed' WHERE provider = ?", (name,))
        db.execute(
            "UPDATE provider SET version = ?, triples = ?,"
            " modified = nullif(max(coalesce(modified, ''), ?), '') WHERE name = ?",
            (last.n, last.triples, modified, name),
        )


def _restore(db: sqlite3.Connection, version: VersionRecord, now: datetime) -> None:
    """File a version whose row was lost, with a run that says so."""
    run = db.execute(
        "INSERT INTO run (provider, started, ended, outcome, dataset, modified, coverage, version, added, removed)"
        " VALUES (?, ?, ?, 'committed', ?, ?, ?, ?, ?, ?)",
        (
            version.provider,
            stamp(version.at),
            stamp(now),
            version.dataset,
            stamp(version.modified),
            version.coverage,
            version.n,
            version.added,
            version.removed,
        ),
    ).lastrowid
    assert run is not None
    insert_version(db, replace(version, run=run))
