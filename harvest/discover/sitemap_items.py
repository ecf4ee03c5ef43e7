"""
What sitemaps hold: entries, datasets of the semantic extension, and dates.

Source: sitemaps.org protocol 0.9; DERI, "Semantic Web Crawling: A Sitemap Extension"; W3C NOTE-datetime.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

from harvest.discover.dumps import COMPRESSED
from harvest.discover.elements import LONGEST
from sparql.rdf import FORMATS

_PACKED: Final = COMPRESSED | {"zip", "tar", "tgz", "7z"}
_RDF: Final = frozenset(extension for form in FORMATS for extension in form.extensions) - {"xml"}
"""Extensions of RDF alone: `.xml` is mostly something else."""

_DATE: Final = re.compile(
    r"(?P<day>(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-\d\d)?)?)(?:[T ](?P<clock>\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?))?"
    r"\s*(?P<zone>Z|[+-]\d\d:?\d\d)?"
)


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """
    A page of a sitemap, or a sitemap of an index.

    Attributes:
        loc: Its absolute URL, without a fragment.
        lastmod: The latest moment (aware, UTC) that the date it was last changed at can mean, or None.
        changefreq: How often it changes, as written in lower case (`daily`), or None.
        priority: 0 to 1 as written, or None.
        is_sitemap: Whether it stands in an index.
        is_rdf: Whether its media type (`rs:md`) or its name says that it is RDF.
        links: Its alternates with a media type of RDF, and dumps that it names.
    """

    loc: str
    lastmod: datetime | None = None
    changefreq: str | None = None
    priority: float | None = None
    is_sitemap: bool = False
    is_rdf: bool = False
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SitemapDataset:
    """
    A dataset of the semantic extension.

    Attributes:
        dumps: Absolute URLs (`sc:dataDumpLocation`), each once.
        label: `sc:datasetLabel`, or None.
        iri: `sc:datasetURI`, or None.
        prefix: `sc:linkedDataPrefix`, or None.
        lastmod: As of an entry.
        changefreq: As of an entry.

    Source: DERI, "Semantic Web Crawling: A Sitemap Extension".
    """

    dumps: tuple[str, ...] = ()
    label: str | None = None
    iri: str | None = None
    prefix: str | None = None
    lastmod: datetime | None = None
    changefreq: str | None = None


Item = SitemapEntry | SitemapDataset


@dataclass(slots=True)
class OpenItem:
    """
    An entry or dataset while it is read.

    Attributes:
        texts: What its elements say, by name; the first of each.
        dumps: Of a dataset.
        links: Of an entry.
        is_typed: Whether it has a media type of RDF.
    """

    texts: dict[str, str] = field(default_factory=dict)
    dumps: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    is_typed: bool = False

    def dataset(self, base: str) -> SitemapDataset:
        """What was read of a dataset."""
        said = self.texts.get
        return SitemapDataset(
            tuple(dict.fromkeys(self.dumps)),
            said("datasetLabel"),
            address(said("datasetURI", ""), base) if said("datasetURI") else None,
            said("linkedDataPrefix"),
            read_lastmod(said("lastmod")),
            said("changefreq", "").lower() or None,
        )

    def entry(self, base: str, is_sitemap: bool) -> SitemapEntry | None:
        """What was read of an entry; None without a usable address."""
        said = self.texts.get
        loc = address(said("loc", ""), base) if said("loc") else None
        links = tuple(dict.fromkeys((*self.links, *self.dumps)))
        if loc is None:
            return SitemapEntry(links[0], is_rdf=True, links=links[1:]) if links else None
        is_rdf = self.is_typed or looks_like_rdf(loc)
        priority = None
        with suppress(ValueError):
            priority = min(1.0, max(0.0, float(said("priority", "-"))))
        changefreq = said("changefreq", "").lower() or None
        return SitemapEntry(loc, read_lastmod(said("lastmod")), changefreq, priority, is_sitemap, is_rdf, links)


def looks_like_rdf(url: str) -> bool:
    """Whether the name of a document says that it is RDF."""
    parts = urlsplit(url).path.rsplit("/", 1)[-1].lower().split(".")
    while len(parts) > 2 and parts[-1] in _PACKED:
        parts.pop()
    return len(parts) > 1 and parts[-1] in _RDF


def address(written: str, base: str) -> str | None:
    """The http or https address that a text means, absolute and without a fragment, or None; an empty text has none."""
    if not written.strip():
        return None  # it would mean the document itself
    with suppress(ValueError):  # a bracket without its partner
        url = urldefrag(urljoin(base, written.strip())).url
        if len(url) <= LONGEST and urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc:
            return url
    return None


def read_lastmod(written: str | None) -> datetime | None:
    """
    The latest moment (aware, UTC) that a `lastmod` can mean; None where it is no date.

    A date without a time means all of that day, in any zone: what was asked for at noon does not hold what changed in
    the evening. A time without a zone is one of UTC.
    """
    match = _DATE.fullmatch((written or "").strip())
    if match is None:
        return None
    try:
        if match["clock"] is None:
            return _end(match["day"], match["year"], match["month"])
        zone = (match["zone"] or "Z").replace("Z", "+00:00")
        at = datetime.fromisoformat(f"{match['day']}T{match['clock'].replace(',', '.')}{zone}")
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _end(day: str, year: str, month: str | None) -> datetime:
    """The end of a day, month or year where it ends last."""
    if len(day) == 10:
        after = datetime.fromisoformat(day) + timedelta(days=1)
    elif month:
        first = datetime(int(year), int(month), 1)
        after = (first + timedelta(days=32)).replace(day=1)
    else:
        after = datetime(int(year) + 1, 1, 1)
    return after.replace(tzinfo=UTC) + timedelta(hours=12)
