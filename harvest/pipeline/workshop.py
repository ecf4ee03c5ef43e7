"""What every step of the pipeline works with."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from harvest.archive.content import ContentStore
from harvest.errors import StoppedError
from harvest.fetch.client import Client
from harvest.ledger import Ledger, ProviderRecord
from harvest.pipeline.crawl import Crawl
from harvest.pipeline.current import Current
from harvest.pipeline.files import GraphFiles
from harvest.roster import Roster
from harvest.settings import Settings
from sparql.store.embedded import EmbeddedStore
from sparql.store.generations import Generations

METADATA = "harvest-metadata"
"""Last part of the metadata graph's IRI; no provider can have it, for names hold no hyphen."""


def now_utc() -> datetime:
    """The time now (aware, UTC)."""
    return datetime.now(UTC)


def _unheard(provider: str, step: str) -> None:
    """Nobody listens to the steps."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """
    The tools of an instance that may write.

    Attributes:
        settings: The instance's settings.
        ledger: What was seen and done.
        content: Filed bytes.
        client: Fetching.
        crawl: Fetching that the archive's logs tell of.
        store: The working store.
        generations: Published copies of it.
        roster: The registry as it is now.
        clock: The time now (aware, UTC).
        on_step: Told (provider, step) when a step begins; the steps' names are in `harvest.pipeline`.
        stopping: Set when the instance shuts down: downloads and washing are given up, loads are finished.
        writing: Held while the working store is written; providers are washed side by side, loaded one by one.
    """

    settings: Settings
    ledger: Ledger
    content: ContentStore
    client: Client
    crawl: Crawl
    store: EmbeddedStore
    generations: Generations
    roster: Roster
    clock: Callable[[], datetime] = now_utc
    on_step: Callable[[str, str], None] = _unheard
    stopping: threading.Event = field(default_factory=threading.Event)
    writing: threading.RLock = field(default_factory=threading.RLock)

    @property
    def metadata_graph(self) -> str:
        """The IRI of the graph that tells of the harvests."""
        return self.settings.graph(METADATA)

    def folder(self, name: str) -> Path:
        """Where a provider's snapshot and changes are."""
        return self.settings.data_dir / "providers" / name

    @property
    def scratch(self) -> Path:
        """Where temporary folders are made; emptied at each start."""
        return self.settings.data_dir / "scratch"

    @contextmanager
    def room(self) -> Iterator[Path]:
        """A temporary folder on the disk of the data directory, gone afterwards."""
        folder = Path(mkdtemp(dir=self.scratch))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def whole(self, record: ProviderRecord, room: Path) -> Path:
        """The snapshot of a provider's current version, folded from its changes if need be; empty for version 0."""
        if record.version == 0:
            empty = room / "empty.nq"
            empty.touch()
            return empty
        files = GraphFiles(self.folder(record.name))
        made = files.fold(record.version, room)
        if made is not None:
            self.ledger.set_digest(record.name, record.version, made.digest)
        return files.snapshot_file(record.version)

    def current(self, record: ProviderRecord, room: Path) -> Current:
        """A provider's graph as it is now, to be asked by subject."""
        files = GraphFiles(self.folder(record.name))
        base = files.base()
        since = files.since(record.version, room)
        return Current(files.snapshot_file(base) if base else None, since, self.store)

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

    def publish(self) -> int:
        """Make what the working store holds the current generation, and collect those that nobody needs; its number."""
        published = self.generations.publish(self.store)
        self.generations.collect()
        return published.number
