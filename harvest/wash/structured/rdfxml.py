"""
RDF/XML as N-Triples.

pyoxigraph reads it while expat checks that it is well-formed. Where it gives up, its own recovery would invent
statements (after a bad `rdf:about`, that the properties are types), so that what it wrote is taken back and rdflib
reads the document again, element by element.
"""

from __future__ import annotations

import io
from typing import Final, cast

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import Problems, reason
from harvest.wash.structured.patient import read_patiently
from harvest.wash.structured.strict import Fault, give_up, hand_on, held, read
from harvest.wash.structured.wellformed import Malformed, well_formed
from harvest.wash.structured.whereabouts import PieceTracker, excerpt, whole
from harvest.wash.text import Sink, Text
from sparql.rdf import RDF_XML

PATIENT_BYTES: Final = 64 << 20
"""
Bytes of a document that is read a second time where pyoxigraph refuses it.

rdflib reads 2.7 MB a second, so that this takes 25 s and some 300 MB of memory. Of a larger one, what was read before
the error is kept.
"""


def transcribe(text: Text, sink: Sink, problems: Problems) -> None:
    """Write every triple of the document to the sink as canonical N-Triples."""
    if text.size > PATIENT_BYTES:
        fault = _read(text, sink)
        if fault is not None:
            give_up(text, fault, problems, lambda error: _cut_off(error, text))
        return
    with held() as place:
        fault = _read(text, place)
        if fault is None or not isinstance(fault, SyntaxError):
            hand_on(place, sink)
            if fault is not None:
                give_up(text, fault, problems, lambda error: _cut_off(error, text))
            return
    _read_again(text, fault, sink, problems)


def _read(text: Text, sink: Sink) -> Fault | None:
    """Let pyoxigraph read it."""
    try:
        with text.open() as stream:
            return read(well_formed(stream), RDF_XML, text.base, sink)
    except WashError as error:
        return error


def _read_again(text: Text, fault: SyntaxError, sink: Sink, problems: Problems) -> None:
    """Let rdflib read what pyoxigraph refused; malformed XML ends for both at the same place."""
    if not isinstance(fault, Malformed):
        problems.add(_problem("fallback", f"{text.title} was read by a more patient parser", fault, text))
    data, damage = whole(text)
    malformed = read_patiently(data, text.base, sink, problems)
    if damage is not None or malformed is not None:
        give_up(text, damage or cast(Malformed, malformed), problems, lambda error: _cut_off(error, text))


def _cut_off(error: SyntaxError, text: Text) -> Problem:
    return _problem("cut-off", f"{text.title} was read up to an error, and what follows it is left out", error, text)


def _problem(kind: str, what: str, error: SyntaxError, text: Text) -> Problem:
    """A problem with the place of the error."""
    line, column = _place(error, text)
    around = None if line is None else excerpt(text, line, column or 1)
    return Problem(kind, f"{what}: {reason(error)}", line, column, around)


def _place(error: SyntaxError, text: Text) -> tuple[int | None, int | None]:
    """Line and column; pyoxigraph gives none for RDF/XML, so that it reads once more, in tags."""
    if error.lineno:
        return error.lineno, error.offset or 1
    try:
        with text.open() as stream:
            tracker = PieceTracker(well_formed(stream).blocks())
            found = read(tracker, RDF_XML, text.base, io.BytesIO())
    except WashError:
        return None, None
    return (tracker.line, tracker.column) if isinstance(found, SyntaxError) else (None, None)
