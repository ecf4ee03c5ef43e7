"""Runs, versions and statistics of the ledger as reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from harvest.ledger import Ledger, ProviderRecord, VersionRecord
from harvest.ledger.compacting import baselines
from harvest.model import Statistics
from sparql.reports import (
    ClassCount,
    PropertyCount,
    PublishedVersion,
    RunPage,
    StatisticsReport,
    VersionPage,
    VersionReport,
)

ROWS: Final = 100
"""Runs, or versions, of one page."""


def version_report(version: VersionRecord) -> VersionReport:
    """The report of a version."""
    return VersionReport(
        n=version.n,
        run=version.run,
        at=version.at,
        coverage=version.coverage,
        dataset=version.dataset,
        modified=version.modified,
        added=version.added,
        removed=version.removed,
        triples=version.triples,
        sha256=version.digest,
    )


def statistics_report(record: ProviderRecord, statistics: Statistics) -> StatisticsReport:
    """The statistics of a provider's current version."""
    return StatisticsReport(
        name=record.name,
        graph=record.graph,
        version=record.version,
        triples=statistics.triples,
        subjects=statistics.subjects,
        properties=tuple(PropertyCount(iri, n) for iri, n in _by_count(statistics.properties)),
        classes=tuple(ClassCount(iri, n) for iri, n in _by_count(statistics.classes)),
    )


def _by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def run_page(ledger: Ledger, name: str, page: int) -> RunPage:
    """A page, from 1, of the runs of a provider."""
    total, _ = ledger.overview.counts(name)
    runs = ledger.runs(name, ROWS, (page - 1) * ROWS)
    return RunPage(name, total, page, max(1, math.ceil(total / ROWS)), tuple(runs))


def version_page(ledger: Ledger, page: int) -> VersionPage:
    """A page, from 1, of the versions of all providers."""
    _, total = ledger.overview.counts("")
    latest = ledger.overview.latest(ROWS, (page - 1) * ROWS)
    first = baselines(ledger.database)
    found = tuple(
        PublishedVersion(version.provider, version_report(version), first.get(version.provider) == version.n)
        for version in latest
    )
    return VersionPage(page, max(1, math.ceil(total / ROWS)), found)
