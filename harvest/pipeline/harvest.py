"""Harvesting: the filed dumps of an announcement become a version, or the reason why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harvest.errors import HarvestError, StoppedError, WashError
from harvest.ledger import ProviderRecord
from harvest.ledger.announcements import backoff
from harvest.model import (
    Announcement,
    Capture,
    Coverage,
    Document,
    Finding,
    Outcome,
    Provider,
    Removals,
    Snapshot,
    Source,
    Status,
)
from harvest.pipeline import verdict, washing
from harvest.pipeline.commit import Candidate, Inputs, commit
from harvest.pipeline.course import Course
from harvest.pipeline.facts import tell
from harvest.pipeline.look import as_finding
from harvest.pipeline.register import Register
from harvest.pipeline.workshop import Workshop
from harvest.revise import lines, replace
from harvest.revise.partial import partial
from harvest.revise.replace import Revision
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Progress


@dataclass(slots=True)
class Harvest:
    """
    One run over one announcement.

    Attributes:
        workshop: The tools.
        provider: As registered now.
        announcement: What is harvested; its captures are filed.
        record: What the ledger knows of the provider.
        course: The run.
        findings: What was noticed so far.
    """

    workshop: Workshop
    provider: Provider
    announcement: Announcement
    record: ProviderRecord
    course: Course
    findings: list[Finding] = field(default_factory=list)

    @property
    def run(self) -> int:
        """Ledger key of the run."""
        return self.course.run

    @property
    def is_update(self) -> bool:
        """Whether an operator's update made the dump: then it is the whole graph, on purpose, and never tried again."""
        return self.provider.source is Source.UPDATES and self.announcement.dataset.iri == self.record.graph

    def facts(self) -> dict[str, Any]:
        """What the ledger files of the run, whatever its outcome."""
        dumps = [
            {"url": c.url, "sha256": c.digest, "bytes": c.length, "media_type": c.media_type}
            for c in self.announcement.captures
        ]
        return {"dumps": dumps, "findings": tuple(self.findings)}


def harvest(workshop: Workshop, announcement: Announcement, provider: Provider) -> Outcome:
    """Harvest one announcement whose dumps are filed; the outcome is in the ledger when this returns."""
    record = workshop.ledger.provider(announcement.provider)
    assert record is not None
    if _failed_before(workshop, announcement):
        return Outcome.FAILED
    job = Harvest(workshop, provider, announcement, record, _begun(workshop, announcement))
    try:
        outcome = _unchanged(job, 0) if _same_bytes(job) else _harvested(job)
    except StoppedError as error:
        job.findings.append(Finding("interrupted", error.message))
        workshop.ledger.end_run(job.run, Outcome.FAILED, workshop.clock(), **job.facts())
        raise
    except HarvestError as error:
        outcome = _failed(job, error)
    if outcome is not Outcome.COMMITTED:
        tell(workshop, provider.name, job.run)
    return outcome


def _begun(workshop: Workshop, announcement: Announcement) -> Course:
    """The run that the download began, or a new one."""
    now = workshop.clock()
    run = workshop.ledger.steps.resume(announcement.id, "check", now)
    if run is None:
        run = workshop.ledger.start_run(announcement.provider, now, announcement, "check")
    course = Course(workshop, announcement.provider, run)
    course.begun("check")
    return course


def _failed_before(workshop: Workshop, announcement: Announcement) -> bool:
    """Whether the same bytes failed to be washed already; then no further run says so, and they are tried later."""
    runs = workshop.ledger.runs(announcement.provider, 20)
    mine = [run for run in runs if run.announcement == announcement.id]
    before = next((run for run in mine if run.ended is not None), None)
    if before is None or before.outcome != Outcome.FAILED or not any(f.kind == "wash" for f in before.findings):
        return False
    if [dump["sha256"] for dump in before.dumps] != [c.digest for c in announcement.captures]:
        return False
    for run in mine:
        if run.ended is None:
            workshop.ledger.drop_run(run.id)
    _postpone(workshop, announcement)
    return True


