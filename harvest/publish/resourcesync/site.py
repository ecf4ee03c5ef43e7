"""
What leads to the feeds: the description of the source, robots.txt and the sitemap of the pages.

    resourcesync/sourceDescription.xml   names the list of capabilities of each provider
    resourcesync/robots.txt              names the sitemap and the lists of resources
    resourcesync/sitemap.xml             the pages of the providers, and of each dataset its dump
    resourcesync/*.sha256                the digests of these

Source: ResourceSync 1.1, sections 6.3 (discovery) and 8 (source description); RFC 9309; sitemaps.org protocol 0.9.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from harvest.errors import DamageError
from harvest.model.resourcesync import MEDIA_TYPE, Capability, Relation
from harvest.publish import checksums
from harvest.publish.resourcesync.lists import CAPABILITIES, RESOURCES, SOURCE, FeedAddresses, described_by
from harvest.publish.resourcesync.writing import ListHead, ListItem, ListLink, write_list

ROBOTS: Final = "robots.txt"
SITEMAP: Final = "sitemap.xml"

_DIGEST: Final = checksums.beside(Path(ROBOTS)).suffix

MOST_LINES: Final = 1000
"""Lists of resources that robots.txt names: its readers may stop after 500 KiB. Source: RFC 9309, section 2.5."""


@dataclass(frozen=True, slots=True)
class FedProvider:
    """
    A provider that has a feed.

    Attributes:
        name: Provider name.
        at: When its last version was committed (UTC).
    """

    name: str
    at: datetime


def write_site(folder: Path, base_url: str, providers: Sequence[FedProvider]) -> None:
    """
    Write what leads to the feeds of these providers, and remove the feeds of others.

    Raises:
        OSError: The disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        *_write_source(folder, base_url, providers),
        *_write_sitemap(folder, base_url, providers),
        folder / ROBOTS,
    ]
    checksums.describe(folder / ROBOTS, _robots(base_url, providers))
    names = {*(provider.name for provider in providers), *(path.name for path in written)}
    for path in folder.iterdir():
        if path.is_dir() and path.name not in names:
            shutil.rmtree(path)
        elif path.suffix == _DIGEST and path.name.removesuffix(_DIGEST) not in names:  # a part of a longer list
            path.unlink()
            path.with_suffix("").unlink(missing_ok=True)


def site_damages(folder: Path) -> Iterator[DamageError]:
    """What is damaged or gone of what leads to the feeds, as far as it was written to its end."""
    for digest in sorted(folder.glob(f"*{_DIGEST}")):
        yield from checksums.damages(digest.with_suffix(""))


def _write_source(folder: Path, base_url: str, providers: Sequence[FedProvider]) -> list[Path]:
    links = (ListLink(Relation.DESCRIBED_BY, f"{base_url}/.well-known/void", {"type": "text/turtle"}),)
    items = (_capabilities(FeedAddresses(base_url, provider.name)) for provider in providers)
    address = f"{base_url}/resourcesync/{SOURCE}"
    return write_list(
        folder / SOURCE, address, ListHead(Capability.DESCRIPTION, links=links), items, checksums.describe
    )


def _capabilities(addresses: FeedAddresses) -> ListItem:
    md = {"capability": str(Capability.CAPABILITY_LIST), "type": MEDIA_TYPE}
    return ListItem(addresses(CAPABILITIES), md=md, links=(described_by(addresses),))


def _write_sitemap(folder: Path, base_url: str, providers: Sequence[FedProvider]) -> list[Path]:
    pages = (ListItem(f"{base_url}/providers/{provider.name}", provider.at) for provider in providers)
    return write_list(folder / SITEMAP, f"{base_url}/resourcesync/{SITEMAP}", None, pages, checksums.describe)


def _robots(base_url: str, providers: Sequence[FedProvider]) -> bytes:
    lists = (f"Sitemap: {FeedAddresses(base_url, provider.name)(RESOURCES)}\n" for provider in providers[:MOST_LINES])
    rules = "User-agent: *\nDisallow: /sparql?\nDisallow: /entity?\n\n"
    return "".join((rules, f"Sitemap: {base_url}/{SITEMAP}\n", *lists)).encode()
