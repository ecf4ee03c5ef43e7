"""
Reading N-Triples, N-Quads, Turtle, TriG and N3 so that bad statements are dropped one by one.

pyoxigraph reads alone up to the first error. It goes on after errors itself, but takes an unclosed string or IRI to
the next quote or bracket, however far that is, and statements of a broken formula or graph for others. So from the
first bad statement on the document is cut into statements first. They are read many together, up to the next bad one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO, Final

from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.text import Sink, Text
from harvest.wash.textual.cutter import TERM, Beginning
from harvest.wash.textual.intake import BLOCK, DEPTH, Intake
from harvest.wash.textual.linewise import lines
from harvest.wash.textual.pour import LINE_FORMATS, Out, State, Stop, pour
from harvest.wash.textual.rest import Rest
from harvest.wash.textual.statements import Statements
from sparql.rdf import Format

REOPENED: Final = 8
"""Times that a document is read again because a long string is not closed in all that follows."""


def transcribe(text: Text, format: Format, sink: Sink, problems: Problems) -> None:
    """
    Write every triple of a document in N-Triples, N-Quads, Turtle, TriG or N3 to the sink.

    What is bad is dropped and told: of a bad statement the triples before the error are kept, unless it follows another
    bad one. Damage that the stream tells with a WashError ends the document there.
    """
    state = State(None if format in LINE_FORMATS else text.base)
    out = Out(sink)
    with text.open() as stream:
        intake = Intake(stream)
        stop = pour(intake.buffered(), format, state, out)
        if intake.deep is not None:
            held = stop.held if stop else None
            message = f"triple terms more than {DEPTH} deep inside each other"
            stop = Stop(message, passed=intake.deep, held=held)
        elif stop is not None and stop.line is None:
            # The term that filled the parser's buffer takes at least its second half.
            stop = replace(stop, passed=intake.passed - TERM // 2) if "buffer" in stop.message else stop
    if stop is not None:
        _read_rest(text, Rest(format, state, out, problems), format, stop)
    if intake.damage is not None:
        problems.add(Problem("cut-off", intake.damage.message))


def _read_rest(text: Text, rest: Rest, format: Format, stop: Stop) -> None:
    """Read what is behind the first bad statement."""
    if format in LINE_FORMATS:
        with text.open() as stream:
            rest.read(lines(Intake(stream, guarded=False).buffered()), stop)
        return
    place: tuple[int, int] | None = (0, 1)
    for again in range(REOPENED + 1):
        if place is not None:
            with text.open() as stream:
                source = Intake(stream, guarded=False).buffered()
                statements = Statements(source, format, _behind(source, *place) if again else None)
                rest.read(statements, None if again else stop)
            place = statements.unclosed
    if place is not None:
        message = f"{text.title} has more than {REOPENED} long strings that are not closed; the rest was not read"
        rest.problems.add(Problem("cut-off", message, place[1]))


def _behind(source: BinaryIO, passed: int, line: int) -> Beginning:
    """Read up to the line behind an offset in a line."""
    while passed > 0 and (block := source.read(min(passed, BLOCK))):
        passed -= len(block)
    start, last = passed, b""
    while piece := source.readline(BLOCK):
        start += len(piece)
        last = piece
        if piece.endswith(b"\n"):
            break
    return Beginning(passed + start, line + 1, last)
