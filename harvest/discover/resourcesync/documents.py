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
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.parsers import expat

from harvest.discover.dates import read_date
from harvest.discover.resourcesync.items import Item, Link, Meta, SyncDocument, read_meta
from harvest.discover.sitemap import DEPTH, MOST_BYTES
from harvest.discover.sitemap_items import LONGEST
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


def address(written: str, base: str) -> str | None:
    """The http or https address that a text means, absolute and without a fragment, or None."""
    if not written.strip():
        return None  # it would mean the document itself
    try:
        url = urldefrag(urljoin(base, written.strip())).url
        parts = urlsplit(url)
    except ValueError:  # a bracket without its partner
        return None
    return url if len(url) <= LONGEST and parts.scheme in ("http", "https") and parts.netloc else None


class _Refused(Exception):
    """Something that no such document has."""


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
        self._path: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._head = _Open(1)
        self._open: _Open | None = None
        self._items: list[Item] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def feed(self, chunk: bytes) -> None:
        """
        Read on, or come to the end with no bytes.

        Raises:
            DescriptionError: As `read_document`.
        """
        try:
            self._parser.Parse(chunk, not chunk)
        except _Refused as error:
            raise self._failed(str(error), self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber) from error
        except expat.ExpatError as error:
            if self.root is None:  # no XML, and nothing that a sitemap begins with
                self.root = False
                return
            raise self._failed(expat.ErrorString(error.code), error.lineno, error.offset) from error
        except (ValueError, LookupError) as error:  # an encoding that Python does not know
            raise self._failed(str(error), 1, 0) from error

    def document(self) -> SyncDocument:
        """What was read."""
        return SyncDocument(self._url, self._index, self._head.meta, tuple(self._head.links), tuple(self._items))

    def _failed(self, reason: str, line: int, offset: int) -> DescriptionError:
        message = f"{self._url} cannot be read at line {line}, column {offset + 1}: {reason}; nothing of it was applied"
        return DescriptionError(message, url=self._url, line=line, column=offset + 1)

    def _entity(self, name: str, *rest: object) -> None:
        raise _Refused(f"it declares the entity {name[:100]!r}; a ResourceSync document has none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        namespace, _, name = tag.rpartition(" ")
        if self.root is None:
            self.root = name in _ROOTS and namespace in _NAMESPACES
            self._index = name == "sitemapindex"
        if len(self._path) >= DEPTH:
            raise _Refused(f"it is nested more than {DEPTH} levels deep")
        self._path.append((namespace, name))
        self._text.clear()
        if len(self._path) == 2 and name in _ROOTS.values():
            if len(self._items) >= MOST_ITEMS:
                raise _Refused(f"it has more than {MOST_ITEMS:,} items; split it, and make an index")
            self._open = _Open(self._parser.CurrentLineNumber)
        elif namespace == RS and name in ("md", "ln"):
            self._said(name, attributes)

    def _said(self, name: str, attributes: dict[str, str]) -> None:
        """An `rs:md` or `rs:ln`, of the root or of the item that is open."""
        holder = self._open or self._head
        if name == "md":
            holder.meta = read_meta(attributes)
        elif (url := address(attributes.get("href", ""), self._url)) and len(holder.links) < _MOST_LINKS:
            holder.links.append(Link(attributes.get("rel", "").strip(), url, read_meta(attributes)))

    def _characters(self, text: str) -> None:
        if sum(map(len, self._text)) <= LONGEST:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        namespace, name = self._path.pop()
        text = "".join(self._text).strip()
        self._text.clear()
        if self._open is None:
            return
        if len(self._path) == 2 and namespace in _NAMESPACES:
            if name == "loc":
                self._open.loc = text
            elif name == "lastmod":
                self._open.lastmod = read_date(text)
        elif len(self._path) == 1:
            self._close(self._open)
            self._open = None

    def _close(self, item: _Open) -> None:
        url = address(item.loc or "", self._url)
        if url is None:
            raise _Refused(f"the item that begins on line {item.line} has no usable address: {item.loc!r:.200}")
        self._items.append(Item(url, item.line, item.lastmod, item.meta, tuple(item.links)))
