"""
What the descriptions of providers say now: one row for each dataset, with how it stands.

A description and the announcements that follow from it are filed in one transaction, so that a crash loses neither.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harvest.ledger.announcements import announce
from harvest.ledger.attempts import mend_description
from harvest.ledger.database import Database
from harvest.ledger.records import dump_about, dump_dataset, dump_findings, load_dataset, moment, stamp
from harvest.ledger.runs import end_overtaken
from harvest.ledger.standing import DatasetNow, standing
from harvest.ledger.watches import DAY
from harvest.model import About, Dataset, Finding, Validators, Watch


@dataclass(frozen=True, slots=True)
class Described:
    """
    A description that was read.

    Attributes:
        url: Where; of a lone dump its own URL.
        digest: SHA-256 of it; None for a lone dump, which has no description.
        validators: For the next conditional request.
        findings: What was wrong or odd with it.
        about: What it says of each of its datasets.
        datasets: Those with dumps, in the order of the description.
        base: Its URL after redirects, without the query; None for a lone dump.
    """

    url: str
    digest: str | None
    validators: Validators
    findings: tuple[Finding, ...] = ()
    about: tuple[About, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """
    What follows from what a description says.

    Attributes:
        due: Datasets that are to be harvested, in this order.
        written: `modified` as the registry has it, which was taken into account.
        baseline: The date that counts as harvested for datasets that the description names from now on, or None.
        findings: Why a dataset is not harvested, or what is odd with it, by its IRI; the others have none.
    """

    due: tuple[Dataset, ...] = ()
    written: datetime | None = None
    baseline: datetime | None = None
    findings: Mapping[str, tuple[Finding, ...]] | None = None


NOTHING_DUE: Final = Decided()


class Descriptions:
    """
    The datasets that descriptions name now.

    A description that cannot be read leaves the datasets of the last one that could; only one that was read and no
    longer names a dataset takes it away. What was harvested of it and what is announced of it stays in the ledger.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def of(self, name: str) -> tuple[DatasetNow, ...]:
        """
        The datasets that a provider's description names now, in its order, each with how it stands.

        A provider that is registered by a lone dump has one, whose IRI is the URL of the dump. One that was never
        looked at, or that is written by updates, has none.
        """
        return self.all([name]).get(name, ())

    def all(self, names: Sequence[str] | None = None) -> dict[str, tuple[DatasetNow, ...]]:
        """The datasets of these providers, or of all, by name, in as many queries as for one; none without."""
        return standing(self.database, names)

    def datasets(self, name: str) -> tuple[Dataset, ...]:
        """The datasets alone, in the order of the description."""
        rows = self.database.rows("SELECT dataset FROM described WHERE provider = ? ORDER BY place", name)
        return tuple(load_dataset(row["dataset"]) for row in rows)

    def baselines(self, name: str) -> dict[str, datetime | None]:
        """For each dataset the date that the registry says is harvested, by IRI."""
        rows = self.database.rows("SELECT iri, baseline FROM described WHERE provider = ?", name)
        return {row["iri"]: moment(row["baseline"]) for row in rows}

    def renew(self, name: str, validators: Validators) -> None:
        """File other validators of the same description; a power cut may take them back, and costs a request."""
        with self.database.transaction(durable=False) as db:
            values = (validators.etag, validators.last_modified, name)
            db.execute("UPDATE provider SET etag = ?, last_modified = ? WHERE name = ?", values)

    def set_findings(self, name: str, findings: tuple[Finding, ...]) -> None:
        """Put these findings in the place of those of a provider's description."""
        with self.database.transaction() as db:
            set_findings(db, name, findings)

    def file(self, name: str, read: Described | None, now: datetime, decided: Decided = NOTHING_DUE) -> tuple[int, ...]:
        """
        File what a description says together with what is to be harvested for it; returns the new announcements.

        `read` is None where the description is the one that is filed already. All is one transaction.
        """
        with self.database.transaction() as db:
            if read is not None:
                _file_provider(db, name, read, now)
                _replace(db, name, read, decided, now)
            _set_dataset_findings(db, name, decided.findings or {})
            _take_account(db, name, decided)
            return tuple(announce(db, name, dataset, now) for dataset in decided.due)


