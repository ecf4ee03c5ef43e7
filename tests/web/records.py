"""What the catalog of the tests holds: reports, filed for the process that serves them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sparql.reports import (
    ClassCount,
    DatasetFinding,
    DumpReport,
    PropertyCount,
    ProviderReport,
    RunReport,
    StatisticsReport,
    VersionReport,
)

SHA256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
STARTED = datetime(2026, 3, 1, 10, 0, 0, tzinfo=UTC)
ENDED = datetime(2026, 3, 1, 10, 0, 9, tzinfo=UTC)

RUN = RunReport(
    id=7,
    started=STARTED,
    ended=ENDED,
    outcome="committed",
    dataset=None,
    modified=None,
    coverage=None,
    version=2,
    added=1500,
    removed=500,
    vanished_subjects=3,
    dumps=(DumpReport("http://data.example/a.ttl", SHA256, 123456, "text/turtle"),),
    findings=(),
    steps=(),
)

FAILED = replace(RUN, id=8, outcome="failed", version=None)

FINDING = DatasetFinding(
    "wash",
    "The dump does not parse: <b>, see `harvest check`.",
    "http://data.example/b.ttl",
    17,
    4,
    "  <s> <p> 'x'",
    fatal=True,
    dataset=None,
)


def provider(name: str, **different: Any) -> ProviderReport:
    """The report of a provider in good state, with what is different."""
    usual = ProviderReport(
        name=name,
        graph=f"http://example.org/graph/{name}",
        state="idle",
        modified=datetime(2026, 2, 28, tzinfo=UTC),
        version=2,
        triples=3000,
        statistics=None,
        last_run=RUN,
        runs_let_go=None,
        findings=(),
        trouble=None,
        next_check=datetime(2026, 3, 1, 10, 1, tzinfo=UTC),
        source=None,
        url=None,
        removals=None,
        contact=None,
        notify=None,
        datasets=(),
        about=(),
    )
    return replace(usual, **different)


def version(n: int, **different: Any) -> VersionReport:
    """The report of a version, with what is different."""
    usual = VersionReport(
        n=n,
        run=7,
        at=STARTED,
        coverage="full",
        dataset=None,
        modified=None,
        added=2000,
        removed=0,
        triples=2000,
        sha256=None,
    )
    return replace(usual, **different)


RECORDS: dict[str, Any] = {
    "providers": [
        provider("a"),
        provider("b", state="failing", findings=(FINDING,), last_run=FAILED),
        provider("new", version=0, triples=0, modified=None, last_run=None, next_check=None),
    ],
    "versions": {"a": [version(1, sha256=SHA256), version(2, at=ENDED, added=1500, removed=500, triples=3000)]},
    "runs": {"a": [RUN], "b": [FAILED]},
}


def file_records(folder: Path, records: Mapping[str, Any]) -> None:
    """File `providers`, `versions` and `runs` by name, and `statistics`, for a `FolderCatalog`."""
    (folder / "catalog.pickle").write_bytes(pickle.dumps(dict(records)))


def statistics_of(found: Mapping[str, Any]) -> StatisticsReport:
    """Statistics from their JSON; a test gives what it is about."""
    return StatisticsReport(
        name=found.get("name", "a"),
        graph=found.get("graph", "http://a/g"),
        version=found.get("version", 1),
        triples=found.get("triples", 0),
        subjects=found.get("subjects", 0),
        properties=tuple(PropertyCount(each["property"], each["triples"]) for each in found["properties"]),
        classes=tuple(ClassCount(each["class"], each["entities"]) for each in found["classes"]),
    )
