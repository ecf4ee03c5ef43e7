"""Providers and their datasets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sparql.reports.filesets import IngestReport
from sparql.reports.runs import Finding, RunReport
from sparql.reports.writing import OPTIONAL

LEDGER: Final = "ledger"
"""The kind of the finding that nothing can be filed, of whatever provider."""


@dataclass(frozen=True, slots=True)
class DatasetFinding(Finding):
    """
    A finding of a provider.

    Attributes:
        dataset: IRI of the dataset it is about, or None where it is about all of the provider.
    """

    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class WaitingReport:
    """
    An announcement that is not harvested yet.

    Attributes:
        announcement: Its number, for `harvest skip`.
        coverage: full or partial.
        state: seen (to be downloaded), fetched (to be harvested) or held (for approval).
        announced: When it was seen.
        until: When it is tried again after a failure, or None.
        behind: Number of the older announcement that has to be harvested first, or None.
        reason: Why it waits, for people.
    """

    announcement: int
    coverage: str
    state: str
    announced: datetime
    until: datetime | None
    behind: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """
    A dataset of a provider.

    Attributes:
        iri: Its IRI.
        title: As described, or None.
        described: Whether the description names it now.
        published: Its dcterms:modified in the description, or None.
        coverage: full or partial, as last harvested; None where nothing says.
        modified: Its dcterms:modified as last harvested, or None.
        committed: When it was last harvested, or None.
        state: failing, held, harvesting, waiting or idle.
        since: Since when it fails or is held, or None.
        tries: How many tries went wrong since then.
        run: Id of the run that describes the last of them, or None.
        last_try: When the last of them ended, or None.
        next_try: When it is tried again, or None.
        commands: What somebody can do about it.
        waiting: Its announcements that are not harvested yet, oldest first.
        reason: Why nothing of it is harvested now, for people.
        findings: What is wrong or odd with it, what stopped a harvest first.
    """

    iri: str
    title: str | None
    described: bool
    published: datetime | None
    coverage: str | None
    modified: datetime | None
    committed: datetime | None
    state: str
    since: datetime | None
    tries: int
    run: int | None
    last_try: datetime | None
    next_try: datetime | None
    commands: tuple[str, ...]
    waiting: tuple[WaitingReport, ...]
    reason: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class TroubleReport:
    """
    How the dataset that is worst off goes wrong.

    Attributes:
        dataset: Its IRI, or None for the description of the provider.
        since: When the first try that went wrong began.
        tries: How many have gone wrong since.
        run: Id of the run that describes the last one, or None.
        at: When the last one ended.
    """

    dataset: str | None
    since: datetime
    tries: int
    run: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class AboutReport:
    """
    What a description says of a dataset.

    Attributes:
        iri: Of the dataset.
        title: Its name, or None.
        description: A text, or None.
        licence: Address or words, or None.
        publisher: Address or words, or None.
        homepage: Address, or None.
        examples: IRIs of things in it.
        creators: Names, or None where no repository has any.
        doi: Without a resolver, or None.
        version: As its repository names it, or None.
        issued: When its repository published it, as written there, or None.
        citation: How to cite it, or None.
    """

    iri: str
    title: str | None
    description: str | None
    licence: str | None
    publisher: str | None
    homepage: str | None
    examples: tuple[str, ...]
    creators: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    doi: str | None = field(default=None, metadata=OPTIONAL)
    version: str | None = field(default=None, metadata=OPTIONAL)
    issued: str | None = field(default=None, metadata=OPTIONAL)
    citation: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class TotalsReport:
    """
    How much there is in a version.

    Attributes:
        subjects: Distinct subjects.
        properties: Distinct predicates.
        classes: Distinct classes.
    """

    subjects: int
    properties: int
    classes: int


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """
    A provider.

    Attributes:
        name: As registered.
        graph: IRI of its graph.
        state: idle, harvesting, held, failing or disabled.
        modified: Latest dcterms:modified that was committed, or None.
        version: Number of the last committed version; 0 before the first.
        triples: In that version.
        statistics: Of that version, once it is counted, or None.
        last_run: The run that began last, or None.
        runs_let_go: The newest run that was let go, older ones than which may be gone, or None.
        findings: What people should know, what stopped a harvest first.
        trouble: How its worst dataset goes wrong, or None.
        next_check: When its description is looked at next, or None.
        source: The key of its registry entry, such as void; None once it left the registry.
        url: Where it describes its data, without name and password, or None.
        removals: keep or mirror, or None.
        contact: Whom to ask, or None.
        notify: Who is to be notified of outcomes, or None.
        datasets: Those of its description, then others that were harvested or tried.
        about: What its description says of it.
        baseline: The first version that is kept, where those before it were dropped, or None.
        ingest: What came of its landing page, where it is registered by one whose platform is known, or None.
    """

    name: str
    graph: str
    state: str
    modified: datetime | None
    version: int
    triples: int
    statistics: TotalsReport | None
    last_run: RunReport | None
    runs_let_go: int | None
    findings: tuple[DatasetFinding, ...]
    trouble: TroubleReport | None
    next_check: datetime | None
    source: str | None
    url: str | None
    removals: str | None
    contact: str | None
    notify: str | None
    datasets: tuple[DatasetReport, ...]
    about: tuple[AboutReport, ...]
    baseline: int | None = field(default=None, metadata=OPTIONAL)
    ingest: IngestReport | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """
    What lists show of a run; fields as those of `RunReport`.

    Attributes:
        step: The step that it is at, or None.
    """

    id: int
    started: datetime
    ended: datetime | None
    outcome: str | None
    step: str | None


@dataclass(frozen=True, slots=True)
class ProviderSummary:
    """
    What lists of thousands of providers show of each; fields as those of `ProviderReport`.

    Attributes:
        title: Of its first dataset, or None.
        tried: When the last try was made at a dataset that fails or is held; None where all went well.
    """

    name: str
    state: str
    modified: datetime | None
    version: int
    triples: int
    last_run: RunSummary | None
    next_check: datetime | None
    title: str | None
    tried: datetime | None
