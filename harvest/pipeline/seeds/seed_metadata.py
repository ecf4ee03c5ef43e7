"""Writing to the metadata graph about seeds and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from harvest.catalog.documents import document_report, seed_report
from harvest.ledger import DocumentRecord
from harvest.pipeline.instance import Instance
from harvest.publish.provenance import n_quads
from harvest.publish.seed_facts import Fact, SeedFacts
from sparql.store.base import StoreChange

PIECE: Final = 20_000
"""
Statements that are written at once, and not by SPARQL.

An archive of 10,000 entries has half a million; by SPARQL they took 25 s, in which nothing else could be written.
"""


def write_seed(instance: Instance, seed: str) -> None:
    """Write what is known of a seed, of its latest download and of all that is in it; the caller publishes it."""
    found, records = instance.ledger.seeds.get(seed), SeedFacts(instance.settings.base_url)
    if found is not None:
        instance.publishing.note(seed)
        _replace(instance, list(records.of_seed(seed_report(found, instance.clock()))))
        if found.download:
            _write(instance, instance.ledger.documents.tree(found.download))


def write_documents(instance: Instance, hashes: Iterable[str]) -> None:
    """Write what is known of documents; the caller publishes it."""
    found = (instance.ledger.documents.get(hash) for hash in hashes)
    _write(instance, (document for document in found if document is not None))


def _write(instance: Instance, documents: Iterable[DocumentRecord]) -> None:
    held: list[Fact] = []
    for document in documents:
        held += _of_document(instance, document)
        if len(held) >= PIECE:
            _replace(instance, held)
            held = []
    _replace(instance, held)


def _of_document(instance: Instance, document: DocumentRecord) -> Iterator[Fact]:
    seed = instance.ledger.seeds.get(document.seed)
    problems = instance.ledger.documents.problems(document.hash) if document.counts else ()
    described = document_report(document, seed.uri if seed else "", problems)
    return SeedFacts(instance.settings.base_url).of_document(described)


def _replace(instance: Instance, facts: Sequence[Fact]) -> None:
    """Replace the statements of the metadata graph about the subjects of the facts; only differences are written."""
    graph = instance.metadata_graph
    subjects = sorted({f"<{subject.value}>".encode() for subject, _, _ in facts})
    new = set(n_quads(iter(facts), graph).splitlines(keepends=True))
    with instance.room() as room, instance.writing:
        old = set(instance.store.describe(graph, subjects))
        removed, added = sorted(old - new), sorted(new - old)
        change = StoreChange(_file(room / "old", removed), _file(room / "new", added), len(removed), len(added))
        instance.store.apply(graph, change)


def _file(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(lines))
    return path
