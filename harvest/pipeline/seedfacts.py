"""Telling the metadata graph of seeds and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from harvest.documents import document_object, seed_object
from harvest.ledger import DocumentRecord
from harvest.pipeline.workshop import Workshop
from harvest.publish.documents import Fact, Records
from harvest.publish.provenance import n_quads
from sparql.store.base import Change

PIECE: Final = 20_000
"""
Statements that are written at once, and not by SPARQL.

An archive of 10,000 entries has half a million; by SPARQL they took 25 s, in which nothing else could be written.
"""


def tell(workshop: Workshop, seed: str) -> None:
    """Write what is known of a seed, of its latest download and of all that is in it; the caller publishes it."""
    found, records = workshop.ledger.seeds.get(seed), Records(workshop.settings.base_url)
    if found is not None:
        _replace(workshop, list(records.of_seed(seed_object(found, workshop.clock()))))
        if found.download:
            _tell(workshop, workshop.ledger.documents.tree(found.download))


def tell_documents(workshop: Workshop, hashes: Iterable[str]) -> None:
    """Write what is known of documents; the caller publishes it."""
    found = (workshop.ledger.documents.get(hash) for hash in hashes)
    _tell(workshop, (document for document in found if document is not None))


def _tell(workshop: Workshop, documents: Iterable[DocumentRecord]) -> None:
    held: list[Fact] = []
    for document in documents:
        held += _of_document(workshop, document)
        if len(held) >= PIECE:
            _replace(workshop, held)
            held = []
    _replace(workshop, held)


def _of_document(workshop: Workshop, document: DocumentRecord) -> Iterator[Fact]:
    seed = workshop.ledger.seeds.get(document.seed)
    problems = workshop.ledger.documents.problems(document.hash) if document.counts else ()
    told = document_object(document, seed.uri if seed else "", problems)
    return Records(workshop.settings.base_url).of_document(told)


def _replace(workshop: Workshop, facts: Sequence[Fact]) -> None:
    """Replace what the metadata graph says of the subjects of the facts; only what differs is written."""
    graph = workshop.metadata_graph
    subjects = sorted({f"<{subject.value}>".encode() for subject, _, _ in facts})
    new = set(n_quads(iter(facts), graph).splitlines(keepends=True))
    with workshop.room() as room, workshop.writing:
        old = set(workshop.store.describe(graph, subjects))
        removed, added = sorted(old - new), sorted(new - old)
        change = Change(_file(room / "old", removed), _file(room / "new", added), len(removed), len(added))
        workshop.store.apply(graph, change)


def _file(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(lines))
    return path
