"""Runs, versions, and what was found in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finding:
    """
    Something people should know about a provider's data.

    Attributes:
        kind: Kebab-case, stable, for machines.
        message: One sentence for people.
        url: The document it was found in, or None.
        line: Line there, from 1, or None.
        column: Column there, from 1, or None.
        excerpt: The text around the place, as found, or None.
        fatal: Whether it stopped the harvest.
    """

    kind: str
    message: str
    url: str | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class DumpReport:
    """
    A dump that a run downloaded.

    Attributes:
        url: Where it was asked for, without name and password.
        sha256: Of its bytes as received.
        bytes: Its size.
        media_type: As the server declared it, or None.
    """

    url: str
    sha256: str
    bytes: int
    media_type: str | None


@dataclass(frozen=True, slots=True)
class StepReport:
    """
    One step of a run.

    Attributes:
        name: As in `harvest.pipeline.STEPS`, or `wait` between the download and the rest.
        started: When; where the one before ended.
        ended: When, or None while it goes on.
        seconds: How long it took, or None while it goes on.
        broken: Whether the process ended in it; `ended` is then when that was noticed.
        figures: What it did so far, by name.
    """

    name: str
    started: datetime
    ended: datetime | None
    seconds: float | None
    broken: bool
    figures: Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class RunReport:
    """
    One try at harvesting a dataset, or at reading a description that could not be read.

    Attributes:
        id: Ascending over all providers.
        started: When.
        ended: When, or None while it goes on.
        outcome: committed, unchanged, held or failed; None while it goes on.
        dataset: IRI, or None.
        modified: The dataset's dcterms:modified, or None.
        coverage: full or partial, or None.
        version: The version it made, or None.
        added: Triples added, or that would be when held.
        removed: Triples removed, or that would be when held.
        vanished_subjects: Subjects that the graph had and a full input lacks.
        dumps: What was downloaded, in the order of the dataset.
        findings: What was noticed.
        steps: What it did, in order.
    """

    id: int
    started: datetime
    ended: datetime | None
    outcome: str | None
    dataset: str | None
    modified: datetime | None
    coverage: str | None
    version: int | None
    added: int
    removed: int
    vanished_subjects: int
    dumps: tuple[DumpReport, ...]
    findings: tuple[Finding, ...]
    steps: tuple[StepReport, ...]

    @property
    def step(self) -> str | None:
        """The name of the step that it is at, or ended with; None before the first."""
        return self.steps[-1].name if self.steps else None


@dataclass(frozen=True, slots=True)
class VersionReport:
    """
    One version of a provider's graph.

    Attributes:
        n: From 1, without gaps.
        run: Id of the run that made it.
        at: When it was filed.
        coverage: full or partial.
        dataset: IRI of the dataset that changed, or None.
        modified: The dataset's dcterms:modified, or None.
        added: Triples added to the version before.
        removed: Triples removed from it.
        triples: In this version.
        sha256: Of its canonical N-Quads; None until they were written.
    """

    n: int
    run: int
    at: datetime
    coverage: str
    dataset: str | None
    modified: datetime | None
    added: int
    removed: int
    triples: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class PackedFile:
    """
    A file that is kept compressed with gzip.

    Attributes:
        path: Where it is.
        length: Of what it holds, in bytes.
    """

    path: Path
    length: int


@dataclass(frozen=True, slots=True)
class RunPage:
    """
    A page of the runs of a provider.

    Attributes:
        name: Provider name.
        total: Runs on all pages.
        page: From 1.
        pages: How many there are.
        runs: On this page, the newest first.
    """

    name: str
    total: int
    page: int
    pages: int
    runs: tuple[RunReport, ...]


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """
    A version of any provider.

    Attributes:
        provider: Provider name.
        version: The version.
        is_baseline: Whether what it changed was dropped, with the versions before it.
    """

    provider: str
    version: VersionReport
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class VersionPage:
    """
    A page of the versions of all providers.

    Attributes:
        page: From 1.
        pages: How many there are.
        versions: On this page, the newest first.
    """

    page: int
    pages: int
    versions: tuple[PublishedVersion, ...]
