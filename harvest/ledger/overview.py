"""What is known of many providers at once, in as many queries as for one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from harvest.ledger.database import Database
from harvest.ledger.records import DatasetRecord, ProviderRecord, VersionRecord, load_findings, moment
from harvest.ledger.rows import dataset_of, provider_of, version_of
from harvest.ledger.run_records import read_runs
from harvest.ledger.standing import DatasetNow, standing
from harvest.ledger.states import Standing, Standings
from harvest.model import Finding
from sparql.reports import RunReport

_IDS = """
    SELECT p.*, (SELECT id FROM run WHERE provider = p.name ORDER BY id DESC LIMIT 1) AS last,
        (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'runs let go ' || p.name) AS gone
    FROM provider AS p WHERE ? IS NULL OR name IN (SELECT value FROM json_each(?)) ORDER BY name
"""
_TOLD = """
    SELECT attempt.provider, attempt.iri, run.findings FROM attempt JOIN run ON run.id = attempt.run
    WHERE attempt.provider IN (SELECT value FROM json_each(?)) AND run.findings != '[]' ORDER BY attempt.iri
"""


_OUTLINES = """
    SELECT p.name, p.version, p.triples, p.modified, p.retry_at, p.about ->> '$[0].title' AS title,
        last.id AS run, last.started, last.ended, last.outcome,
        (SELECT name FROM step WHERE run = last.id AND last.ended IS NULL AND step.ended IS NULL) AS step
    FROM provider AS p
    LEFT JOIN run AS last ON last.id = (SELECT id FROM run WHERE provider = p.name ORDER BY id DESC LIMIT 1)
    ORDER BY p.name