def _postpone(workshop: Workshop, announcement: Announcement) -> None:
    announcements = workshop.ledger.announcements
    announcements.postpone(announcement.id, workshop.clock() + backoff(announcements.failures(announcement.id)))


def _unchanged(job: Harvest, vanished: int) -> Outcome:
    facts = job.facts() | {"vanished": vanished}
    job.workshop.ledger.unchanged(job.announcement, job.run, job.workshop.clock(), **facts)
    return Outcome.UNCHANGED


def _same_bytes(job: Harvest) -> bool:
    """Whether the dumps are byte for byte those of the last harvest of the dataset."""
    dataset = job.announcement.dataset
    last = job.workshop.ledger.dataset(job.provider.name, dataset.iri)
    if job.is_update or last is None or last.coverage is not dataset.coverage:
        return False
    same = [c.digest for c in last.captures] == [c.digest for c in job.announcement.captures]
    newer = dataset.modified is not None and (last.modified is None or dataset.modified > last.modified)
    if same and newer:
        job.findings.append(
            Finding("same-bytes", f"{dataset.iri} has a newer date but its dumps are the same bytes", dataset.iri)
        )
    if not same and not newer and dataset.modified is not None and dataset.modified == last.modified:
        job.findings.append(
            Finding("same-date", f"{dataset.iri} has the same date but its dumps are other bytes", dataset.iri)
        )
    return same


def _harvested(job: Harvest) -> Outcome:
    with job.workshop.room() as room:
        washed, documents = _wash(job, room)
        if washed.snapshot.triples == 0 and not job.is_update:
            raise WashError("the dumps hold no triple; nothing was changed", url=job.announcement.dataset.dumps[0])
        revision, snapshot = _revise(job, washed.snapshot, room)
        delta = revision.delta
        counts = {"added": delta.added_triples, "removed": delta.removed_triples}
        job.course.tell(**counts, **({"vanished_subjects": revision.vanished} if revision.vanished else {}))
        if delta.added_triples == delta.removed_triples == 0:
            return _unchanged(job, revision.vanished)
        if _too_much(job, delta.removed_triples):
            return _held(job, revision)
        triples = job.record.triples + delta.added_triples - delta.removed_triples
        job.workshop.ledger.note_run(job.run, **job.facts(), vanished=revision.vanished)
        made = Inputs(tuple(documents), _mirrors(job))
        candidate = Candidate(job.announcement, job.run, delta, snapshot, washed.snapshot, triples, made)
        commit(job.workshop, candidate, room, job.course)
        return Outcome.COMMITTED


def _wash(job: Harvest, room: Path) -> tuple[Washed, list[Document]]:
    job.course.step("wash")
    graph = job.workshop.settings.graph(job.provider.name)
    register, captures = Register(job.workshop, job.provider.name), _captures(job)
    urls = [capture.url for capture in captures]
    given = [_document(job, capture) for capture in captures]
    washed, documents = washing.union(job.workshop, given, graph, room, _hearing(job, register.hearing(given, urls)))
    job.course.tell(**_told(washed, captures))
    register.washed(urls, washed.documents)
    if not job.is_update or captures[0].length:  # an update may empty the graph, and may lose nothing of it
        threshold = 0 if job.is_update else job.workshop.settings.wash.threshold
        verdict.check(documents, washed.documents, threshold)
    job.findings += verdict.findings(documents, washed.documents)
    return washed, documents


