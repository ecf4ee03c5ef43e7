"""URIs that come to the seed list, one by one or from a sitemap: in the ledger, also beside a running instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final

from harvest.discover.sitemap_items import Item, SitemapDataset
from harvest.ledger import Ledger, SitemapReading
from harvest.model.seeds import is_relative, seed_hash, unusable

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
INTERVALS: Final = {
    "always": HOUR,
    "hourly": HOUR,
    "daily": DAY,
    "weekly": 7 * DAY,
    "monthly": 30 * DAY,
    "yearly": 365 * DAY,
    "never": 36500 * DAY,
}
"""Seconds after which a seed is stale, by the `changefreq` of its sitemap. Source: sitemaps.org protocol 0.9."""

BATCH: Final = 5_000
"""Seeds of one transaction: a harvest that runs beside may write between two."""

REPORTED: Final = 100
"""Relative and refused URIs that are reported one by one."""


@dataclass(slots=True)
class Report:
    """
    What became of URIs that were to be registered.

    Attributes:
        added: New in the list.
        known: There before, or given twice.
        relative: Those among both that are relative.
        refused: Those that are no URIs.
        relatives: The first relative ones: `number` in the input, `uri`.
        refusals: The first refused ones: `number`, `uri`, `reason`.
    """

    added: int = 0
    known: int = 0
    relative: int = 0
    refused: int = 0
    relatives: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, number: int, uri: str, reason: str) -> None:
        """Count a text that is no URI."""
        self.refused += 1
        if len(self.refusals) < REPORTED:
            shown = uri[:200].encode("utf-8", "replace").decode()
            self.refusals.append({"number": number, "uri": shown, "reason": reason})

    def take(self, number: int, uri: str, new: bool) -> None:
        """Count a URI that is in the list now."""
        self.added += new
        self.known += not new
        if is_relative(uri):
            self.relative += 1
            if len(self.relatives) < REPORTED:
                self.relatives.append({"number": number, "uri": uri})


@dataclass(slots=True)
class SitemapImport:
    """
    What became of the URIs of a sitemap.

    Attributes:
        uris: All of them.
        outdated: Seeds that became stale by their `lastmod`.
        vanished: Seeds that it listed before and lists no more.
    """

    uris: Report
    outdated: int
    vanished: int


@dataclass(frozen=True, slots=True)
class SitemapListing:
    """
    What a sitemap and all that it leads to list.

    Attributes:
        url: Of the sitemap, as given.
        items: All of their entries.
        state: SHA-256 that names what they are now, or None.
        interval: Seconds after which its seeds are stale; None: by their `changefreq`.
    """

    url: str
    items: Sequence[Item]
    state: str | None = None
    interval: float | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A URI of a sitemap, with what the sitemap says of it."""

    uri: str
    changefreq: str | None
    lastmod: datetime | None


def register(
    ledger: Ledger, given: Iterable[tuple[int, str]], interval: float | None, usual: float, now: datetime
) -> Report:
    """
    Put URIs, each with its number in the input, on the seed list.

    `interval` is in seconds; None takes the `usual` one for new seeds, and leaves that of known ones.
    """
    report, rest = Report(), iter(given)
    while batch := list(islice(rest, BATCH)):
        usable = []
        for number, uri in batch:
            reason = unusable(uri)
            if reason is None:
                usable.append((number, uri))
            else:
                report.refuse(number, uri, reason)
        found = ledger.seeds.add_all((uri for _, uri in usable), now, usual if interval is None else interval)
        if interval is not None:
            ledger.seeds.set_interval([hash for hash, new in found if not new], interval)
        for (number, uri), (_, new) in zip(usable, found, strict=True):
            report.take(number, uri, new)
    return report


def register_sitemap(
    ledger: Ledger, listing: SitemapListing, usual: float, now: datetime, *, again: bool = False
) -> SitemapImport:
    """
    Put all pages and dumps of a sitemap on the seed list, and have the sitemap read again from now on.

    `changefreq` is the interval of each, unless the listing has one; a later `lastmod` makes a seed stale. When the
    sitemap is read `again` by itself, what somebody took off the list stays off.
    """
    left_out = ledger.sitemaps.taken_off() if again else set()
    found = [entry for entry in _entries(listing.items) if seed_hash(entry.uri) not in left_out]
    report = Report()
    for wanted in dict.fromkeys(entry.changefreq for entry in found):
        uris = [(number, entry.uri) for number, entry in enumerate(found, 1) if entry.changefreq == wanted]
        interval = INTERVALS.get(wanted or "") if listing.interval is None else listing.interval
        part = register(ledger, uris, interval, usual, now)
        for name in ("added", "known", "relative", "refused", "relatives", "refusals"):
            setattr(report, name, getattr(report, name) + getattr(part, name))
    listed: dict[str, datetime | None] = {}
    for entry in found:
        if unusable(entry.uri) is None:
            listed.setdefault(seed_hash(entry.uri), entry.lastmod)
    outdated = ledger.sitemaps.set_seeds(listing.url, listed, now)
    ledger.sitemaps.read(
        listing.url, SitemapReading(listing.interval, listing.state, _every(listing), len(listed)), now
    )
    record = ledger.sitemaps.get(listing.url)
    return SitemapImport(report, outdated, record.vanished if record else 0)


def _every(listing: SitemapListing) -> float:
    """Seconds between two readings: as its most lively entry, between an hour and a day."""
    if listing.interval is not None:
        return max(HOUR, min(DAY, listing.interval))
    return min((min(DAY, INTERVALS.get(entry.changefreq or "", DAY)) for entry in _entries(listing.items)), default=DAY)


def _entries(items: Iterable[Item]) -> Iterator[_Entry]:
    """The URIs of the entries of a sitemap."""
    for item in items:
        for uri in item.dumps if isinstance(item, SitemapDataset) else item.links[:1] or (item.loc,):
            yield _Entry(uri, item.changefreq, item.lastmod)
