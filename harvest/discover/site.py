"""
What the sitemaps of a site come to: the datasets of the semantic extension, or else all pages as one dataset.

Source: sitemaps.org protocol 0.9; DERI, "Semantic Web Crawling: A Sitemap Extension".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from harvest.discover.dumps import NOT_RDF, extension, unusable
from harvest.discover.refusal import MAY_BE_RDF
from harvest.discover.sitemap_items import Item, SitemapDataset, SitemapEntry
from harvest.errors import DescriptionError
from harvest.model import Dataset, Description, Finding
from sparql.rdf import GENID

MOST_PAGES: Final = 50_000
"""Pages of one provider; with more nothing of them is harvested."""

_NAMED: Final = 20
"""Pages or dumps that are left out and get a finding of their own."""


def describe(items: Iterable[Item], url: str) -> Description:
    """
    The datasets of a site, by all that its sitemaps hold together.

    Each `sc:dataset` is a dataset of its own, and then pages do not count. Of a page with alternates in RDF the first
    of these is taken in its place.

    Args:
        items: Of all its sitemaps, in their order.
        url: The final URL of the first sitemap.

    Raises:
        DescriptionError: There are no pages and no dumps, or too many.
    """
    every = list(items)
    findings: list[Finding] = []
    base = urlunsplit(urlsplit(url)._replace(query="", fragment=""))
    named = [item for item in every if isinstance(item, SitemapDataset)]
    datasets = _semantic(named, base, findings)
    if not named:
        datasets = _pages([item for item in every if isinstance(item, SitemapEntry)], base, findings)
    if not datasets:
        reasons = "; ".join(finding.message for finding in findings[:3])
        raise DescriptionError(
            f"{url} lists no page and no dump that can be harvested" + f": {reasons}" * bool(reasons)
        )
    return Description(datasets, tuple(findings))


def _semantic(named: Sequence[SitemapDataset], base: str, findings: list[Finding]) -> tuple[Dataset, ...]:
    found: dict[str, Dataset] = {}
    for each in named:
        iri, dumps = _iri(each, base, len(named)), _usable(each.dumps, findings)
        if not dumps:
            message = f"the dataset {each.label or iri} names no dump (sc:dataDumpLocation) that can be harvested"
            findings.append(Finding("no-dump", message, base))
            continue
        before = found.get(iri)
        together = tuple(dict.fromkeys((*(before.dumps if before else ()), *dumps)))
        found[iri] = Dataset(iri, together, modified=each.lastmod, title=each.label)
    return tuple(sorted(found.values(), key=lambda dataset: dataset.iri))


def _iri(dataset: SitemapDataset, base: str, number: int) -> str:
    """Its own IRI; else a Skolem IRI that stays while its label does, or for one without a label its dumps."""
    if dataset.iri:
        return dataset.iri
    digest = hashlib.sha256((dataset.label or "\n".join(sorted(dataset.dumps))).encode()).hexdigest()[:32]
    return base.rstrip("/") + GENID + ("dataset" if number == 1 else digest)


def _usable(dumps: Sequence[str], findings: list[Finding]) -> tuple[str, ...]:
    usable = []
    for url in dumps:
        if found := unusable(url):
            findings.append(Finding(found[0], f"the dump <{url}> is left out: {found[1]}", url))
        else:
            usable.append(url)
    return tuple(usable)


def _pages(entries: Sequence[SitemapEntry], base: str, findings: list[Finding]) -> tuple[Dataset, ...]:
    pages: dict[str, datetime | None] = {}
    left_out = []
    for entry in entries:
        url = entry.links[0] if entry.links else entry.loc
        if extension(url) in NOT_RDF.keys() - MAY_BE_RDF:
            left_out.append(url)
        else:
            pages.setdefault(url, entry.lastmod)
    for url in left_out[:_NAMED]:
        findings.append(Finding("page-not-rdf", f"the page <{url}> is left out: it is {NOT_RDF[extension(url)]}", url))
    if len(left_out) > _NAMED:
        findings.append(Finding("more", f"{len(left_out):,} pages in all are left out, as they hold no RDF", base))
    if len(pages) > MOST_PAGES:
        message = f"the sitemaps of {base} list {len(pages):,} pages, more than {MOST_PAGES:,}"
        raise DescriptionError(f"{message}; register some of its sitemaps one by one", url=base)
    return (Dataset(base, tuple(pages), lastmods=tuple(pages.values())),) if pages else ()
