"""A run over one announcement: what it works with, and the dumps that it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harvest.ledger import ProviderRecord, RunFacts
from harvest.model import Announcement, Capture, Coverage, Document, Finding, Provider, Source
from harvest.pipeline.harvest import changes, mirroring, older_names
from harvest.pipeline.instance import Instance
from harvest.pipeline.run_progress import RunProgress
from harvest.pipeline.seeds.dump_records import DumpRecords
from harvest.revise.target import Origin
from harvest.wash.leaves import Progress
from sparql.reports import DumpReport


@dataclass(slots=True)
class Harvest:
    """
    One run over one announcement.

    Attributes:
        instance: The tools.
        provider: As registered now.
        announcement: What is harvested; its captures are filed.
        record: What the ledger knows of the provider.
        progress: The progress of the run.
        mirrored: Whether the graph becomes exactly the input; the description may change while the run goes on.
        left: Datasets that had left the description when the run began, by IRI.
        findings: What was noticed so far.
    """

    instance: Instance
    provider: Provider
    announcement: Announcement
    record: ProviderRecord
    progress: RunProgress
    mirrored: bool
    left: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)

    @property
    def run(self) -> int:
        """Ledger key of the run."""
        return self.progress.run

    @property
    def is_update(self) -> bool:
        """Whether an operator's update made the dump: then it is the whole graph, on purpose, and never tried again."""
        return self.provider.source is Source.UPDATES and self.announcement.dataset.iri == self.record.graph

    @property
    def is_change(self) -> bool:
        """
        Whether the dumps say what goes and what comes.

        Raises:
            WashError: Some do and some do not.
        """
        return changes.are_changes(self.announcement.captures)

    def facts(self, *, added: int | None = None, removed: int | None = None, vanished: int | None = None) -> RunFacts:
        """What the ledger files of the run, whatever its outcome; counts where they are known."""
        dumps = tuple(
            DumpReport(c.url, c.digest, c.length, c.media_type) for c in self.announcement.captures if c.digest
        )
        findings = tuple(self.findings)
        return RunFacts(added=added, removed=removed, vanished=vanished, dumps=dumps, findings=findings)


def captures_of(job: Harvest) -> list[tuple[str | None, Capture]]:
    """The dumps of the announcement, each with its dataset; under mirroring with those of the other datasets."""
    dataset = None if job.is_update else job.announcement.dataset.iri
    captures: list[tuple[str | None, Capture]] = [(dataset, capture) for capture in job.announcement.captures]
    if job.mirrored and not job.is_update:
        captures += mirroring.other_captures(job.instance.ledger, job.announcement)
    return [(dataset, capture) for dataset, capture in captures if capture.digest]


def document_of(job: Harvest, capture: Capture, dataset: str | None) -> Document:
    """What is to be washed of a dump."""
    assert capture.digest is not None
    path = job.instance.content.path(capture.digest)
    steady = dataset is not None and job.announcement.dataset.coverage is Coverage.FULL
    is_page = dataset == job.announcement.dataset.iri and bool(job.announcement.dataset.lastmods)
    keep = job.instance.settings.layout.pages(job.provider.name) if is_page else None
    return Document(path, capture.final_url, capture.media_type, dataset=dataset, steady=steady, keep=keep)


def origin_of(job: Harvest) -> Origin:
    """Where the input is from."""
    return older_names.origin(job.instance.ledger, job.provider.name, job.announcement.dataset)


@dataclass(frozen=True, slots=True)
class Given:
    """The dumps that are to be washed, with their addresses, records, and who hears how far it is."""

    documents: list[Document]
    urls: list[str]
    records: DumpRecords
    on_report: Callable[[Progress], None]


def given_to(job: Harvest) -> Given:
    """The dumps of a run, which begins to wash them."""
    job.progress.step("wash")
    records, captures = DumpRecords(job.instance, job.provider.name), captures_of(job)
    urls = [capture.url for _, capture in captures]
    documents = [document_of(job, capture, dataset) for dataset, capture in captures]
    on_report = job.progress.on_washing(records.on_washing(documents, urls))
    return Given(documents, urls, records, on_report)
