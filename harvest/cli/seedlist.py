"""What commands do with the seed list in the ledger itself, also beside a running instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from harvest.catalog.documents import seed_report
from harvest.config.following import check_founded
from harvest.config.settings import Settings
from harvest.errors import StorageError, UnknownName
from harvest.ledger import Database, Ledger
from harvest.model.seeds import is_relative, public, seed_hash, unusable
from harvest.pipeline import Item, SitemapDataset, in_sitemap
from harvest.service.following import check_replica
from sparql.reports import SeedReport

HOUR: Final = 3600.0
INTERVALS: Final = {
    "always": HOUR,
    "hourly": HOUR,
    "daily": 24 * HOUR,
    "weekly": 7 * 24 * HOUR,
    "monthly": 30 * 24 * HOUR,
    "yearly": 365 * 24 * HOUR,
    "never": 36500 * 24 * HOUR,
}
"""Seconds after which a seed is stale, by the `changefreq` of its sitemap. Source: sitemaps.org protocol 0.9."""

BATCH: Final = 5_000
"""Seeds of one transaction or query: a harvest that runs beside may write between two."""

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


def register(settings: Settings, given: Iterable[tuple[int, str]], interval: float | None) -> dict[str, Any]:
    """
    Put URIs, each with its number in the input, on the seed list; returns a Report as JSON.

    `interval` is in seconds; None takes the setting for new seeds, and leaves that of known ones.
    """
    ledger, report, rest = _ledger(settings), Report(), iter(given)
    check_replica(settings.follow, "seeds add")
    while batch := list(islice(rest, BATCH)):
        usable = []
        for number, uri in batch:
            reason = unusable(uri)
            if reason is None:
                usable.append((number, uri))
            else:
                report.refuse(number, uri, reason)
        seconds = settings.seeds.interval if interval is None else interval
        found = ledger.seeds.add_all((uri for _, uri in usable), _now(), seconds)
        if interval is not None:
            ledger.seeds.set_interval([hash for hash, new in found if not new], interval)
        for (number, uri), (_, new) in zip(usable, found, strict=True):
            report.take(number, uri, new)
    return asdict(report)


def register_sitemap(settings: Settings, url: str, interval: float | None) -> dict[str, Any]:
    """
    Put all pages and dumps that a sitemap leads to on the seed list; returns a Report as JSON.

    `changefreq` is the interval of each, unless `interval` (seconds) is given; a `lastmod` after the last download of
    a seed makes it stale.

    Raises:
        HarvestError: The sitemap, or one that it leads to, cannot be had or read; then nothing is registered.
    """
    found = [each for item in in_sitemap(settings, url) for each in _seeds_of(item)]
    report = Report()
    for wanted in dict.fromkeys(changefreq for _, changefreq, _ in found):
        uris = [(number, uri) for number, (uri, changefreq, _) in enumerate(found, 1) if changefreq == wanted]
        part = register(settings, uris, INTERVALS.get(wanted or "") if interval is None else interval)
        for name in ("added", "known", "relative", "refused", "relatives", "refusals"):
            setattr(report, name, getattr(report, name) + part[name])
    hashes = [seed_hash(uri) for uri, _, _ in found if unusable(uri) is None]
    _ledger(settings).seeds.set_sitemap(hashes, url)
    changes = [(seed_hash(uri), lastmod) for uri, _, lastmod in found if lastmod is not None]
    return asdict(report) | {"outdated": _ledger(settings).seeds.set_changed(changes)}


def _seeds_of(item: Item) -> Iterator[tuple[str, str | None, datetime | None]]:
    """The URIs of an entry of a sitemap, each with its `changefreq` and `lastmod`."""
    uris = item.dumps if isinstance(item, SitemapDataset) else item.links[:1] or (item.loc,)
    for uri in uris:
        yield uri, item.changefreq, item.lastmod


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
    Take a URI off the list; what was downloaded of it stays.

    Raises:
        UnknownName: It is not there.
    """
    if not _ledger(settings).seeds.remove(seed_hash(uri)):
        raise UnknownName(f"{public(uri)} is not in the seed list; `harvest seeds list` shows what is")


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
