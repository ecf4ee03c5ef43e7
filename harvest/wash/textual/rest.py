"""
A document from its first bad statement on.

A statement behind a bad one counts only as a whole: it may be the rest of the bad one, and triples seen in it none.
Behind a long string that is not closed nothing counts: nobody knows what of it is text.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import partial
from typing import Final

from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.textual.cutter import UNCLOSED, Break, StatementBatch
from harvest.wash.textual.intake import DEPTH
from harvest.wash.textual.lexis import BEHIND, DECLARED, LEADING, OPEN_ON_LINE, SENTENCE
from harvest.wash.textual.outline import outline, separators
from harvest.wash.textual.place import excerpt, kind, offset
from harvest.wash.textual.pour import LINE_FORMATS, Out, ParserState, ParserStop, declared, pour, write
from harvest.wash.textual.salvage import Salvage
from harvest.wash.textual.statements import Statements
from sparql.rdf import N3, Format

_NEAR: Final = 4
_FAR: Final = 1 << 20
"""Statements that are read together: few behind a bad one, for another one costs what was handed over."""

_RATE: Final = 0.01
"""Triples per byte of a document of which none was read."""

_GLUED = re.compile(rb"[A-Za-z0-9_\-%\x80-\xff][,;]?\Z")
_SUBJECT = re.compile(rb"(?<=[\n\r])[ \t]*+(?:<[^<>\s]*+>|[^\s<>\"'\[\](),;]++)[ \t]*+\Z")
_WORD = re.compile(rb"[^\s<>\"'()\[\]{},;]*+[,;]?\Z")


class Rest:
    """Reads a document from its first bad statement on."""

    def __init__(self, format: Format, state: ParserState, out: Out, problems: Problems) -> None:
        self._problems = problems
        self._format = format
        self._lines = format in LINE_FORMATS
        self._state = state
        self._out = out
        self._doubtful = False
        self._stride = _FAR
        self._ended = False
        self._skipped: int | None = None
        self._pieces: Iterable[StatementBatch] = ()

    def read(self, pieces: Iterable[StatementBatch], stop: ParserStop | None) -> None:
        """Read what is behind the statement where pyoxigraph stopped; all that is there without such a place."""
        self._pieces = pieces
        piece = None
        for piece in pieces:
            begin = 0
            self.settle(piece.passed + piece.begins[0] - piece.start)
            if stop is not None:
                place = self._sought(piece, stop)
                if place is not None:
                    begin = self._report_first(piece, place, stop)
                    stop = None
            if stop is None:
                self._read(piece, begin)
            if self._ended:
                return
        if stop is not None and piece is not None:
            self._report_first(piece, piece.ends[-1], stop)
            if stop.line is None and stop.passed is None:
                message = f"what follows an error without a place was not read: {stop.message}"
                self._problems.add(Problem("cut-off", message, piece.line))
        elif stop is not None:
            self._problems.add(Problem(kind(stop.message), stop.message, stop.line, stop.column))

    def _sought(self, piece: StatementBatch, stop: ParserStop) -> int | None:
        """Where in the piece pyoxigraph stopped; None if it was not there."""
        place = None
        if stop.passed is not None:
            if stop.passed - piece.passed < piece.stop - piece.start:
                place = max(0, stop.passed - piece.passed) + piece.start
        elif stop.line is not None and (stop.line, stop.column) < piece.place(piece.stop):
            place = self._offset(piece, piece.start, stop.line - piece.line + 1, stop, piece.column - 1)
        # What is not closed is the first error, wherever pyoxigraph saw it.
        unclosed = [broken.offset for broken in piece.breaks.values() if broken.kind != "too-large"]
        return min([*unclosed, *([] if place is None else [place])], default=None)

    def _offset(self, piece: StatementBatch, start: int, line: int, stop: ParserStop, shift: int) -> int:
        """Where a place is in the piece, its line counted from `start`, which is `shift` characters into its line."""
        if line < 1:
            return start
        place = offset(piece.text, start, line, stop.column - (shift if line == 1 else 0))
        if self._lines and stop.empty and stop.column == 1:
            place -= 2 if piece.text[max(0, place - 2) : place] == b"\r\n" else 1
        return max(start, place)

    def _report_first(self, piece: StatementBatch, place: int, stop: ParserStop) -> int:
        """Report what pyoxigraph stopped at; the statement behind."""
        index = piece.at(place)
        if index >= 0:
            return self._drop(piece, index, place, stop)
        if stop.held is not None:
            write(iter((stop.held,)), self._out)
        self._report(piece, Break(place, kind(stop.message), stop.message), 1)
        self._doubtful = not self._lines
        return 0

    def _read(self, piece: StatementBatch, index: int) -> None:
        """Read the statements of a piece from an index on."""
        self._limit(piece)
        broken = sorted(piece.breaks)
        while index < len(piece.begins):
            if self._doubtful or index in piece.breaks:
                index = self._read_one(piece, index)
            else:
                place = bisect_left(broken, index)
                end = broken[place] if place < len(broken) else len(piece.begins)
                index = self._read_many(piece, index, min(end, index + self._stride))

    def _limit(self, piece: StatementBatch) -> None:
        """Break the statements whose triple terms the parser could not take."""
        if piece.text.count(b"<<(") <= DEPTH:
            return
        for index, (begin, end) in enumerate(zip(piece.begins, piece.ends, strict=True)):
            if piece.text.count(b"<<(", begin, end) > DEPTH:
                piece.breaks[index] = Break(begin, "too-large", f"more than {DEPTH} triple terms in a statement")
                piece.ends[index] = begin

    def _read_many(self, piece: StatementBatch, index: int, end: int) -> int:
        """Read statements up to the first that is bad; the one behind."""
        stop, place = self._parse(piece, index, end, self._out)
        if stop is None:
            self._stride = min(2 * self._stride, _FAR)
            return end
        self._stride = _NEAR
        index = min(end - 1, max(index, piece.at(place)))
        return self._drop(piece, index, place, stop)

    def _read_one(self, piece: StatementBatch, index: int) -> int:
        """Read a statement that is bad, or is behind one that is; the one behind."""
        held = io.BytesIO()
        stop, place = self._parse(piece, index, index + 1, held if self._doubtful else self._out)
        if stop is not None or index in piece.breaks:
            return self._drop(piece, index, place, stop)
        if self._doubtful and held.getvalue():
            self._out.write(held.getvalue())
            self._doubtful = False
        return index + 1

    def _parse(self, piece: StatementBatch, index: int, end: int, out: object) -> tuple[ParserStop | None, int]:
        """Write the triples of some statements; what was wrong, and where."""
        begin, stop_at = piece.begins[index], piece.ends[end - 1]
        text, shift = piece.text[begin:stop_at], 0
        if not self._lines:
            text, shift = self._framed(piece, index, text, piece.inside[end - 1]), 1
        stop = pour(text, self._format, self._state, out)
        if stop is None or stop.line is None:
            return stop, begin
        return stop, min(self._offset(piece, begin, stop.line - shift, stop, 0), stop_at)

    def _framed(self, piece: StatementBatch, index: int, text: bytes, closed: bool = False) -> bytes:
        """Statements with what holds for them: prefixes, on one line so that lines can be counted, and the graph."""
        opening = b" {" if piece.opened[index] else b""
        return b"".join((declared(self._state), opening, b"\n", text, b"\n}" if closed else b""))

    def _drop(self, piece: StatementBatch, index: int, place: int, stop: ParserStop | None) -> int:
        """Report what is wrong with a statement, and forget what it may have declared; the statement behind."""
        broken = piece.breaks.get(index)
        late = stop is None or stop.line is None or stop.message.startswith("Unexpected end")
        if broken is not None and (late or place >= broken.offset):
            reported = broken
        else:
            assert stop is not None, "a statement without an error is dropped only where it is broken"
            reported = self._unclosed(piece, index, place, stop) or Break(place, kind(stop.message), stop.message)
        if self._lines:
            self._report(piece, reported, 1)
            return index + 1
        if stop is not None and stop.held is not None:
            self._keep(piece, index, reported.offset, stop)
        if reported.kind != "cut-off":
            self._doubtful = not self._salvaged(piece, index, reported)
            self._forget(piece, index)
        cut = next((each for each in (reported, broken) if each and each.kind == "cut-off"), None)
        if cut is not None:
            self._report(piece, cut, 1)
            self._skipped, self._ended = piece.passed + cut.offset - piece.start, True
            return len(piece.begins)
        if reported is broken and index + 1 == len(piece.begins):
            self._skipped = piece.passed + piece.stop - piece.start
        return index + 1

    def _salvaged(self, piece: StatementBatch, index: int, reported: Break) -> bool:
        """Report what is wrong with a statement, and write what is good behind that; whether all of it is plain."""
        text, begin, end = piece.text, piece.begins[index], piece.ends[index]
        plain = reported is not piece.breaks.get(index)
        found = None
        if plain and not self._doubtful and isinstance(self._pieces, Statements) and self._format is not N3:
            found = outline(text, begin, end, self._pieces.token)
        if found is None or not found.cells or (not found.whole and reported.offset >= found.cells[-1].end):
            upto = piece.begins[index + 1] if index + 1 < len(piece.begins) else piece.stop
            self._report(
                piece, reported, 1 + separators(text, begin, upto, begin if self._doubtful else reported.offset)
            )
            return False
        Salvage(text, found, self._state, self._out, partial(self._report, piece)).behind(reported)
        if not found.whole:
            self._problems.lose(max(1, separators(text, begin, end, found.cells[-1].end)))
        return found.whole

    def _forget(self, piece: StatementBatch, index: int) -> None:
        """Forget what a bad statement may have declared: what is said with it would be something else."""
        declared = DECLARED.match(piece.text, piece.begins[index], piece.ends[index])
        if declared and declared[2]:
            self._state.base = None
        elif declared:
            self._state.prefixes.pop(declared[1].decode("utf-8", "replace"), None)

    def _keep(self, piece: StatementBatch, index: int, place: int, stop: ParserStop) -> None:
        """Write the last triple before an error, unless its object is the beginning of something else."""
        if stop.held is not None and not self._doubtful and not self._spoilt(piece, index, place):
            write(iter((stop.held,)), self._out)

    def _spoilt(self, piece: StatementBatch, index: int, place: int) -> bool:
        """
        Whether the object of the last triple before an error is not meant as one.

        It may be the first half of a word with an error in the middle, or the subject of a statement on the next line
        where the object and the dot are missing.
        """
        begin, text = piece.begins[index], piece.text
        before = text[max(begin, place - 1000) : place]
        glued = _GLUED.search(before, max(0, len(before) - 2)) and text[place : place + 1].strip()
        word = _WORD.search(before) if glued else _SUBJECT.search(before)
        if word is None:
            return False
        start = place - len(word[0])
        if text[start : start + 1] == b"@" and isinstance(self._pieces, Statements):
            string = self._pieces.string(begin, start)
            start = string[0] if string else start
        return self._count(piece, index, text[begin : place + 100]) > self._count(piece, index, text[begin:start])

    def _count(self, piece: StatementBatch, index: int, text: bytes) -> int:
        """The triples that the beginning of a statement has."""
        held = io.BytesIO()
        state = ParserState(self._state.base, dict(self._state.prefixes))
        stop = pour(self._framed(piece, index, text), self._format, state, held)
        return held.getvalue().count(b"\n") + (stop is not None and stop.held is not None)

    def _unclosed(self, piece: StatementBatch, index: int, place: int, stop: ParserStop) -> Break | None:
        """What is not closed, where that is what is wrong; None else."""
        if not self._lines:
            return self._turned(piece, index, place)
        if stop.message.startswith(("Unexpected end of file", "Line jumps")):
            for found in OPEN_ON_LINE.finditer(piece.text, piece.begins[index], piece.ends[index]):
                if found[1]:
                    return Break(found.start(), *UNCLOSED[found[1]])
        return None

    def _turned(self, piece: StatementBatch, index: int, place: int) -> Break | None:
        """
        The long string that is not closed, where one was taken for closed; None else.

        Such a string ends where the next one begins, and all that follows is inside out. It is seen when what follows
        a string is wrong, and the string ends with what leads to an object.
        """
        pieces, text, begin = self._pieces, piece.text, piece.begins[index]
        if not isinstance(pieces, Statements):
            return None
        string = pieces.string(begin, begin + len(text[begin:place].rstrip()))
        if string is None or text[string[0] : string[0] + 3] not in (b'"""', b"'''"):
            return None
        opening, end = string
        lead = SENTENCE.split(text[opening + 3 : end - 3])
        if len(lead) == 1 or not LEADING.fullmatch(lead[-1].rstrip()) or BEHIND.match(text, end):
            return None
        return Break(opening, *UNCLOSED[text[opening : opening + 3]])

    def _report(self, piece: StatementBatch, reported: Break, lost: int) -> None:
        # What is too large is a statement here, where elsewhere it is a document.
        self._problems.dropped += reported.kind == "too-large"
        if self._problems.wants_excerpt(reported.kind, lost):
            around = (*piece.place(reported.offset), excerpt(piece.text, reported.offset))
            self._problems.add(Problem(reported.kind, reported.message, *around, lost=lost))
        else:
            self._problems.add(Problem(reported.kind, reported.message, lost=lost))

    def settle(self, size: int) -> None:
        """Count what is lost with the bytes that were passed over up to an offset in the document."""
        if self._skipped is not None and size > self._skipped:
            rate = self._out.triples / self._skipped if self._out.triples else _RATE
            self._problems.lose(round((size - self._skipped) * rate))
        self._skipped = None
