"""The little that lists show of each provider, all of them in one query."""

from __future__ import annotations

from dataclasses import dataclass

from harvest.ledger.database import Database

_QUERY = """
    SELECT p.name, p.version, p.triples, p.modified, p.retry_at, p.about ->> '$[0].title' AS title,
        last.id AS run, last.started, last.ended, last.outcome,
        (SELECT name FROM step WHERE run = last.id AND last.ended IS NULL AND step.ended IS NULL) AS step,
        EXISTS (SELECT 1 FROM announcement WHERE provider = p.name AND state = 'held') AS is_held,
        settled.outcome IS 'failed' OR settled.findings LIKE '%"fatal": true%'
            OR EXISTS (SELECT 1 FROM finding WHERE provider = p.name AND finding ->> 'fatal') AS is_failing,
        CASE WHEN settled.outcome IN ('failed', 'held') THEN settled.ended END AS bad
    FROM provider AS p
    LEFT JOIN run AS last ON last.id = (SELECT id FROM run WHERE provider = p.name ORDER BY id DESC LIMIT 1)
    LEFT JOIN run AS settled ON settled.id = (SELECT id FROM run WHERE provider = p.name AND ended IS NOT NULL
        AND NOT (outcome = 'failed' AND announcement IS NULL AND p.failures = 0) ORDER BY id DESC LIMIT 1)
    ORDER BY p.name
"""


@dataclass(frozen=True, slots=True)
class Outline:
    """
    What lists show of a provider; times are as filed.

    Attributes:
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
        is_held: Whether the shrink guard holds something.
        is_failing: Whether the last try that tells how things are failed.
        bad: When the last run that ended failed or was held; None where it went well.
    """

    name: str
    version: int
    triples: int
    modified: str | None
    retry_at: str | None
    title: str | None
    run: int | None
    started: str | None
    ended: str | None
    outcome: str | None
    step: str | None
    is_held: int
    is_failing: int
    bad: str | None


def outlines(database: Database) -> dict[str, Outline]:
    """All providers ever seen, by name."""
    return {row["name"]: Outline(*row) for row in database.rows(_QUERY)}
