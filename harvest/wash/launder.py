"""
Clean documents: every part of a document that holds RDF becomes a canonical snapshot of its own.

The pipeline calls this by `harvest.pipeline.harvest.washing.separately`, in a process of its own.

Source: LOD Laundromat 2, "Parsing the RDF".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from harvest.errors import StorageError
from harvest.model import Document, Part, Snapshot
from harvest.wash.leaves import Terms, parts, scratch_at
from harvest.wash.snapshot_writer import SnapshotWriter
from harvest.wash.text import Sink
from harvest.wash.unpacking.members import Leaf


def launder(
    document: Document, graph: Callable[[tuple[str, ...]], str], folder: Path, memory: int, terms: Terms
) -> tuple[Part, ...]:
    """
    Wash every part of a document by itself: each that holds RDF comes with its own canonical snapshot in `folder`.

    Args:
        document: The document.
        graph: The graph IRI of a part, by the names of the archive entries that lead to it; can be pickled.
        folder: Where the snapshots are written, under names of no meaning.
        memory: Bytes that sorting and labelling aim to stay under together.
        terms: Limits.

    Raises:
        ContextWanted: A JSON-LD context has to be fetched first.
        StorageError: The disk is full, or the document cannot be read.
    """
    ordinals, files = count(), count()
    snapshots: dict[tuple[str, ...], Snapshot] = {}

    @contextmanager
    def outlet(leaf: Leaf) -> Iterator[tuple[Sink, Sink]]:
        with SnapshotWriter(graph(leaf.names), folder / f"{next(files)}.nq", memory) as writer:
            yield writer.ground, writer.blank()
            snapshots[leaf.names], _ = writer.finish(durable=False)

    try:
        with scratch_at(terms.scratch):
            done = tuple(parts(document, terms, outlet, ordinals))
    except OSError as error:
        raise StorageError(f"washing to {folder} failed: {error}", url=str(folder)) from error
    return tuple(replace(part, clean=snapshots.get(part.names)) for part in done)
