"""Rows of the ledger's tables as records."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Any

from harvest.ledger.records import (
    DatasetRecord,
    ProviderRecord,
    VersionRecord,
    load_about,
    load_captures,
    load_dataset,
    moment,
    stamp,
)
from harvest.model import Announcement, Coverage, Validators


def provider_of(row: sqlite3.Row) -> ProviderRecord:
    """A row of `provider`."""
    return ProviderRecord(
        row["name"],
        row["graph"],
        row["url"],
        Validators(row["etag"], row["last_modified"]),
        row["description"],
        moment(row["written"]),
        moment(row["modified"]),
        row["version"],
        row["triples"],
        moment(row["retry_at"]),
        row["failures"],
        load_about(row["about"]),
        row["base"],
        row["baseline"],
    )


def dataset_of(row: sqlite3.Row) -> DatasetRecord:
    """A row of `dataset`."""
    committed = moment(row["committed"])
    assert committed is not None
    return DatasetRecord(
        row["iri"],
        moment(row["modified"]),
        Coverage(row["coverage"]),
        committed,
        load_captures(row["captures"]),
        row["rules"],
        row["version"],
        bool(row["mirrored"]),
        row["sync_token"],
    )


def announcement_of(row: sqlite3.Row) -> Announcement:
    """A row of `announcement`."""
    seen = moment(row["seen"])
    assert seen is not None
    return Announcement(row["provider"], load_dataset(row["dataset"]), seen, row["id"], load_captures(row["captures"]))


def version_of(row: sqlite3.Row) -> VersionRecord:
    """A row of `version`."""
    values: dict[str, Any] = dict(row)
    values["at"] = moment(values["at"])
    values["modified"] = moment(values["modified"])
    return VersionRecord(**values)


def insert_version(db: sqlite3.Connection, version: VersionRecord) -> None:
    """Add a row to `version`."""
    values = asdict(version) | {"at": stamp(version.at), "modified": stamp(version.modified)}
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    db.execute(f"INSERT INTO version ({names}) VALUES ({marks})", tuple(values.values()))
