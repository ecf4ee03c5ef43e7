"""
Committing: a version is filed, loaded and published, in an order that a crash at any point cannot harm.

    1  file-change    the delta, and the snapshot where there is one, stand under their final names
    2  file-version   the ledger says `loading`: from here on the version will be committed, after a crash too
    3  load           the working store gets the delta, which is counted meanwhile; doing it twice does no harm
    4  describe       the run is written to the metadata graph
    5  publish        a generation with the new version becomes the current one
    6  commit         the ledger says `committed`
    7  adopt          snapshot.nq points to the new version
    8  feed           the documents of ResourceSync are those of the new version

A crash before 2 leaves the last version and files that the next start sweeps away; a crash after 2 is finished from the
filed delta (`harvest.pipeline.harvest.recovery`). What fails from 3 to 5 takes the working store back to the current
generation (`harvest.pipeline.publishing`), so that others publish meanwhile. A feed that is not written is written
by the next export (`harvest.pipeline.feeding`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from harvest.archive.provenance import facts_of
from harvest.archive.syncing import sync_folder
from harvest.ledger import VersionRecord
from harvest.model import RULES, Announcement, Delta, Document, Finding, Snapshot
from harvest.pipeline.commits import Commit, change_digest, statements, used
from harvest.pipeline.feeding import feed
from harvest.pipeline.harvest.counting import counting
from harvest.pipeline.harvest.load import Loadable, load
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_version
from harvest.pipeline.rebuild.righting import put_subjects_right
from harvest.pipeline.run_progress import RunProgress
from harvest.revise import delta as deltas

log = structlog.get_logger()

DIFFERS: Final = "engine-differs"
"""The kind of a finding that an engine holds something else than it was sent."""
_NAMED: Final = 3
"""Subjects that such a finding names."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """
    What a version is made of.

    Attributes:
        documents: The dumps that were washed, in order, with their contexts.
        mirrored: Whether the graph becomes exactly the input.
        inherits: Whether blank nodes whose names hold no dataset counted as of this one.
    """

    documents: tuple[Document, ...]
    mirrored: bool
    inherits: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    What is to become a provider's next version.

    Attributes:
        announcement: Where it comes from.
        run: Ledger key of the run.
        delta: What it changes.
        snapshot: The whole graph afterwards, in a temporary file, or None for a partial input.
        input: The washed dumps as they stand in the graph: what the replaced subjects are like afterwards.
        triples: In the graph afterwards.
        made: What it is made of.
    """

    announcement: Announcement
    run: int
    delta: Delta
    snapshot: Snapshot | None
    input: Path
    triples: int
    made: Inputs


def commit(instance: Instance, candidate: Candidate, room: Path, progress: RunProgress) -> VersionRecord:
    """File, load and publish a version."""
    name = candidate.announcement.provider
    version = _numbered(instance, candidate)
    files = instance.files(name)
    files.prepare()
    progress.step("file-change")
    deltas.write(candidate.delta, files.change(version.n))
    if candidate.snapshot is not None:
        candidate.snapshot.path.replace(files.snapshot_file(version.n))
    for folder in (files.folder, files.layout.changes):
        sync_folder(folder)
    progress.record(bytes=files.change(version.n).stat().st_size)
    progress.step("file-version")
    instance.ledger.file_version(version)
    # A full input may have become the snapshot.
    after = candidate.input if candidate.snapshot is None else files.snapshot_file(version.n)
    with instance.writing:
        finish(instance, version, Loadable(candidate.delta, after), progress)
    instance.on_step(name, "feed")
    feed(instance, name)
    return version


def _numbered(instance: Instance, candidate: Candidate) -> VersionRecord:
    announcement = candidate.announcement
    record = instance.ledger.provider(announcement.provider)
    assert record is not None
    version = VersionRecord(
        provider=record.name,
        n=record.version + 1,
        run=candidate.run,
        state="loading",
        at=instance.clock(),
        coverage=announcement.dataset.coverage,
        dataset=announcement.dataset.iri,
        modified=announcement.dataset.modified,
        added=candidate.delta.added_triples,
        removed=candidate.delta.removed_triples,
        triples=candidate.triples,
        digest=candidate.snapshot.digest if candidate.snapshot else None,
    )
    facts = statements(_commit_of(version, record.graph, candidate), instance.settings.base_url)
    return replace(version, facts=facts_of(facts))


def _commit_of(version: VersionRecord, graph: str, candidate: Candidate) -> Commit:
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
        rules=RULES,
        inherits=candidate.made.inherits,
    )


def report_differences(instance: Instance, version: VersionRecord, subjects: list[bytes]) -> None:
    """Have the provider's page say which subjects the engine holds otherwise than the version has them."""
    damages = instance.ledger.damages
    others = [finding for finding in damages.of(version.provider) if finding.kind != DIFFERS]
    if subjects:
        named = ", ".join(subject.decode() for subject in subjects[:_NAMED])
        more = f" and {len(subjects) - _NAMED:,} more" if len(subjects) > _NAMED else ""
        of_all = f"{len(subjects):,} {'subject' if len(subjects) == 1 else 'subjects'}"
        refused = f"; it refused {said}" if (said := instance.store.sent().refused) else ""
        message = (
            f"the engine holds other triples of {of_all} than version {version.n} has: {named}{more}; files, exports "
            f"and feeds have them as they were published{refused}"
        )
        others.append(Finding(DIFFERS, message))
    damages.set(version.provider, others)


def finish(instance: Instance, version: VersionRecord, loadable: Loadable, progress: RunProgress) -> None:
    """Steps 3 to 7; each may be done again."""
    files = instance.files(version.provider)
    announcement = instance.ledger.announcements.of_run(version.run)
    with instance.changing():
        progress.step("load")
        with ThreadPoolExecutor(1) as beside:
            statistics = beside.submit(counting(instance, version, loadable))
            written = load(instance, version, loadable)
        instance.ledger.figures.put(version.provider, version.n, statistics.result())
        progress.record(triples=version.triples, written=written)
        progress.step("describe")
        write_version(instance, version, announcement)
        progress.step("publish")
        progress.record(generation=instance.publish())
        if requests := instance.store.sent().requests:
            progress.record(requests=requests)
        report_differences(instance, version, put_subjects_right(instance, version))
    progress.step("commit")
    instance.ledger.commit_version(version, announcement, instance.clock())
    instance.crawl.noted()
    instance.on_step(version.provider, "adopt")
    if files.snapshot_file(version.n).exists():
        files.adopt(version.n)