"""


@dataclass(frozen=True, slots=True)
class ProviderOutline:
    """
    What lists show of a provider.

    Attributes:
        standings: Where its datasets stand, but for those that are idle.
        name: Provider name.
        version: Number of the last committed version.
        triples: In that version.
        modified: Latest dcterms:modified committed, or None.
        retry_at: When a description that failed may be asked for again, or None.
        title: Of its first dataset, or None.
        run: Id of the run that began last; None before the first.
        started: When it began.
        ended: When it ended, or None.
        outcome: Its outcome, or None.
        step: The step that it is at, or None.
    """

    standings: tuple[Standing, ...]
    name: str
    version: int
    triples: int
    modified: datetime | None
    retry_at: datetime | None
    title: str | None
    run: int | None
    started: datetime | None
    ended: datetime | None
    outcome: str | None
    step: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """
    What is known of a provider.

    Attributes:
        record: Its row.
        last: The run that began last, with its steps; None before the first.
        standings: Where its datasets stand, and its description; those that are idle are left out.
        findings: What is damaged of its files, and what is wrong with its description now.
        noticed: What the last run of each dataset noticed, by IRI, and of the description's where it could not be read.
        totals: How many subjects, properties and classes its current version has, or None.
        datasets: The last committed harvests.
        described: The datasets that its description names now, in its order.
        runs_let_go: The newest run that was let go, older ones than which may be gone; None where all are there.
    """

    record: ProviderRecord
    last: RunReport | None
    standings: tuple[Standing, ...]
    findings: tuple[Finding, ...]
    noticed: dict[str, tuple[Finding, ...]]
    totals: dict[str, int] | None
    datasets: tuple[DatasetRecord, ...]
    described: tuple[DatasetNow, ...] = ()
    runs_let_go: int | None = None


class Overview:
    """All providers at a glance."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._standings = Standings(database)

    def of(self, names: Sequence[str] | None = None) -> dict[str, Known]:
        """What is known of these providers, or of all, by name; unknown ones are left out."""
        if names is not None and not names:
            return {}
        asked = None if names is None else json.dumps(list(names))
        rows = self.database.rows(_IDS, asked, asked)
        runs = self._runs(rows)
        within = "provider IN (SELECT value FROM json_each(?))"
        shown = json.dumps([row["name"] for row in rows])
        findings = self._by_provider(
            f"SELECT provider, finding FROM damage WHERE {within}"
            f" UNION ALL SELECT provider, finding FROM finding WHERE {within}",
            shown,
            shown,
        )
        noticed = self._by_provider(_TOLD, shown)
        standings = self._standings.of([row["name"] for row in rows])
        described = standing(self.database, names)
        datasets = self._by_provider(f"SELECT * FROM dataset WHERE {within} ORDER BY iri", shown)
        totals = self._by_provider(
            f"SELECT provider, version, subjects, properties, classes FROM statistics WHERE {within}", shown
        )
        return {
            row["name"]: Known(
                provider_of(row),
                runs.get(row["last"]),
                standings.get(row["name"], ()),
                tuple(Finding(**json.loads(each["finding"])) for each in findings.get(row["name"], ())),
                {each["iri"]: load_findings(each["findings"]) for each in noticed.get(row["name"], ())},
                _totals(totals.get(row["name"], ()), row["version"]),
                tuple(dataset_of(each) for each in datasets.get(row["name"], ())),
                described.get(row["name"], ()),
                row["gone"],
            )
            for row in rows
        }

    def outlines(self) -> dict[str, ProviderOutline]:
        """The little that lists show, of all providers, by name."""
        standings = self._standings.of()
        rows = self.database.rows(_OUTLINES)
        return {row["name"]: _outline(row, standings.get(row["name"], ())) for row in rows}

    def sizes(self, names: Sequence[str], most: int) -> dict[str, list[VersionRecord]]:
        """The last versions of these providers, without their facts, at most so many of each, oldest first."""
        rows = self._by_provider(
            "SELECT version.provider, n, run, state, at, coverage, dataset, version.modified, added, removed,"
            " version.triples, digest FROM provider JOIN version"
            " ON version.provider = provider.name AND n > provider.version - ? AND n <= provider.version"
            " WHERE provider.name IN (SELECT value FROM json_each(?)) ORDER BY provider, n",
            most,
            json.dumps(list(names)),
        )
        return {name: [version_of(row) for row in its] for name, its in rows.items()}

    def latest(self, limit: int, offset: int) -> list[VersionRecord]:
        """The latest versions of all providers but for the first `offset`, without their facts, newest first."""
        rows = self.database.rows(
            "SELECT provider, n, run, state, at, coverage, dataset, modified, added, removed, triples, digest"
            " FROM version WHERE state = 'committed' ORDER BY at DESC, provider, n DESC LIMIT ? OFFSET ?",
            limit,
            offset,
        )
        return [version_of(row) for row in rows]

    def counts(self, name: str) -> tuple[int, int]:
        """How many runs there are of a provider, and how many versions of all providers."""
        row = self.database.row(
            "SELECT (SELECT count(*) FROM run WHERE provider = ?) AS runs,"
            " (SELECT count(*) FROM version WHERE state = 'committed') AS versions",
            name,
        )
        return (row["runs"], row["versions"]) if row else (0, 0)

    def _runs(self, rows: Iterable[sqlite3.Row]) -> dict[int, RunReport]:
        ids = json.dumps(sorted({row["last"] for row in rows if row["last"] is not None}))
        found = read_runs(self.database, "SELECT * FROM run WHERE id IN (SELECT value FROM json_each(?))", ids)
        return {run.id: run for run in found}

    def _by_provider(self, query: str, *values: str | int | None) -> dict[str, list[sqlite3.Row]]:
        groups: dict[str, list[sqlite3.Row]] = {}
        for row in self.database.rows(query, *values):
            groups.setdefault(row["provider"], []).append(row)
        return groups


def _totals(rows: Sequence[sqlite3.Row], version: int) -> dict[str, int] | None:
    found = next((row for row in rows if row["version"] == version), None)
    return None if found is None else {key: found[key] for key in ("subjects", "properties", "classes")}


def _outline(row: sqlite3.Row, standings: tuple[Standing, ...]) -> ProviderOutline:
    times = {name: moment(row[name]) for name in ("modified", "retry_at", "started", "ended")}
    return ProviderOutline(standings, **dict(row) | times)
