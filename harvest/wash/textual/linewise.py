"""A document of N-Triples or N-Quads cut into its lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from harvest.wash.textual.cutter import STATEMENT, Break, Cutter, Piece
from harvest.wash.textual.lexis import LINE_END


def lines(stream: BinaryIO) -> Iterator[Piece]:
    """A document in pieces whose statements are its lines."""
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


def _skimmed(cutter: Cutter) -> Piece:
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
