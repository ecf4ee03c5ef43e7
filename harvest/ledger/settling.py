"""What a harvest leaves behind in the ledger, in the transaction that commits it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from harvest.ledger.records import VersionRecord, dump_captures, stamp
from harvest.ledger.run_records import RunFacts
from harvest.ledger.runs import end_overtaken, end_run
from harvest.ledger.watches import settle
from harvest.model import AHEAD, RULES, Announcement, Coverage, Outcome


def set_modified(db: sqlite3.Connection, name: str, modified: datetime | None, now: datetime) -> None:
    """Have a provider's date be the latest that was harvested; one that is more than a day ahead gives way."""
    if modified is not None:
        counts = "CASE WHEN modified > ? THEN '' ELSE coalesce(modified, '') END"
        values = (stamp(max(now, datetime.now(UTC)) + AHEAD), stamp(modified), name)
        db.execute(f"UPDATE provider SET modified = max({counts}, ?) WHERE name = ?", values)


def commit_version(
    db: sqlite3.Connection, version: VersionRecord, announcement: Announcement | None, now: datetime
) -> None:
    """Make a loaded version the provider's current one, with its dataset, announcement and run."""
    key = (version.provider, version.n)
    db.execute("UPDATE version SET state = 'committed', facts = NULL WHERE provider = ? AND n = ?", key)
    values = (version.n, version.triples, version.provider)
    db.execute("UPDATE provider SET version = ?, triples = ? WHERE name = ?", values)
    set_modified(db, version.provider, version.modified, now)
    db.execute("DELETE FROM statistics WHERE provider = ? AND version < ?", key)
    if announcement is not None:
        settle_dataset(db, announcement, now)
        apply_again(db, announcement)
    facts = RunFacts(version=version.n, added=version.added, removed=version.removed)
    end_run(db, version.run, Outcome.COMMITTED, now, facts)


def settle_dataset(db: sqlite3.Connection, announcement: Announcement, now: datetime) -> None:
    """File that the dumps of an announcement are what was last harvested of its dataset."""
    dataset = announcement.dataset
    key = (announcement.provider, dataset.iri)
    before = db.execute("SELECT * FROM dataset WHERE provider = ? AND iri = ?", key).fetchone()
    db.execute(
        "INSERT OR REPLACE INTO dataset (provider, iri, modified, coverage, committed, captures, rules, sync_token,"
        " version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT version FROM provider WHERE name = ?))",
        (
            announcement.provider,
            dataset.iri,
            stamp(dataset.modified),
            dataset.coverage,
            stamp(now),
            dump_captures(announcement.captures),
            RULES,
            dataset.sync_token,
            announcement.provider,
        ),
    )
    settle(db, announcement, before, now)
    db.execute("UPDATE announcement SET state = 'done', retry_at = NULL WHERE id = ?", (announcement.id,))
    if dataset.coverage is Coverage.FULL:
        # What is older and still open says nothing that this dump does not say better.
        db.execute(
            "UPDATE announcement SET state = 'superseded', retry_at = NULL WHERE provider = ? AND iri = ? AND id < ?"
            " AND state IN ('seen', 'fetched', 'held')",
            (announcement.provider, dataset.iri, announcement.id),
        )
        end_overtaken(db, announcement.provider, now)


def apply_again(db: sqlite3.Connection, announcement: Announcement) -> None:
    """
    Have what other datasets said since the date of a version be harvested again, in order, from the filed dumps.

    A dump that comes late would otherwise put older statements in the place of newer ones. Newer partial dumps come
    over a full one, newer dumps of both kinds over a partial one; full dumps of two datasets do not speak of the same
    subjects. Each dump is applied over older ones alone, so this ends.
    """
    dataset = announcement.dataset
    values = (announcement.provider, dataset.iri, stamp(dataset.modified), dataset.coverage is Coverage.PARTIAL)
    db.execute(_APPLY_AGAIN, values)


_APPLY_AGAIN = """
    UPDATE announcement AS newer SET state = 'fetched', failures = 0, retry_at = NULL, since = NULL, finding = NULL
    WHERE provider = ? AND state = 'done' AND iri != ? AND dataset ->> 'modified' > ? AND captures != '[]'
        AND dataset -> 'listing' ->> 'follows' IS NULL AND (dataset ->> 'coverage' = 'partial' OR ?)
        AND EXISTS (SELECT 1 FROM described WHERE described.provider = newer.provider AND described.iri = newer.iri)
        AND NOT EXISTS (SELECT 1 FROM announcement AS last WHERE last.provider = newer.provider AND last.iri = newer.iri
            AND last.id > newer.id AND last.state = 'done' AND last.dataset ->> 'coverage' = 'full')
"""
