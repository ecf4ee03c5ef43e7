"""Seeds: the URIs that are registered for downloading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sparql.reports.documents import DocumentSummary
from sparql.reports.writing import MERGED


@dataclass(frozen=True, slots=True)
class LatestReport:
    """
    What became of the latest download of a seed.

    Attributes:
        counts: How many problems of each kind.
        whole: Whether it was read to its end, or None before.
        dropped: Statements left out, or None before.
    """

    counts: Mapping[str, int]
    whole: bool | None
    dropped: int | None


@dataclass(frozen=True, slots=True)
class SeedReport:
    """
    A registered URI.

    Attributes:
        hash: Of the URI; 32 lower-case hex digits.
        type: seed.
        uri: Without name and password.
        relative: Whether it is relative: then nothing is ever downloaded.
        status: How far its latest download came.
        added: When it was registered.
        interval: Seconds after which it is stale.
        processed: When it was last downloaded, or None.
        stale: Whether it is to be downloaded.
        listed: Whether it stands in the seed list; otherwise a provider alone names it.
        provider: The provider that names it, or None.
        download: Hash of its latest download, or None.
        failures: Failed downloads in a row.
        retry_at: When it is tried again after a failure, or None.
        latest: What became of its latest download, where that is asked for and there is one.
        sitemap: Address of the sitemap that listed it last, without name and password, or None.
        vanished: Since when that lists it no more, or None.
    """

    hash: str
    type: str
    uri: str
    relative: bool
    status: str
    added: datetime
    interval: float
    processed: datetime | None
    stale: bool
    listed: bool
    provider: str | None
    download: str | None
    failures: int
    retry_at: datetime | None
    latest: LatestReport | None = field(default=None, metadata=MERGED)
    sitemap: str | None = None
    vanished: datetime | None = None


@dataclass(frozen=True, slots=True)
class SitemapReport:
    """
    A sitemap that fills the seed list.

    Attributes:
        url: Without name and password.
        added: When it was registered.
        read: When it was last read whole, or None.
        next_read: When it is to be read again.
        entries: URIs that it listed then.
        vanished: Seeds of the list that it listed and lists no more.
        failures: Readings in a row that failed.
        trouble: Why the last one failed, or None.
    """

    url: str
    added: datetime
    read: datetime | None
    next_read: datetime
    entries: int
    vanished: int
    failures: int
    trouble: str | None


@dataclass(frozen=True, slots=True)
class SeedResult:
    """
    What became of a seed that was downloaded.

    Attributes:
        seed: The seed now.
        problem: Why there is nothing clean of it, or None.
        statements: In the clean documents of its latest download.
        dropped: Statements left out of them.
        clean: How many documents they are.
    """

    seed: SeedReport = field(metadata=MERGED)
    problem: str | None
    statements: int
    dropped: int
    clean: int


@dataclass(frozen=True, slots=True)
class RemovedSeed:
    """A seed that was removed before its turn came."""

    hash: str
    status: str = "removed"
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SeedList:
    """
    A page of all seeds, or of those in a state.

    Attributes:
        seeds: On this page.
        state: The state that was asked for, or None.
        page: From 1.
        pages: How many there are.
        total: Seeds on all pages.
        states: How many seeds are in each state.
        relative: How many seeds are relative.
        from_sitemaps: How many seeds a sitemap listed.
        vanished: How many of these their sitemap lists no more.
        sitemaps: Those that fill the list.
        entries: How many entries of archives the latest downloads of seeds have, by state.
    """

    seeds: tuple[SeedReport, ...]
    state: str | None
    page: int
    pages: int
    total: int
    states: Mapping[str, int]
    relative: int
    from_sitemaps: int = 0
    vanished: int = 0
    sitemaps: tuple[SitemapReport, ...] = ()
    entries: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeedPage:
    """
    A seed with its downloads.

    Attributes:
        seed: The seed.
        downloads: The latest, newest first.
    """

    seed: SeedReport = field(metadata=MERGED)
    downloads: tuple[DocumentSummary, ...]
