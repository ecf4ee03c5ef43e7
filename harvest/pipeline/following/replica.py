"""
Following: a replica has the versions of its origin, each as the very file that the origin has.

    behind, by changes         each is fetched, checked, filed, loaded and published like a harvest's
    behind the baseline        the baseline is the next version, whatever the graph was before
    the origin dropped some    they are dropped here too, once the baseline is here
    not there any more         forgotten
    another one of that name   forgotten, and taken anew

The origin is asked at each tick. What it does not answer, and what a crash left, is done at the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import structlog

from harvest.archive.provenance import facts_of, new_activity
from harvest.archive.syncing import sync_folder
from harvest.config.following import write_registry
from harvest.errors import DamageError, HarvestError, MismatchError
from harvest.ledger import ProviderRecord, VersionRecord
from harvest.ledger.compacting import compact as compact_rows
from harvest.model import Coverage, Delta, Finding, Note
from harvest.pipeline.commits import compacted
from harvest.pipeline.exporting import Alone
from harvest.pipeline.feeding import SMALL, feed
from harvest.pipeline.following.origin import Asking, OriginProvider, OriginVersion
from harvest.pipeline.forget import forget
from harvest.pipeline.harvest.commit import finish
from harvest.pipeline.harvest.load import Loadable
from harvest.pipeline.harvest.recovery import recover
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.pipeline.run_progress import RunProgress
from harvest.revise import delta as deltas
from sparql.errors import SparqlError

log = structlog.get_logger()

SHARE: Final = 8
"""A change of less than this part of a large graph is published before the snapshot is written and compared."""


class Following:
    """Keeps an instance the replica of its origin; `alone` keeps a provider from being read meanwhile."""

    def __init__(self, instance: Instance, alone: Alone) -> None:
        self._instance = instance
        self._alone = alone

    def tick(self) -> bool:
        """Ask the origin, and take what is new; whether all is here. One provider's trouble stops no other."""
        instance = self._instance
        try:
            with instance.room() as room:
                return self._follow(Asking(instance.client, instance.settings.follow, room))
        except (HarvestError, SparqlError, OSError) as error:
            log.warning("the origin is not followed; it is tried again", reason=str(error))
            return False

    def _follow(self, origin: Asking) -> bool:
        instance, state = self._instance, origin.state()
        if state.graph_base != instance.settings.graph_base:
            raise MismatchError(
                f"{origin.url} has the graph_base {state.graph_base} now, and this replica "
                f"{instance.settings.graph_base}; nothing was changed: a new data directory follows it"
            )
        names = tuple(each.name for each in state.providers)
        write_registry(instance.settings.registry, origin.url, names)
        instance.roster.refresh()
        for record in instance.ledger.providers():
            if record.name not in names:
                self._forget(record.name)
        followed = [self._is_followed(origin, provider) for provider in state.providers]
        return all(followed)

    def _is_followed(self, origin: Asking, provider: OriginProvider) -> bool:
        instance, name = self._instance, provider.name
        instance.check_stopping()
        try:
            instance.ledger.enrol(name, provider.graph)
            with self._alone(name), instance.crawl.working():
                recover(instance, name)
                _Provider(instance, origin, provider).follow()
        except (HarvestError, SparqlError, OSError) as error:
            log.warning("not followed; it is tried again", provider=name, reason=str(error))
            return False
        return True

    def _forget(self, name: str) -> None:
        with self._alone(name), self._instance.crawl.working(), self._instance.writing:
            forget(self._instance, name)
        log.info("forgotten, as the origin has it no more", provider=name)


