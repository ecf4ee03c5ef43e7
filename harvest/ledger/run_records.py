"""Runs as rows of the ledger: what is filed of them, and the records that are read from it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import Final

from harvest.ledger.database import Database
from harvest.ledger.records import dump_findings, load_findings, moment
from harvest.ledger.steps import Steps
from harvest.model import Finding
from harvest.model.seeds import public
from sparql.reports import DumpReport, RunReport, StepReport


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is filed of a run beside its outcome, as `RunReport` has it; None leaves what is filed already."""

    dataset: str | None = None
    version: int | None = None
    added: int | None = None
    removed: int | None = None
    vanished: int | None = None
    dumps: tuple[DumpReport, ...] | None = None
    findings: tuple[Finding, ...] | None = None


NO_FACTS: Final = RunFacts()


def dump_facts(facts: RunFacts) -> dict[str, str | int]:
    """Facts of a run as columns of `run`, without those that are None."""
    found: dict[str, str | int | None] = {
        "dataset": facts.dataset,
        "version": facts.version,
        "added": facts.added,
        "removed": facts.removed,
        "vanished": facts.vanished,
        "dumps": None if facts.dumps is None else json.dumps([asdict(dump) for dump in facts.dumps]),
        "findings": None if facts.findings is None else dump_findings(facts.findings),
    }
    return {name: value for name, value in found.items() if value is not None}


def read_runs(database: Database, query: str, *values: str | int | None) -> list[RunReport]:
    """The runs whose rows a query gives, in its order, each with its steps."""
    rows = database.rows(query, *values)
    steps = Steps(database).of(row["id"] for row in rows)
    return [_run_of(row, steps.get(row["id"], ())) for row in rows]


def _run_of(row: sqlite3.Row, steps: tuple[StepReport, ...] = ()) -> RunReport:
    """A row of `run`, with its steps."""
    started = moment(row["started"])
    assert started is not None
    return RunReport(
        id=row["id"],
        started=started,
        ended=moment(row["ended"]),
        outcome=row["outcome"],
        dataset=row["dataset"],
        modified=moment(row["modified"]),
        coverage=row["coverage"],
        version=row["version"],
        added=row["added"],
        removed=row["removed"],
        vanished_subjects=row["vanished"],
        dumps=_dumps_of(row["dumps"]),
        findings=load_findings(row["findings"]),
        steps=steps,
    )


def _dumps_of(text: str) -> tuple[DumpReport, ...]:
    """The dumps of a run that `dump_facts` wrote, their addresses without name and password."""
    return tuple(DumpReport(**item | {"url": public(item["url"])}) for item in json.loads(text))
