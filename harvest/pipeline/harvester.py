"""The harvester: what may be asked for one provider. It sees to it that a provider has one harvest at a time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

import structlog

from harvest.errors import HarvestError, UnknownName
from harvest.ledger import Waiting
from harvest.model import Announcement, Finding, Outcome, Provider
from harvest.pipeline.copying_exports import copy_exports
from harvest.pipeline.download_queue import DownloadQueue
from harvest.pipeline.exporting import export
from harvest.pipeline.filesets import others
from harvest.pipeline.forget import forget
from harvest.pipeline.harvest.harvest import harvest
from harvest.pipeline.harvest.look import Look, look
from harvest.pipeline.harvest.obtain import obtain
from harvest.pipeline.harvest.recovery import recover
from harvest.pipeline.harvest.watch import Watching, watch
from harvest.pipeline.harvest.writing_back import write_back, write_back_owed
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.pipeline.rebuild.maintenance import Maintenance
from harvest.pipeline.rebuild.prove import Proof
from harvest.pipeline.rebuild.rebuild import Rebuilt
from harvest.pipeline.rounds import HarvestResult, Round
from harvest.pipeline.seeds.seeding import Seeding
from harvest.pipeline.skip import choose, skip
from harvest.pipeline.trouble import filed_look, filing_trouble, is_stuck
from harvest.pipeline.update.updating import Written
from harvest.pipeline.update.writing import Writing

log = structlog.get_logger()


class Harvester:
    """
    All that can be asked of an instance for one provider; safe to use from several threads.

    Attributes:
        downloads: Dumps on their way.
        care: What can be asked for the instance's files.
        seeding: What can be asked for the seed list.
        writing: What operators write.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.downloads = DownloadQueue(instance, self.fetch, self.watch, self.store_files)
        self.maintenance = Maintenance(instance, self._alone)
        self.seeding = Seeding(instance)
        self.writing = Writing(instance, self._alone, self.work)
        # A lock lives while somebody holds it or waits for it.
        self._locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._claims: Counter[str] = Counter()
        self._guard = threading.Lock()

    def close(self) -> None:
        """Give up what can be taken up again, and wait for what runs; the instance may be closed afterwards."""
        self.instance.give_up()
        self.downloads.stop()
        self.seeding.stop()

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """One harvest, export or proof of a provider at a time."""
        with self._lock(name):
            yield

    def _lock(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())

    def look(self, name: str, *, forced: bool = False, at_once: bool = False, watching: bool = True) -> Look:
        """
        Look at a provider's description, and announce what is due; `forced` and `at_once` as for `look`.

        Unless `watching` is false the dumps are asked for as well that no date covers, as `watch` does.

        Raises:
            UnknownName: The registry has no such provider.
        """
        provider = self.provider(name)
        self.instance.on_step(name, "look")
        found, alone = Look(), self._alone(f"description of {name}")
        with filing_trouble(self.instance, name) as troubles, alone, self.instance.crawl.working():
            found = look(self.instance, provider, forced=forced, at_once=at_once)
        self.instance.check_stopping()
        found = filed_look(self.instance, name, found, troubles)
        if forced:
            self.instance.ledger.announcements.hurry(name)
        elif watching and not found.failed and self.is_watched(name):
            watched = self.watch(name)
            return Look((*found.announced, *watched.announced), unanswered=watched.failed)
        return found

    def is_watched(self, name: str) -> bool:
        """Whether there are dumps of a provider to be asked for by `watch`."""
        return self.instance.ledger.watches.are_due(name, self.instance.clock())

    def has_others(self, name: str) -> bool:
        """Whether files of a provider that are no RDF are to be asked for by `store_files`, after a look."""
        provider = self.instance.roster.get(name)  # it may have left the registry since
        return provider is not None and others.are_due(self.instance, provider)

    def store_files(self, name: str) -> None:
        """Archive the files of a provider's fileset that are no RDF; no harvest waits for them."""
        with filing_trouble(self.instance, name), self._alone(f"files of {name}"), self.instance.crawl.working():
            if others.store_files(self.instance, self.provider(name)):
                write_run(self.instance, name)

    def watch(self, name: str) -> Watching:
        """Ask for the dumps of a provider that no date covers, and announce those that are other bytes."""
        watching = Watching()
        with filing_trouble(self.instance, name), self._alone(f"dumps of {name}"), self.instance.crawl.working():
            watching = watch(self.instance, self.provider(name))
            for iri, finding in watching.failed:
                log.warning("dump not answered", provider=name, dataset=iri, reason=finding.message)
        if watching.failed:
            with filing_trouble(self.instance, name):
                write_run(self.instance, name)
        return watching

    def fetch(self, announcement: Announcement) -> Finding | None:
        """Download the dumps of an announcement; returns what went wrong, or None."""
        name, finding = announcement.provider, None
        with filing_trouble(self.instance, name, announcement):
            with self.instance.crawl.working():
                if self.instance.ledger.announcements.state(announcement.id) != "seen":
                    return None  # a newer one took its place
                finding = obtain(self.instance, announcement, self.provider(name))
            if finding is not None:
                log.warning("dump not downloaded", provider=name, reason=finding.message)
                write_run(self.instance, name)
        return finding

    def work(self, name: str) -> list[HarvestResult]:
        """Download and harvest everything that waits for a provider, in order."""
        return Round(self).work([name])[name]

    def harvest(self, name: str, *, at_once: bool = False) -> list[HarvestResult]:
        """
        Harvest what waits for a provider, in order, up to what is not downloaded yet.

        Where another thread works on the provider it is waited for, unless `at_once`: then nothing is done, and nothing
        either where it is claimed.
        """
        results: list[HarvestResult] = []
        lock = self._lock(name)
        if (at_once and self._claims[name]) or not lock.acquire(blocking=not at_once):
            return results
        try:
            with self.instance.crawl.working():
                with filing_trouble(self.instance, name):
                    recover(self.instance, name)
                    write_back_owed(self.instance, name)
                while (
                    not self.instance.stopping.is_set()
                    and not is_stuck(self.instance, name)
                    and (announcement := self._next(name)) is not None
                ):
                    results.append(self._harvested(announcement))
        finally:
            lock.release()
        return results

    @contextmanager
    def claimed(self, name: str) -> Iterator[None]:
        """The block alone harvests a provider, so that whoever asked for it gets its outcome."""
        with self._guard:
            self._claims[name] += 1
        try:
            yield
        finally:
            with self._guard:
                self._claims[name] -= 1
                self._claims += Counter()  # what is at zero goes

    def is_ready(self, name: str) -> bool:
        """Whether there is something that `harvest` would do for a provider."""
        return is_stuck(self.instance, name) or self._next(name) is not None

    def update(self, text: str) -> Written:
        """
        Carry out a SPARQL update, which makes a version of the one graph that it changes.

        Raises:
            SparqlError: It is refused, or went past its limits; nothing was changed.
            HarvestError: The disk is full, or the instance shuts down.
        """
        return self.writing.update(text)

    def _next(self, name: str) -> Announcement | None:
        """The oldest announcement that waits now, if it is downloaded; later ones come after it."""
        waiting = self.instance.ledger.announcements.waiting(self.instance.clock(), name)
        return waiting[0][0] if waiting and waiting[0][1] == "fetched" else None

    def _harvested(self, announcement: Announcement) -> HarvestResult:
        name = announcement.provider
        outcome = Outcome.FAILED
        with filing_trouble(self.instance, name, announcement):
            outcome = harvest(self.instance, announcement, self.provider(name))
            if outcome in (Outcome.COMMITTED, Outcome.UNCHANGED):
                write_back(self.instance, name)
        run = self.instance.ledger.run_of(announcement.id)
        finding = next((f for f in (run.findings if run else ()) if f.fatal), None)
        log.info("harvested", provider=name, outcome=outcome.value, **_figures(run))
        return HarvestResult(name, outcome, finding, run.id if run else None)

    def approve(self, name: str) -> list[HarvestResult]:
        """
        Let what the shrink guard holds through, and harvest it from the filed dumps.

        Raises:
            UnknownName: Nothing of the provider is held.
        """
        self.provider(name)
        if not self.instance.ledger.announcements.approve(name):
            raise UnknownName(f"nothing of {name} is held; `harvest status` shows what is")
        return self.work(name)

    def skip(self, name: str, number: int | None = None) -> Waiting:
        """
        Drop an open announcement for good: the one with this number, or the oldest that fails or is held.

        Raises:
            UnknownName: There is none.
        """
        self.provider(name)
        with self._alone(name), self.instance.crawl.working():
            chosen = choose(self.instance, name, number)
            if not skip(self.instance, name, chosen):
                raise UnknownName(f"announcement {chosen.announcement} of {name} has just been replaced by a newer one")
            log.info("skipped", provider=name, announcement=chosen.announcement, dataset=chosen.dataset.iri)
            write_run(self.instance, name)
        return chosen

    def forget(self, name: str) -> None:
        """
        Remove a provider's graph, files and history.

        Raises:
            HarvestError: It still stands in the registry.
            UnknownName: It was never harvested.
        """
        instance = self.instance
        if instance.roster.get(name) is not None:
            raise HarvestError(f"{name} stands in the registry; remove it there first, or it would be harvested again")
        if instance.ledger.provider(name) is None:
            raise UnknownName(f"no provider {name} was ever harvested here")
        with self._alone(name), instance.crawl.working(), instance.writing:
            forget(instance, name)

    def export(self) -> list[str]:
        """Bring exports and copies of them to the current versions; returns the names of the files rewritten."""
        done = export(self.instance, self._alone)
        copy_exports(self.instance)
        return done

    def prove(self, name: str) -> list[Proof]:
        """
        Check that what is filed, stored and exported for a provider is what its changes say.

        Raises:
            UnknownName: It was never harvested here.
        """
        return self.maintenance.prove(name)

    def rebuild(self, name: str, *, check: bool = False) -> list[Rebuilt]:
        """
        Make a provider's versions again from the archive alone; see `harvest.pipeline.rebuild.rebuild`.

        Raises:
            HarvestError: Logs or bytes are missing, or washing failed.
        """
        return self.maintenance.rebuild(name, check=check)

    def provider(self, name: str) -> Provider:
        """
        A provider of the registry.

        Raises:
            UnknownName: The registry has no such provider.
        """
        provider = self.instance.roster.get(name)
        if provider is None:
            known = ", ".join(sorted(self.instance.roster.all())[:10]) or "none"
            raise UnknownName(f"the registry has no provider {name}; it has: {known}")
        return provider


def _figures(run: object) -> dict[str, object]:
    names = ("dataset", "version", "added", "removed", "vanished_subjects")
    return {name: getattr(run, name, None) for name in names}
