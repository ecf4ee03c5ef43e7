"""
Sitemaps as a description: a sitemap, those of an index or of a robots.txt, and what they list together.

All of them are read or none: with one that cannot be had or read nothing is applied, as pages would seem to be gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from harvest.discover.site import describe
from harvest.discover.sitemap import read_document, read_robots
from harvest.discover.sitemap_items import Item, SitemapEntry
from harvest.errors import DescriptionError
from harvest.ledger import Described, ProviderRecord
from harvest.model import Capture, Description, Limits, Provider, Validators
from harvest.pipeline.instance import Instance
from harvest.wash import process
from harvest.wash.unpacking.unpack import opened

ACCEPT: Final = "application/xml, text/xml, text/plain;q=0.8, */*;q=0.5"

DEPTH: Final = 3
"""Indexes within one another; the protocol has none in an index."""

MOST: Final = 1000
"""Sitemaps of one provider."""

READING_S: Final = 300
"""Seconds that reading the sitemaps of one level may take; one of 50,000 URLs takes 0.5."""

LIMITS: Final = Limits(64 << 20, 60)
"""Bytes and seconds that one sitemap may take; it may have 50 MiB unpacked."""

Place = tuple[Path, str]
"""A sitemap on disk, and its final URL."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A sitemap that is to be read: its URL, its date in the index, and the indexes that lead to it."""

    url: str
    lastmod: datetime | None = None
    above: tuple[str, ...] = ()


def read(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Described | None:
    """
    What the sitemaps of a provider list now; None where that is filed already, unless `forced`.

    Each is asked for by a conditional request; one whose date in the index is older than its last download is not.

    Raises:
        HarvestError: One of them cannot be had, or be read, or leads back to itself.
    """
    captures: list[Capture] = []

    def ask(listed: Listed) -> Place:
        capture = captured(instance, provider.url, listed)
        captures.append(capture)
        assert capture.digest is not None
        return instance.content.path(capture.digest), capture.final_url

    description = gather(ask, provider.url, instance.stopping)
    first = captures[0]
    same = (record.url, record.description) == (provider.url, first.digest)
    if same and not forced and description.datasets == instance.ledger.described.datasets(record.name):
        return None
    base = first.final_url.split("?")[0]
    return Described(
        provider.url, first.digest, first.validators, description.findings, datasets=description.datasets, base=base
    )


def captured(instance: Instance, first: str, listed: Listed) -> Capture:
    """A sitemap as it is now; `first` is the address of that which leads to it."""
    known = instance.filed(listed.url)
    if known and listed.lastmod is not None and listed.lastmod <= known.at:
        return known
    informed = instance.crawl.activity(first) if listed.above else None
    validators = known.validators if known else Validators()
    answer = instance.crawl.get(listed.url, validators, LIMITS, accept=ACCEPT, informed=informed)
    return known if known and answer.capture.digest is None else answer.capture


def gather(ask: Callable[[Listed], Place], url: str, stopping: threading.Event | None = None) -> Description:
    """
    What a sitemap and all that it leads to list together, as datasets; `ask` gives each.

    Raises:
        HarvestError: As `read`.
    """
    return describe(*items_of(ask, url, stopping))


def items_of(
    ask: Callable[[Listed], Place], url: str, stopping: threading.Event | None = None
) -> tuple[list[Item], str]:
    """
    The pages and datasets of a sitemap and of all that it leads to, and its final URL; `ask` gives each.

    Raises:
        HarvestError: As `read`.
    """
    level, seen, items = [Listed(url)], {url}, list[Item]()
    first = url
    while level:
        sources = [ask(listed) for listed in level]
        first = sources[0][1] if first == url and level[0].url == url else first
        bounds = process.Bounds(READING_S, level[0].url, stopping or threading.Event())
        documents = process.call(read_all, bounds, sources)
        below: list[Listed] = []
        for listed, document in zip(level, documents, strict=True):
            items += [item for item in document if not _is_sitemap(item)]
            further = [item for item in document if isinstance(item, SitemapEntry) and item.is_sitemap]
            below += _below(listed, further, seen)
        level = below
    return items, first


def _is_sitemap(item: Item) -> bool:
    return isinstance(item, SitemapEntry) and item.is_sitemap


def _below(listed: Listed, further: Sequence[SitemapEntry], seen: set[str]) -> list[Listed]:
    """The sitemaps that an index adds to those `seen`."""
    above = (*listed.above, listed.url)
    found = []
    for entry in further:
        if entry.loc in above:
            message = f"the sitemap index {listed.url} leads back to {entry.loc}; an index lists sitemaps below it only"
            raise DescriptionError(message, url=listed.url)
        if len(above) > DEPTH:
            raise DescriptionError(
                f"{listed.url} is an index below {DEPTH} others; list its sitemaps in one", url=listed.url
            )
        if entry.loc not in seen:
            seen.add(entry.loc)
            found.append(Listed(entry.loc, entry.lastmod, above))
    if len(seen) > MOST:
        raise DescriptionError(f"{above[0]} leads to more than {MOST:,} sitemaps; register some of them", url=above[0])
    return found


def read_all(sources: Sequence[Place]) -> list[list[Item]]:
    """
    What each of these documents holds; runs in a process of its own.

    Raises:
        HarvestError: One of them is no sitemap, or is damaged.
    """
    return [_read(path, url) for path, url in sources]


def _read(path: Path, url: str) -> list[Item]:
    with opened(path, url) as stream:
        if urlsplit(url).path != "/robots.txt":
            return read_document(stream, url)
        text = stream.read(1 << 20).decode("utf-8-sig", "replace")
    found: list[Item] = [SitemapEntry(sitemap, is_sitemap=True) for sitemap in read_robots(text, url)]
    if not found:
        raise DescriptionError(f"{url} names no sitemap; register the sitemap itself", url=url)
    return found
