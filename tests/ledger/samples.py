"""Values for the tests of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from harvest.ledger import Database, Ledger, VersionRecord
from harvest.model import Announcement, Capture, Coverage, Dataset, Validators

NOW = datetime(2026, 11, 20, 12, 0, 0, 123456, UTC)
GRAPH = "http://example.org/graph/a"
IRI = "http://example.org/void#d"


def later(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def dataset(iri: str = IRI, coverage: Coverage = Coverage.FULL, modified: datetime | None = NOW) -> Dataset:
    return Dataset(iri, ("http://example.org/é.nt", "http://example.org/b.nt"), coverage, modified, "Größe")


def capture(digest: str = "0" * 64) -> Capture:
    return Capture(
        "http://example.org/é.nt",
        "http://example.org/final.nt",
        NOW,
        200,
        digest,
        12345,
        "application/n-triples",
        ("http://example.org/moved.nt",),
        Validators('"etag"', "Fri, 20 Nov 2026 12:00:00 GMT"),
    )


def ledger(folder: Path, *names: str) -> Ledger:
    """A new ledger that knows the providers of those names."""
    made = Ledger(Database(folder / "ledger.sqlite"))
    for name in names:
        made.enrol(name, f"http://example.org/graph/{name}")
    return made


def announced(made: Ledger, name: str = "a", what: Dataset | None = None) -> Announcement:
    """A dataset, filed as to be harvested."""
    found = made.announcements.get(made.announcements.add(name, what or dataset(), NOW))
    assert found is not None
    return found


def version(n: int, run: int, *, triples: int = 10, modified: datetime | None = NOW, name: str = "a") -> VersionRecord:
    return VersionRecord(name, n, run, "loading", NOW, "full", IRI, modified, 7, 3, triples, "d" * 64)
