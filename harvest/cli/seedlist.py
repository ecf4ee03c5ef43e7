"""What commands do with the seed list in the ledger itself, also beside a running instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from harvest.catalog.documents import seed_report, sitemap_report
from harvest.config.following import check_founded
from harvest.config.settings import Settings
from harvest.errors import StorageError, UnknownName
from harvest.ledger import Database, Ledger
from harvest.model.seeds import public, seed_hash
from harvest.pipeline import in_sitemap
from harvest.pipeline.seeds import registering
from harvest.service.following import check_replica
from sparql.reports import SeedReport, SitemapReport

BATCH: Final = 5_000
"""Seeds of one query: a harvest that runs beside may write between two."""


def register(settings: Settings, given: Iterable[tuple[int, str]], interval: float | None) -> dict[str, Any]:
    """
    Put URIs, each with its number in the input, on the seed list; returns a Report as JSON.

    `interval` is in seconds; None takes the setting for new seeds, and leaves that of known ones.
    """
    return asdict(registering.register(_list(settings), given, interval, settings.seeds.interval, _now()))


def register_sitemap(settings: Settings, url: str, interval: float | None) -> dict[str, Any]:
    """
    Put all pages and dumps that a sitemap leads to on the seed list; returns a Report as JSON.

    `harvest serve` reads it again from then on. `changefreq` is the interval of each seed, unless `interval` (seconds)
    is given; a `lastmod` after the last download of a seed makes it stale.

    Raises:
        HarvestError: The sitemap, or one that it leads to, cannot be had or read; then nothing is registered.
    """
    ledger = _list(settings)
    listing = registering.SitemapListing(url, in_sitemap(settings, url), interval=interval)
    report = registering.register_sitemap(ledger, listing, settings.seeds.interval, _now())
    return asdict(report.uris) | {"outdated": report.outdated, "vanished": report.vanished}


def listed(settings: Settings, state: str | None) -> Iterator[SeedReport]:
    """Yield the seeds in the list, in the order in which they were added."""
    ledger, now, offset = _ledger(settings), _now(), 0
    while page := ledger.seeds.page(state, limit=BATCH, offset=offset):
        yield from (seed_report(seed, now) for seed in page)
        offset += len(page)


def entries(settings: Settings, state: str | None) -> int:
    """How many entries of archives the latest downloads of the seeds in the list have; with `state`, those in it."""
    found = _ledger(settings).seeds.entries()
    return sum(found.values()) if state is None else found.get(state, 0)


def remove(settings: Settings, uri: str) -> None:
    """
    Take a URI off the list; what was downloaded of it stays. A sitemap is read no more, and its seeds stay.

    Raises:
        UnknownName: It is not there.
    """
    ledger = _ledger(settings)
    was_read = ledger.sitemaps.remove(uri)
    if not ledger.seeds.remove(seed_hash(uri)) and not was_read:
        raise UnknownName(f"{public(uri)} is not in the seed list; `harvest seeds list` shows what is")


def sitemaps(settings: Settings) -> list[SitemapReport]:
    """The sitemaps that fill the list."""
    return [sitemap_report(record) for record in _ledger(settings).sitemaps.all()]


def _list(settings: Settings) -> Ledger:
    """
    The ledger of an instance whose list may be filled.

    Raises:
        ForbiddenError: It is a replica.
    """
    ledger = _ledger(settings)
    check_replica(settings.follow, "seeds add")
    return ledger


def _ledger(settings: Settings) -> Ledger:
    check_founded(settings)
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the data directory {settings.data_dir} cannot be written: {error}"
        raise StorageError(message, url=str(settings.data_dir)) from error
    return Ledger(Database(settings.layout.ledger))


def _now() -> datetime:
    return datetime.now(UTC)
