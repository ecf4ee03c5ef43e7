"""Tables for people that fit the width of a terminal: figures stay whole, words give way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

GAP: Final = 2
"""Blanks between two columns; the box makes one of them."""
LEAST: Final = 11
"""Characters that a column of words may be narrowed to; longer words are folded then."""


class Kind(Enum):
    """What a column holds."""

    WORDS = auto()
    FIGURE = auto()
    TIME = auto()


@dataclass(frozen=True, slots=True)
class Column:
    """
    A column of a table.

    Attributes:
        title: Its head.
        kind: Figures and times are never cut; a time may stand on two lines, the date above.
        spare: Whether it is left out where there is no room for it.
    """

    title: str
    kind: Kind = Kind.WORDS
    spare: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Table:
    """
    A table of at most `width` characters, if its figures fit there.

    The last of the spare columns goes first. Cells are console markup.
    """
    shown, broken = list(range(len(columns))), False
    while (_needed([columns[n] for n in shown], [[row[n] for n in shown] for row in rows], broken)) > width:
        spare = [n for n in shown if columns[n].spare]
        if not broken:
            broken = True
        elif spare:
            shown.remove(spare[-1])
        else:
            break
    made = Table(box=box.SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), show_edge=False, pad_edge=False)
    for n in shown:
        is_figure = columns[n].kind is Kind.FIGURE
        made.add_column(
            columns[n].title,
            justify="right" if is_figure else "left",
            no_wrap=columns[n].kind is not Kind.WORDS,
            overflow="fold",
            min_width=_least(columns[n], [_width(_cell(row[n], columns[n], broken)) for row in rows]),
        )
    for row in rows:
        made.add_row(*(_cell(row[n], columns[n], broken) for n in shown))
    return made


def _needed(columns: Sequence[Column], rows: Sequence[Sequence[str]], broken: bool) -> int:
    """Characters that a table takes at least; where times are broken, with date and time on two lines."""
    return GAP * (len(columns) - 1) + sum(
        _least(column, [_width(_cell(row[n], column, broken)) for row in rows]) for n, column in enumerate(columns)
    )


def _least(column: Column, widths: Sequence[int]) -> int:
    widest = max(widths, default=0)
    return max(len(column.title), min(widest, LEAST) if column.kind is Kind.WORDS else widest)


def _cell(text: str, column: Column, broken: bool) -> str:
    return text.replace(" ", "\n") if broken and column.kind is Kind.TIME else text


def _width(markup: str) -> int:
    return max(line.cell_len for line in Text.from_markup(markup).split("\n", allow_blank=True))
