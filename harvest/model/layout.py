"""The paths of an instance below its data directory: no other module of `harvest` puts them together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProviderLayout:
    """
    The paths of a provider's snapshot and changes (`harvest.revise.versions`).

    Attributes:
        folder: The provider's folder.
    """

    folder: Path

    @property
    def snapshot(self) -> Path:
        """The link to the current snapshot."""
        return self.folder / "snapshot.nq"

    def snapshot_of(self, n: int) -> Path:
        """The snapshot of version `n`."""
        return self.folder / f"snapshot-{n:06d}.nq"

    @property
    def changes(self) -> Path:
        """The folder of the changes."""
        return self.folder / "changes"

    def change(self, n: int) -> Path:
        """The change of version `n`."""
        return self.changes / f"{n:06d}.nqud.gz"

    def baseline(self, n: int) -> Path:
        """Version `n` as a change from nothing, where those before it were dropped."""
        return self.folder / f"baseline-{n:06d}.nqud.gz"

    def since(self, base: int, version: int) -> Path:
        """The folder of the changes after version `base` up to `version` as one."""
        return self.folder / f"since-{base:06d}-{version:06d}"


@dataclass(frozen=True, slots=True)
class Layout:
    """
    The paths of a data directory.

    Below `content` the layout is that of an archive (`harvest.archive.layout`), below `store` that of
    `sparql.store.layout`, below `cache` that of `sparql.cache`; these take the folder from here.

    Attributes:
        data: The data directory.
        front: The folder of what the web front writes; None where that is below the data directory.

    Source: ARCHITECTURE, "On disk".
    """

    data: Path
    front: Path | None = None

    @property
    def ledger(self) -> Path:
        """The SQLite file (`harvest.ledger`)."""
        return self.data / "ledger.sqlite"

    @property
    def warc(self) -> Path:
        """WARC files with their CDX lines (`harvest.archive.warc`)."""
        return self.data / "warc"

    @property
    def content(self) -> Path:
        """Filed bytes and provenance logs (`harvest.archive`)."""
        return self.data / "content"

    @property
    def providers(self) -> Path:
        """One folder a provider."""
        return self.data / "providers"

    def provider(self, name: str) -> ProviderLayout:
        """The snapshot and the changes of a provider."""
        return ProviderLayout(self.providers / name)

    def pages(self, name: str) -> Path:
        """What the pages of a provider gave at its last washing (`harvest.wash.page_cache`); may go at any time."""
        return self.data / "pages" / name

    @property
    def store(self) -> Path:
        """The working store and its generations (`sparql.store`)."""
        return self.data / "store"

    @property
    def cache(self) -> Path:
        """Remembered query results (`sparql.cache`)."""
        return (self.front or self.data) / "cache"

    @property
    def reading(self) -> Path:
        """Temporary files of web fronts, one folder a process (`harvest.catalog.room`)."""
        return (self.front or self.data) / "reading"

    @property
    def resourcesync(self) -> Path:
        """What leads to the feeds of ResourceSync, and one folder a provider (`harvest.publish.resourcesync`)."""
        return self.data / "resourcesync"

    def feed(self, name: str) -> Path:
        """The documents of a provider's feed."""
        return self.resourcesync / name

    @property
    def following(self) -> Path:
        """The file that says whose replica this is, where it is one (`harvest.config.following`)."""
        return self.data / "following.json"

    @property
    def following_registry(self) -> Path:
        """The registry of a replica: the providers of its origin."""
        return self.data / "following.yaml"

    @property
    def scratch(self) -> Path:
        """Temporary folders; emptied at each start."""
        return self.data / "scratch"