class _Provider:
    """One provider that is brought to what the origin has."""

    def __init__(self, instance: Instance, origin: Asking, known: OriginProvider) -> None:
        self._instance = instance
        self._origin = origin
        self._known = known
        self._name = known.name

    def follow(self) -> None:
        """Take what is new."""
        record = self._record()
        here = self._instance.ledger.versions(self._name)
        known = (self._known.version, self._known.baseline, self._known.at)
        if here and (record.version, record.baseline, here[-1].at) == known:
            return
        if record.version and self._is_other():
            log.warning("the origin has another provider of this name; it is taken anew", provider=self._name)
            with self._instance.writing:
                forget(self._instance, self._name)
            self._instance.ledger.enrol(self._name, self._known.graph)
            record = self._record()
        after = max(record.version, self._known.baseline - 1)
        for version in self._origin.versions(self._name, after):
            self._instance.check_stopping()
            self._take(version)
        self._compare()
        feed(self._instance, self._name)
        if self._record().baseline < self._known.baseline:
            self._rebase()

    def _is_other(self) -> bool:
        """Whether the version here was never one of the origin; of one that was dropped there nobody knows."""
        record = self._record()
        if not record.version or record.version < self._known.baseline:
            return False
        if record.version > self._known.version:
            return True
        there = next(self._origin.versions(self._name, record.version - 1), None)
        [*_, here] = self._instance.ledger.versions(self._name)
        return there is None or (there.n, there.at, there.triples) != (here.n, here.at, here.triples)

    def _take(self, version: OriginVersion) -> None:
        """Commit a version of the origin here."""
        record, files = self._record(), self._instance.files(self._name)
        files.prepare()
        self._instance.on_step(self._name, "fetch")
        fetched = self._origin.file(self._name, version)
        with self._instance.room() as room:
            loadable = self._filed(record, version, fetched, room)
            for folder in (files.folder, files.layout.changes):
                sync_folder(folder)
            run = self._instance.ledger.start_run(self._name, self._instance.clock(), None, "file-version")
            progress = RunProgress(self._instance, self._name, run)
            progress.begun("file-version")
            filed = _record_of(self._name, run, version)
            self._instance.ledger.file_version(filed)
            with self._instance.writing:
                finish(self._instance, filed, loadable, progress)
        if version.n == self._known.baseline:
            self._rebase()
        log.info("followed", provider=self._name, version=version.n, added=version.added, removed=version.removed)

    def _filed(self, record: ProviderRecord, version: OriginVersion, fetched: Path, room: Path) -> Loadable:
        """What a version changes, its file under its final name."""
        files = self._instance.files(self._name)
        (own := room / "own").mkdir()
        delta = deltas.read(fetched, own)
        if version.n == self._known.baseline:
            delta = deltas.compare(self._instance.whole(record, room), delta.added, room)
        elif version.n == record.version + 1:
            self._instance.on_step(self._name, "file-change")
            fetched.replace(files.change(version.n))
            if delta.removed_triples + delta.added_triples < record.triples // SHARE and record.triples > SMALL:
                return Loadable(delta, self._around(record, version, delta, room))
        else:
            raise MismatchError(f"{self._origin.url} gives version {version.n} of {self._name} after {record.version}")
        snapshot = deltas.apply(self._instance.whole(record, room), delta, files.snapshot_file(version.n))
        if version.sha256 not in (None, snapshot.digest) or snapshot.triples != version.triples:
            snapshot.path.unlink()
            raise self._damage(version, f"comes to {snapshot.triples} triples, SHA-256 {snapshot.digest}")
        return Loadable(delta, snapshot.path)

    def _around(self, record: ProviderRecord, version: OriginVersion, delta: Delta, room: Path) -> Path:
        """The lines of the changed subjects afterwards; the snapshot is made when readers have the version."""
        after = room / "after.nq"
        more = deltas.apply_to_subjects(self._instance.whole(record, room), delta, after)
        if more is None or version.triples != record.triples + more:
            raise self._damage(version, "removes what is not here, or adds what is here already")
        return after

    def _damage(self, version: OriginVersion, reason: str) -> DamageError:
        return DamageError(
            f"version {version.n} of {self._name} {reason}; its origin has {version.triples} triples, SHA-256 "
            f"{version.sha256}: `harvest verify {self._name}` says which file is damaged"
        )

    def _compare(self) -> None:
        """Have the snapshot of a version whose SHA-256 the origin gave, and report it where it is another one."""
        record = self._record()
        if not self._instance.ledger.digest(self._name, record.version):
            return
        self._instance.on_step(self._name, "snapshot")
        try:
            with self._instance.room() as room:
                self._instance.whole(record, room)
        except DamageError as error:
            message = (
                f"{error.message} by {self._origin.url}; readers have that version, and no export is made of it: "
                f"`harvest verify {self._name}`, here and there, says which file is damaged"
            )
            self._instance.ledger.damages.add(self._name, Finding("damage", message, error.url, fatal=True))
            raise

    def _rebase(self) -> None:
        """Drop what the origin dropped; its baseline is here as a version."""
        baseline, files = self._known.baseline, self._instance.files(self._name)
        first = next(self._origin.versions(self._name, baseline - 1))
        if first.n != baseline:
            raise MismatchError(f"{self._origin.url} has another baseline of {self._name} by now; it is asked again")
        fetched = self._origin.file(self._name, first)
        with self._instance.room() as room:
            self._instance.whole(self._record(), room)
        self._instance.on_step(self._name, "baseline")
        fetched.replace(files.layout.baseline(baseline))
        sync_folder(files.folder)
        self._instance.on_step(self._name, "note")
        at = self._instance.clock()
        facts = facts_of(compacted(self._name, baseline, self._instance.settings.base_url, at))
        compact_rows(self._instance.ledger.database, self._name, baseline, Note(new_activity(), at, facts))
        self._instance.crawl.noted()
        self._instance.on_step(self._name, "drop")
        files.drop_before(baseline)
        feed(self._instance, self._name)
        write_run(self._instance, self._name)

    def _record(self) -> ProviderRecord:
        record = self._instance.ledger.provider(self._name)
        assert record is not None
        return record


def _record_of(name: str, run: int, version: OriginVersion) -> VersionRecord:
    return VersionRecord(
        provider=name,
        n=version.n,
        run=run,
        state="loading",
        at=version.at,
        coverage=Coverage(version.coverage),
        dataset=version.dataset,
        modified=version.modified,
        added=version.added,
        removed=version.removed,
        triples=version.triples,
        digest=version.sha256,
    )
