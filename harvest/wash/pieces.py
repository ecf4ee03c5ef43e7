"""
A large document of N-Triples or N-Quads, cut at line ends and read in pieces side by side.

    cut -> read_piece, read_piece, ... -> join

A piece has the lines that begin between two offsets of the text, so nobody looks for the cuts beforehand. Its ground
lines come sorted, those with blank nodes in their order, with labels that all pieces share; problems are counted and
kept in the order of the document. So the snapshot, and what is said of the document, are those of reading it whole.

Source: N-Triples and N-Quads 1.1, section 2 (one statement a line).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import BinaryIO, cast

from harvest.errors import StorageError, WashError
from harvest.model import Document, Problem, Snapshot, Status
from harvest.wash.canonical import Washed
from harvest.wash.decoding.charset import Examined
from harvest.wash.leaves import LeafReading, Progress, Terms, scratch_at, transcribe
from harvest.wash.line_file import LineFile
from harvest.wash.line_range import CHUNK, LineRange
from harvest.wash.problems import Problems
from harvest.wash.process import report
from harvest.wash.snapshot_writer import SnapshotWriter
from harvest.wash.sorting import Sorting
from harvest.wash.splitter import Splitter
from harvest.wash.textual.pour import LINE_FORMATS
from harvest.wash.unpacking.members import Leaf
from harvest.wash.unpacking.unpack import unpack
from sparql.rdf import Format


@dataclass(frozen=True, slots=True)
class Cut:
    """
    A document that can be read in pieces.

    Attributes:
        examined: What it is as a text, in UTF-8.
        format: Name of its format, which is N-Triples or N-Quads.
        problems: What was wrong before its statements.
        began: When its unpacking began (aware, UTC).
    """

    examined: Examined
    format: str
    problems: tuple[Problem, ...]
    began: datetime


@dataclass(frozen=True, slots=True)
class Piece:
    """
    What the lines of one piece gave.

    Attributes:
        ground: The lines without blank nodes as a file, sorted, in N-Triples.
        blank: Those with blank nodes, in the order of the document, repeats included.
        statements: Triples read, repeated ones included.
        ends: Line ends in the piece.
        problems: What is wrong, its lines counted from the piece's first.
        counts: How many problems of each kind.
        dropped: Statements left out.
        lost: Triples left out.
        whole: Whether it was read to its end.
    """

    ground: Snapshot
    blank: Snapshot
    statements: int
    ends: int
    problems: tuple[Problem, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    dropped: int = 0
    lost: int = 0
    whole: bool = True


def cut(documents: Sequence[Document], terms: Terms) -> Cut | None:
    """How a document is to be read in pieces; None where it has to be read whole."""
    (document,) = documents
    report(Progress(document.url, (), Status.UNARCHIVING))
    began = datetime.now(UTC)
    leaf = next(unpack(document, terms.volume, terms.scratch), None)
    if not isinstance(leaf, Leaf) or leaf.names or leaf.problems:
        return None
    watch = _Watch(leaf)
    reading = LeafReading(document, replace(leaf, open=watch.open), Problems(), began, terms.memory)
    if reading.looks_like() not in LINE_FORMATS:
        return None
    examined, found = reading.recognise()
    damaged = examined.damaged or watch.damaged
    if found is None or found not in LINE_FORMATS or examined.content.encoding != "utf-8" or damaged:
        return None
    return Cut(examined, found.name, tuple(reading.problems.first), began)


def read_piece(documents: Sequence[Document], terms: Terms, *, of: Cut, begin: int, end: int | None) -> Piece:
    """
    What the lines give that begin between two offsets of the text; `end` None reads to its end.

    Raises:
        StorageError: The disk is full, or the document cannot be read.
    """
    (document,) = documents
    problems = Problems()
    ground, blank = LineFile(terms.scratch / "ground"), LineFile(terms.scratch / "blank")
    try:
        with scratch_at(terms.scratch), ground, blank, closing(Sorting(terms.scratch, terms.memory // 4)) as sorting:
            leaf = next(unpack(document, terms.volume, terms.scratch))
            assert isinstance(leaf, Leaf)  # as it was when it was cut
            whole = LeafReading(document, leaf, problems, of.began, terms.memory).text(of.examined)
            lines = LineRange(whole, begin, end)
            splitter = Splitter(0, sorting, blank, problems)
            transcribe(replace(whole, open=lines.open), _format(of), splitter, problems)
            splitter.finish()
            for chunk in sorting.chunks():
                ground.write(chunk)
    except OSError as error:
        raise StorageError(f"washing to {terms.scratch} failed: {error}", url=str(terms.scratch)) from error
    counts, first = dict(problems.counts), tuple(problems.first)
    figures = (problems.dropped, problems.lost, problems.whole)
    return Piece(ground.snapshot, blank.snapshot, splitter.statements, lines.ends, first, counts, *figures)


def join(documents: Sequence[Document], terms: Terms, *, graph: str, of: Cut, pieces: Sequence[Piece]) -> Washed:
    """
    The pieces as one snapshot in `terms.scratch`, and what became of the document.

    Raises:
        StorageError: The disk is full.
    """
    (document,) = documents
    target = terms.scratch / "input.nq"
    files = [piece.ground.path for piece in pieces if piece.ground.triples]
    try:
        with scratch_at(terms.scratch), SnapshotWriter(graph, target, terms.memory, files) as writer:
            blank = writer.blank(document.dataset, steady=document.steady)
            for piece in pieces:
                with piece.blank.path.open("rb") as stream:
                    while chunk := stream.read(CHUNK):
                        blank.write(chunk)
            snapshot, nodes = writer.finish()
    except OSError as error:
        raise StorageError(f"washing to {target} failed: {error}", url=str(target)) from error
    leaf = Leaf((), nullcontext)  # type: ignore[arg-type]  # it is not opened any more
    reading = LeafReading(document, leaf, _joined(of, pieces), of.began, terms.memory)
    part = reading.parsed(of.examined, _format(of), sum(piece.statements for piece in pieces))
    return Washed(snapshot, ((part,),), nodes)


def _format(of: Cut) -> Format:
    return next(format for format in LINE_FORMATS if format.name == of.format)


def _joined(of: Cut, pieces: Sequence[Piece]) -> Problems:
    """What is wrong with the document, in its order and with its lines."""
    problems = Problems()
    for problem in of.problems:
        problems.add(problem)
    passed = 0
    for piece in pieces:
        moved = [replace(each, line=each.line and each.line + passed) for each in piece.problems]
        problems.go_on(moved, piece.counts, piece.dropped, piece.lost)
        passed += piece.ends
    return problems


class _Watch:
    """
    A leaf that is read by others.

    Attributes:
        damaged: Whether its bytes ended before their end.
    """

    def __init__(self, leaf: Leaf) -> None:
        self.damaged = False
        self._leaf = leaf

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its bytes."""
        with self._leaf.open() as stream:
            yield cast(BinaryIO, _Watched(stream, self))


class _Watched:
    """A stream of a leaf that is watched."""

    def __init__(self, stream: BinaryIO, watch: _Watch) -> None:
        self._read = getattr(stream, "read1", stream.read)
        self._watch = watch

    def read(self, size: int) -> bytes:
        """The next bytes, up to so many."""
        try:
            return bytes(self._read(size))
        except WashError:
            self._watch.damaged = True
            raise
