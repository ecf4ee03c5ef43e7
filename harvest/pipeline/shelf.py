"""What is read of seeds and documents beside the process that writes them: for pages, and their data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from harvest.documents import brief, document_object, seed_object
from harvest.ledger import DocumentRecord, Ledger, SeedRecord
from harvest.model import Status
from harvest.publish.documents import Fact, Records
from harvest.publish.provenance import turtle

PAGE: Final = 100
"""Seeds of one page of the list."""

ENTRIES: Final = 1000
"""Entries of an archive, or downloads of a seed, of one page of its record."""


class Shelf:
    """The seeds and documents of an instance, read only."""

    def __init__(self, ledger: Ledger, base_url: str) -> None:
        self._ledger = ledger
        self._records = Records(base_url)

    def seeds(self, state: str | None, page: int) -> dict[str, Any]:
        """A page of all seeds, those that only providers name included; how many there are, and in which states."""
        seeds, now = self._ledger.seeds, datetime.now(UTC)
        found = seeds.page(state, listed=False, limit=PAGE, offset=PAGE * (page - 1))
        counts = seeds.counts(listed=False)
        relative = counts.pop("relative")
        total = counts.get(state, 0) if state else sum(counts.values())
        return {
            "seeds": [seed_object(seed, now) for seed in found],
            "state": state,
            "page": page,
            "pages": max(1, -(-total // PAGE)),
            "total": total,
            "states": {status.value: counts[status] for status in Status if status in counts},
            "relative": relative,
        }

    def get(self, hash: str, page: int = 1) -> dict[str, Any] | None:
        """A seed with its downloads, or a document with its problems and a page of its entries; None for neither."""
        seed = self._ledger.seeds.get(hash)
        if seed is not None:
            downloads = self._ledger.documents.of_seed(hash, PAGE)
            told = [brief(document_object(document, seed.uri)) for document in downloads]
            return seed_object(seed, datetime.now(UTC)) | {"downloads": told}
        document = self._ledger.documents.get(hash)
        return None if document is None else self._document(document, page)

    def turtle(self, hash: str) -> bytes | None:
        """What the metadata graph tells of a seed or document, as it is now, as Turtle; None for neither."""
        seed = self._ledger.seeds.get(hash)
        if seed is not None:
            return turtle(self._of_seed(seed))
        document = self._ledger.documents.get(hash)
        return None if document is None else turtle(self._of_document(document))

    def _document(self, document: DocumentRecord, page: int) -> dict[str, Any]:
        documents = self._ledger.documents
        entries = documents.entries(document.hash, ENTRIES, ENTRIES * (page - 1))
        total = documents.count_entries(document.hash)
        uri = self._uri(document)
        found = self._object(document)
        if found["type"] == "download":
            found["totals"] = documents.figures(document.hash) | {"counts": documents.counts(document.hash)}
        return found | {
            "entries": [brief(document_object(entry, uri)) for entry in entries],
            "page": page,
            "pages": max(1, -(-total // ENTRIES)),
            "total": total,
        }

    def _object(self, document: DocumentRecord) -> dict[str, Any]:
        return document_object(document, self._uri(document), self._ledger.documents.problems(document.hash))

    def _uri(self, document: DocumentRecord) -> str:
        seed = self._ledger.seeds.get(document.seed)
        return seed.uri if seed else ""

    def _of_seed(self, seed: SeedRecord) -> Iterator[Fact]:
        return self._records.of_seed(seed_object(seed, datetime.now(UTC)))

    def _of_document(self, document: DocumentRecord) -> Iterator[Fact]:
        return self._records.of_document(self._object(document))
