"""What is known of many providers at once, in as many queries as for one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harvest.ledger.database import Database
from harvest.ledger.outline import Outline, outlines
from harvest.ledger.records import DatasetRecord, ProviderRecord, Run, moment
from harvest.ledger.rows import dataset_of, provider_of, run_of
from harvest.ledger.steps import Steps
from harvest.model import Finding

_IDS = """
    SELECT p.*,
        (SELECT id FROM run WHERE provider = p.name ORDER BY id DESC LIMIT 1) AS last,
        (SELECT id FROM run WHERE provider = p.name AND ended IS NOT NULL
            AND NOT (outcome = 'failed' AND announcement IS NULL AND p.failures = 0)
            ORDER BY id DESC LIMIT 1) AS settled,
        max(coalesce((SELECT max(id) FROM run WHERE provider = p.name AND outcome = 'committed'), 0),
            coalesce((SELECT max(id) FROM run WHERE provider = p.name AND outcome = 'unchanged'), 0)) AS good
    FROM provider AS p WHERE ? IS NULL OR name IN (SELECT value FROM json_each(?)) ORDER BY name
"""
_TRIES = """
    SELECT run.provider, count(*) AS tries, min(run.started) AS since
    FROM json_each(?) AS asked JOIN run
        ON run.provider = asked.value ->> 0 AND run.id > asked.value ->> 1 AND run.outcome IN ('failed', 'held')
    GROUP BY run.provider
"""
"""Those since the last good run, of providers whose last run was not good: few, and none of old times is read."""


@dataclass(frozen=True, slots=True)
class Known:
    """
    What is known of a provider.

    Attributes:
        record: Its row.
        last: The run that began last, with its steps; None before the first.
        settled: The run that ended last and still tells how things are, or None. A description that could not be read
            tells nothing any more once it could.
        since: When the first of the runs began that failed or were held since the last good one; None where none did.
        tries: How many these are.
        findings: What is wrong with its description now.
        is_held: Whether the shrink guard holds something.
        totals: How many subjects, properties and classes its current version has, or None.
        datasets: The last committed harvests.
    """

    record: ProviderRecord
    last: Run | None
    settled: Run | None
    since: datetime | None
    tries: int
    findings: tuple[Finding, ...]
    is_held: bool
    totals: dict[str, int] | None
    datasets: tuple[DatasetRecord, ...]


class Overview:
    """All providers at a glance."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._steps = Steps(database)

    def of(self, names: Sequence[str] | None = None) -> dict[str, Known]:
        """What is known of these providers, or of all, by name; unknown ones are left out."""
        asked = None if names is None else json.dumps(list(names))
        rows = self.database.rows(_IDS, asked, asked)
        runs = self._runs(rows)
        troubled = [row for row in rows if row["settled"] is not None and row["settled"] > row["good"]]
        tries = self._by_provider(_TRIES, json.dumps([(row["name"], row["good"]) for row in troubled]))
        within = "provider IN (SELECT value FROM json_each(?))"
        shown = json.dumps([row["name"] for row in rows])
        findings = self._by_provider(f"SELECT * FROM finding WHERE {within} ORDER BY rowid", shown)
        held = self._by_provider(f"SELECT provider FROM announcement WHERE {within} AND state = 'held'", shown)
        datasets = self._by_provider(f"SELECT * FROM dataset WHERE {within} ORDER BY iri", shown)
        totals = self._by_provider(
            f"SELECT provider, version, subjects, properties, classes FROM statistics WHERE {within}", shown
        )
        return {
            row["name"]: Known(
                provider_of(row),
                runs.get(row["last"]),
                runs.get(row["settled"]),
                moment(tries[row["name"]][0]["since"]) if row["name"] in tries else None,
                tries[row["name"]][0]["tries"] if row["name"] in tries else 0,
                tuple(Finding(**json.loads(each["finding"])) for each in findings.get(row["name"], ())),
                row["name"] in held,
                _totals(totals.get(row["name"], ()), row["version"]),
                tuple(dataset_of(each) for each in datasets.get(row["name"], ())),
            )
            for row in rows
        }

    def outlines(self) -> dict[str, Outline]:
        """The little that lists show, of all providers, by name."""
        return outlines(self.database)

    def sizes(self, names: Sequence[str], most: int) -> dict[str, list[dict[str, Any]]]:
        """The last versions of these providers, at most so many of each, oldest first: what became of their sizes."""
        rows = self._by_provider(
            "SELECT provider, n, at, added, removed, version.triples FROM provider JOIN version"
            " ON version.provider = provider.name AND n > provider.version - ? AND n <= provider.version"
            " WHERE provider.name IN (SELECT value FROM json_each(?)) ORDER BY provider, n",
            most,
            json.dumps(list(names)),
        )
        keys = ("n", "at", "added", "removed", "triples")
        return {name: [{key: row[key] for key in keys} for row in its] for name, its in rows.items()}

    def _runs(self, rows: Iterable[sqlite3.Row]) -> dict[int, Run]:
        ids = json.dumps(sorted({row[key] for row in rows for key in ("last", "settled") if row[key] is not None}))
        found = self.database.rows("SELECT * FROM run WHERE id IN (SELECT value FROM json_each(?))", ids)
        steps = self._steps.of(row["id"] for row in found)
        return {row["id"]: run_of(row, steps.get(row["id"], ())) for row in found}

    def _by_provider(self, query: str, *values: str | int | None) -> dict[str, list[sqlite3.Row]]:
        groups: dict[str, list[sqlite3.Row]] = {}
        for row in self.database.rows(query, *values):
            groups.setdefault(row["provider"], []).append(row)
        return groups


def _totals(rows: Sequence[sqlite3.Row], version: int) -> dict[str, int] | None:
    found = next((row for row in rows if row["version"] == version), None)
    return None if found is None else {key: found[key] for key in ("subjects", "properties", "classes")}
