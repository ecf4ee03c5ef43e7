"""
Several documents of a dataset, each read by itself, and united then.

    read_apart, read_apart, ... -> unite

Each document gives its ground lines sorted, and those with blank nodes in their order. Labels are marked by the place
of the part in all documents, as when they are read one after the other, so the names of blank nodes are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Final

from harvest.errors import StorageError
from harvest.model import Document, Part, Snapshot
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Terms, parts, scratch_at
from harvest.wash.line_file import LineFile
from harvest.wash.snapshot_writer import SnapshotWriter
from harvest.wash.sorting import Sorting

_BATCH: Final = 10_000
"""Lines that are marked together."""

_MARK: Final = re.compile(rb"_:d(\d+)-")


@dataclass(frozen=True, slots=True)
class Lines:
    """
    What one of several documents gave.

    Attributes:
        ground: The lines without blank nodes as a file, sorted, in N-Triples.
        blank: Those with blank nodes, in the order of the document, repeats included.
        parts: What became of it: its parts, the entries of an archive before the archive.
        read: How many parts were read; labels are marked by their number, from 0.
    """

    ground: Snapshot
    blank: Snapshot
    parts: tuple[Part, ...]
    read: int


def read_apart(documents: Sequence[Document], terms: Terms) -> Lines:
    """
    The lines of one document, in files in `terms.scratch`.

    Raises:
        ContextWanted: A JSON-LD context has to be fetched first.
        StorageError: The disk is full, or the document cannot be read.
    """
    (document,) = documents
    ordinals = count()
    ground, blank = LineFile(terms.scratch / "ground"), LineFile(terms.scratch / "blank")
    try:
        with scratch_at(terms.scratch), ground, blank, closing(Sorting(terms.scratch, terms.memory // 4)) as sorting:
            done = tuple(parts(document, terms, lambda leaf: nullcontext((sorting, blank)), ordinals))
            for chunk in sorting.chunks():
                ground.write(chunk)
    except OSError as error:
        raise StorageError(f"washing to {terms.scratch} failed: {error}", url=str(terms.scratch)) from error
    return Lines(ground.snapshot, blank.snapshot, done, next(ordinals))


def unite(documents: Sequence[Document], terms: Terms, *, graph: str, found: Sequence[Lines]) -> Washed:
    """
    The documents as one snapshot in `terms.scratch`, and what became of each.

    Raises:
        StorageError: The disk is full.
    """
    target = terms.scratch / "input.nq"
    files = [lines.ground.path for lines in found if lines.ground.triples]
    passed = 0
    try:
        with scratch_at(terms.scratch), SnapshotWriter(graph, target, terms.memory, files) as writer:
            for document, lines in zip(documents, found, strict=True):
                if lines.blank.triples:
                    blank = writer.blank(document.dataset, steady=document.steady)
                    for batch in _marked(lines.blank.path, passed):
                        blank.write(batch)
                passed += lines.read
            snapshot, nodes = writer.finish()
    except OSError as error:
        raise StorageError(f"washing to {target} failed: {error}", url=str(target)) from error
    return Washed(snapshot, tuple(lines.parts for lines in found), nodes)


def _marked(path: Path, passed: int) -> Iterator[bytes]:
    """The lines of a file, their labels marked as those of parts behind so many others."""
    with path.open("rb") as lines:
        while batch := list(islice(lines, _BATCH)):
            yield b"".join(batch if not passed else (_moved(line, passed) for line in batch))


def _moved(line: bytes, passed: int) -> bytes:
    subject, predicate, value = line.split(b" ", 2)
    return b" ".join((_label(subject, passed), predicate, _label(value, passed)))


def _label(term: bytes, passed: int) -> bytes:
    mark = _MARK.match(term)
    return b"_:d%d-%b" % (int(mark[1]) + passed, term[mark.end() :]) if mark else term
