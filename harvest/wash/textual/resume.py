"""
Reading N-Triples, N-Quads, Turtle, TriG and N3 so that bad statements are dropped one by one.

pyoxigraph reads alone up to the first error. It goes on after errors itself, but takes an unclosed string or IRI to
the next quote or bracket, however far that is, and statements of a broken formula or graph for others. So from the
first bad statement on the document is cut into statements first. They are read many together, up to the next bad one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.text import Sink, Text
from harvest.wash.textual.cutter import STATEMENT, TERM, Break, Cutter, StatementBatch
from harvest.wash.textual.intake import DEPTH, Intake
from harvest.wash.textual.lexis import LINE_END
from harvest.wash.textual.pour import LINE_FORMATS, Out, ParserState, ParserStop, pour
from harvest.wash.textual.rest import Rest
from harvest.wash.textual.statements import Statements
from sparql.rdf import Format


def transcribe(text: Text, format: Format, sink: Sink, problems: Problems) -> None:
    """
    Write every triple of a document in N-Triples, N-Quads, Turtle, TriG or N3 to the sink.

    What is bad is dropped and reported: of a bad statement the triples before the error are kept, unless it follows
    another bad one, and those behind it as far as its structure is plain. Damage of the stream, a WashError, ends
    the document there.
    """
    state = ParserState(None if format in LINE_FORMATS else text.base)
    out = Out(sink)
    with text.open() as stream:
        intake = Intake(stream)
        stop = pour(intake.buffered(), format, state, out)
        if intake.deep is not None:
            held = stop.held if stop else None
            message = f"triple terms more than {DEPTH} deep inside each other"
            stop = ParserStop(message, passed=intake.deep, held=held)
        elif stop is not None and stop.line is None:
            # The term that filled the parser's buffer takes at least its second half.
            stop = replace(stop, passed=intake.passed - TERM // 2) if "buffer" in stop.message else stop
    if stop is not None:
        with text.open() as stream:
            source = Intake(stream, guarded=False).buffered()
            rest = Rest(format, state, out, problems)
            rest.read(_lines(source) if format in LINE_FORMATS else Statements(source, format), stop)
            rest.settle(text.size)
    if intake.damage is not None:
        problems.add(Problem("cut-off", intake.damage.message))


def _lines(stream: BinaryIO) -> Iterator[StatementBatch]:
    """A document of N-Triples or N-Quads in pieces whose statements are its lines."""
    cutter = Cutter(stream)
    while not cutter.ended:
        cutter.more()
        ends = [end.end() for end in LINE_END.finditer(cutter.text, cutter.start)]
        if cutter.ended:
            ends += [len(cutter.text)] if cutter.start < len(cutter.text) else []
        elif ends and ends[-1] == len(cutter.text):
            # A line feed may follow.
            ends.pop()
        if not ends and len(cutter.text) - cutter.start > STATEMENT:
            yield _skimmed(cutter)
        elif ends:
            begins = [cutter.start, *ends[:-1]]
            piece = cutter.piece(ends[-1])
            piece.begins, piece.ends = begins, ends
            piece.opened = piece.inside = [False] * len(ends)
            yield piece


def _skimmed(cutter: Cutter) -> StatementBatch:
    """A line that is too long, of which only the beginning is kept."""
    place = cutter.start
    piece = cutter.piece(place)
    piece.begins, piece.ends, piece.opened, piece.inside = [place], [place], [False], [False]
    piece.breaks = {0: Break(place, "too-large", f"a line of more than {STATEMENT >> 20} MB")}
    while True:
        end = LINE_END.search(cutter.text, cutter.start)
        if end is not None and (end.end() < len(cutter.text) or cutter.ended):
            cutter.piece(end.end())
            return piece
        if cutter.ended:
            cutter.piece(len(cutter.text))
            return piece
        cutter.piece(len(cutter.text) - 1)
        cutter.more()
