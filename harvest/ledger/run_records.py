"""Runs as rows of the ledger: what was tried, what it did, and what is filed of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from harvest.ledger.records import dump_findings
from harvest.model import Finding


@dataclass(frozen=True, slots=True)
class StepRecord:
    """
    One step of a run.

    Attributes:
        name: As in `harvest.pipeline.STEPS`, or `wait` between the download and the rest.
        started: When (aware, UTC); where the one before ended.
        ended: When, or None while it goes on.
        broken: Whether the process ended in it; `ended` is then when that was noticed.
        figures: What it did so far, by name.
    """

    name: str
    started: datetime
    ended: datetime | None
    broken: bool
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunDump:
    """
    A dump that a run downloaded.

    Attributes:
        url: Where it was asked for.
        sha256: Of its bytes as received.
        bytes: Its size.
        media_type: As the server declared it, or None.
    """

    url: str
    sha256: str
    bytes: int
    media_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is filed of a run beside its outcome, as `Run` has it; None leaves what is filed already."""

    dataset: str | None = None
    version: int | None = None
    added: int | None = None
    removed: int | None = None
    vanished: int | None = None
    dumps: tuple[RunDump, ...] | None = None
    findings: tuple[Finding, ...] | None = None


NO_FACTS: Final = RunFacts()


@dataclass(frozen=True, slots=True)
class Run:
    """
    One try at harvesting a dataset, or at reading a description that could not be read.

    Attributes:
        id: Ascending over all providers.
        provider: Provider name.
        announcement: What was tried, or None for a description.
        started: When (aware, UTC).
        ended: When, or None while it runs.
        outcome: committed, unchanged, held or failed; None while it runs.
        dataset: Dataset IRI, or None.
        modified: Its dcterms:modified, or None.
        coverage: full or partial, or None.
        version: The version it made, or None.
        added: Triples added, or that would be when held.
        removed: Triples removed, or that would be when held.
        vanished: Subjects that the graph had and a full input lacks.
        dumps: What it downloaded, in the order of the dataset.
        findings: What was noticed.
        steps: What it did, in order.
    """

    id: int
    provider: str
    announcement: int | None
    started: datetime
    ended: datetime | None
    outcome: str | None
    dataset: str | None
    modified: datetime | None
    coverage: str | None
    version: int | None
    added: int
    removed: int
    vanished: int
    dumps: tuple[RunDump, ...]
    findings: tuple[Finding, ...]
    steps: tuple[StepRecord, ...] = ()


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


def load_dumps(text: str) -> tuple[RunDump, ...]:
    """The dumps of a run that `dump_facts` wrote."""
    return tuple(RunDump(**item) for item in json.loads(text))
