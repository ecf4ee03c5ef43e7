"""Clean documents in graphs of their own: put in, taken out, and kept so over downloads and crashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harvest.errors import UnknownName
from harvest.ledger import DocumentRecord
from harvest.model import Status
from harvest.pipeline import seedfacts
from harvest.pipeline.workshop import Workshop
from harvest.seeds import GRAPHS
from sparql.store.base import Change


def load(workshop: Workshop, hash: str) -> list[str]:
    """
    Put clean documents into their graphs, and publish them; returns the graphs.

    `hash` is a clean document, or a seed, download or entry with all that it gave.

    Raises:
        UnknownName: There is no clean document of that hash.
    """
    with workshop.writing:
        documents = list(_clean(workshop, hash))
        _put(workshop, documents)
        workshop.publish()
    return [document.graph or "" for document in documents]


def unload(workshop: Workshop, hash: str) -> list[str]:
    """
    Take clean documents out of their graphs, and publish that; returns the graphs.

    Raises:
        UnknownName: None of that hash is loaded.
    """
    with workshop.writing:
        documents = [document for document in _clean(workshop, hash) if document.loaded]
        if not documents:
            raise UnknownName(f"no clean document of {hash} is loaded; /documents/{hash} tells what there is")
        workshop.ledger.documents.unload([document.hash for document in documents])
        for document in documents:
            workshop.store.drop(document.graph or "")
        seedfacts.tell_documents(workshop, [document.hash for document in documents])
        workshop.publish()
    return [document.graph or "" for document in documents]


def refresh(workshop: Workshop, replaced: Sequence[str]) -> None:
    """Fill the graphs in which new clean documents took the places of these; the caller publishes."""
    if replaced:
        with workshop.writing:
            newer = workshop.ledger.documents.unfilled()
            _fill(workshop, newer)
            seedfacts.tell_documents(workshop, [*replaced, *(document.hash for document in newer)])


def recover(workshop: Workshop) -> None:
    """Make the store hold the graphs of loaded clean documents, and no others, after a crash or a lost store."""
    documents = workshop.ledger.documents
    wanted = {document.graph: document for document in documents.loaded()}
    cut_short = {document.graph for document in documents.unfilled()}
    base = workshop.settings.graph(GRAPHS)
    held = {graph for graph in workshop.store.graphs() if graph.startswith(base)}
    wrong = [graph for graph in held if graph not in wanted]
    missing = [
        document
        for graph, document in wanted.items()
        if graph in cut_short or (document.statements and graph not in held)
    ]
    with workshop.writing:
        for graph in wrong:
            workshop.store.drop(graph)
        _fill(workshop, missing)
        if wrong or missing:
            workshop.publish()


def _put(workshop: Workshop, documents: Sequence[DocumentRecord]) -> None:
    """
    Make graphs exactly these clean documents; the caller holds `workshop.writing`, and publishes.

    The ledger says so first: what a crash cuts short is done at the next start.
    """
    workshop.ledger.documents.load([document.hash for document in documents])
    _fill(workshop, documents)
    seedfacts.tell_documents(workshop, [document.hash for document in documents])


def _fill(workshop: Workshop, documents: Sequence[DocumentRecord]) -> None:
    for document in documents:
        assert document.graph is not None
        workshop.store.drop(document.graph)
        path, triples = workshop.content.path(document.hash), document.statements or 0
        workshop.store.apply(document.graph, Change(None, path, 0, triples, path))
    workshop.ledger.documents.filled([document.hash for document in documents])


def _clean(workshop: Workshop, hash: str) -> Iterator[DocumentRecord]:
    """Yield the clean documents that a hash stands for: itself, or all that the latest download gave."""
    documents = workshop.ledger.documents
    seed, document = workshop.ledger.seeds.get(hash), documents.get(hash)
    download = seed.download if seed else document.download if document else None
    if document is not None and document.status == Status.CLEANED:
        yield document
        return
    below = {hash} if document is not None and document.hash != document.download else None
    number = 0
    for found in documents.tree(download) if download else ():
        if below is not None and found.parent in below and found.status != Status.CLEANED:
            below.add(found.hash)
        if found.clean and (below is None or found.hash in below):
            clean = documents.get(found.clean)
            if clean is not None:
                number += 1
                yield clean
    if not number:
        raise UnknownName(f"there is no clean document of {hash}; /documents/{hash} tells how far it came")
