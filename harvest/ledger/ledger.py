"""What the pipeline, the schedule and the pages ask of the ledger, in their own terms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from uuid import uuid4

from harvest.ledger.announcements import Announcements
from harvest.ledger.attempts import fail_description
from harvest.ledger.damages import Damages
from harvest.ledger.database import Database
from harvest.ledger.described import Descriptions, set_findings
from harvest.ledger.documents import Documents
from harvest.ledger.downloads import Downloads, insert_note
from harvest.ledger.figures import Figures
from harvest.ledger.filesets import Filesets
from harvest.ledger.notifications import Notifications
from harvest.ledger.overview import Overview
from harvest.ledger.records import DatasetRecord, ProviderRecord, VersionRecord, stamp
from harvest.ledger.requests import Requests
from harvest.ledger.rows import dataset_of, insert_version, provider_of, version_of
from harvest.ledger.run_records import NO_FACTS, RunFacts, read_runs
from harvest.ledger.runs import abandon, end_overtaken, end_run, set_run
from harvest.ledger.seeds import Seeds
from harvest.ledger.settling import commit_version, set_modified, settle_dataset
from harvest.ledger.sitemaps import Sitemaps
from harvest.ledger.states import Standings
from harvest.ledger.steps import Steps, begin_step
from harvest.ledger.watches import Watches
from harvest.model import Announcement, Finding, Note
from sparql.reports import RunReport


class Ledger:
    """
    The ledger of an instance.

    Attributes:
        described: What descriptions say now, and how each of their datasets stands.
        watches: How dumps are asked for while nothing of them is announced.
        announcements: What is to be harvested.
        damages: What is damaged of the providers' files.
        downloads: What was asked for and answered, and which log holds it.
        filesets: What was found at landing pages of repositories.
        figures: What the current versions are made of, in numbers.
        notifications: What is to be sent to those whom providers name.
        steps: What runs do, while they do it.
        overview: What is known of many providers at once.
        standings: Where the datasets of providers stand.
        requests: What commands ask of the process that holds the data directory.
        seeds: The seed list.
        sitemaps: The sitemaps that fill it.
        documents: What was downloaded from seeds, and what was in it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.described = Descriptions(database)
        self.watches = Watches(database)
        self.announcements = Announcements(database)
        self.damages = Damages(database)
        self.downloads = Downloads(database)
        self.figures = Figures(database)
        self.filesets = Filesets(database)
        self.notifications = Notifications(database)
        self.steps = Steps(database)
        self.overview = Overview(database)
        self.standings = Standings(database)
        self.requests = Requests(database)
        self.seeds = Seeds(database)
        self.sitemaps = Sitemaps(database)
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

    def undescribed(self, name: str, findings: tuple[Finding, ...], now: datetime, retry_at: datetime) -> None:
        """File that a description could not be read, and when to try again."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE provider SET retry_at = ?, failures = failures + 1, etag = NULL, last_modified = NULL,"
                " description = NULL WHERE name = ?",
                (stamp(retry_at), name),
            )
            set_findings(db, name, findings)
            fail_description(db, name, now)

    def failed_looks(self, now: datetime) -> list[str]:
        """Providers whose description could not be read and may be asked for again."""
        rows = self.database.rows("SELECT name FROM provider WHERE retry_at <= ? ORDER BY name", stamp(now))
        return [row["name"] for row in rows]

    def findings(self, name: str) -> tuple[Finding, ...]:
        """What is wrong with the description now."""
        rows = self.database.rows("SELECT finding FROM finding WHERE provider = ? ORDER BY rowid", name)
        return tuple(Finding(**json.loads(row["finding"])) for row in rows)

    def set_written(self, name: str, modified: datetime | None) -> None:
        """Remember what was written to the registry."""
        self.database.write("UPDATE provider SET written = ? WHERE name = ?", stamp(modified), name)

    def forget(self, name: str, note: Note) -> None:
        """Remove a provider with all its rows, and have the next provenance log say so."""
        with self.database.transaction() as db:
            db.execute(
                "DELETE FROM ingest_fileset_platform WHERE base_url IN (SELECT url FROM provider WHERE name = ?)"
                " AND base_url NOT IN (SELECT url FROM provider WHERE name != ? AND url IS NOT NULL)",
                (name, name),
            )
            db.execute("DELETE FROM provider WHERE name = ?", (name,))
            insert_note(db, note)

    def dataset(self, name: str, iri: str) -> DatasetRecord | None:
        """The last committed harvest of a dataset, or None."""
        row = self.database.row("SELECT * FROM dataset WHERE provider = ? AND iri = ?", name, iri)
        return None if row is None else dataset_of(row)

    def datasets(self, name: str) -> list[DatasetRecord]:
        """The last committed harvests of all datasets of a provider."""
        rows = self.database.rows("SELECT * FROM dataset WHERE provider = ? ORDER BY iri", name)
        return [dataset_of(row) for row in rows]

    def set_mirrored(self, name: str, iri: str) -> None:
        """File that a graph is exactly what the last harvest of a dataset made of it; a power cut costs a washing."""
        with self.database.transaction(durable=False) as db:
            db.execute("UPDATE dataset SET mirrored = 1 WHERE provider = ? AND iri = ?", (name, iri))

    def drop_datasets(self, name: str, iris: Sequence[str]) -> None:
        """Forget the last harvests of datasets of which the graph holds nothing any more."""
        if iris:
            within = "provider = ? AND iri IN (SELECT value FROM json_each(?))"
            with self.database.transaction() as db:
                for table in ("dataset", "attempt"):
                    db.execute(f"DELETE FROM {table} WHERE {within}", (name, json.dumps(list(iris))))

    def set_meta(self, key: str, value: str) -> None:
        """Remember a fact of the instance."""
        self.database.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)

    def meta(self, key: str) -> str | None:
        """A fact of the instance, or None."""
        row = self.database.row("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else str(row["value"])

    # Runs and versions

    def runs(self, name: str, limit: int = 100, offset: int = 0) -> list[RunReport]:
        """The latest runs of a provider but for the first `offset`, newest first."""
        query = "SELECT * FROM run WHERE provider = ? ORDER BY id DESC LIMIT ? OFFSET ?"
        return read_runs(self.database, query, name, limit, offset)

    def run(self, id: int, name: str | None = None) -> RunReport | None:
        """One run, or None; also when it is of another provider than the one that is named."""
        query = "SELECT * FROM run WHERE id = ? AND provider = coalesce(?, provider)"
        return next(iter(read_runs(self.database, query, id, name)), None)

    def runs_of(self, announcement: int) -> list[RunReport]:
        """The runs of an announcement, newest first."""
        return read_runs(self.database, "SELECT * FROM run WHERE announcement = ? ORDER BY id DESC", announcement)

    def run_of(self, announcement: int) -> RunReport | None:
        """The latest run of an announcement, or None."""
        query = "SELECT * FROM run WHERE announcement = ? ORDER BY id DESC LIMIT 1"
        return next(iter(read_runs(self.database, query, announcement)), None)

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
        """Remove a run in which nothing was done."""
        self.database.write("DELETE FROM run WHERE id = ?", id)

    def end_overtaken(self, name: str, now: datetime) -> None:
        """End the runs of a provider that wait and whose announcement gave way."""
        with self.database.transaction() as db:
            end_overtaken(db, name, now)

    def end_run(self, id: int, outcome: str, now: datetime, facts: RunFacts = NO_FACTS) -> None:
        """File how a run ended, and what else is known of it."""
        with self.database.transaction() as db:
            end_run(db, id, outcome, now, facts)

    def note_run(self, id: int, facts: RunFacts) -> None:
        """File facts of a run that goes on."""
        with self.database.transaction() as db:
            set_run(db, id, facts)

    def reopen_run(self, id: int) -> None:
        """Have a run go on that ended because its version could not be loaded; the reason is dropped."""
        run = self.run(id)
        if run is not None and run.ended is not None:
            findings = tuple(finding for finding in run.findings if not finding.fatal)
            with self.database.transaction() as db:
                db.execute("UPDATE run SET ended = NULL, outcome = NULL WHERE id = ?", (id,))
                set_run(db, id, RunFacts(findings=findings))

    def file_version(self, version: VersionRecord) -> None:
        """File a version as `loading`: from here on it will be committed, after a crash too."""
        with self.database.transaction() as db:
            insert_version(db, version)

    def commit_version(self, version: VersionRecord, announcement: Announcement | None, now: datetime) -> None:
        """Make a loaded version the provider's current one, with its dataset, announcement and run, in one step."""
        with self.database.transaction() as db:
            commit_version(db, version, announcement, now)
            if version.facts is not None:
                insert_note(db, Note(f"urn:uuid:{uuid4()}", now, version.facts))

    @contextmanager
    def as_committed(self, version: VersionRecord, announcement: Announcement | None, now: datetime) -> Iterator[None]:
        """Within the block this thread reads the ledger as `commit_version` will leave it; nothing of it is filed."""
        with self.database.trial() as db:
            commit_version(db, version, announcement, now)
            yield

    def withdraw_version(self, version: VersionRecord, finding: Finding, now: datetime) -> None:
        """Remove a version that is loading and can never be loaded; its run failed, its announcement waits again."""
        with self.database.transaction() as db:
            db.execute(
                "DELETE FROM version WHERE provider = ? AND n = ? AND state = 'loading'", (version.provider, version.n)
            )
            end_run(db, version.run, "failed", now, RunFacts(findings=(finding,)))

    def unchanged(self, announcement: Announcement, run: int, now: datetime, facts: RunFacts = NO_FACTS) -> None:
        """File that a harvest found nothing new: the dataset's date moves, the version does not."""
        with self.database.transaction() as db:
            settle_dataset(db, announcement, now)
            set_modified(db, announcement.provider, announcement.dataset.modified, now)
            end_run(db, run, "unchanged", now, facts)

    def run_of_dump(self, name: str, digest: str) -> RunReport | None:
        """The latest run of a provider with a dump of this SHA-256, or None."""
        query = (
            "SELECT * FROM run WHERE provider = ? AND EXISTS"
            " (SELECT 1 FROM json_each(run.dumps) WHERE value ->> 'sha256' = ?) ORDER BY id DESC LIMIT 1"
        )
        return next(iter(read_runs(self.database, query, name, digest)), None)

    def versions(self, name: str) -> list[VersionRecord]:
        """All filed versions of a provider, oldest first, the one that is loading included."""
        return [
            version_of(row) for row in self.database.rows("SELECT * FROM version WHERE provider = ? ORDER BY n", name)
        ]

    def digest(self, name: str, n: int) -> str | None:
        """SHA-256 of a version's snapshot; None until one was written."""
        row = self.database.row("SELECT digest FROM version WHERE provider = ? AND n = ?", name, n)
        return None if row is None else row["digest"]

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