def _hearing(job: Harvest, filed: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """What hears how far the washing is."""
    files: set[tuple[str, ...]] = set()

    def heard(progress: Progress) -> None:
        filed(progress)
        files.add((progress.url, *progress.names))
        job.course.hear(files=len(files), at="/".join(progress.names) or progress.url, doing=progress.status.value)

    return heard


def _told(washed: Washed, captures: list[Capture]) -> dict[str, int]:
    """What washing gave."""
    parts = [part for document in washed.documents for part in document]
    told = {
        "files": sum(part.status is not Status.DEPLETED for part in parts),
        "bytes": sum(capture.length for capture in captures),
        "triples": washed.snapshot.triples,
    }
    more = {"blank_nodes": washed.blank_nodes, "left_out": sum(part.dropped for part in parts)}
    return told | {name: figure for name, figure in more.items() if figure}


def _captures(job: Harvest) -> list[Capture]:
    """The dumps of the announcement; under mirroring with those of the provider's other datasets."""
    captures = list(job.announcement.captures)
    if _mirrors(job) and not job.is_update:
        # What updates wrote before the provider got a description is none of its datasets.
        mine = (job.announcement.dataset.iri, job.record.graph)
        for other in job.workshop.ledger.datasets(job.provider.name):
            if other.iri not in mine:
                captures.extend(other.captures)
    return [capture for capture in captures if capture.digest]


def _document(job: Harvest, capture: Capture) -> Document:
    assert capture.digest is not None
    return Document(job.workshop.content.path(capture.digest), capture.final_url, capture.media_type)


def _mirrors(job: Harvest) -> bool:
    """Whether the graph is to become exactly the input: asked for, and no dataset of the provider is partial."""
    if job.is_update:
        return True
    if job.provider.removals is not Removals.MIRROR or job.announcement.dataset.coverage is not Coverage.FULL:
        return False
    others = job.workshop.ledger.datasets(job.provider.name)
    return all(d.coverage is Coverage.FULL or d.iri == job.announcement.dataset.iri for d in others)


def _revise(job: Harvest, new: Snapshot, room: Path) -> tuple[Revision, Snapshot | None]:
    """What the input changes, and the whole new graph where it was made on the way."""
    job.course.step("revise")
    graph = job.workshop.settings.graph(job.provider.name)
    if job.record.version == 0:
        return replace.first(new, room), new
    if job.announcement.dataset.coverage is Coverage.PARTIAL:
        with job.workshop.current(job.record, room) as current:
            return partial(graph, new.path, current, room), None
    old = job.workshop.whole(job.record, room)
    if _mirrors(job):
        return replace.mirror(old, new.path, graph, room), new
    revision = replace.full(old, new.path, graph, room)
    assert revision.kept is not None
    if revision.kept.stat().st_size == 0:
        return revision, new
    return revision, lines.union(room / "whole.nq", new.path, revision.kept)


def _too_much(job: Harvest, removed: int) -> bool:
    """Whether the shrink guard holds this many removals."""
    guard = job.workshop.settings.guard
    if job.is_update or job.workshop.ledger.announcements.approved(job.announcement.id):
        return False
    return removed > max(guard.floor, guard.share * job.record.triples)


def _held(job: Harvest, revision: Revision) -> Outcome:
    guard, delta = job.workshop.settings.guard, revision.delta
    name = job.provider.name
    message = (
        f"{delta.removed_triples} of {job.record.triples} triples would be removed and {delta.added_triples} added; "
        f"more than {guard.floor} and more than {guard.share:.0%} of the graph need approval: "
        f"look at the dumps, then `harvest approve {name}`"
    )
    job.findings.append(Finding("held", message, job.announcement.dataset.iri, fatal=True))
    counts = {"added": delta.added_triples, "removed": delta.removed_triples, "vanished": revision.vanished}
    job.workshop.ledger.announcements.settle(job.announcement.id, "held")
    job.workshop.ledger.end_run(job.run, Outcome.HELD, job.workshop.clock(), **job.facts(), **counts)
    return Outcome.HELD


def _failed(job: Harvest, error: HarvestError) -> Outcome:
    """File a failure; the announcement is tried again later, for a provider may mend a dump under the same date."""
    job.findings.append(as_finding(error))
    if job.is_update:  # whoever sent it is told so
        job.workshop.ledger.announcements.settle(job.announcement.id, "failed")
    else:
        _postpone(job.workshop, job.announcement)
    job.workshop.ledger.end_run(job.run, Outcome.FAILED, job.workshop.clock(), **job.facts())
    return Outcome.FAILED
