"""
Committing: a version is filed, loaded and published, in an order that a crash at any point cannot harm.

    1  file-change    the delta, and the snapshot where there is one, stand under their final names
    2  file-version   the ledger says `loading`: from here on the version will be committed, after a crash too
    3  load           the working store gets the delta, which is counted meanwhile; doing it twice does no harm
    4  describe       the metadata graph tells of the run
    5  adopt          snapshot.nq points to the new version
    6  publish        a generation with the new version becomes the current one
    7  commit         the ledger says `committed`

A crash before 2 leaves the last version and files that the next start sweeps away. A crash after 2 is finished by
`recover`, from the filed delta.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from harvest.archive.layout import sync_folder
from harvest.archive.provenance import facts_of
from harvest.ledger import VersionRecord
from harvest.model import Announcement, Delta, Document, Snapshot
from harvest.pipeline.commits import Commit, change_digest, statements, used
from harvest.pipeline.course import Course
from harvest.pipeline.facts import describe
from harvest.pipeline.figuring import counting
from harvest.pipeline.files import GraphFiles
from harvest.pipeline.load import Loadable, load
from harvest.pipeline.workshop import Workshop
from harvest.revise import delta as deltas


@dataclass(frozen=True, slots=True)
class Inputs:
    """
    What a version is made of.

    Attributes:
        documents: The dumps that were washed, in order, with their contexts.
        mirrored: Whether the graph becomes exactly the input.
    """

    documents: tuple[Document, ...]
    mirrored: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    What is to become a provider's next version.

    Attributes:
        announcement: Where it comes from.
        run: Ledger key of the run.
        delta: What it changes.
        snapshot: The whole graph afterwards, in a temporary file, or None for a partial input.
        input: The washed dumps: what the replaced subjects are like afterwards.
        triples: In the graph afterwards.
        made: What it is made of.
    """

    announcement: Announcement
    run: int
    delta: Delta
    snapshot: Snapshot | None
    input: Snapshot
    triples: int
    made: Inputs


def commit(workshop: Workshop, candidate: Candidate, room: Path, course: Course) -> VersionRecord:
    """File, load and publish a version."""
    name = candidate.announcement.provider
    version = _numbered(workshop, candidate)
    files = GraphFiles(workshop.folder(name))
    files.prepare()
    course.step("file-change")
    deltas.write(candidate.delta, files.change(version.n))
    if candidate.snapshot is not None:
        candidate.snapshot.path.replace(files.snapshot_file(version.n))
    for folder in (files.folder, files.folder / "changes"):
        sync_folder(folder)
    course.tell(bytes=files.change(version.n).stat().st_size)
    course.step("file-version")
    workshop.ledger.file_version(version)
    # A full input may have become the snapshot.
    after = candidate.input.path if candidate.snapshot is None else files.snapshot_file(version.n)
    with workshop.writing:
        _finish(workshop, version, Loadable(candidate.delta, after), course)
    return version


def recover(workshop: Workshop, name: str | None = None) -> None:
    """Finish the versions that a crash or a full disk left loading, of one provider or of all."""
    for version in workshop.ledger.loading():
        if name in (None, version.provider):
            with workshop.room() as room, workshop.writing:
                files = GraphFiles(workshop.folder(version.provider))
                delta = deltas.read(files.change(version.n), room)
                after = files.snapshot_file(version.n)
                if not after.exists():
                    after = files.at(version.n, version.n, room)
                workshop.ledger.steps.break_off(version.run, workshop.clock())
                _finish(workshop, version, Loadable(delta, after), Course(workshop, version.provider, version.run))


def sweep(workshop: Workshop) -> None:
    """End the runs that a crash left open, and remove the files that never counted."""
    workshop.ledger.abandon(workshop.clock())
    for provider in workshop.ledger.providers():
        files = GraphFiles(workshop.folder(provider.name))
        if files.folder.exists():
            files.prepare()
            files.sweep(provider.version)
            files.drop_since()


def _numbered(workshop: Workshop, candidate: Candidate) -> VersionRecord:
    announcement = candidate.announcement
    record = workshop.ledger.provider(announcement.provider)
    assert record is not None
    version = VersionRecord(
        provider=record.name,
        n=record.version + 1,
        run=candidate.run,
        state="loading",
        at=workshop.clock(),
        coverage=announcement.dataset.coverage,
        dataset=announcement.dataset.iri,
        modified=announcement.dataset.modified,
        added=candidate.delta.added_triples,
        removed=candidate.delta.removed_triples,
        triples=candidate.triples,
        digest=candidate.snapshot.digest if candidate.snapshot else None,
    )
    told = statements(_told(version, record.graph, candidate), workshop.settings.base_url)
    return replace(version, facts=facts_of(told))


def _told(version: VersionRecord, graph: str, candidate: Candidate) -> Commit:
    """What the provenance log says of a version, so that it can be made again from the filed bytes."""
    dumps, contexts = used(candidate.made.documents)
    return Commit(
        provider=version.provider,
        n=version.n,
        graph=graph,
        at=version.at,
        coverage=candidate.announcement.dataset.coverage,
        mirrored=candidate.made.mirrored,
        dataset=candidate.announcement.dataset.iri,
        modified=version.modified,
        triples=version.triples,
        added=version.added,
        removed=version.removed,
        snapshot=version.digest,
        change=None if candidate.snapshot else change_digest(candidate.delta),
        dumps=dumps,
        contexts=contexts,
    )


def _finish(workshop: Workshop, version: VersionRecord, loadable: Loadable, course: Course) -> None:
    """Steps 3 to 7; each may be done again."""
    files = GraphFiles(workshop.folder(version.provider))
    run = workshop.ledger.run(version.run)
    announcement = None
    if run is not None and run.announcement is not None:
        announcement = workshop.ledger.announcements.get(run.announcement)
    course.step("load")
    with ThreadPoolExecutor(1) as beside:
        statistics = beside.submit(counting(workshop, version, loadable))
        load(workshop, version, loadable)
    workshop.ledger.figures.put(version.provider, version.n, statistics.result())
    course.tell(triples=version.triples)
    course.step("describe")
    describe(workshop, version.provider, version)
    course.step("adopt")
    if files.snapshot_file(version.n).exists():
        files.adopt(version.n)
    course.step("publish")
    course.tell(generation=workshop.publish())
    course.step("commit")
    workshop.ledger.commit_version(version, announcement, workshop.clock())
    workshop.crawl.noted()
