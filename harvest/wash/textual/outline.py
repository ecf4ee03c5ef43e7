"""
What a statement of Turtle or TriG is made of: its subject, and its objects each with its predicate.

It goes as far as the structure is beyond doubt, whatever the terms are. A term may be none (a space in an IRI, an
underscore in a language tag, a prefix that is not declared), but where it begins and ends must be plain. Where two
terms stand where one belongs, a separator is missing or something else is, and the outline ends.

Source: Turtle 1.1, section 6.5 (grammar), `triples` to `object`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

_BLANK: Final = re.compile(rb"(?:\s++|#[^\n\r]*+)*+")
_IRI: Final = re.compile(rb"<[^<>\n\r]*+>")
_ODD_IRI: Final = re.compile(rb"[\"']|\s#")
"""What shows that an IRI was not closed, and ends where another token does."""
_WORD: Final = re.compile(rb"(?:[A-Za-z0-9_:%+\-@/&~!*$=?|^\x80-\xff]++|\\.|\.++(?=[A-Za-z0-9_:%\-\\\x80-\xff]))++")
"""A name, number or keyword, and what is glued to it and belongs to neither."""
_SUFFIX: Final = re.compile(
    rb"@[A-Za-z0-9_\-@.]*[A-Za-z0-9_\-@]|\^\^(?:<[^<>\n\r\"']*+>|[^\s<>\"'()\[\]{},;#]*[^\s<>\"'()\[\]{},;#.])"
)
"""Language tag or datatype of a literal, good or bad."""
_NAMED: Final = re.compile(rb"<|[^\"'\[(:]*:")
_VALUE: Final = re.compile(rb"[<\[(\"'0-9+\-.]|[^:]*:|(?i:true|false)\Z")
"""What an object can be. A bare word is none: it may be half of the name before it, as in `a: b a:c d:e ; ...`."""
_WORDLIKE: Final = re.compile(rb"[A-Za-z0-9_\-%\x80-\xff]")
_BEHIND: Final = frozenset(b" \t\r\n,;.])}#")
_SEPARATORS: Final = re.compile(
    rb"""
      <[^<>\n\r]*+>
    | \"\"\" (?: [^"\\]++ | \\. | "(?!"") )*+ \"\"\" | ''' (?: [^'\\]++ | \\. | '(?!'') )*+ '''
    | "(?: [^"\\\n\r]++ | \\. )*+" | '(?: [^'\\\n\r]++ | \\. )*+'
    | \#[^\n\r]*+
    | ( , | ; (?=\s*+[^\s.;\]}]) | \[ (?!\s*+\]) )
    """,
    re.X | re.S,
)
"""What another triple begins behind, in the group; and all that may hold such a mark as a text."""


@dataclass(frozen=True, slots=True)
class Cell:
    """
    One object with its predicate.

    Attributes:
        start: Where it begins: with its predicate where it is the first object of that.
        verb: Where the predicate begins.
        predicate: Its text.
        begin: Where the object begins.
        end: Where it ends.
        glued: Whether a word of it may go on behind the separator, as in `a:b,c`.
    """

    start: int
    verb: int
    predicate: bytes
    begin: int
    end: int
    glued: bool


@dataclass(slots=True)
class Outline:
    """
    A statement.

    Attributes:
        subject: Its text; a name or an IRI.
        cells: The objects in order.
        whole: Whether that is all of it.
    """

    subject: bytes
    cells: list[Cell] = field(default_factory=list)
    whole: bool = False

    def at(self, place: int) -> int:
        """The last cell that begins at a place or before; -1 where none does."""
        return bisect_right(self.cells, place, key=attrgetter("start")) - 1


def outline(text: bytes, begin: int, end: int, token: re.Pattern[bytes]) -> Outline | None:
    """The outline of a statement between two offsets, or None where it has no subject that can be written again."""
    walk = _TermCursor(text, begin, end, token)
    subject = walk.term()
    if subject is None or not _NAMED.match(subject):
        return None
    found = Outline(subject)
    mark = b";"
    while mark == b";":
        while walk.mark(b";"):
            pass
        if walk.ended():
            break
        verb, predicate = walk.at, walk.term()
        if predicate is None or not (predicate == b"a" or _NAMED.match(predicate)):
            return found
        mark, first = b",", True
        while mark == b",":
            place = walk.begin()
            value = walk.term()
            if value is None or not _VALUE.match(value):
                return found
            stop = walk.at
            mark = walk.mark(b",") or walk.mark(b";")
            if not mark and not walk.ended():
                return found
            start, first = verb if first else place, False
            found.cells.append(Cell(start, verb, predicate, place, stop, walk.is_glued(stop)))
    found.whole = True
    return found


def separators(text: bytes, begin: int, end: int, place: int = 0) -> int:
    """How many more triples begin in a part of a statement, from a place in it on, than the one that it begins with."""
    return sum(
        found.lastindex is not None and found.start() >= place for found in _SEPARATORS.finditer(text, begin, end)
    )


class _TermCursor:
    """A way through a statement, term by term; `at` is how far it has come."""

    def __init__(self, text: bytes, begin: int, end: int, token: re.Pattern[bytes]) -> None:
        self._text = text
        self._end = end
        self._token = token
        self.at = begin
        self.begin()

    def begin(self) -> int:
        """Pass white space and comments; where the next token begins."""
        found = _BLANK.match(self._text, self.at, self._end)
        self.at = found.end() if found else self.at
        return self.at

    def mark(self, mark: bytes) -> bytes:
        """Pass a separator; empty where another token is next."""
        if self._text[self.begin() : self.at + 1] != mark:
            return b""
        self.at += 1
        self.begin()
        return mark

    def ended(self) -> bool:
        """Whether nothing but the dot of the statement, or the brace of its graph, follows."""
        rest = self._text[self.begin() : self._end].rstrip()
        return rest in (b".", b"}")

    def is_glued(self, stop: int) -> bool:
        """Whether words stand on both sides of a separator without a space."""
        behind = self._text[stop + 1 : stop + 2]
        return bool(_WORDLIKE.match(self._text[stop - 1 : stop]) and _WORDLIKE.match(behind)) and self.at == stop + 1

    def term(self) -> bytes | None:
        """Pass the next term, and give it; None where it is not plain where it ends."""
        start = self.begin()
        first = self._text[start : start + 1]
        end = self._passed(first, start)
        if end is None or end > self._end:
            return None
        self.at = end
        self_ends = first in (b"<", b"[", b"(") or end == self._end or self._text[end] in _BEHIND
        return self._text[start:end] if self_ends else None

    def _passed(self, first: bytes, start: int) -> int | None:
        if first in (b"[", b"("):
            return self._closed(start)
        if first == b"<":
            found = _IRI.match(self._text, start, self._end)
            return None if found is None or _ODD_IRI.search(found[0]) else found.end()
        if first in (b'"', b"'"):
            string = self._token.match(self._text, start, self._end)
            if string is None:
                return None
            suffix = _SUFFIX.match(self._text, string.end(), self._end)
            return suffix.end() if suffix else string.end()
        word = _WORD.match(self._text, start, self._end)
        return word.end() if word else None

    def _closed(self, start: int) -> int | None:
        """Where the brackets that open at an offset are closed."""
        waiting: list[int] = []
        at = start
        while token := self._token.match(self._text, at, self._end):
            mark = self._text[at]
            if mark in b"[(":
                waiting.append(mark)
            elif mark in b"])" and (not waiting or waiting.pop() != (91 if mark == 93 else 40)):
                return None
            at = token.end()
            if not waiting:
                return at
        return None
