"""What is read of seeds and documents beside the process that writes them: for pages, and their data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from harvest.catalog.documents import document_report, document_summary, seed_report, sitemap_report, with_latest
from harvest.ledger import DocumentRecord, Ledger, SeedRecord
from harvest.model import Status
from harvest.publish.provenance import turtle
from harvest.publish.seed_facts import SeedFacts
from sparql.reports import DocumentPage, DocumentReport, DownloadTotals, SeedList, SeedPage, SeedReport

PAGE: Final = 100
"""Seeds of one page of the list."""

ENTRIES: Final = 1000
"""Entries of an archive, or downloads of a seed, of one page of its record."""


class SeedCatalog:
    """The seeds and documents of an instance, read only."""

    def __init__(self, ledger: Ledger, base_url: str, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._records = SeedFacts(base_url)
        self._clock = clock

    def seeds(self, state: str | None, page: int) -> SeedList:
        """A page of all seeds, those that only providers name included; how many there are, and in which states."""
        seeds, sitemaps = self._ledger.seeds, self._ledger.sitemaps
        found = seeds.page(state, listed=False, limit=PAGE, offset=PAGE * (page - 1))
        counts = seeds.counts(listed=False)
        relative, entries = counts.pop("relative"), seeds.entries(listed=False)
        total = counts.get(state, 0) if state else sum(counts.values())
        return SeedList(
            seeds=tuple(self._seed(seed) for seed in found),
            state=state,
            page=page,
            pages=max(1, -(-total // PAGE)),
            total=total,
            states={status.value: counts[status] for status in Status if status in counts},
            relative=relative,
            from_sitemaps=sitemaps.count_seeds(listed=False),
            vanished=sitemaps.count_seeds(listed=False, vanished=True),
            sitemaps=tuple(sitemap_report(record) for record in sitemaps.all()),
            entries={status.value: entries[status] for status in Status if status in entries},
        )

    def get(self, hash: str, page: int = 1) -> SeedPage | DocumentPage | None:
        """A seed with its downloads, or a document with its problems and a page of its entries; None for neither."""
        seed = self._ledger.seeds.get(hash)
        if seed is not None:
            downloads = self._ledger.documents.of_seed(hash, PAGE)
            return SeedPage(self._seed(seed), tuple(document_summary(document) for document in downloads))
        document = self._ledger.documents.get(hash)
        return None if document is None else self._page(document, page)

    def turtle(self, hash: str) -> bytes | None:
        """What the metadata graph says of a seed or document, as it is now, as Turtle; None for neither."""
        seed = self._ledger.seeds.get(hash)
        if seed is not None:
            return turtle(self._records.of_seed(seed_report(seed, self._clock())))
        document = self._ledger.documents.get(hash)
        return None if document is None else turtle(self._records.of_document(self._document(document)))

    def _seed(self, seed: SeedRecord) -> SeedReport:
        """A seed, with what became of its latest download."""
        latest = self._ledger.documents.get(seed.download) if seed.download else None
        return with_latest(seed_report(seed, self._clock()), latest)

    def _page(self, document: DocumentRecord, page: int) -> DocumentPage:
        documents, report = self._ledger.documents, self._document(document)
        entries = documents.entries(document.hash, ENTRIES, ENTRIES * (page - 1))
        total = documents.count_entries(document.hash)
        return DocumentPage(
            document=report,
            totals=self._totals(document.hash) if report.type == "download" else None,
            entries=tuple(document_summary(entry) for entry in entries),
            page=page,
            pages=max(1, -(-total // ENTRIES)),
            total=total,
        )

    def _totals(self, download: str) -> DownloadTotals:
        documents = self._ledger.documents
        return DownloadTotals(**documents.figures(download), counts=documents.counts(download))

    def _document(self, document: DocumentRecord) -> DocumentReport:
        seed = self._ledger.seeds.get(document.seed)
        return document_report(document, seed.uri if seed else "", self._ledger.documents.problems(document.hash))
