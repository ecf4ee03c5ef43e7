"""What is registered, announced and harvested."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from harvest.model.exchanges import Capture
from harvest.model.listings import Listing
from sparql.reports import Finding

AHEAD: Final = timedelta(days=1)
"""How far ahead a dcterms:modified may be and still counts: time zones reach 14 hours."""


class Source(StrEnum):
    """The kind of document that describes a provider, or `updates` for none; the key that stands in the registry."""

    VOID = "void"
    RESOURCESYNC = "resourcesync"
    SITEMAP = "sitemap"
    DCAT = "dcat"
    LDES = "ldes"
    HANDLER = "handler"
    DATASET = "dataset"
    DUMP = "dump"
    UPDATES = "updates"


class Removals(StrEnum):
    """What a full dump does to subjects that it no longer holds: keep them, or mirror their absence."""

    KEEP = "keep"
    MIRROR = "mirror"


class Coverage(StrEnum):
    """Whether the dumps of a dataset hold all of it or only what changed."""

    FULL = "full"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Limits:
    """
    A provider's own limits; None takes the instance's.

    Attributes:
        max_bytes: Largest body of one dump, in bytes as received.
        total_s: Longest time for one dump, in seconds.
    """

    max_bytes: int | None = None
    total_s: float | None = None


@dataclass(frozen=True, slots=True)
class Provider:
    """
    One entry of the registry.

    Attributes:
        name: `[a-zA-Z0-9]+`; the last part of the graph IRI.
        source: What kind of document `url` is.
        url: Where the provider describes its data; empty for a graph that SPARQL updates write.
        modified: What the registry says was last harvested (aware, UTC); None when it says nothing.
        interval: Seconds between two looks; None takes `schedule.update`. A dataset in a repository always has one.
        removals: What a full dump does to subjects it no longer holds.
        limits: Own limits.
        contact: Whom to ask, free text or a mailto: IRI.
        notify: URL or mail address that is to be notified of outcomes.
        enabled: False stops harvesting; the graph stays.
        line: Line of the entry in the registry file, from 1.
        handler: The content handler that reads what is at `url`, for a provider that is registered by one.
        prefix: Of an entry that takes all providers of `url`: what their names begin with here; else None.

    Source: shared GeoLink document, "The Registry File".
    """

    name: str
    source: Source
    url: str
    modified: datetime | None = None
    interval: float | None = None
    removals: Removals = Removals.KEEP
    limits: Limits = Limits()
    contact: str | None = None
    notify: str | None = None
    enabled: bool = True
    line: int = 0
    handler: str | None = None
    prefix: str | None = None

    @property
    def is_looked_at(self) -> bool:
        """Whether there is anything to be asked for again and again."""
        return self.enabled and self.source is not Source.UPDATES


@dataclass(frozen=True, slots=True)
class Dataset:
    """
    One dataset with dumps, as its provider describes it.

    Attributes:
        iri: The dataset's IRI; for a blank node a Skolem IRI that stays the same while the description does.
        dumps: Absolute URLs, in the order of the file, without repeats.
        coverage: Full, unless a known void:feature says partial.
        modified: Latest readable dcterms:modified (aware, UTC), or None.
        title: For people, or None.
        listing: What lists of its source say of it; None for a dataset that a description names.
        lastmods: Of the pages of sitemaps, one a dump: the latest time (aware, UTC) of its change, or None. Else empty.
    """

    iri: str
    dumps: tuple[str, ...]
    coverage: Coverage = Coverage.FULL
    modified: datetime | None = None
    title: str | None = None
    listing: Listing | None = None
    lastmods: tuple[datetime | None, ...] = ()

    @property
    def sync_token(self) -> str | None:
        """The state that the dumps lead to, where the source names it."""
        return self.listing.sync_token if self.listing else None


@dataclass(frozen=True, slots=True)
class About:
    """
    What a description says of a dataset; texts are cut where they are long.

    Attributes:
        iri: As of the dataset.
        title: Or None.
        description: Or None.
        licence: IRI or words, or None.
        publisher: Name, else IRI, or None.
        homepage: IRI, or None.
        examples: IRIs of resources in it, the first ones.
        creators: Names of those who made it, as a repository has them.
        doi: Without a resolver, or None.
        version: As a repository names it, or None.
        issued: When a repository published it, as it writes that, or None.
    """

    iri: str
    title: str | None = None
    description: str | None = None
    licence: str | None = None
    publisher: str | None = None
    homepage: str | None = None
    examples: tuple[str, ...] = ()
    creators: tuple[str, ...] = ()
    doi: str | None = None
    version: str | None = None
    issued: str | None = None

    @property
    def citation(self) -> str | None:
        """
        How to cite the dataset; None without a title, and where nobody says who made it.

        Source: DataCite Metadata Schema 4.5, section 1.3 (recommended citation format).
        """
        if not self.title or not self.creators:
            return None
        year = re.match(r"\d{4}", self.issued or "")
        parts = [
            "; ".join(self.creators) + (f" ({year[0]})" if year else ""),
            self.title.rstrip("."),
            f"Version {self.version}" if self.version else None,
            f"https://doi.org/{self.doi}" if self.doi else self.homepage,
        ]
        return ". ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Description:
    """
    What a provider's description says.

    Attributes:
        datasets: Those with at least one dump, sorted by IRI.
        findings: What was wrong or odd with it.
        about: What it says of each of the datasets.
    """

    datasets: tuple[Dataset, ...]
    findings: tuple[Finding, ...] = ()
    about: tuple[About, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """
    What differs between two versions.

    Attributes:
        removed: Canonical N-Quads, sorted, of what goes.
        added: Canonical N-Quads, sorted, of what comes; disjoint from `removed`.
        removed_triples: Lines in `removed`.
        added_triples: Lines in `added`.
    """

    removed: Path
    added: Path
    removed_triples: int
    added_triples: int


@dataclass(frozen=True, slots=True)
class Announcement:
    """
    A dataset that is to be harvested.

    Attributes:
        id: Ledger key; 0 before it is filed.
        provider: Provider name.
        dataset: The dataset as described when it was seen.
        seen: When (aware, UTC).
        captures: The downloaded dumps, in the order of `dataset.dumps`; empty before the download.
    """

    provider: str
    dataset: Dataset
    seen: datetime
    id: int = 0
    captures: tuple[Capture, ...] = field(default=())
