"""Where in a text something is wrong: line and column where a parser gives none, and the text around a place."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from typing import BinaryIO, Final, cast

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import EXCERPT, Problems
from harvest.wash.text import Text, characters

_PIECE: Final = 1 << 16
_TAG_OR_TEXT: Final = re.compile(rb"<[^<>]*>?|[^<]+")


class PieceTracker:
    """
    A document that is read in tags and texts: its parser fails at the piece that it asked for last.

    Attributes:
        line: Where the piece that was read last begins, from 1.
        column: Where it begins in that line, in characters, from 1.
        damage: Always None: a damaged text ends where it is damaged.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.damage: WashError | None = None
        self.line = self.column = 1
        self._after = (1, 1)
        self._stream = stream
        self._pieces: list[bytes] = []

    def blocks(self) -> BinaryIO:
        """Itself."""
        return cast(BinaryIO, self)

    def read(self, size: int = -1) -> bytes:
        """The next piece, or as much of it as was asked for."""
        while not self._pieces:
            line = self._stream.readline(_PIECE)
            if not line:
                return b""
            self._pieces = _TAG_OR_TEXT.findall(line)[::-1]
        piece = self._pieces.pop()
        if 0 < size < len(piece):
            self._pieces.append(piece[size:])
            piece = piece[:size]
        self._pass(piece)
        return piece

    def _pass(self, piece: bytes) -> None:
        self.line, self.column = self._after
        newline = piece.rfind(b"\n") + 1
        passed = characters(piece[newline:])
        self._after = (self.line + 1, 1 + passed) if newline else (self.line, self.column + passed)


def whole(text: Text) -> tuple[bytes, WashError | None]:
    """The text, or as much of it as can be read and why not the rest."""
    pieces: list[bytes] = []
    try:
        with text.open() as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
    except WashError as error:
        return b"".join(pieces), error
    return b"".join(pieces), None


def excerpt(text: Text, line: int, column: int) -> str | None:
    """The text around a place, from its own line, which may be the whole document; None if it cannot be read."""
    try:
        with text.open() as stream:
            _forward(stream, line)
            return _around(stream, column)
    except WashError:
        return None


def in_characters(text: Text, line: int, column: int) -> int:
    """A column that counts bytes, as the parser of JSON has it, in characters."""
    found = 1
    try:
        with text.open() as stream:
            _forward(stream, line)
            while column > 1 and (piece := stream.read(min(column - 1, _PIECE))):
                column -= len(piece)
                found += characters(piece)
    except WashError:
        return found + column - 1
    return found


def _forward(stream: BinaryIO, line: int) -> None:
    """Read up to the beginning of a line, or to the end where there is no such line."""
    while line > 1 and (piece := stream.readline(_PIECE)):
        line -= piece.endswith(b"\n")


def _around(stream: BinaryIO, column: int) -> str:
    """The text around a column of the line where a stream is."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = ""
    passed = 0
    while piece := stream.readline(_PIECE):
        text += decoder.decode(piece)
        if piece.endswith(b"\n") or passed + len(text) > column + EXCERPT:
            break
        far = max(0, len(text) - 2 * EXCERPT)
        text, passed = text[far:], passed + far
    return around(text, column - passed)


def around(line: str, column: int) -> str:
    """At most `EXCERPT` characters of a line around a column."""
    line = line.rstrip("\r\n")
    start = max(0, min(column - 1 - EXCERPT // 2, len(line) - EXCERPT))
    return line[start : start + EXCERPT]


class SourceLines:
    """The lines of a text in memory, best asked for in rising order: each look goes on where the last one ended."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._line = 1
        self._start = 0

    def around(self, line: int, column: int) -> str:
        """The text around a place, from its own line."""
        if line < self._line:
            self._line, self._start = 1, 0
        while self._line < line and (end := self._data.find(b"\n", self._start)) >= 0:
            self._line, self._start = self._line + 1, end + 1
        # A character has at most four bytes: nothing behind these can belong to the excerpt.
        stop = self._start + 4 * (column + EXCERPT)
        piece = self._data[self._start : stop]
        return around(piece.partition(b"\n")[0].decode(errors="replace"), column)


class Within(Problems):
    """Problems of a text that stands in another one, reported with their place in that one."""

    def __init__(self, outer: Problems, line: int, column: int = 1) -> None:
        """The text begins at this line and column of the other one."""
        super().__init__()
        self._outer = outer
        self._line = line
        self._column = column

    def add(self, problem: Problem) -> None:
        """Count a problem here and there."""
        super().add(problem)
        if problem.line is not None:
            shift = self._column - 1 if problem.line == 1 else 0
            column = None if problem.column is None else problem.column + shift
            problem = replace(problem, line=problem.line + self._line - 1, column=column)
        self._outer.add(problem)

    def lose(self, triples: int) -> None:
        """Count them here and there."""
        super().lose(triples)
        self._outer.lose(triples)

    def wants_excerpt(self, kind: str, lost: int = 0) -> bool:
        """As there."""
        return self._outer.wants_excerpt(kind, lost)