def set_findings(db: sqlite3.Connection, name: str, findings: tuple[Finding, ...]) -> None:
    """Put these findings in the place of those of a provider's description."""
    db.execute("DELETE FROM finding WHERE provider = ?", (name,))
    texts = json.loads(dump_findings(findings))
    db.executemany("INSERT INTO finding VALUES (?, ?)", [(name, json.dumps(text)) for text in texts])


def _file_provider(db: sqlite3.Connection, name: str, read: Described, now: datetime) -> None:
    db.execute(
        "UPDATE provider SET url = ?, base = ?, description = ?, etag = ?, last_modified = ?, retry_at = NULL,"
        " failures = 0, about = ? WHERE name = ?",
        (
            read.url,
            read.base,
            read.digest,
            read.validators.etag,
            read.validators.last_modified,
            dump_about(read.about),
            name,
        ),
    )
    set_findings(db, name, read.findings)
    mend_description(db, name, now)


def _replace(db: sqlite3.Connection, name: str, read: Described, decided: Decided, now: datetime) -> None:
    """Put the datasets of a description in the place of those before; one that stays keeps how it is watched."""
    iris = json.dumps([dataset.iri for dataset in read.datasets])
    gone = "provider = ? AND iri NOT IN (SELECT value FROM json_each(?))"
    db.execute(f"DELETE FROM described WHERE {gone}", (name, iris))
    # Older full dumps of what left would come over newer data; a partial one holds what no other one repeats.
    db.execute(
        f"UPDATE announcement SET state = 'superseded' WHERE {gone} AND state IN ('seen', 'fetched', 'held')"
        " AND dataset ->> 'coverage' = 'full'",
        (name, iris),
    )
    end_overtaken(db, name, now)
    for place, dataset in enumerate(read.datasets, 1):
        dated = dataset.modified or dataset.lastmods
        watch, ask_at = (Watch.DAILY, stamp(now + DAY)) if dated else (Watch.ALWAYS, None)
        if dataset.sync_token is not None:
            watch, ask_at = Watch.UNASKED, None
        values = (name, dataset.iri, place, dump_dataset(dataset), stamp(now), stamp(decided.baseline), watch, ask_at)
        db.execute(_REPLACE, values)


_KEEPS = """
    dataset ->> 'modified' IS excluded.dataset ->> 'modified'
    AND (watch != 'unasked' OR dataset -> 'dumps' = excluded.dataset -> 'dumps')
"""
_REPLACE = f"""
    INSERT INTO described (provider, iri, place, dataset, since, baseline, watch, ask_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET place = excluded.place, dataset = excluded.dataset,
        watch = CASE WHEN {_KEEPS} THEN watch ELSE excluded.watch END,
        ask_at = CASE WHEN {_KEEPS} THEN ask_at ELSE excluded.ask_at END,
        tries = CASE WHEN {_KEEPS} THEN tries ELSE 0 END,
        found = CASE WHEN {_KEEPS} THEN found END
"""
"""Other dumps under the same date are asked for when the others would have been: some are named anew each time."""


def _take_account(db: sqlite3.Connection, name: str, decided: Decided) -> None:
    """Remember the registry's `modified`; when somebody edited it, it counts for every dataset."""
    written = stamp(decided.written)
    taken = db.execute("UPDATE provider SET written = ? WHERE name = ? AND written IS NOT ?", (written, name, written))
    if taken.rowcount:
        db.execute("UPDATE described SET baseline = ? WHERE provider = ?", (stamp(decided.baseline), name))


def _set_dataset_findings(db: sqlite3.Connection, name: str, findings: Mapping[str, tuple[Finding, ...]]) -> None:
    db.execute("UPDATE described SET findings = '[]' WHERE provider = ?", (name,))
    for iri, its in findings.items():
        db.execute("UPDATE described SET findings = ? WHERE provider = ? AND iri = ?", (dump_findings(its), name, iri))
