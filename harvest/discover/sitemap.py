"""
Sitemaps: which further sitemaps, and which documents that look like RDF, a site names.

What looks like RDF: a page with an RDF extension (compressed and packed ones too) or media type, each alternate of a
page with such a media type, and the dumps of the semantic sitemap extension. Other pages are passed over.

Source: sitemaps.org protocol 0.9; ResourceSync 1.1, sections 5 and 8 (`rs:md`, `rs:ln`); Google, "Tell Google about
localized versions" (`xhtml:link`); DERI, "Semantic Web Crawling: A Sitemap Extension" (`sc:dataDumpLocation`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.parsers import expat

from harvest.discover.dumps import COMPRESSED
from harvest.errors import DescriptionError
from sparql.rdf import FORMATS, by_media_type

MOST_BYTES: Final = 52_428_800
"""Largest sitemap, unpacked. Source: sitemaps.org, "Using Sitemap index files"."""

MOST_URLS: Final = 50_000
"""Most URLs of a sitemap, and most sitemaps of an index. Source: likewise."""

LONGEST: Final = 8192
"""Characters of a URL; the protocol allows 2,048."""

DEPTH: Final = 100
"""Levels of elements; a sitemap has four."""

_ROOTS: Final = frozenset({"sitemapindex", "urlset"})
_NAMESPACES: Final = frozenset(
    {
        "",
        "http://www.sitemaps.org/schemas/sitemap/0.9",
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        "http://www.google.com/schemas/sitemap/0.84",
    }
)
_DUMPS: Final = "http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"
_LINKS: Final = {("http://www.w3.org/1999/xhtml", "link"), ("http://www.openarchives.org/rs/terms/", "ln")}
_RESOURCESYNC: Final = ("http://www.openarchives.org/rs/terms/", "md")
_PACKED: Final = COMPRESSED | {"zip", "tar", "tgz", "7z"}
_RDF: Final = frozenset(extension for form in FORMATS for extension in form.extensions) - {"xml"}
"""Extensions of RDF alone: `.xml` is mostly something else."""

_CHUNK: Final = 1 << 16


def looks_like_rdf(url: str) -> bool:
    """Whether the name of a document says that it is RDF."""
    parts = urlsplit(url).path.rsplit("/", 1)[-1].lower().split(".")
    while len(parts) > 2 and parts[-1] in _PACKED:
        parts.pop()
    return len(parts) > 1 and parts[-1] in _RDF


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
    reading = _SitemapReading(url)
    seen: set[str] = set()
    size = 0
    error: DescriptionError | None = None
    while error is None and reading.root is not False:
        chunk = stream.read(_CHUNK)
        size += len(chunk)
        error = _limit(url, size) if size > MOST_BYTES else reading.feed(chunk)
        for found in reading.found:
            if found not in seen:
                seen.add(found)
                yield found
        reading.found.clear()
        if not chunk:
            break
    if error and reading.root:
        raise error


def read_robots(text: str, url: str) -> Iterator[str]:
    """
    The sitemaps that a robots.txt names.

    Source: sitemaps.org, "Specifying the Sitemap location in your robots.txt file".
    """
    for line in text.splitlines()[:MOST_URLS]:
        field, _, value = line.partition(":")
        if field.strip().lower() == "sitemap" and (found := _address(value.split("#")[0], url)):
            yield found


def _limit(url: str, size: int) -> DescriptionError:
    return DescriptionError(f"the sitemap {url} has more than {MOST_BYTES:,} bytes; split it", url=url)


def _address(written: str, base: str) -> str | None:
    """The http or https address that a text means, or None."""
    with suppress(ValueError):  # a bracket without its partner
        url = urldefrag(urljoin(base, written.strip())).url
        if len(url) <= LONGEST and urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc:
            return url
    return None


class _Refused(Exception):
    """Something that no sitemap has."""


class _SitemapReading:
    """
    A sitemap while it is read.

    Attributes:
        root: Whether this is a sitemap; None until that is known.
        found: What it leads to, as far as it was read.
    """

    def __init__(self, url: str) -> None:
        self.root: bool | None = None
        self.found: list[str] = []
        self._url = url
        self._index = False
        self._path: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._typed = False
        self._loc: str | None = None
        self._entries = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def feed(self, chunk: bytes) -> DescriptionError | None:
        """Read on, or come to the end with no bytes; what ended it too early, or None."""
        try:
            self._parser.Parse(chunk, not chunk)
        except _Refused as error:
            return self._failed(str(error), self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber)
        except expat.ExpatError as error:
            return self._failed(expat.ErrorString(error.code), error.lineno, error.offset)
        except (ValueError, LookupError) as error:  # an encoding that Python does not know
            return self._failed(str(error), 1, 0)
        return None

    def _failed(self, reason: str, line: int, offset: int) -> DescriptionError:
        message = f"the sitemap {self._url} cannot be read on at line {line}, column {offset + 1}: {reason}"
        return DescriptionError(message, url=self._url, line=line, column=offset + 1)

    def _entity(self, name: str, *rest: object) -> None:
        raise _Refused(f"it declares the entity {name[:100]!r}; a sitemap has none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        namespace, _, name = tag.rpartition(" ")
        if self.root is None:
            self.root = name in _ROOTS and namespace in _NAMESPACES
            self._index = name == "sitemapindex"
        if len(self._path) >= DEPTH:
            raise _Refused(f"it is nested more than {DEPTH} levels deep")
        self._path.append((namespace, name))
        self._text.clear()
        if len(self._path) == 2:
            self._entry()
        elif (namespace, name) in _LINKS:
            self._link(attributes)
        elif (namespace, name) == _RESOURCESYNC and by_media_type(attributes.get("type")):
            self._typed = True

    def _entry(self) -> None:
        """Begin another entry."""
        self._loc, self._typed = None, False
        if self._path[1][1] in ("url", "sitemap"):
            self._entries += 1
        if self._entries > MOST_URLS:
            raise _Refused(f"it has more than {MOST_URLS:,} URLs; split it")

    def _link(self, attributes: dict[str, str]) -> None:
        alternate = "alternate" in attributes.get("rel", "").lower().split()
        if alternate and by_media_type(attributes.get("type")):
            self._add(attributes.get("href", ""))

    def _characters(self, text: str) -> None:
        if sum(map(len, self._text)) <= LONGEST:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        namespace, name = self._path.pop()
        text = "".join(self._text)
        self._text.clear()
        if len(self._path) == 2 and name == "loc" and namespace in _NAMESPACES:
            self._loc = text
        elif (namespace, name) == (_DUMPS, "dataDumpLocation"):
            self._add(text)
        elif len(self._path) == 1 and self._loc is not None and (self._index or self._typed or self._is_rdf(self._loc)):
            self._add(self._loc)

    def _is_rdf(self, written: str) -> bool:
        url = _address(written, self._url)
        return url is not None and looks_like_rdf(url)

    def _add(self, written: str) -> None:
        url = _address(written, self._url)
        if self.root and url:
            self.found.append(url)
