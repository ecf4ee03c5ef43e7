"""
ResourceSync documents: sitemaps and sitemap indexes with `rs:md` and `rs:ln`, read as a stream.

Entities are refused where they are declared, and nothing that a document names is fetched while it is read.

Source: ResourceSync 1.1, sections 7 (document formats) and 8 to 13; sitemaps.org protocol 0.9.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from harvest.discover.dates import read_date
from harvest.discover.elements import ElementReader, Refused, Unreadable
from harvest.discover.resourcesync.items import Item, Link, Meta, SyncDocument, read_meta
from harvest.discover.sitemap import MOST_BYTES
from harvest.discover.sitemap_items import address
from harvest.errors import DescriptionError
from harvest.model.resourcesync import MOST_ITEMS, RS, SITEMAP

_ROOTS: Final = {"urlset": "url", "sitemapindex": "sitemap"}
_NAMESPACES: Final = ("", SITEMAP, SITEMAP.replace("http:", "https:"))
_CHUNK: Final = 1 << 16
_MOST_LINKS: Final = 100
"""Links of one item that are kept."""


def read_document(path: Path, url: str) -> SyncDocument | None:
    """
    What a filed document says; None where it is no sitemap at all, such as a page.

    Args:
        path: The filed bytes.
        url: The final URL, base of relative addresses.

    Raises:
        DescriptionError: It begins as a sitemap and is damaged, declares entities, or is past a limit; with the place.
    """
    reading = _Reading(url)
    size = 0
    with path.open("rb") as stream:
        while reading.root is not False:
            chunk = stream.read(_CHUNK)
            size += len(chunk)
            if size > MOST_BYTES:
                raise DescriptionError(
                    f"{url} has more than {MOST_BYTES:,} bytes; split it, and make an index", url=url
                )
            reading.feed(chunk)
            if not chunk:
                break
    return reading.document() if reading.root else None


@dataclass(slots=True)
class _Open:
    """An item while it is read."""

    line: int
    loc: str | None = None
    lastmod: datetime | None = None
    meta: Meta = field(default_factory=Meta)
    links: list[Link] = field(default_factory=list)


class _Reading:
    """
    A document while it is read.

    Attributes:
        root: Whether this is a sitemap; None until that is known.
    """

    def __init__(self, url: str) -> None:
        self.root: bool | None = None
        self._url = url
        self._index = False
        self._head = _Open(1)
        self._open: _Open | None = None
        self._items: list[Item] = []
        self._reader = ElementReader(self, "ResourceSync document")

    def feed(self, chunk: bytes) -> None:
        """
        Read on, or come to the end with no bytes.

        Raises:
            DescriptionError: As `read_document`.
        """
        try:
            self._reader.feed(chunk)
        except Unreadable as error:
            if error.is_malformed and self.root is None:  # no XML, and nothing that a sitemap begins with
                self.root = False
                return
            place = f"line {error.line}, column {error.column}"
            message = f"{self._url} cannot be read at {place}: {error.reason}; nothing of it was applied"
            raise DescriptionError(message, url=self._url, line=error.line, column=error.column) from error

    def document(self) -> SyncDocument:
        """What was read."""
        return SyncDocument(self._url, self._index, self._head.meta, tuple(self._head.links), tuple(self._items))

    def started(self, namespace: str, name: str, attributes: dict[str, str]) -> None:
        """As `Handler`."""
        if self.root is None:
            self.root = name in _ROOTS and namespace in _NAMESPACES
            self._index = name == "sitemapindex"
        if len(self._reader.path) == 2 and name in _ROOTS.values():
            if len(self._items) >= MOST_ITEMS:
                raise Refused(f"it has more than {MOST_ITEMS:,} items; split it, and make an index")
            self._open = _Open(self._reader.line)
        elif namespace == RS and name in ("md", "ln"):
            self._said(name, attributes)

    def _said(self, name: str, attributes: dict[str, str]) -> None:
        """An `rs:md` or `rs:ln`, of the root or of the item that is open."""
        holder = self._open or self._head
        if name == "md":
            holder.meta = read_meta(attributes)
        elif (url := address(attributes.get("href", ""), self._url)) and len(holder.links) < _MOST_LINKS:
            holder.links.append(Link(attributes.get("rel", "").strip(), url, read_meta(attributes)))

    def ended(self, namespace: str, name: str, text: str) -> None:
        """As `Handler`."""
        if self._open is None:
            return
        if len(self._reader.path) == 2 and namespace in _NAMESPACES:
            if name == "loc":
                self._open.loc = text
            elif name == "lastmod":
                self._open.lastmod = read_date(text)
        elif len(self._reader.path) == 1:
            self._close(self._open)
            self._open = None

    def _close(self, item: _Open) -> None:
        url = address(item.loc or "", self._url)
        if url is None:
            raise Refused(f"the item that begins on line {item.line} has no usable address: {item.loc!r:.200}")
        self._items.append(Item(url, item.line, item.lastmod, item.meta, tuple(item.links)))
