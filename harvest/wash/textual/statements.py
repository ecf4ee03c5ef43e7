"""
A document cut into its statements, so that each can be read by itself.

A statement that holds something unclosed ends before it. Behind an IRI or a string of one line, where the next one
begins is a guess then: behind the next dot that a line ends with, be it inside of what is not closed, or behind it.
Behind a long string nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from harvest.wash.textual.cutter import BLOCK, STATEMENT, TERM, UNCLOSED, Break, Cutter, StatementBatch
from harvest.wash.textual.lexis import DIRECTIVE, INSIDE, LINE_END, STATEMENT_END, lexis_of
from sparql.rdf import N3, Format

_QUOTES = (b'"', b"'")
_STOP = re.compile(rb"[.{}]")


class Statements:
    """A document of Turtle, TriG or N3 in pieces; formulas of N3 are broken statements."""

    def __init__(self, stream: BinaryIO, source: Format) -> None:
        self._cutter = Cutter(stream)
        self._lexis = lexis_of(source)
        self._formulas = source is N3
        self._at = 0
        self._begin: int | None = 0
        self._wary = False
        self._inside = self._opened = False
        self._depth = 0
        self._formula: int | None = None
        self._skimmed = b""
        self._skimmed_from = 1
        self._found = StatementBatch(b"", 0, 0, 0, 1, 1)
        self._given = self._found

    def __iter__(self) -> Iterator[StatementBatch]:
        """The document, the statements of each block together."""
        while not self._cutter.ended:
            self._refill()
            while self._step():
                pass
            self._finish()
            self._given = self._piece()
            if self._given.begins:
                yield self._given

    @property
    def token(self) -> re.Pattern[bytes]:
        """One token of the format."""
        return self._lexis.token

    def string(self, begin: int, end: int) -> tuple[int, int] | None:
        """Where the string of the last piece begins and ends that an offset is in or behind; None without one."""
        text = self._given.text
        while begin < end and (token := self._lexis.token.match(text, begin) or _STOP.match(text, begin)):
            if token.end() >= end:
                return token.span() if token[0][:1] in _QUOTES else None
            begin = token.end()
        return None

    def _finish(self) -> None:
        """The last statement ends with the document, and one that is too long here."""
        if self._begin is None:
            return
        if self._cutter.ended:
            self._end(len(self._cutter.text) - 1)
        elif self._at - self._begin > STATEMENT:
            self._end(self._at, Break(self._at, "too-large", f"a statement of more than {STATEMENT >> 20} MB"))
            self._begin, self._wary = None, False

    def _refill(self) -> None:
        """Read on, and look at a short statement that has begun from its beginning again: it may be a directive."""
        cut = self._cutter.more()
        self._at -= cut
        if self._begin is not None:
            self._begin -= cut
            if self._formula is not None:
                self._formula -= cut
            elif self._at - self._begin < BLOCK:
                self._at = self._begin
        if self._cutter.ended:
            self._cutter.text += b"\n"

    def _piece(self) -> StatementBatch:
        """What was found since the last piece."""
        found, self._found = self._found, StatementBatch(b"", 0, 0, 0, 1, 1)
        piece = self._cutter.piece(self._at if self._begin is None else self._begin)
        piece.begins, piece.ends, piece.breaks = found.begins, found.ends, found.breaks
        piece.opened, piece.inside = found.opened, found.inside
        return piece

    def _end(self, end: int, broken: Break | None = None) -> None:
        """The statement ends here, and the next one begins."""
        if self._begin is not None:
            if self._formula is not None and broken is None:
                broken = Break(self._formula, "syntax", "a formula, which RDF does not have")
            if broken is not None:
                self._found.breaks[len(self._found.begins)] = broken
            self._found.begins.append(self._begin)
            self._found.ends.append(end)
            self._found.opened.append(self._opened)
            self._found.inside.append(self._inside)
        self._start(end)

    def _start(self, begin: int) -> None:
        """A statement begins here."""
        self._begin, self._formula, self._depth, self._opened = begin, None, 0, self._inside

    def _step(self) -> bool:
        """Go on to the next stop; False if that takes more text."""
        if self._skimmed:
            return self._skim()
        text = self._cutter.text
        if self._begin == self._at and (directive := DIRECTIVE.match(text, self._at)):
            self._at = directive.end()
            self._end(self._at)
            return self._at < len(text)
        run = self._lexis.run.match(text, self._at)
        self._at = at = run.end() if run else self._at
        if at >= len(text) or (at + 1 == len(text) and not self._cutter.ended):
            return False
        if text[at] in self._lexis.stops:
            return self._stop(text, at)
        return not self._lexis.token.match(text, at) and self._break(text, at)

    def _stop(self, text: bytes, at: int) -> bool:
        """A dot or a brace: the end of a statement, or not."""
        mark = text[at : at + 1]
        if self._formulas and self._deeper(mark, at):
            return self._go(at + 1)
        if mark != b".":
            self._inside = mark == b"{"
        elif text[at + 1 : at + 2].isdigit():
            return self._go(at + 1)
        elif self._begin is None and self._wary:
            end = STATEMENT_END.match(text, at + 1)
            if end is None:
                return self._go(at + 1)
            if end.end() == len(text) and not self._cutter.ended:
                return False
        self._end(at + 1)
        return self._go(at + 1)

    def _go(self, at: int) -> bool:
        self._at = at
        return at < len(self._cutter.text)

    def _deeper(self, mark: bytes, at: int) -> bool:
        """Whether a stop is part of a formula."""
        if mark == b".":
            return self._depth > 0
        self._depth = max(0, self._depth + (1 if mark == b"{" else -1))
        if self._formula is None and self._begin is not None:
            self._formula = at
        return True

    def _break(self, text: bytes, at: int) -> bool:
        """Something that is not closed: the statement ends before it, and the next begins where it may."""
        opening = text[at : at + 3] if text[at : at + 3] in INSIDE else text[at : at + 1]
        body = INSIDE[opening].match(text, at + len(opening))
        end = LINE_END.search(text, at)
        open_ended = body is not None and body.end() >= len(text) - 3
        if not self._cutter.ended and (open_ended or end is None or end.end() == len(text)):
            return len(text) - at > TERM and self._oversized(opening, at)
        self._end(at, Break(at, *UNCLOSED[opening]))
        self._begin, self._wary = None, True
        if len(opening) == 3 or end is None:
            return self._go(len(text))
        # A statement begins behind the line, if the line ends like one.
        self._at = end.end()
        last = text[at : end.start()].rstrip()[-1:]
        if last and last in self._lexis.stops:
            self._inside = self._inside if last == b"." else last == b"{"
            self._start(self._at)
        return self._at < len(text)

    def _oversized(self, opening: bytes, at: int) -> bool:
        """A term that is too large for the parser: its statement ends before it, and what follows it is left out."""
        self._end(at, Break(at, "too-large", f"a term of more than {TERM >> 20} MB"))
        self._begin, self._wary = None, False
        self._skimmed_from = self._cutter.line(at)
        self._at = at + len(opening)
        self._skimmed = opening
        return True

    def _skim(self) -> bool:
        """Pass over a term that is not kept."""
        text = self._cutter.text
        body = INSIDE[self._skimmed].match(text, self._at)
        end = body.end() if body else self._at
        closing = b">" if self._skimmed == b"<" else self._skimmed
        if text.startswith(closing, end):
            self._skimmed = b""
            return self._go(end + len(closing))
        if end < len(text) - 3 or self._cutter.ended:
            if len(closing) == 3:
                self._start(end)
                message = f"the long string that begins in line {self._skimmed_from} is not closed"
                self._end(end, Break(min(end, len(text) - 1), "cut-off", message))  # `_refill` added a line's end
                self._begin, end = None, len(text)
            self._skimmed, self._wary = b"", True
            return self._go(end)
        # Quotes at the end of the block may be the first of three, or behind a backslash.
        safe = len(text[:end].rstrip(closing).rstrip(b"\\")) if end - self._at > len(closing) else self._at
        self._at = max(self._at, safe)
        return False
