"""What the pages need to know; whoever puts the front together gives it to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

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

Record = dict[str, Any]
"""A JSON object."""


class Catalog(Protocol):
    """
    Providers, their versions, runs and files. Nothing here changes anything; several threads call at once.

    Attributes:
        exports_dir: The folder of downloads: `*.nq.gz`, each with its `.sha256`, and `void.ttl`.
        resourcesync_dir: The folder of the documents of ResourceSync: what leads to the feeds, and a folder a provider.
    """

    @property
    def exports_dir(self) -> Path:
        """The folder of downloads."""

    def export_address(self, file: str, sha256: str) -> str | None:
        """Where else readers find the export with this digest, or None."""

    @property
    def resourcesync_dir(self) -> Path:
        """The folder of the documents of ResourceSync."""

    def providers(self) -> list[ProviderReport]:
        """All providers, by name."""

    def summaries(self) -> list[ProviderSummary]:
        """The little of all providers that lists show, by name."""

    def several(self, names: Sequence[str]) -> list[ProviderReport]:
        """The providers of these names, by name; of unknown ones none."""

    def provider(self, name: str) -> ProviderReport | None:
        """A provider, or None."""

    def ingests(self) -> list[IngestReport]:
        """What came of the landing pages of all providers that are registered by one, by name."""

    def receipt(self, name: str) -> bytes | None:
        """What a provider learns of its dump, as Turtle, or None."""

    def dump_receipt(self, name: str, digest: str) -> bytes | None:
        """What became of the provider's dump with this SHA-256, as Turtle, or None."""

    def statistics(self, name: str) -> StatisticsReport | None:
        """What the current version of a provider's graph is made of; None where that was not counted yet."""

    def versions(self, name: str) -> list[VersionReport]:
        """The versions of a provider, oldest first."""

    def runs(self, name: str) -> list[RunReport]:
        """The latest runs of a provider, newest first."""

    def run_page(self, name: str, page: int) -> RunPage:
        """A page, from 1, of the runs of a provider, newest first."""

    def latest(self, page: int) -> VersionPage:
        """A page, from 1, of the versions of all providers, newest first."""

    def run(self, name: str, id: int) -> RunReport | None:
        """One run of a provider, or None."""

    def sizes(self, names: Sequence[str], most: int) -> dict[str, list[VersionReport]]:
        """The last versions of these providers, at most so many of each, oldest first."""

    def change(self, name: str, n: int) -> PackedFile | None:
        """The N-Quads unified diff that made a version, or None; DamagedData where it is damaged."""

    def baseline(self, name: str, n: int) -> PackedFile | None:
        """A version as a change from nothing, where those before it were dropped, or None; DamagedData as for it."""

    def version(self, name: str, n: int) -> Iterator[bytes] | None:
        """
        A version as canonical N-Quads in chunks, or None. An iterator that can be closed is closed.

        Raises:
            DamagedData: What it is made of is damaged.
        """

    def status(self) -> StatusReport:
        """The state of the instance."""

    def queue(self) -> QueueReport:
        """What the instance is at."""

    def content(self, sha256: str) -> Path | None:
        """Filed bytes by their digest, or None."""

    def documents(self, state: str | None, page: int) -> SeedList:
        """A page, from 1, of the seeds in a state, or of all."""

    def document(self, hash: str, page: int) -> SeedPage | DocumentPage | None:
        """A seed with its downloads, or a document with a page of its entries; or None."""

    def document_turtle(self, hash: str) -> bytes | None:
        """The same without downloads and entries, as Turtle, or None."""


@dataclass(frozen=True, slots=True)
class Operator:
    """
    Who may write by SPARQL update, and what does so.

    Attributes:
        token: What their requests bear.
        update: Carries out an update: its text gives a record of what became of it, or a SparqlError. It may take
            minutes; several threads call at once.
        change: The same for an N-Quads unified diff, gzip or not, of a graph: its IRI and the bytes.
    """

    token: str = field(repr=False)
    update: Callable[[str], Record]
    change: Callable[[str, bytes], Record]


@dataclass(frozen=True, slots=True)
class Site:
    """
    What an instance calls itself.

    Attributes:
        base_url: Public address, without a slash at the end.
        title: On every page.
        graph_base: What the IRIs of graphs begin with; they can be read there if it is below `base_url`.
        account: IRI of the graph in which the instance describes its own work, or empty.
        queries: Folder of the example queries, or None.
        proxies: Addresses and networks of the reverse proxies in front of the instance.
        operator: Who may send updates, or None if nobody may.
        origin: Address of the instance whose replica this is, or empty.
    """

    base_url: str
    title: str = "SPARQL Harvest"
    graph_base: str = ""
    account: str = ""
    queries: Path | None = None
    proxies: tuple[str, ...] = ()
    operator: Operator | None = None
    origin: str = ""
