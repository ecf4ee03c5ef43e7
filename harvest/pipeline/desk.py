"""The desk: what may be asked for one provider. It sees to it that a provider has one harvest at a time."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from harvest.errors import HarvestError, StoppedError, StorageError, UnknownName
from harvest.ledger import ProviderRecord
from harvest.ledger.announcements import backoff
from harvest.model import Announcement, Finding, Outcome, Provider
from harvest.pipeline.commit import recover
from harvest.pipeline.facts import tell
from harvest.pipeline.figuring import figures
from harvest.pipeline.files import GraphFiles
from harvest.pipeline.forget import forget
from harvest.pipeline.harvest import harvest
from harvest.pipeline.look import Look, as_finding, look
from harvest.pipeline.obtain import obtain
from harvest.pipeline.prove import Proof, prove
from harvest.pipeline.rebuild import Rebuilt, rebuild
from harvest.pipeline.seeding import Seeding
from harvest.pipeline.updating import Written, read, write, writer
from harvest.pipeline.workshop import Workshop
from harvest.pipeline.writing_back import write_back
from harvest.publish import exports
from harvest.publish.description import Subject

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Result:
    """
    What became of one announcement.

    Attributes:
        provider: Provider name.
        outcome: As filed in the ledger.
        finding: Why not, when it failed.
    """

    provider: str
    outcome: Outcome
    finding: Finding | None = None


class Desk:
    """
    All that can be asked of an instance for one provider; safe to use from several threads.

    Attributes:
        seeding: What can be asked for the seed list.
    """

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.seeding = Seeding(workshop)
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """One harvest, export or proof of a provider at a time."""
        with self._guard:
            lock = self._locks[name]
        with lock:
            yield

    def look(self, name: str, *, forced: bool = False) -> Look:
        """
        Look at a provider's description, and announce what is due.

        Raises:
            UnknownName: The registry has no such provider.
        """
        provider = self._provider(name)
        self.workshop.on_step(name, "look")
        with self.workshop.crawl.working():
            found = look(self.workshop, provider, forced=forced)
        if found.failed:
            log.warning("description not usable", provider=name, reason=found.failed.message)
            with self._trouble_told(name):
                tell(self.workshop, name)
        if forced:
            self.workshop.ledger.announcements.hurry(name)
        return found

    def fetch(self, announcement: Announcement) -> Finding | None:
        """Download the dumps of an announcement; returns what went wrong, or None."""
        name, finding = announcement.provider, None
        with self._trouble_told(name, announcement):
            with self._alone(f"announcement {announcement.id}"), self.workshop.crawl.working():
                if self.workshop.ledger.announcements.state(announcement.id) != "seen":
                    return None  # another thread has downloaded it, or a newer one took its place
                finding = obtain(self.workshop, announcement, self._provider(name))
            if finding is not None:
                log.warning("dump not downloaded", provider=name, reason=finding.message)
                tell(self.workshop, name)
        return finding

    def work(self, name: str) -> list[Result]:
        """Fetch and harvest everything that waits for a provider, in order."""
        results = []
        with self._alone(name), self.workshop.crawl.working():
            with self._trouble_told(name):
                recover(self.workshop, name)
            while (
                not self.workshop.stopping.is_set()
                and not self._stuck(name)
                and (entry := self._next(name)) is not None
            ):
                results += self._taken(*entry)
        return results

    def _taken(self, announcement: Announcement, state: str) -> list[Result]:
        """Do the next thing for an announcement: download its dumps, or harvest them."""
        if state == "fetched":
            return [self._harvested(announcement)]
        finding = self.fetch(announcement)
        return [Result(announcement.provider, Outcome.FAILED, finding)] if finding else []

    def update(self, text: str) -> Written:
        """
        Carry out a SPARQL update, which makes a version of the one graph that it writes to.

        Raises:
            SparqlError: It is refused, or went past its limits; nothing was changed.
            HarvestError: The disk is full, or the instance shuts down.
        """
        self.workshop.roster.refresh()
        update = read(self.workshop, text)
        name = writer(self.workshop, update.graph).name
        self.work(name)  # what a crash left
        with self._alone(name), self.workshop.crawl.working():
            if self._stuck(name):
                raise StorageError(f"a version of {name} is filed but not loaded yet; see the log, and try again later")
            self.workshop.on_step(name, "update")
            # The registry may be another one by now: an update before this one may have taken its time.
            written = write(self.workshop, writer(self.workshop, update.graph), update)
        log.info("updated", provider=name, outcome=written.outcome.value, added=written.added, removed=written.removed)
        return written

    def _stuck(self, name: str) -> bool:
        """Whether a filed version could not be loaded: nothing may be built on it before it is."""
        return any(version.provider == name for version in self.workshop.ledger.loading())

    def _next(self, name: str) -> tuple[Announcement, str] | None:
        """The oldest announcement that waits now."""
        waiting = self.workshop.ledger.announcements.waiting(self.workshop.clock(), name)
        return waiting[0] if waiting else None

    def _harvested(self, announcement: Announcement) -> Result:
        name = announcement.provider
        outcome = Outcome.FAILED
        with self._trouble_told(name, announcement):
            outcome = harvest(self.workshop, announcement, self._provider(name))
            if outcome in (Outcome.COMMITTED, Outcome.UNCHANGED):
                write_back(self.workshop, name)
        run = self.workshop.ledger.run_of(announcement.id)
        finding = next((f for f in (run.findings if run else ()) if f.fatal), None)
        log.info("harvested", provider=name, outcome=outcome.value, **_figures(run))
        return Result(name, outcome, finding)

    @contextmanager
    def _trouble_told(self, name: str, announcement: Announcement | None = None) -> Iterator[None]:
        """
        Keep one provider's trouble from stopping the others.

        What a stage foresees is handled there. This is for the rest: a full disk, a damaged store, a fault of ours.
        """
        try:
            yield
        except StoppedError as error:
            log.info("given up", provider=name, reason=error.message)
        except Exception as error:  # one provider must not stop the others
            log.exception("harvest failed", provider=name)
            if isinstance(error, HarvestError):
                finding = as_finding(error)
            else:
                finding = Finding("fault", f"{type(error).__name__}: {error}", fatal=True)
            self._file_trouble(name, announcement, finding)

    def _file_trouble(self, name: str, announcement: Announcement | None, finding: Finding) -> None:
        ledger, now = self.workshop.ledger, self.workshop.clock()
        if self._stuck(name):
            # The version is filed, and the next tick loads it: the announcement and its run end there.
            log.error("a version is filed but could not be loaded; it is tried again", provider=name)
            return
        if announcement is not None:
            ledger.announcements.postpone(
                announcement.id, now + backoff(ledger.announcements.failures(announcement.id))
            )
            run = ledger.run_of(announcement.id)
            if run is not None and run.ended is None:
                ledger.end_run(run.id, Outcome.FAILED, now, findings=(*run.findings, finding))

    def approve(self, name: str) -> list[Result]:
        """
        Let what the shrink guard holds through, and harvest it from the filed dumps.

        Raises:
            UnknownName: Nothing of the provider is held.
        """
        self._provider(name)
        if not self.workshop.ledger.announcements.approve(name):
            raise UnknownName(f"nothing of {name} is held; `harvest status` shows what is")
        return self.work(name)

    def forget(self, name: str) -> None:
        """
        Remove a provider's graph, files and history.

        Raises:
            HarvestError: It still stands in the registry.
            UnknownName: It was never harvested.
        """
        workshop = self.workshop
        if workshop.roster.get(name) is not None:
            raise HarvestError(f"{name} stands in the registry; remove it there first, or it would be harvested again")
        if workshop.ledger.provider(name) is None:
            raise UnknownName(f"no provider {name} was ever harvested here")
        with self._alone(name), workshop.writing:
            forget(workshop, name)

    def export(self) -> list[str]:
        """Bring the exports to the current versions; returns the names of the files that were rewritten."""
        settings, ledger = self.workshop.settings, self.workshop.ledger
        with self.workshop.room() as room:
            subjects = [self._subject(record, room) for record in ledger.providers() if record.version]
            return exports.export(settings.exports_dir, settings.base_url, subjects, self.workshop.clock())

    def _subject(self, record: ProviderRecord, room: Path) -> Subject:
        snapshot = partial(self._linked, record, room)
        return Subject(
            record.name,
            record.graph,
            record.version,
            record.triples,
            record.modified.isoformat() if record.modified else None,
            snapshot,
            figures(self.workshop, record, snapshot),
        )

    def prove(self, name: str) -> list[Proof]:
        """
        Check that what is filed, stored and exported for a provider is what its changes say.

        Raises:
            UnknownName: It was never harvested here.
        """
        with self._alone(name), self.workshop.writing:
            record = self.workshop.ledger.provider(name)
            if record is None:
                raise UnknownName(f"no provider {name} was ever harvested here")
            return prove(self.workshop, record)

    def rebuild(self, name: str, *, check: bool = False) -> list[Rebuilt]:
        """
        Make a provider's versions again from the archive alone; see `harvest.pipeline.rebuild`.

        Raises:
            HarvestError: Logs or bytes are missing, or washing failed.
        """
        with self._alone(name), self.workshop.crawl.working():
            return rebuild(self.workshop, name, check=check)

    def _linked(self, record: ProviderRecord, room: Path) -> Path:
        """A snapshot under a name of its own, so that a harvest that replaces it does no harm to who reads it."""
        link = room / f"{record.name}.nq"
        if link.exists():
            return link
        with self._alone(record.name), self.workshop.room() as here:
            now = self.workshop.ledger.provider(record.name)
            if now is None or now.version == record.version:
                link.hardlink_to(self.workshop.whole(record, here))
            else:  # harvested since the export began
                files = GraphFiles(self.workshop.folder(record.name))
                link.hardlink_to(files.at(record.version, now.version, here))
        return link

    def _provider(self, name: str) -> Provider:
        provider = self.workshop.roster.get(name)
        if provider is None:
            known = ", ".join(sorted(self.workshop.roster.all())[:10]) or "none"
            raise UnknownName(f"the registry has no provider {name}; it has: {known}")
        return provider


def _figures(run: object) -> dict[str, object]:
    names = ("dataset", "version", "added", "removed", "vanished")
    return {name: getattr(run, name, None) for name in names}
