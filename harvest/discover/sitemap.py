"""
Sitemaps: the pages, the further sitemaps and the datasets that a site names.

What looks like RDF: a page with an RDF extension (compressed and packed ones too) or media type, each alternate of a
page with such a media type, and the dumps of the semantic sitemap extension. Other pages are passed over.

Source: sitemaps.org protocol 0.9; ResourceSync 1.1, sections 5 and 8 (`rs:md`, `rs:ln`); Google, "Tell Google about
localized versions" (`xhtml:link`); DERI, "Semantic Web Crawling: A Sitemap Extension" (`sc:dataDumpLocation`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, Protocol

from harvest.discover.elements import ElementReader, Refused, Unreadable
from harvest.discover.sitemap_items import (
    Item,
    OpenItem,
    SitemapDataset,
    SitemapEntry,
    address,
    looks_like_rdf,
)
from harvest.errors import DescriptionError
from sparql.rdf import by_media_type

MOST_BYTES: Final = 52_428_800
"""Largest sitemap, unpacked. Source: sitemaps.org, "Using Sitemap index files"."""

MOST_URLS: Final = 50_000
"""Most URLs of a sitemap, and most sitemaps of an index. Source: likewise."""

_ROOTS: Final = frozenset({"sitemapindex", "urlset"})
_NAMESPACES: Final = frozenset(
    {
        "",
        "http://www.sitemaps.org/schemas/sitemap/0.9",
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        "http://www.google.com/schemas/sitemap/0.84",
    }
)
_SEMANTIC: Final = frozenset(
    {"http://sw.deri.org/2007/07/sitemapextension/scschema.xsd", "http://sw.deri.org/2007/07/sitemapextension"}
)
"""Namespaces of `sc:`: that of the schema, and that of the folder it stands in, which some sites write."""

_PARTS: Final = _NAMESPACES | _SEMANTIC
"""Namespaces of what stands in an entry: `changefreq` of a dataset is written in either."""

_LINKS: Final = {("http://www.w3.org/1999/xhtml", "link"), ("http://www.openarchives.org/rs/terms/", "ln")}
_RESOURCESYNC: Final = ("http://www.openarchives.org/rs/terms/", "md")
_CHUNK: Final = 1 << 16

_SNIFFED: Final = 1000
"""Bytes in which XML shows that it is XML."""


def read_sitemap(stream: BinaryIO, url: str) -> Iterator[str]:
    """
    What a sitemap leads to, absolute and each once: all sitemaps of an index, what looks like RDF of another one.

    Nothing where this is no sitemap.

    Args:
        stream: The document, unpacked.
        url: Its final URL.

    Raises:
        DescriptionError: After what could be read: it is damaged, has entities, or is past a limit.
    """
    seen: set[str] = set()
    for item in read_items(stream, url):
        for found in _leads_to(item):
            if found not in seen:
                seen.add(found)
                yield found


def read_document(stream: BinaryIO, url: str) -> list[Item]:
    """
    All that a sitemap holds, in XML or as a text of one URL a line.

    Raises:
        DescriptionError: It is no sitemap, is damaged, has entities, or is past a limit; with its place.

    Source: sitemaps.org protocol 0.9, "Other Sitemap formats".
    """
    start = stream.read(_CHUNK)
    rest = _Again(start, stream)
    if b"<" not in start[:_SNIFFED]:
        return list(_read_lines(rest, url))
    reading = _SitemapReading(url)
    items = list(read_items(rest, url, reading))
    if reading.error:
        raise reading.error
    if not reading.root:
        raise DescriptionError(f"{url} is no sitemap: its root is neither urlset nor sitemapindex", url=url)
    return items


def read_items(stream: SupportsRead, url: str, reading: _SitemapReading | None = None) -> Iterator[Item]:
    """
    The entries and datasets of a sitemap in XML, in the order of the document; nothing where this is no sitemap.

    Raises:
        DescriptionError: As `read_sitemap`.
    """
    reading = reading or _SitemapReading(url)
    size = 0
    error: DescriptionError | None = None
    while error is None and reading.root is not False:
        chunk = stream.read(_CHUNK)
        size += len(chunk)
        error = _limit(url, size) if size > MOST_BYTES else reading.feed(chunk)
        yield from reading.found
        reading.found.clear()
        if not chunk:
            break
    reading.error = error
    if error and reading.root:
        raise error


def _leads_to(item: Item) -> Iterator[str]:
    if isinstance(item, SitemapDataset):
        yield from item.dumps
        return
    yield from item.links
    if item.is_sitemap or item.is_rdf:
        yield item.loc


def _read_lines(stream: SupportsRead, url: str) -> Iterator[Item]:
    """The pages of a sitemap in text."""
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _limit(url, len(data))
    lines = data.decode("utf-8-sig", "replace").splitlines()
    pages = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if not pages:
        raise DescriptionError(f"{url} is no sitemap: it is empty", url=url)
    if len(pages) > MOST_URLS:
        raise DescriptionError(f"the sitemap {url} has more than {MOST_URLS:,} URLs; split it", url=url)
    for number, line in pages:
        loc = address(line, "")
        if loc is None:
            message = f"{url} is no sitemap: line {number} is no http or https address"
            raise DescriptionError(message, url=url, line=number, column=1, excerpt=line[:200])
        yield SitemapEntry(loc, is_rdf=looks_like_rdf(loc))


class SupportsRead(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; none at the end."""
        ...


