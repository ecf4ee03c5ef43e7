"""Harvesting: the filed dumps of an announcement become a version, or the reason why not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from harvest.errors import HarvestError, MisfitError, StoppedError, WashError
from harvest.ledger import ProviderRecord
from harvest.model import (
    Announcement,
    Coverage,
    Delta,
    Document,
    Finding,
    Outcome,
    Part,
    Provider,
    Snapshot,
    Source,
)
from harvest.pipeline.harvest import changes, mirroring, older_names, pages, repeat, verdict, washing
from harvest.pipeline.harvest.commit import Candidate, Inputs, commit
from harvest.pipeline.harvest.job import Harvest, captures_of, given_to, origin_of
from harvest.pipeline.harvest.look import as_finding
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.pipeline.resourcesync.files import is_overtaken
from harvest.pipeline.run_progress import RunProgress
from harvest.pipeline.trouble import is_stuck
from harvest.revise import lines, replace
from harvest.revise.partial import partial
from harvest.revise.replace import Revision
from harvest.wash.canonical import Washed

MOST_FINDINGS: Final = 1000
"""Findings of one run about its dumps; a site may have thousands of pages without RDF."""


def harvest(instance: Instance, announcement: Announcement, provider: Provider) -> Outcome:
    """
    Harvest one announcement whose dumps are filed; the outcome is in the ledger when this returns.

    Raises:
        HarvestError: A version is filed, but could not be loaded, or the instance shuts down.
    """
    record = instance.ledger.provider(announcement.provider)
    assert record is not None
    if repeat.failed_before(instance, announcement):
        return Outcome.FAILED
    if is_overtaken(instance, announcement):
        return Outcome.UNCHANGED
    job = _job(instance, announcement, provider, record)
    try:
        outcome = _unchanged(job, 0) if _changes_nothing(job) else _harvested(job)
    except StoppedError as error:
        job.findings.append(Finding("interrupted", error.message))
        instance.ledger.end_run(job.run, Outcome.FAILED, instance.clock(), job.facts())
        raise
    except HarvestError as error:
        if is_stuck(instance, provider.name):
            raise  # the version is filed, and will be loaded: nothing is to be downloaded again
        outcome = _failed(job, error)
    if outcome in (Outcome.COMMITTED, Outcome.UNCHANGED):
        instance.ledger.drop_datasets(provider.name, job.left)
        if job.mirrored:
            instance.ledger.set_mirrored(provider.name, announcement.dataset.iri)
    if outcome is not Outcome.COMMITTED:
        write_run(instance, provider.name, job.run)
    return outcome


def _job(instance: Instance, announcement: Announcement, provider: Provider, record: ProviderRecord) -> Harvest:
    announcement = changes.as_partial(instance, announcement)
    ledger, dataset = instance.ledger, announcement.dataset
    progress = _begun(instance, announcement)
    if provider.source is Source.UPDATES and dataset.iri == record.graph and dataset.coverage is Coverage.FULL:
        return Harvest(instance, provider, announcement, record, progress, mirrored=True, left=())
    mirrored = mirroring.is_mirrored(ledger, provider, dataset)
    left = tuple(each.iri for each in mirroring.departed(ledger, record)) if mirrored else ()
    return Harvest(instance, provider, announcement, record, progress, mirrored, left)


def _begun(instance: Instance, announcement: Announcement) -> RunProgress:
    """The run that the download began, or a new one."""
    now = instance.clock()
    run = instance.ledger.steps.resume(announcement.id, "check", now)
    if run is None:
        run = instance.ledger.start_run(announcement.provider, now, announcement, "check")
    progress = RunProgress(instance, announcement.provider, run)
    progress.begun("check")
    return progress


def _unchanged(job: Harvest, vanished: int) -> Outcome:
    facts = job.facts(vanished=vanished)
    job.instance.ledger.unchanged(job.announcement, job.run, job.instance.clock(), facts)
    return Outcome.UNCHANGED


def _changes_nothing(job: Harvest) -> bool:
    """Whether the dumps are those of the last harvest, and the graph still is what that made of it."""
    if job.is_update:
        return False
    job.findings += repeat.findings(job.instance.ledger, job.announcement)
    if job.announcement.dataset.lastmods:
        job.findings += pages.findings(job.instance, job.announcement)
    return not job.left and repeat.is_in_the_graph(job.instance.ledger, job.record, job.announcement, job.mirrored)


def _harvested(job: Harvest) -> Outcome:
    with job.instance.room() as room:
        revision, snapshot, documents = _changed(job, room) if job.is_change else _replaced(job, room)
        delta = revision.delta
        counts = {"added": delta.added_triples, "removed": delta.removed_triples}
        job.progress.record(**counts, **({"vanished_subjects": revision.vanished} if revision.vanished else {}))
        if delta.added_triples == delta.removed_triples == 0:
            return _unchanged(job, revision.vanished)
        if _too_much(job, delta):
            return _held(job, revision)
        triples = job.record.triples + delta.added_triples - delta.removed_triples
        job.instance.ledger.note_run(job.run, job.facts(vanished=revision.vanished))
        made = Inputs(tuple(documents), job.mirrored, origin_of(job).inherits)
        candidate = Candidate(job.announcement, job.run, delta, snapshot, revision.input, triples, made)
        commit(job.instance, candidate, room, job.progress)
        return Outcome.COMMITTED


def _replaced(job: Harvest, room: Path) -> tuple[Revision, Snapshot | None, list[Document]]:
    """What dumps of all or some subjects make of the graph."""
    washed, documents = _wash(job, room)
    if washed.snapshot.triples == 0 and not job.is_update:
        raise WashError("the dumps hold no triple; nothing was changed", url=job.announcement.dataset.dumps[0])
    return *_revise(job, washed.snapshot, room), documents


def _changed(job: Harvest, room: Path) -> tuple[Revision, Snapshot | None, list[Document]]:
    """What dumps that are changes make of the graph."""
    given = given_to(job)
    washed = changes.wash(job.instance, given.documents, job.record.graph, room, given.on_report)
    given.records.washed(given.urls, washed.documents)
    filled = [n for n in range(len(given.urls)) if n not in washed.empty]
    _judge(job, [given.documents[n] for n in filled], [washed.documents[n] for n in filled])
    job.progress.step("revise")
    revision, found = changes.revise(job.instance, job.record, washed, room, origin_of(job))
    job.findings += (dataclasses.replace(finding, url=given.urls[0]) for finding in found)
    misfits = [f"{each.message} ({each.excerpt})" for each in found if each.kind in changes.MISFITS]
    if job.is_update and misfits:  # whoever sent it knows another graph than this one
        raise MisfitError("; ".join(misfits), url=given.urls[0])
    if job.record.version == 0:
        new = changes.whole(revision, room)
        return replace.first(new, changes.apart(room)), new, given.documents
    return revision, None, given.documents


def _wash(job: Harvest, room: Path) -> tuple[Washed, list[Document]]:
    given = given_to(job)
    graph = job.instance.settings.graph(job.provider.name)
    washed, documents = washing.union(job.instance, given.documents, graph, room, given.on_report)
    job.progress.record_washed(washed, sum(capture.length for _, capture in captures_of(job)))
    given.records.washed(given.urls, washed.documents, washed.reused)
    if not job.is_update or captures_of(job)[0][1].length:  # an update may empty the graph, and may lose nothing of it
        _judge(job, documents, washed.documents)
    return washed, documents


def _judge(job: Harvest, documents: Sequence[Document], parts: Sequence[Sequence[Part]]) -> None:
    """Go on where the dumps are good enough."""
    threshold = 0 if job.is_update else job.instance.settings.wash.threshold
    verdict.check(documents, parts, threshold, are_pages=bool(job.announcement.dataset.lastmods))
    job.findings += islice(verdict.findings(documents, parts, threshold), MOST_FINDINGS)


def _revise(job: Harvest, new: Snapshot, room: Path) -> tuple[Revision, Snapshot | None]:
    """What the input changes, and the whole new graph where it was made on the way."""
    job.progress.step("revise")
    graph, origin = job.instance.settings.graph(job.provider.name), origin_of(job)
    if job.record.version == 0:
        return replace.first(new, room), new
    if job.announcement.dataset.coverage is Coverage.PARTIAL:
        with job.instance.current(job.record, room) as current:
            return partial(graph, new.path, current, room, origin), None
    old = job.instance.whole(job.record, room)
    if job.mirrored:
        return replace.mirror(old, new.path, graph, room), new
    revision = replace.full(old, new.path, graph, room, origin)
    job.findings += older_names.findings(job.instance.ledger, job.provider.name, job.announcement.dataset)
    assert revision.kept is not None
    if revision.kept.stat().st_size == 0 and revision.input == new.path:
        return revision, new
    return revision, lines.union(room / "whole.nq", revision.input, revision.kept)


def _too_much(job: Harvest, delta: Delta) -> bool:
    """Whether the shrink guard holds this many removals; lines that only get names of the rules of now are none."""
    guard, removed = job.instance.settings.guard, delta.removed_triples
    if older_names.is_older(job.instance.ledger, job.provider.name, job.announcement.dataset):
        removed -= older_names.renamed(delta, job.record.graph, origin_of(job))
    input = repeat.input_digest(capture for _, capture in captures_of(job))
    if (job.is_update and not job.is_change) or job.instance.ledger.announcements.approved(job.announcement.id, input):
        return False
    return removed > max(guard.floor, guard.share * job.record.triples)


def _held(job: Harvest, revision: Revision) -> Outcome:
    guard, delta = job.instance.settings.guard, revision.delta
    name = job.provider.name
    message = (
        f"{delta.removed_triples} of {job.record.triples} triples would be removed and {delta.added_triples} added; "
        f"more than {guard.floor} and more than {guard.share:.0%} of the graph need approval: "
        f"look at the dumps, then `harvest approve {name}`"
    )
    finding = Finding("held", message, job.announcement.dataset.iri, fatal=True)
    job.findings.insert(0, finding)
    facts = job.facts(added=delta.added_triples, removed=delta.removed_triples, vanished=revision.vanished)
    input = repeat.input_digest(capture for _, capture in captures_of(job))
    job.instance.ledger.announcements.hold(job.announcement.id, job.instance.clock(), finding, input)
    job.instance.ledger.end_run(job.run, Outcome.HELD, job.instance.clock(), facts)
    return Outcome.HELD


def _failed(job: Harvest, error: HarvestError) -> Outcome:
    """File a failure; the announcement is tried again later, for a provider may mend a dump under the same date."""
    job.findings.insert(0, as_finding(error, again=not job.is_update))
    if job.is_update:  # its sender gets the reason
        job.instance.ledger.announcements.settle(job.announcement.id, "failed")
    else:
        job.instance.ledger.announcements.postpone(job.announcement.id, job.instance.clock(), job.findings[0])
    job.instance.ledger.end_run(job.run, Outcome.FAILED, job.instance.clock(), job.facts())
    return Outcome.FAILED
