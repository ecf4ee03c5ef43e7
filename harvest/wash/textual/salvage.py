"""What can be had of a statement of Turtle or TriG behind the first thing wrong in it: object by object."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from harvest.wash.textual.cutter import Break
from harvest.wash.textual.outline import Cell, Outline, separators
from harvest.wash.textual.place import kind, offset
from harvest.wash.textual.pour import Out, ParserState, ParserStop, declared, pour
from sparql.rdf import TURTLE

_TOGETHER: Final = 1000
"""Objects that are read together; where one is bad, they are halved until it is alone."""

Run = Sequence[Cell]
"""Objects that are good or bad together, as nobody knows where a word between them ends."""


@dataclass(frozen=True, slots=True)
class Salvage:
    """
    One statement.

    Attributes:
        text: What it is in.
        found: Its outline.
        state: Prefixes and base that hold for it.
        out: Takes the triples.
        report: Called with what is wrong, and how many triples it costs.
    """

    text: bytes
    found: Outline
    state: ParserState
    out: Out
    report: Callable[[Break, int], None]
    _bad: set[int] = field(default_factory=set)

    def behind(self, wrong: Break) -> None:
        """Report the first thing that is wrong, and write what the objects behind it say, as far as they are good."""
        cells = self.found.cells
        index = self.found.at(wrong.offset)
        if index < 0 or wrong.offset < cells[index].begin:
            verb = cells[index].verb if index >= 0 else None
            gone = [cell for cell in cells if verb in (None, cell.verb)]
            rest = [cell for cell in cells[index + 1 :] if cell.verb != verb] if index >= 0 else []
        else:
            end = index + 1
            while end < len(cells) and cells[end - 1].glued:
                end += 1
            gone, rest = cells[index:end], cells[end:]
        self.report(wrong, self._triples(gone))
        self._read(_runs(rest))

    def _read(self, runs: list[Run]) -> None:
        waiting = [runs[start : start + _TOGETHER] for start in range(0, len(runs), _TOGETHER)][::-1]
        while waiting:
            row = [run for run in waiting.pop() if run[0].verb not in self._bad]
            held = io.BytesIO()
            stop = self._parse([cell for run in row for cell in run], held)
            if stop is None:
                self.out.write(held.getvalue())
            elif len(row) == 1:
                self._refuse(row[0])
            else:
                middle = len(row) // 2
                waiting += [row[middle:], row[:middle]]

    def _parse(self, cells: Run, held: io.BytesIO) -> ParserStop | None:
        """Write what some objects say; what is wrong with them."""
        said = (
            b"%b %b\n%b ." % (self.found.subject, cell.predicate, self.text[cell.begin : cell.end]) for cell in cells
        )
        state = ParserState(self.state.base, dict(self.state.prefixes))
        return pour(declared(self.state) + b" " + b"\n".join(said), TURTLE, state, held)

    def _refuse(self, run: Run) -> None:
        """Report what is wrong with objects that cannot be read, or with their predicate."""
        for cell in run:
            stop = self._parse([cell], io.BytesIO())
            if stop is None:
                continue
            if stop.line == 1:
                self._bad.add(cell.verb)
                gone: Run = [each for each in self.found.cells if each.verb == cell.verb]
                self.report(Break(cell.verb, kind(stop.message), stop.message), self._triples(gone))
            else:
                place = cell.begin if stop.line is None else offset(self.text, cell.begin, stop.line - 1, stop.column)
                wrong = Break(min(place, cell.end), kind(stop.message), stop.message)
                self.report(wrong, self._triples(run))
            return

    def _triples(self, cells: Run) -> int:
        """How many triples some objects cost, with what is said of them in brackets; at least one."""
        return max(1, sum(1 + separators(self.text, cell.begin, cell.end) for cell in cells))


def _runs(cells: Run) -> list[Run]:
    """The objects, those together that words may lead from one to the next of."""
    runs: list[list[Cell]] = []
    for index, cell in enumerate(cells):
        if index and cells[index - 1].glued:
            runs[-1].append(cell)
        else:
            runs.append([cell])
    return list(runs)
