"""How each dataset that a description names now stands: what was harvested of it, and what waits, fails or is held."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harvest.ledger.database import Database
from harvest.ledger.records import load_dataset, load_findings, moment
from harvest.model import Coverage, Dataset, Finding, Watch

OPEN: Final = "('seen', 'fetched', 'held')"
"""States of an announcement that is neither harvested nor dropped."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """
    An announcement that is open: its dataset waits for its dumps, for its turn, for another try or for approval.

    Attributes:
        announcement: Its number, for `harvest skip` and for links.
        dataset: The dataset as it was described when it was seen.
        state: `seen` (to be downloaded), `fetched` (to be harvested) or `held` (for approval).
        seen: When it was announced (aware, UTC).
        failures: Failed tries in a row.
        tried: When the last try failed or was held, or None.
        since: Since when it fails or is held, or None.
        retry_at: When it is tried again after a failure, or None.
        finding: Why the last try failed or was held, or None.
        behind: Number of the older announcement of the dataset that is harvested before this partial one, or None.
    """

    announcement: int
    dataset: Dataset
    state: str
    seen: datetime
    failures: int
    tried: datetime | None
    since: datetime | None
    retry_at: datetime | None
    finding: Finding | None
    behind: int | None = None


@dataclass(frozen=True, slots=True)
class DatasetNow:
    """
    A dataset that a description names now, and how it stands.

    Attributes:
        provider: Provider name.
        dataset: As described.
        place: From 1, in the order of the description.
        since: Since when the description names it (aware, UTC).
        baseline: A date that the registry says is harvested, and that was never harvested here; None where none is.
        watch: How its dumps are asked for while nothing of it is announced.
        ask_at: When they are asked for next; None for at each look, or never where `watch` is `unasked`.
        asked: When they were last asked for so, or harvested; not noted where at each look nothing is new.
        tries: How often in a row that failed, or gave whole dumps in which nothing was new.
        findings: Why it is not harvested, or what is odd with it; what runs and tries found is not here.
        harvested: When it was last harvested here, or None.
        modified: Its date at that harvest, or None.
        waiting: What is announced of it and open, oldest first.
    """

    provider: str
    dataset: Dataset
    place: int
    since: datetime
    baseline: datetime | None
    watch: Watch
    ask_at: datetime | None
    asked: datetime | None
    tries: int
    findings: tuple[Finding, ...]
    harvested: datetime | None
    modified: datetime | None
    waiting: tuple[Waiting, ...]


_OPEN = f"""
    SELECT * FROM announcement
    WHERE state IN {OPEN} AND (? IS NULL OR provider IN (SELECT value FROM json_each(?))) ORDER BY id
"""
_QUERY = """
    SELECT described.*, dataset.committed, dataset.modified
    FROM described
    LEFT JOIN dataset ON dataset.provider = described.provider AND dataset.iri = described.iri
    WHERE ? IS NULL OR described.provider IN (SELECT value FROM json_each(?))
    ORDER BY described.provider, described.place
"""


def standing(database: Database, names: Sequence[str] | None) -> dict[str, tuple[DatasetNow, ...]]:
    """The datasets of the descriptions of these providers, or of all, by name; those without are left out."""
    asked = None if names is None else json.dumps(list(names))
    waiting = waiting_of(database.rows(_OPEN, asked, asked))
    found: dict[str, list[DatasetNow]] = {}
    for row in database.rows(_QUERY, asked, asked):
        its = tuple(waiting.get((row["provider"], row["iri"]), ()))
        found.setdefault(row["provider"], []).append(_dataset_now(row, its))
    return {name: tuple(datasets) for name, datasets in found.items()}


def waiting_of(rows: Sequence[sqlite3.Row]) -> dict[tuple[str, str], list[Waiting]]:
    """Open announcements, in the order of their numbers, by provider and dataset."""
    found: dict[tuple[str, str], list[Waiting]] = {}
    for row in rows:
        its = found.setdefault((row["provider"], row["iri"]), [])
        dataset = load_dataset(row["dataset"])
        partial = dataset.coverage is Coverage.PARTIAL
        seen = moment(row["seen"])
        assert seen is not None
        its.append(
            Waiting(
                row["id"],
                dataset,
                row["state"],
                seen,
                row["failures"],
                moment(row["tried"]),
                moment(row["since"]),
                moment(row["retry_at"]),
                Finding(**json.loads(row["finding"])) if row["finding"] else None,
                its[0].announcement if its and partial else None,
            )
        )
    return found


def _dataset_now(row: sqlite3.Row, waiting: tuple[Waiting, ...]) -> DatasetNow:
    since = moment(row["since"])
    assert since is not None
    return DatasetNow(
        row["provider"],
        load_dataset(row["dataset"]),
        row["place"],
        since,
        moment(row["baseline"]),
        Watch(row["watch"]),
        moment(row["ask_at"]),
        moment(row["asked"]),
        row["tries"],
        load_findings(row["findings"]) + ((Finding(**json.loads(row["found"])),) if row["found"] else ()),
        moment(row["committed"]),
        moment(row["modified"]),
        waiting,
    )
