"""The statistics of each provider's current version, counted while it was committed."""

from __future__ import annotations

import json

from harvest.ledger.database import Database
from harvest.model import Statistics


class Figures:
    """
    The statistics of graphs.

    Those of a version are filed before it is committed, and are nobody's until then; those of earlier ones go with it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def get(self, name: str, version: int) -> Statistics | None:
        """The statistics of a version, or None where they were not counted, or are those of an old version."""
        row = self.database.row("SELECT * FROM statistics WHERE provider = ? AND version = ?", name, version)
        if row is None:
            return None
        counts = json.loads(row["counts"])
        return Statistics(row["triples"], row["subjects"], counts["properties"], counts["classes"])

    def totals(self, name: str, version: int) -> dict[str, int] | None:
        """How many subjects, properties and classes a version has, or None; the same cost for every graph."""
        row = self.database.row(
            "SELECT subjects, properties, classes FROM statistics WHERE provider = ? AND version = ?", name, version
        )
        return None if row is None else dict(row)

    def put(self, name: str, version: int, statistics: Statistics | None) -> None:
        """File the statistics of a version, which need not be committed yet; None leaves what is there."""
        if statistics is None:
            return
        counts = {"properties": dict(statistics.properties), "classes": dict(statistics.classes)}
        self.database.write(
            "INSERT OR REPLACE INTO statistics (provider, version, triples, subjects, properties, classes, counts)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            name,
            version,
            statistics.triples,
            statistics.subjects,
            len(statistics.properties),
            len(statistics.classes),
            json.dumps(counts, ensure_ascii=False, separators=(",", ":")),
        )
