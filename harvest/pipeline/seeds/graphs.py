"""Clean documents in graphs of their own: put in, taken out, and kept so over downloads and crashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harvest.errors import UnknownName
from harvest.ledger import DocumentRecord
from harvest.model import Status
from harvest.model.seeds import GRAPHS
from harvest.pipeline.instance import Instance
from harvest.pipeline.seeds import seed_metadata
from sparql.store.base import StoreChange


def load(instance: Instance, hash: str) -> list[str]:
    """
    Put clean documents into their graphs, and publish them; returns the graphs.

    `hash` is a clean document, or a seed, download or entry with all that it gave.

    Raises:
        UnknownName: There is no clean document of that hash.
    """
    with instance.changing():
        documents = list(_clean(instance, hash))
        _put(instance, documents)
        instance.publish()
    instance.ledger.documents.filled([document.hash for document in documents])
    return [document.graph or "" for document in documents]


def unload(instance: Instance, hash: str) -> list[str]:
    """
    Take clean documents out of their graphs, and publish that; returns the graphs.

    Raises:
        UnknownName: None of that hash is loaded.
    """
    with instance.changing():
        documents = [document for document in _clean(instance, hash) if document.loaded]
        if not documents:
            raise UnknownName(f"no clean document of {hash} is loaded; /documents/{hash} shows what there is")
        instance.ledger.documents.unload([document.hash for document in documents])
        for document in documents:
            instance.store.drop(document.graph or "")
        seed_metadata.write_documents(instance, [document.hash for document in documents])
        instance.publish()
    return [document.graph or "" for document in documents]


def refresh(instance: Instance, replaced: Sequence[str]) -> None:
    """Fill the graphs in which new clean documents took the places of these, and publish them."""
    if replaced:
        with instance.changing():
            newer = instance.ledger.documents.unfilled()
            _fill(instance, newer)
            seed_metadata.write_documents(instance, [*replaced, *(document.hash for document in newer)])
            instance.publish()
        instance.ledger.documents.filled([document.hash for document in newer])


def recover(instance: Instance) -> None:
    """Make the store hold the graphs of loaded clean documents, and no others, after a crash or a lost store."""
    documents = instance.ledger.documents
    wanted = {document.graph: document for document in documents.loaded()}
    cut_short = {document.graph for document in documents.unfilled()}
    base = instance.settings.graph(GRAPHS)
    held = {graph for graph in instance.store.graphs() if graph.startswith(base)}
    wrong = [graph for graph in held if graph not in wanted]
    missing = [
        document
        for graph, document in wanted.items()
        if graph in cut_short or (document.statements and graph not in held)
    ]
    if wrong or missing:
        with instance.changing():
            for graph in wrong:
                instance.store.drop(graph)
            _fill(instance, missing)
            instance.publish()
        documents.filled([document.hash for document in missing])


def _put(instance: Instance, documents: Sequence[DocumentRecord]) -> None:
    """
    Make graphs exactly these clean documents; the caller is `changing` the store, and publishes.

    The ledger says so first: what a crash cuts short is done at the next start.
    """
    instance.ledger.documents.load([document.hash for document in documents])
    _fill(instance, documents)
    seed_metadata.write_documents(instance, [document.hash for document in documents])


def _fill(instance: Instance, documents: Sequence[DocumentRecord]) -> None:
    for document in documents:
        assert document.graph is not None
        instance.store.drop(document.graph)
        path, triples = instance.content.path(document.hash), document.statements or 0
        instance.store.apply(document.graph, StoreChange(None, path, 0, triples, path))


def _clean(instance: Instance, hash: str) -> Iterator[DocumentRecord]:
    """Yield the clean documents that a hash stands for: itself, or all that the latest download gave."""
    documents = instance.ledger.documents
    seed, document = instance.ledger.seeds.get(hash), documents.get(hash)
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
        raise UnknownName(f"there is no clean document of {hash}; /documents/{hash} shows how far it came")
