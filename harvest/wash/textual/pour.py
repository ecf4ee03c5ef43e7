"""From a text to N-Triples with pyoxigraph, up to the first error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, tee
from operator import attrgetter, itemgetter
from typing import BinaryIO, Final, cast

import pyoxigraph

from harvest.wash.problems import reason
from harvest.wash.text import Sink
from sparql.rdf import N3, N_QUADS, N_TRIPLES, Format

LINE_FORMATS: Final = (N_TRIPLES, N_QUADS)


@dataclass(frozen=True, slots=True)
class ParserStop:
    """
    Where pyoxigraph gave up.

    Attributes:
        message: Why.
        line: Line, from 1, or None.
        column: Column, in characters, from 1.
        empty: Whether no text is at the place: for line formats it is where a line ended too early.
        passed: Bytes of the document up to there, where that is all that is known.
        held: The last triple before, which is not written yet: its object may be the beginning of what is bad.
    """

    message: str
    line: int | None = None
    column: int = 1
    empty: bool = False
    passed: int | None = None
    held: pyoxigraph.Triple | None = None


@dataclass(slots=True)
class ParserState:
    """
    What statements before mean for those behind.

    Attributes:
        base: The base IRI; None if there is none, or it is not known.
        prefixes: The prefixes that are declared.
    """

    base: str | None
    prefixes: dict[str, str] = field(default_factory=dict)


def declared(state: ParserState) -> bytes:
    """The prefixes as declarations on one line, so that the lines behind can be counted."""
    return b" ".join(b"@prefix %b: <%b> ." % (k.encode(), v.encode()) for k, v in state.prefixes.items())


class Out:
    """A sink as pyoxigraph wants it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._size = 0
        self._last = b""

    @property
    def triples(self) -> int:
        """About how many triples passed, by the length of the last ones: counting all would take time."""
        return self._size * self._last.count(b"\n") // max(1, len(self._last))

    def write(self, data: bytes) -> int:
        """Pass the bytes on; all were taken."""
        self._size += len(data)
        self._last = data
        self._sink.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""


def pour(source: BinaryIO | bytes, format: Format, state: ParserState, out: object) -> ParserStop | None:
    """What was wrong first; the triples before it are written, and `state` is what it leaves behind."""
    stop: ParserStop | None = None
    lines = format in LINE_FORMATS
    quads = pyoxigraph.parse(source, format=format.parser, base_iri=state.base, without_named_graphs=format is N3)
    ahead, behind = tee(quads)
    begun = False
    try:
        if lines:  # a statement is there when its dot is read, so that it is whole
            write(_graphless(quads, format), out)
        elif begun := next(ahead, None) is not None:
            # Taken from one ahead: the last statement before an error may be bad itself.
            write(_graphless(chain(map(itemgetter(1), zip(ahead, behind, strict=False)), behind), format), out)
    except (SyntaxError, MemoryError) as error:
        # What came before is written nevertheless.
        stop = _stop(error, next(behind).triple if begun else None)
    if not lines:
        state.prefixes = quads.prefixes
        state.base = quads.base_iri
    return stop


def _graphless(
    quads: Iterator[pyoxigraph.Quad], format: Format
) -> Iterator[pyoxigraph.Triple] | Iterator[pyoxigraph.Quad]:
    """The statements as they are written in N-Triples; making triples of quads that have no graph would take time."""
    return map(attrgetter("triple"), quads) if format.parser.supports_datasets else quads


def write(triples: Iterator[pyoxigraph.Triple] | Iterator[pyoxigraph.Quad], out: object) -> None:
    """Write triples, or quads of no graph, in N-Triples."""
    pyoxigraph.serialize(triples, cast(BinaryIO, out), format=pyoxigraph.RdfFormat.N_TRIPLES)


def _stop(error: SyntaxError | MemoryError, held: pyoxigraph.Triple | None) -> ParserStop:
    """What an error says; memory that is short in earnest is raised again."""
    if isinstance(error, SyntaxError):
        empty = (error.lineno, error.offset) == (error.end_lineno, error.end_offset)
        early = empty and "UTF-8" not in error.msg
        return ParserStop(reason(error), error.lineno, error.offset or 1, early, held=held)
    if not error.args:
        raise error
    # pyoxigraph says so when a term is larger than its buffer, and the memory has nothing to do with it.
    return ParserStop(str(error), held=held)
