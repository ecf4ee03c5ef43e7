"""
The canonical snapshot: one graph as sorted, unique, canonical N-Quads, made in bounded memory.

N-Triples lines sort as the N-Quads lines that they become, since what is appended is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harvest.errors import StorageError
from harvest.model import Document, Part, Snapshot
from harvest.wash.leaves import Outlet, Terms, parts, scratch_at
from harvest.wash.page_cache import PageCache, PageLines, PageSink, PageTooLarge, owned
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
        reused: The places of the documents that were not read, as what they gave was kept.
    """

    snapshot: Snapshot
    documents: tuple[tuple[Part, ...], ...]
    blank_nodes: int
    reused: frozenset[int] = frozenset()


class _Pages:
    """
    Documents that are read once, and whose lines are kept.

    Attributes:
        reused: The places of those that were not read, as their lines were kept.
    """

    def __init__(self, writer: SnapshotWriter, terms: Terms) -> None:
        self.reused: set[int] = set()
        self._writer = writer
        self._terms = terms
        self._caches: dict[Path, PageCache] = {}

    def read(self, place: int, document: Document, folder: Path) -> tuple[Part, ...]:
        """
        The parts of the document at a place, whose lines go to the writer and are kept in a folder.

        Raises:
            ContextWanted: A JSON-LD context has to be fetched first.
            PageTooLarge: They are too many; nothing went to the writer.
        """
        cache = self._caches.setdefault(folder, PageCache(folder, self._terms))
        page, was_kept = cache.lines(document, self._apart)
        if was_kept:
            self.reused.add(place)
        self._writer.ground.write(page.ground)
        if page.blank:
            mark = b"_:p%d-" % place  # labels of other documents begin with a `d`
            lines = owned(page.blank.splitlines(keepends=True), mark)
            self._writer.blank(document.dataset, steady=document.steady).write(b"".join(lines))
        return page.parts

    def let_go(self) -> None:
        """Remove what was kept of documents that are none of these."""
        for cache in self._caches.values():
            cache.let_go()

    def _apart(self, document: Document) -> PageLines:
        """The lines of a document by itself."""
        ground, blank = PageSink(), PageSink()
        done = tuple(parts(document, self._terms, lambda leaf: nullcontext((ground, blank)), count()))
        return PageLines(done, ground.getvalue(), blank.getvalue())


def wash(documents: Sequence[Document], graph: str, target: Path, memory: int, terms: Terms | None = None) -> Washed:
    """
    Write the union of all documents to `target` as the canonical snapshot of `graph`.

    Temporary files stand beside `target`; about twice the size of the N-Triples is needed. `memory` is the number
    of bytes that sorting and labelling aim to stay under together. Without `terms`, the limits are the default ones.
    What is not RDF is left out and reported in the parts. A document with a `keep` that was read before is not read.

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

            pages = _Pages(writer, terms)

            def read(place: int, document: Document) -> tuple[Part, ...]:
                if document.keep is not None:
                    with suppress(PageTooLarge):
                        return pages.read(place, document, document.keep)
                return tuple(parts(document, terms, outlet(document), ordinals))

            done = tuple(read(place, document) for place, document in enumerate(documents))
            snapshot, nodes = writer.finish()
            pages.let_go()
            return Washed(snapshot, done, nodes, frozenset(pages.reused))
    except OSError as error:
        raise StorageError(f"washing to {target} failed: {error}", url=str(target)) from error
