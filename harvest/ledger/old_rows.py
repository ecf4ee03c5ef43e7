"""Rows of the past that nothing needs any more, and letting them go a few at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harvest.ledger.database import Database, Value
from harvest.ledger.records import stamp

BATCH: Final = 1_000
"""Rows of each kind that one call lets go at most, trees of documents counting as one."""

GONE: Final = "runs let go "
"""What the key begins with, in `meta`, of the newest run of a provider that was let go."""

_NOT_NEWEST: Final = (
    "run.id < coalesce((SELECT id FROM run AS newer WHERE newer.provider = run.provider"
    " ORDER BY id DESC LIMIT 1 OFFSET ?), 0)"
)
_OLD_RUNS: Final = f"""
    SELECT id, provider, json_array_length(findings) AS findings, dumps FROM run
    WHERE ended < ? AND outcome != 'committed' AND {_NOT_NEWEST}
        AND id != (SELECT max(id) FROM run AS last WHERE last.provider = run.provider AND last.dataset IS run.dataset)
        AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.run = run.id)
        AND NOT EXISTS (SELECT 1 FROM announcement AS open
            WHERE open.id = run.announcement AND open.state IN ('seen', 'fetched', 'held'))
    ORDER BY id LIMIT {BATCH}
"""
_DELETIONS: Final = (
    f"DELETE FROM request WHERE id IN (SELECT id FROM request WHERE done < ? LIMIT {BATCH})",
    f"""
    DELETE FROM announcement WHERE id IN (SELECT id FROM announcement AS past
        WHERE seen < ? AND state IN ('done', 'superseded', 'failed')
            AND id < (SELECT max(id) FROM announcement AS last
                WHERE last.provider = past.provider AND last.iri = past.iri)
            AND NOT EXISTS (SELECT 1 FROM run WHERE run.announcement = past.id AND run.ended IS NULL)
            AND NOT (past.dataset ->> 'coverage' = 'partial' AND EXISTS (SELECT 1 FROM dataset AS whole
                WHERE whole.provider = past.provider AND whole.coverage = 'full'
                    AND whole.modified < past.dataset ->> 'modified'))
        LIMIT {BATCH})
    """,
    f"""
    DELETE FROM download WHERE id IN (SELECT id FROM download AS past
        WHERE ended < ? AND digest IS NULL AND log IS NOT NULL
            AND id < (SELECT max(id) FROM download AS last WHERE last.url = past.url)
        LIMIT {BATCH})
    """,
)
"""
Each takes the time before which something is old. Partial dumps that are newer than a full one of the provider stay:
they are applied again when that is harvested once more (`settling.apply_again`).
"""
_OLD_STEPS: Final = f"""
    DELETE FROM step WHERE run IN (SELECT id FROM run
        WHERE ended < ? AND {_NOT_NEWEST} AND EXISTS (SELECT 1 FROM step WHERE step.run = run.id) LIMIT {BATCH})
"""
_OLD_DOCUMENTS: Final = f"""
    DELETE FROM document WHERE download IN (SELECT hash FROM document AS past
        WHERE hash = download AND began < ? AND began < coalesce((SELECT began FROM document AS newer
                WHERE newer.seed = past.seed AND newer.hash = newer.download ORDER BY began DESC LIMIT 1 OFFSET ?), '')
            AND NOT EXISTS (SELECT 1 FROM seed WHERE seed.download = past.hash)
            AND NOT EXISTS (SELECT 1 FROM document AS clean WHERE clean.download = past.hash AND clean.loaded)
        LIMIT {BATCH})
"""


@dataclass(frozen=True, slots=True)
class OldRun:
    """
    A run that may go.

    Attributes:
        id: Ledger key.
        provider: Provider name.
        findings: How many it has.
        dumps: SHA-256 of its dumps.
    """

    id: int
    provider: str
    findings: int
    dumps: tuple[str, ...]


class OldRows:
    """
    What is old and needed by nothing.

    Of runs, those that made a version stay, and so does the last one of each dataset and each one whose announcement
    is open. Downloads that gave bytes stay, as the archive is asked by them.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def old_runs(self, before: datetime, newest: int) -> list[OldRun]:
        """Runs that ended before a time, made no version, and are not among the newest of their provider."""
        return [
            OldRun(row["id"], row["provider"], row["findings"], _digests(row["dumps"]))
            for row in self.database.rows(_OLD_RUNS, stamp(before), newest - 1)
        ]

    def let_go_runs(self, runs: Sequence[OldRun]) -> None:
        """Remove runs with their steps, and note of their providers that older ones were let go."""
        with self.database.transaction() as db:
            for run in runs:
                db.execute("DELETE FROM run WHERE id = ?", (run.id,))
                db.execute(
                    "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
                    " WHERE excluded.value + 0 > value + 0",
                    (GONE + run.provider, str(run.id)),
                )

    def let_go(self, before: datetime, newest: int) -> int:
        """Remove what is older than a time and not among the newest of its provider or seed; returns how many rows."""
        at = stamp(before)
        removed = sum(self._removed(statement, at) for statement in _DELETIONS)
        removed += self._removed(_OLD_STEPS, at, newest - 1)
        return removed + self._removed(_OLD_DOCUMENTS, at, newest - 1)

    def _removed(self, statement: str, *values: Value) -> int:
        with self.database.transaction() as db:
            return db.execute(statement, values).rowcount


def _digests(dumps: str) -> tuple[str, ...]:
    return tuple(dump["sha256"] for dump in json.loads(dumps) if dump.get("sha256"))