class _Again:
    """A stream whose start was read already."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        """The next bytes; more than `size` where the start is longer."""
        start, self._start = self._start, b""
        more = max(0, size - len(start))
        return start + (self._rest.read(more) if more else b"")


def read_robots(text: str, url: str) -> Iterator[str]:
    """
    The sitemaps that a robots.txt names.

    Source: sitemaps.org, "Specifying the Sitemap location in your robots.txt file".
    """
    for line in text.splitlines()[:MOST_URLS]:
        field, _, value = line.partition(":")
        if field.strip().lower() == "sitemap" and (found := address(value.split("#")[0], url)):
            yield found


def _limit(url: str, size: int) -> DescriptionError:
    return DescriptionError(f"the sitemap {url} has more than {MOST_BYTES:,} bytes; split it", url=url)


class _SitemapReading:
    """
    A sitemap while it is read.

    Attributes:
        root: Whether this is a sitemap; None until that is known.
        found: What it holds, as far as it was read.
        error: What ended it too early, or None.
    """

    def __init__(self, url: str) -> None:
        self.root: bool | None = None
        self.found: list[Item] = []
        self.error: DescriptionError | None = None
        self._url = url
        self._index = False
        self._open = OpenItem()
        self._entries = 0
        self._reader = ElementReader(self, "sitemap")

    def feed(self, chunk: bytes) -> DescriptionError | None:
        """Read on, or come to the end with no bytes; what ended it too early, or None."""
        try:
            self._reader.feed(chunk)
        except Unreadable as error:
            place = f"line {error.line}, column {error.column}"
            message = f"the sitemap {self._url} cannot be read on at {place}: {error.reason}"
            return DescriptionError(message, url=self._url, line=error.line, column=error.column)
        return None

    def started(self, namespace: str, name: str, attributes: dict[str, str]) -> None:
        """As `Handler`."""
        if self.root is None:
            self.root = name in _ROOTS and namespace in _NAMESPACES
            self._index = name == "sitemapindex"
        if len(self._reader.path) == 2:
            self._entry(name)
        elif (namespace, name) in _LINKS:
            self._link(attributes)
        elif (namespace, name) == _RESOURCESYNC and by_media_type(attributes.get("type")):
            self._open.is_typed = True

    def _entry(self, name: str) -> None:
        """Begin another entry."""
        self._open = OpenItem()
        if name in ("url", "sitemap", "dataset"):
            self._entries += 1
        if self._entries > MOST_URLS:
            raise Refused(f"it has more than {MOST_URLS:,} URLs; split it")

    def _link(self, attributes: dict[str, str]) -> None:
        alternate = "alternate" in attributes.get("rel", "").lower().split()
        if alternate and by_media_type(attributes.get("type")):
            self._add(self._open.links, attributes.get("href", ""))

    def ended(self, namespace: str, name: str, text: str) -> None:
        """As `Handler`."""
        if name == "dataDumpLocation" and namespace in _PARTS:
            self._add(self._open.dumps, text)
        elif len(self._reader.path) == 2 and namespace in _PARTS and text:
            self._open.texts.setdefault(name, text)
        elif len(self._reader.path) == 1:
            self._ended(namespace, name)

    def _ended(self, namespace: str, name: str) -> None:
        """An entry or dataset is whole."""
        if name == "dataset" and namespace in _PARTS:
            self.found.append(self._open.dataset(self._url))
        elif self.root and namespace in _PARTS and (entry := self._open.entry(self._url, self._index)):
            self.found.append(entry)

    def _add(self, to: list[str], written: str) -> None:
        url = address(written, self._url)
        if self.root and url:
            to.append(url)
