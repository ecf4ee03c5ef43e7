"""
The canonical snapshot: one graph as sorted, unique, canonical N-Quads, made in bounded memory.

N-Triples lines sort as the N-Quads lines that they become, since what is appended is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harvest.errors import StorageError
from harvest.model import Document, Part, Snapshot
from harvest.wash.leaves import Outlet, Terms, parts, scratch_at
from harvest.wash.snapshot_writer import SnapshotWriter
from harvest.wash.unpacking.volume import Volume


@dataclass(frozen=True, slots=True)
class Washed:
    """
    What washing the dumps of a dataset gave.

    Attributes:
        snapshot: The union of all dumps as one canonical file.
        documents: What became of each dump, in order: its parts, the entries of an archive before the archive.
        blank_nodes: How many blank nodes became Skolem IRIs.
    """

    snapshot: Snapshot
    documents: tuple[tuple[Part, ...], ...]
    blank_nodes: int


def wash(documents: Sequence[Document], graph: str, target: Path, memory: int, terms: Terms | None = None) -> Washed:
    """
    Write the union of all documents to `target` as the canonical snapshot of `graph`.

    Temporary files stand beside `target`; about twice the size of the N-Triples is needed. `memory` is the number
    of bytes that sorting and labelling aim to stay under together. Without `terms`, the limits are the default ones.
    What is not RDF is left out and reported in the parts.

    Raises:
        ContextWanted: A JSON-LD context has to be fetched first.
        StorageError: The disk is full, or a document cannot be read. Whatever is raised, no file is left.
    """
    ordinals = count()
    terms = terms or Terms(Volume(), target.parent)
    try:
        with scratch_at(terms.scratch), SnapshotWriter(graph, target, memory) as writer:

            def outlet(document: Document) -> Outlet:
                return lambda leaf: nullcontext((writer.ground, writer.blank(document.dataset, steady=document.steady)))

            done = tuple(tuple(parts(document, terms, outlet(document), ordinals)) for document in documents)
            snapshot, nodes = writer.finish()
            return Washed(snapshot, done, nodes)
    except OSError as error:
        raise StorageError(f"washing to {target} failed: {error}", url=str(target)) from error
