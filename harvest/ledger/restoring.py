"""Rows that were lost: versions and datasets are filed again, and what a damaged ledger still has is copied."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from harvest.ledger.compacting import set_baseline
from harvest.ledger.database import Database
from harvest.ledger.records import DatasetRecord, VersionRecord, dump_captures, stamp
from harvest.ledger.rows import insert_version


def restore_versions(
    database: Database, name: str, versions: list[VersionRecord], now: datetime, baseline: int = 0
) -> None:
    """
    Make the provider's versions these, which were made again; rows that are there stay, as do their runs.

    None before `baseline` is filed, where that is not 0.
    """
    last = versions[-1]
    modified = max((stamp(version.modified) or "" for version in versions), default="")
    with database.transaction() as db:
        known = {row["n"] for row in db.execute("SELECT n FROM version WHERE provider = ?", (name,))}
        for version in versions:
            if version.n not in known and version.n >= baseline:
                _restore(db, version, now)
        db.execute("UPDATE version SET state = 'committed' WHERE provider = ?", (name,))
        db.execute(
            "UPDATE provider SET version = ?, triples = ?,"
            " modified = nullif(max(coalesce(modified, ''), ?), '') WHERE name = ?",
            (last.n, last.triples, modified, name),
        )
        if baseline:
            set_baseline(db, name, baseline)


def restore_dataset(database: Database, name: str, dataset: DatasetRecord) -> None:
    """File the last committed harvest of a dataset, unless there is a row of it."""
    values = (name, dataset.iri, stamp(dataset.modified), dataset.coverage, stamp(dataset.committed))
    with database.transaction() as db:
        db.execute(
            "INSERT OR IGNORE INTO dataset (provider, iri, modified, coverage, committed, captures, rules)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, dump_captures(dataset.captures), dataset.rules),
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


TABLES: Final = ("seed", "sitemap", "document", "problem", "meta")


def salvage(database: Database, damaged: Path) -> dict[str, int]:
    """Copy the rows of a damaged ledger that can be read, and that fit; returns how many of each table."""
    counts = dict.fromkeys(TABLES, 0)
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(damaged, isolation_level=None)) as source:
        source.row_factory = sqlite3.Row
        for table in TABLES:
            with suppress(sqlite3.DatabaseError), database.transaction() as db:
                counts[table] = _copied(source, db, table)
    return counts


def _copied(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> int:
    wanted = {row[1] for row in target.execute(f"PRAGMA table_info({table})")}
    count = 0
    with suppress(sqlite3.DatabaseError):  # the rest of the table cannot be read
        for row in source.execute(f"SELECT * FROM {table}"):
            names = [name for name in row.keys() if name in wanted]  # noqa: SIM118  # iterating a Row gives values
            marks = ", ".join("?" * len(names))
            insert = f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})"
            with suppress(sqlite3.IntegrityError):
                count += target.execute(insert, [row[name] for name in names]).rowcount
    return count
