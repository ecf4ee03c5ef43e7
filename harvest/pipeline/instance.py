"""The instance: what every step of the pipeline works with."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from harvest.archive.content import ContentStore
from harvest.config.roster import Roster
from harvest.config.settings import METADATA, Settings
from harvest.errors import StoppedError
from harvest.fetch.client import Client
from harvest.fetch.wire import without_userinfo
from harvest.ledger import Ledger, ProviderRecord
from harvest.model import Capture
from harvest.pipeline.crawl import Crawl
from harvest.pipeline.current import Current
from harvest.pipeline.publishing import Publishing
from harvest.pipeline.workers.local import Workers
from harvest.revise.versions import GraphFiles
from sparql.store.base import Store
from sparql.store.generations import Generations


def now_utc() -> datetime:
    """The time now (aware, UTC)."""
    return datetime.now(UTC)


def _nothing(provider: str, step: str) -> None:
    """Nobody listens to the steps."""


@dataclass(frozen=True, slots=True)
class Instance:
    """
    An instance that may write: its settings, its files, its stores and its clock.

    Attributes:
        settings: The instance's settings.
        ledger: What was seen and done.
        content: Filed bytes.
        client: Fetching.
        crawl: Fetching that the archive's logs record.
        store: The working store.
        generations: Published copies of it.
        roster: The registry as it is now.
        clock: The time now (aware, UTC).
        on_step: Called with (provider, step) when a step begins; the steps' names are in `harvest.pipeline`.
        stopping: Set when the instance shuts down: downloads and washing are given up, loads are finished.
        publishing: What readers see of the working store.
        workers: Who washes documents.
        exporting: Held while exports are written or compared; taken before a provider and before `writing`.
        leading: Held while what leads to the feeds is written; taken last.
    """

    settings: Settings
    ledger: Ledger
    content: ContentStore
    client: Client
    crawl: Crawl
    store: Store
    generations: Generations
    roster: Roster
    publishing: Publishing
    workers: Workers
    clock: Callable[[], datetime] = now_utc
    on_step: Callable[[str, str], None] = _nothing
    stopping: threading.Event = field(default_factory=threading.Event)
    exporting: threading.RLock = field(default_factory=threading.RLock)
    leading: threading.Lock = field(default_factory=threading.Lock)

    @property
    def writing(self) -> threading.RLock:
        """Held while the working store is written; providers are washed side by side, loaded one by one."""
        return self.publishing.writing

    @property
    def metadata_graph(self) -> str:
        """The IRI of the metadata graph."""
        return self.settings.graph(METADATA)

    def files(self, name: str) -> GraphFiles:
        """A provider's snapshot and changes."""
        return GraphFiles(self.settings.layout.provider(name))

    @property
    def scratch(self) -> Path:
        """Where temporary folders are made; emptied at each start."""
        return self.settings.layout.scratch

    @contextmanager
    def room(self) -> Iterator[Path]:
        """A temporary folder on the disk of the data directory, gone afterwards."""
        folder = Path(mkdtemp(dir=self.scratch))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def filed(self, url: str) -> Capture | None:
        """What a URL gave last, if its bytes are filed."""
        last = self.ledger.downloads.at(without_userinfo(url), None)
        capture = last.capture if last else None
        return capture if capture and capture.digest and self.content.holds(capture.digest) else None

    def whole(self, record: ProviderRecord, room: Path) -> Path:
        """
        The snapshot of a provider's current version, folded from its changes if need be; empty for version 0.

        Raises:
            DamageError: The changes come to something else than was committed.
        """
        if record.version == 0:
            empty = room / "empty.nq"
            empty.touch()
            return empty
        files = self.files(record.name)
        made = files.fold(record.version, room, self.ledger.digest(record.name, record.version))
        if made is not None:
            self.ledger.set_digest(record.name, record.version, made.digest)
        return files.snapshot_file(record.version)

    def current(self, record: ProviderRecord, room: Path) -> Current:
        """A provider's graph as it is now, to be asked by subject."""
        files = self.files(record.name)
        base = files.base()
        since = files.since(record.version, room)
        return Current(files.snapshot_file(base) if base else None, since, self.store)

    def present(self) -> datetime:
        """What dates of providers are held against: the instance's clock, or the machine's where that is ahead."""
        return max(self.clock(), now_utc())

    def give_up(self) -> None:
        """Have all that can be taken up again later end now."""
        self.stopping.set()
        self.client.close()

    def check_stopping(self) -> None:
        """
        Return while the instance runs.

        Raises:
            StoppedError: It shuts down.
        """
        if self.stopping.is_set():
            raise StoppedError("given up because the instance is shutting down; it is taken up at the next start")

    def changing(self) -> AbstractContextManager[None]:
        """A change of the working store that ends with `publish`, or leaves nothing behind."""
        return self.publishing.changing()

    def publish(self) -> int:
        """Make what the working store holds the current generation; its number."""
        return self.publishing.publish()
