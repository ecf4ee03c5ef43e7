"""What the pipeline, the schedule and the pages ask of the ledger, in their own terms."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from typing import Any
from uuid import uuid4

from harvest.ledger.announcements import Announcements
from harvest.ledger.database import Database
from harvest.ledger.documents import Documents
from harvest.ledger.downloads import Downloads
from harvest.ledger.figures import Figures
from harvest.ledger.overview import Overview
from harvest.ledger.records import (
    DatasetRecord,
    Described,
    ProviderRecord,
    Run,
    VersionRecord,
    dump_about,
    dump_captures,
    dump_findings,
    stamp,
)
from harvest.ledger.requests import Requests
from harvest.ledger.rows import dataset_of, insert_version, provider_of, run_of, version_of
from harvest.ledger.runs import abandon, end_overtaken, end_run, set_run
from harvest.ledger.seeds import Seeds
from harvest.ledger.steps import Steps, begin_step
from harvest.model import Announcement, Coverage, Finding


class Ledger:
    """
    The ledger of an instance.

    Attributes:
        announcements: What is to be harvested.
        downloads: What was asked for and answered, and which log tells of it.
        figures: What the current versions are made of, in numbers.
        steps: What runs do, while they do it.
        overview: What is known of many providers at once.
        requests: What commands ask of the process that holds the data directory.
        seeds: The seed list.
        documents: What was downloaded from seeds, and what was in it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.announcements = Announcements(database)
        self.downloads = Downloads(database)
        self.figures = Figures(database)
        self.steps = Steps(database)
        self.overview = Overview(database)
        self.requests = Requests(database)
        self.seeds = Seeds(database)
        self.documents = Documents(database)

    # Providers

    def enrol(self, name: str, graph: str) -> None:
        """Make sure that the provider has a row."""
        if self.database.row("SELECT 1 FROM provider WHERE name = ?", name) is None:
            self.database.write("INSERT OR IGNORE INTO provider (name, graph) VALUES (?, ?)", name, graph)

    def provider(self, name: str) -> ProviderRecord | None:
        """What is known of a provider, or None."""
        row = self.database.row("SELECT * FROM provider WHERE name = ?", name)
        return None if row is None else provider_of(row)

    def providers(self) -> list[ProviderRecord]:
        """What is known of all providers ever seen, by name."""
        return [provider_of(row) for row in self.database.rows("SELECT * FROM provider ORDER BY name")]

    def described(self, name: str, read: Described) -> None:
        """File that a description was read, with what was found in it."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE provider SET url = ?, description = ?, etag = ?, last_modified = ?, retry_at = NULL,"
                " failures = 0, about = ? WHERE name = ?",
                (
                    read.url,
                    read.digest,
                    read.validators.etag,
                    read.validators.last_modified,
                    dump_about(read.about),
                    name,
                ),
            )
            _set_findings(db, name, read.findings)

    def undescribed(self, name: str, findings: tuple[Finding, ...], retry_at: datetime) -> None:
        """File that a description could not be read, and when to try again."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE provider SET retry_at = ?, failures = failures + 1, etag = NULL, last_modified = NULL,"
                " description = NULL WHERE name = ?",
                (stamp(retry_at), name),
            )
            _set_findings(db, name, findings)

    def findings(self, name: str) -> tuple[Finding, ...]:
        """What is wrong with the description now."""
        rows = self.database.rows("SELECT finding FROM finding WHERE provider = ? ORDER BY rowid", name)
        return tuple(Finding(**json.loads(row["finding"])) for row in rows)

    def set_written(self, name: str, modified: datetime | None) -> None:
        """Remember what the registry says."""
        self.database.write("UPDATE provider SET written = ? WHERE name = ?", stamp(modified), name)

    def forget(self, name: str) -> None:
        """Remove a provider with all its rows."""
        self.database.write("DELETE FROM provider WHERE name = ?", name)

    def dataset(self, name: str, iri: str) -> DatasetRecord | None:
        """The last committed harvest of a dataset, or None."""
        row = self.database.row("SELECT * FROM dataset WHERE provider = ? AND iri = ?", name, iri)
        return None if row is None else dataset_of(row)

    def datasets(self, name: str) -> list[DatasetRecord]:
        """The last committed harvests of all datasets of a provider."""
        rows = self.database.rows("SELECT * FROM dataset WHERE provider = ? ORDER BY iri", name)
        return [dataset_of(row) for row in rows]

    def set_meta(self, key: str, value: str) -> None:
        """Remember a fact of the instance."""
        self.database.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)

    def meta(self, key: str) -> str | None:
        """A fact of the instance, or None."""
        row = self.database.row("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else str(row["value"])

    # Runs and versions

    def runs(self, name: str, limit: int = 100) -> list[Run]:
        """The latest runs of a provider, newest first."""
        rows = self.database.rows("SELECT * FROM run WHERE provider = ? ORDER BY id DESC LIMIT ?", name, limit)
        steps = self.steps.of(row["id"] for row in rows)
        return [run_of(row, steps.get(row["id"], ())) for row in rows]

    def run(self, id: int) -> Run | None:
        """One run, or None."""
        row = self.database.row("SELECT * FROM run WHERE id = ?", id)
        return None if row is None else run_of(row, self.steps.of([id]).get(id, ()))

    def run_of(self, announcement: int) -> Run | None:
        """The latest run of an announcement, or None."""
        row = self.database.row("SELECT max(id) AS id FROM run WHERE announcement = ?", announcement)
        return None if row is None or row["id"] is None else self.run(row["id"])

    def start_run(self, name: str, now: datetime, announcement: Announcement | None, step: str | None = None) -> int:
        """File that a run began, with its first step; returns its id."""
        dataset = announcement.dataset if announcement else None
        values = (
            name,
            announcement.id if announcement else None,
            stamp(now),
            dataset.iri if dataset else None,
            stamp(dataset.modified) if dataset else None,
            dataset.coverage if dataset else None,
        )
        with self.database.transaction() as db:
            run = db.execute(
                "INSERT INTO run (provider, announcement, started, dataset, modified, coverage)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                values,
            ).lastrowid
            assert run is not None
            if step is not None:
                begin_step(db, run, step, now)
            return run

    def drop_run(self, id: int) -> None:
        """Remove a run that has nothing to tell."""
        self.database.write("DELETE FROM run WHERE id = ?", id)

    def end_overtaken(self, name: str, now: datetime) -> None:
        """End the runs of a provider that wait and whose announcement gave way."""
        with self.database.transaction() as db:
            end_overtaken(db, name, now)

    def end_run(self, id: int, outcome: str, now: datetime, **values: Any) -> None:
        """
        File how a run ended.

        `values` are columns of `run`; structures are given as they are and filed as JSON.
        """
        with self.database.transaction() as db:
            end_run(db, id, outcome, now, values)

    def note_run(self, id: int, **values: Any) -> None:
        """File more facts of a run; `values` as for `end_run`."""
        with self.database.transaction() as db:
            set_run(db, id, values)

    def file_version(self, version: VersionRecord) -> None:
        """File a version as `loading`: from here on it will be committed, after a crash too."""
        with self.database.transaction() as db:
            insert_version(db, version)

    def commit_version(self, version: VersionRecord, announcement: Announcement | None, now: datetime) -> None:
        """Make a loaded version the provider's current one, with its dataset, announcement and run, in one step."""
        with self.database.transaction() as db:
            key = (version.provider, version.n)
            db.execute("UPDATE version SET state = 'committed' WHERE provider = ? AND n = ?", key)
            db.execute(
                "UPDATE provider SET version = ?, triples = ?, modified = max(coalesce(modified, ''), coalesce(?, ''))"
                " WHERE name = ?",
                (version.n, version.triples, stamp(version.modified), version.provider),
            )
            db.execute("UPDATE provider SET modified = NULL WHERE name = ? AND modified = ''", (version.provider,))
            db.execute("DELETE FROM statistics WHERE provider = ? AND version < ?", key)
            if announcement is not None:
                _settle_dataset(db, announcement, now)
            counts = {"version": version.n, "added": version.added, "removed": version.removed}
            end_run(db, version.run, "committed", now, counts)
            if version.facts is not None:
                told = (f"urn:uuid:{uuid4()}", stamp(now), version.facts)
                db.execute("INSERT INTO note (activity, at, facts) VALUES (?, ?, ?)", told)

    def unchanged(self, announcement: Announcement, run: int, now: datetime, **values: Any) -> None:
        """File that a harvest found nothing new: the dataset's date moves, the version does not."""
        with self.database.transaction() as db:
            _settle_dataset(db, announcement, now)
            db.execute(
                "UPDATE provider SET modified = max(coalesce(modified, ''), ?) WHERE name = ? AND ? IS NOT NULL",
                (stamp(announcement.dataset.modified), announcement.provider, stamp(announcement.dataset.modified)),
            )
            end_run(db, run, "unchanged", now, values)

    def versions(self, name: str) -> list[VersionRecord]:
        """All filed versions of a provider, oldest first, the one that is loading included."""
        return [
            version_of(row) for row in self.database.rows("SELECT * FROM version WHERE provider = ? ORDER BY n", name)
        ]

    def loading(self) -> list[VersionRecord]:
        """Versions whose loading did not end: of a running harvest, or of a crash."""
        return [
            version_of(row) for row in self.database.rows("SELECT * FROM version WHERE state = 'loading' ORDER BY run")
        ]

    def set_digest(self, name: str, n: int, digest: str) -> None:
        """File the digest of a version's snapshot."""
        self.database.write("UPDATE version SET digest = ? WHERE provider = ? AND n = ?", digest, name, n)

    def abandon(self, now: datetime) -> int:
        """End the runs that a crash left open and nothing will end; returns how many."""
        with self.database.transaction() as db:
            return abandon(db, now)


def _set_findings(db: sqlite3.Connection, name: str, findings: tuple[Finding, ...]) -> None:
    db.execute("DELETE FROM finding WHERE provider = ?", (name,))
    texts = json.loads(dump_findings(findings))
    db.executemany("INSERT INTO finding VALUES (?, ?)", [(name, json.dumps(text)) for text in texts])


def _settle_dataset(db: sqlite3.Connection, announcement: Announcement, now: datetime) -> None:
    dataset = announcement.dataset
    db.execute(
        "INSERT OR REPLACE INTO dataset VALUES (?, ?, ?, ?, ?, ?)",
        (
            announcement.provider,
            dataset.iri,
            stamp(dataset.modified),
            dataset.coverage,
            stamp(now),
            dump_captures(announcement.captures),
        ),
    )
    db.execute("UPDATE announcement SET state = 'done', retry_at = NULL WHERE id = ?", (announcement.id,))
    if dataset.coverage is Coverage.FULL:
        # What is older and still open says nothing that this dump does not say better.
        db.execute(
            "UPDATE announcement SET state = 'superseded', retry_at = NULL WHERE provider = ? AND iri = ? AND id < ?"
            " AND state IN ('seen', 'fetched', 'held')",
            (announcement.provider, dataset.iri, announcement.id),
        )
        end_overtaken(db, announcement.provider, now)
