"""
DCAT catalogues as a description: each page is washed as any document is, and read; all of them or none.

So a page may be in any format of RDF, packed, or HTML with JSON-LD or RDFa, and its remote JSON-LD contexts are filed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from harvest.discover.dcat import CataloguePage, describe, read_page
from harvest.errors import DescriptionError
from harvest.ledger import Described, ProviderRecord
from harvest.model import Capture, Description, Document, Limits, Provider, Validators
from harvest.pipeline.harvest import verdict, washing
from harvest.pipeline.harvest.kept import Kept
from harvest.pipeline.instance import Instance
from harvest.wash import process

ACCEPT: Final = (
    "text/turtle, application/n-triples;q=0.9, application/rdf+xml;q=0.9, application/ld+json;q=0.9,"
    " text/html;q=0.6, */*;q=0.5"
)

LIMITS: Final = Limits(64 << 20, 120)
"""Bytes and seconds that one page may take."""

MOST_PAGES: Final = 1000
"""Pages of one catalogue."""

READING_S: Final = 120
"""Seconds that reading a washed page may take."""

_KEPT: Final[Kept[CataloguePage]] = Kept(500)
"""By the bytes of a page, where it is, and the graph that names its blank nodes."""


def read(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Described | None:
    """
    What the catalogue of a provider describes now; None where that is filed already, unless `forced`.

    Raises:
        HarvestError: A page cannot be had, or be read, or leads back to an earlier one.
    """
    captures: list[Capture] = []

    def ask(url: str) -> CataloguePage:
        instance.check_stopping()
        capture = _capture(instance, provider, url)
        captures.append(capture)
        return _page(instance, provider, capture)

    description = gather(ask, provider.url)
    first = captures[0]
    base = first.final_url.split("?")[0]
    about, datasets = description.about, description.datasets
    if not forced and (record.url, record.description, record.about) == (provider.url, first.digest, about):
        known = instance.ledger.described.datasets(record.name), instance.ledger.findings(record.name)
        if known == (datasets, description.findings):
            return None
    return Described(provider.url, first.digest, first.validators, description.findings, about, datasets, base)


def gather(ask: Callable[[str], CataloguePage], url: str) -> Description:
    """
    What a page and all that come after it describe together; `ask` gives each.

    Raises:
        HarvestError: As `read`.
    """
    waiting, seen, pages = [url], {url}, list[CataloguePage]()
    while waiting:
        at = waiting.pop(0)
        page = ask(at)
        pages.append(page)
        for further in page.next:
            if further in seen and further not in waiting:
                message = f"the page {at} of the catalogue leads back to {further}; nothing of it was applied"
                raise DescriptionError(message, url=at)
            if further not in seen:
                seen.add(further)
                waiting.append(further)
        if len(seen) > MOST_PAGES:
            raise DescriptionError(f"the catalogue {url} has more than {MOST_PAGES:,} pages; register parts", url=url)
    return describe(pages, url)


def _capture(instance: Instance, provider: Provider, url: str) -> Capture:
    """A page as it is now."""
    known = instance.filed(url)
    informed = instance.crawl.activity(provider.url) if url != provider.url else None
    validators = known.validators if known else Validators()
    capture = instance.crawl.get(url, validators, LIMITS, accept=ACCEPT, informed=informed).capture
    return known if known and capture.digest is None else capture


def _page(instance: Instance, provider: Provider, capture: Capture) -> CataloguePage:
    assert capture.digest is not None
    graph = instance.settings.graph(provider.name)
    key = (capture.digest, capture.final_url, graph)
    page = _KEPT.get(*key)
    if page is None:
        given = Document(instance.content.path(capture.digest), capture.final_url, capture.media_type)
        with instance.room() as room:
            washed, documents = washing.union(instance, [given], graph, room)
            threshold = instance.settings.wash.threshold
            verdict.check(documents, washed.documents, threshold)
            bounds = process.Bounds(READING_S, capture.final_url, instance.stopping)
            path: Path = washed.snapshot.path
            page = process.call(read_page, bounds, path, capture.final_url, instance.present())
            page = replace(page, problems=tuple(verdict.findings(documents, washed.documents, threshold)))
        _KEPT.put(page, *key)
    return page
