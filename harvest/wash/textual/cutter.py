"""Some statements of a document in a row, and the text that they are cut from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from harvest.wash.textual.place import AROUND, after

BLOCK: Final = 1 << 17
"""Bytes that are read at a time."""

TERM: Final = 1 << 24
"""Bytes that the parser takes for one term."""

STATEMENT: Final = 2 * TERM
"""Bytes of a statement that is read by itself."""

UNCLOSED: Final = {
    b'"""': ("cut-off", "a long string that is not closed; what follows it was not read"),
    b"'''": ("cut-off", "a long string that is not closed; what follows it was not read"),
    b'"': ("invalid-literal", "a string that is not closed on its line"),
    b"'": ("invalid-literal", "a string that is not closed on its line"),
    b"<": ("invalid-iri", "an IRI that is not closed on its line"),
}
"""Kind and message of the problem of something that is not closed, by what opens it."""


@dataclass(frozen=True, slots=True)
class Break:
    """
    Why a statement ends where it cannot.

    Attributes:
        offset: Where in the piece's text.
        kind: Of the problem.
        message: What is wrong.
    """

    offset: int
    kind: str
    message: str


@dataclass(slots=True)
class StatementBatch:
    """
    Some statements in a row.

    Attributes:
        text: What they are in, with some of the text around.
        start: Where in the text the piece begins.
        stop: Where in the text it ends; what no statement holds was left out.
        passed: Bytes of the document before `start`.
        line: Line of `start`, from 1.
        column: Column of `start` there, in characters, from 1.
        begins: Where each statement begins in the text.
        ends: Where each ends.
        opened: Whether a graph is open before each.
        inside: Whether a graph is open behind each.
        breaks: Those that are broken, by their index.
    """

    text: bytes
    start: int
    stop: int
    passed: int
    line: int
    column: int
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    opened: list[bool] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)
    breaks: dict[int, Break] = field(default_factory=dict)

    def at(self, offset: int) -> int:
        """The last statement that begins at an offset or before; -1 if none does."""
        return bisect_right(self.begins, offset) - 1

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        return after(self.text[self.start : offset], self.line, self.column)


class Cutter:
    """A document that is read in pieces; what was read and not yet passed on is in `text`, from `start`."""

    def __init__(self, stream: BinaryIO) -> None:
        self.text = b""
        self.start = 0
        self.ended = False
        self._stream = stream
        self._passed = 0
        self._line = 1
        self._column = 1

    def piece(self, stop: int) -> StatementBatch:
        """The text up to an offset, which counts as passed on."""
        piece = StatementBatch(self.text, self.start, stop, self._passed, self._line, self._column)
        text = self.text[self.start : stop]
        self._line, self._column = after(text, self._line, self._column)
        self._passed += len(text)
        self.start = stop
        return piece

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return after(self.text[self.start : offset], self._line, self._column)[0]

    def more(self) -> int:
        """Read on, and leave out what was passed on; how much offsets in the text are less now."""
        cut = max(0, self.start - AROUND)
        # As much again as waits: what is looked at twice is looked at in ever larger pieces.
        wanted = max(BLOCK, len(self.text) - self.start)
        parts = [self.text[cut:]]
        while wanted > 0 and (block := self._stream.read(wanted)):
            parts.append(block)
            wanted -= len(block)
        self.ended = wanted > 0
        self.text = b"".join(parts)
        self.start -= cut
        return cut
