"""What may be read of an instance beside the process that writes it: the web front's catalog, and commands."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from harvest.archive.content import ContentStore
from harvest.archive.layout import digest_of
from harvest.catalog.change_files import ChangeFiles, damage_raised
from harvest.catalog.export_copies import ExportAddresses
from harvest.catalog.filesets import ingest_report, ingests
from harvest.catalog.providers import marked, provider_report, provider_reports, summaries
from harvest.catalog.queue import queue_report
from harvest.catalog.receipts import provider_receipt, run_receipt
from harvest.catalog.runs import run_page, statistics_report, version_page, version_report
from harvest.catalog.seeds import SeedCatalog
from harvest.config.roster import Roster
from harvest.config.settings import Settings
from harvest.errors import DamageError, HarvestError, RegistryError, StorageError, UnknownName
from harvest.ledger import Database, Ledger, unwritten
from harvest.ledger.members import members
from harvest.publish.exports import read_index
from harvest.revise.versions import GraphFiles
from sparql.errors import DamagedData, StoreError
from sparql.reports import (
    DocumentPage,
    IngestReport,
    PackedFile,
    ProviderReport,
    ProviderSummary,
    QueueReport,
    RunPage,
    RunReport,
    SeedList,
    SeedPage,
    StatisticsReport,
    StatusReport,
    VersionPage,
    VersionReport,
)

_CHUNK = 1 << 18


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class InstanceCatalog:
    """
    An instance, read only; fulfils `sparql.web.catalog.Catalog`.

    Raises:
        LedgerError: There is no ledger yet, or it cannot be opened.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], datetime] = utc_now,
        *,
        room: Path | None = None,
        apart: bool = False,
    ) -> None:
        """
        Read the instance of these settings.

        Args:
            settings: Of the instance.
            clock: The time, in UTC.
            room: Folder of temporary files; by default that of the harvester.
            apart: Whether the instance may be read-only for this process alone.
        """
        self.settings = settings
        self._room = room or settings.layout.scratch
        self._apart = apart
        self._clock = clock
        self.exports_dir = settings.exports_dir
        self.export_address = ExportAddresses(settings)
        self.resourcesync_dir = settings.layout.resourcesync
        self._ledger = Ledger(Database(settings.layout.ledger, read_only=True))
        self._roster: Roster | None = None
        self._changes = ChangeFiles(settings.layout, self._ledger)
        self._seeds = SeedCatalog(self._ledger, settings.base_url, clock)

    def providers(self) -> list[ProviderReport]:
        """The reports of all providers, by name."""
        registered = self._registered()
        entries = registered.all() if registered else {}
        return marked(self.ledger_problem(), provider_reports(self._ledger, self.settings, entries, self._clock()))

    def summaries(self) -> list[ProviderSummary]:
        """The little of all providers that lists show, by name."""
        registered = self._registered()
        return summaries(self._ledger, registered.all() if registered else {}, self._clock())

    def several(self, names: Sequence[str]) -> list[ProviderReport]:
        """The reports of these providers, by name."""
        registered = self._registered()
        entries = registered.all() if registered else {}
        return marked(
            self.ledger_problem(), provider_reports(self._ledger, self.settings, entries, self._clock(), names)
        )

    def provider(self, name: str) -> ProviderReport | None:
        """The report of a provider, or None."""
        registered = self._registered()
        entry = registered.get(name) if registered else None
        report = provider_report(self._ledger, self.settings, name, entry, self._clock())
        if report is None:
            return None
        return replace(marked(self.ledger_problem(), [report])[0], ingest=ingest_report(self._ledger, entry))

    def ingests(self) -> list[IngestReport]:
        """What came of the landing pages of all providers, by name."""
        registered = self._registered()
        entries = registered.all() if registered else {}
        return ingests(self._ledger, (entries[name] for name in sorted(entries)))

    def receipt(self, name: str) -> bytes | None:
        """What a provider learns of its dump, as Turtle, or None."""
        provider = self.provider(name)
        return None if provider is None else provider_receipt(self.settings.base_url, provider)

    def dump_receipt(self, name: str, digest: str) -> bytes | None:
        """What became of the provider's dump with this SHA-256, as Turtle, or None."""
        provider, run = self.provider(name), self._ledger.run_of_dump(name, digest)
        return run_receipt(self.settings.base_url, provider, run) if provider and run else None

    def statistics(self, name: str) -> StatisticsReport | None:
        """The statistics of a provider's current version, or None where there are none."""
        record = self._ledger.provider(name)
        found = self._ledger.figures.get(name, record.version) if record else None
        return statistics_report(record, found) if record and found else None

    def runs(self, name: str) -> list[RunReport]:
        """The latest runs of a provider, newest first."""
        return self._ledger.runs(name)

    def run_page(self, name: str, page: int) -> RunPage:
        """A page, from 1, of the runs of a provider, newest first."""
        return run_page(self._ledger, name, page)

    def latest(self, page: int) -> VersionPage:
        """A page, from 1, of the versions of all providers, newest first."""
        return version_page(self._ledger, page)

    def run(self, name: str, id: int) -> RunReport | None:
        """One run of a provider, or None."""
        return self._ledger.run(id, name)

    def sizes(self, names: Sequence[str], most: int) -> dict[str, list[VersionReport]]:
        """The last versions of these providers, at most so many of each, oldest first."""
        found = self._ledger.overview.sizes(names, most)
        return {name: [version_report(version) for version in its] for name, its in found.items()}

    def versions(self, name: str) -> list[VersionReport]:
        """The committed versions of a provider, oldest first."""
        return [version_report(v) for v in self._ledger.versions(name) if v.state == "committed"]

    def change(self, name: str, n: int) -> PackedFile | None:
        """The filed change of a version, or None; DamagedData where it is damaged or gone."""
        return self._changes.change(name, n)

    def baseline(self, name: str, n: int) -> PackedFile | None:
        """A version as a change from nothing, where it is the first that is kept, or None; DamagedData as for it."""
        return self._changes.baseline(name, n)

    def version(self, name: str, n: int) -> Iterator[bytes] | None:
        """
        A version as canonical N-Quads in chunks, or None. It is made whole before the first chunk.

        Raises:
            DamagedData: A file that it is made of is damaged or gone.
        """
        record = self._ledger.provider(name)
        if record is None or not (record.baseline or 1) <= n <= record.version:
            return None
        room = Path(mkdtemp(prefix="read-", dir=self._room))
        try:
            with damage_raised(name, n):
                path = self._at(name, n, room)
                digest = self._ledger.digest(name, n)
                if digest is not None and digest_of(path)[0] != digest:
                    raise DamageError(f"{self._files(name).link} or a change file is damaged")
        except (HarvestError, DamagedData):
            shutil.rmtree(room, ignore_errors=True)
            raise
        return _chunks(path, room)

    def _at(self, name: str, n: int, room: Path) -> Path:
        """The file of a version. A harvest may replace the snapshot that it is made from: then once more."""
        for attempt in (1, 2, 3):
            record = self._ledger.provider(name)
            assert record is not None
            here = room / str(attempt)
            here.mkdir()
            try:
                return self._files(name).at(n, record.version, here)
            except (StorageError, FileNotFoundError) as error:
                failure = error
        if isinstance(failure, DamageError):
            raise failure
        raise StorageError(f"version {n} of {name} cannot be made: {failure}") from failure

    def difference(self, name: str, a: int, b: int) -> Iterator[bytes]:
        """
        What takes version `a` of a provider to version `b`, as the lines of an N-Quads unified diff.

        Raises:
            UnknownName: There is no such provider or version; version 0 is empty.
        """
        record = self._ledger.provider(name)
        if record is None:
            raise UnknownName(f"no provider {name} was ever harvested here")
        room = Path(mkdtemp(prefix="read-", dir=self._room))
        try:
            yield from self._files(name).between(a, b, record.version, room)
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def status(self) -> StatusReport:
        """The state of the instance."""
        providers = tuple(self.providers())
        problem = self._roster.problem if self._roster else None
        return StatusReport(
            providers=providers,
            triples=sum(provider.triples for provider in providers),
            states=dict(Counter(provider.state for provider in providers)),
            registry_problem=None if problem is None else problem.message,
            ledger_problem=self.ledger_problem(),
            exports=len(read_index(self.settings.exports_dir)),
            queue=self.queue(),
        )

    def ledger_problem(self) -> str | None:
        """Why the ledger cannot be written, so that what this catalog reads is older than it seems; None if it can."""
        return unwritten.problem(self.settings.layout.ledger, apart=self._apart)

    def queue(self) -> QueueReport:
        """What fails, is held, waits and is harvested now, and how far seeds, exports and generation are."""
        registered = self._registered()
        return queue_report(self._ledger, self.settings, registered.all() if registered else {}, self._clock())

    def content(self, digest: str) -> Path | None:
        """
        Filed bytes, or None.

        Raises:
            StoreError: They are in an object storage that cannot be read now.
        """
        try:
            return ContentStore(self.settings.layout.content).path(digest)
        except UnknownName:
            return None
        except StorageError as error:
            raise StoreError(error.message) from error

    def documents(self, state: str | None, page: int) -> SeedList:
        """A page of the seeds."""
        return self._seeds.seeds(state, page)

    def document(self, hash: str, page: int) -> SeedPage | DocumentPage | None:
        """A seed or document, or None."""
        return self._seeds.get(hash, page)

    def document_turtle(self, hash: str) -> bytes | None:
        """A seed or document as Turtle, or None."""
        return self._seeds.turtle(hash)

    def _files(self, name: str) -> GraphFiles:
        return GraphFiles(self.settings.layout.provider(name))

    def _registered(self) -> Roster | None:
        """The registry, once it could be read."""
        if self._roster is None:
            try:
                self._roster = Roster(self.settings.registry)
                self._roster.take_members(partial(members, self._ledger.database))
            except RegistryError:
                return None
        self._roster.refresh()
        return self._roster


def _chunks(path: Path, room: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    finally:
        shutil.rmtree(room, ignore_errors=True)
