"""The table: one row a measured target, in Markdown, and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Series

HEADINGS = ("case", "data", "ours", "peer", "ratio", "target", "met", "others")


@dataclass(frozen=True, slots=True)
class Target:
    """
    What is to be reached.

    Attributes:
        limit: The number.
        of: `slower`: ours / peer at most `limit`; `faster`: peer / ours at least; `share`: ours / peer at least;
            `ours`: our figure itself at most.
    """

    limit: float
    of: str

    def figure(self, ours: float, peer: float | None) -> float | None:
        """What is held against the limit; None where there is nothing to compare with."""
        if self.of == "ours":
            return ours
        if peer is None:
            return None
        return peer / ours if self.of == "faster" else ours / peer

    def met(self, figure: float | None) -> bool | None:
        """Whether what `figure` gave is enough; None where there is nothing to compare with."""
        if figure is None:
            return None
        return figure >= self.limit if self.of in ("faster", "share") else figure <= self.limit

    def cell(self, unit: str) -> str:
        """The target as a cell of the table."""
        cells = {
            "slower": f"at most {self.limit:g} x",
            "faster": f"{self.limit:g} x faster",
            "share": f"at least {self.limit:g} x",
        }
        return cells.get(self.of, f"at most {self.limit:g} {unit}".rstrip())


@dataclass(slots=True)
class Row:
    """
    One measured thing.

    Attributes:
        case: What was measured.
        data: On what.
        ours: Our figure, or None when it was not measured.
        peer: What it is compared with, or None.
        unit: Of both: `s`, `ms`, `MB`, `/s` for requests a second, empty for a number.
        ratio: Median of the ratios of runs that followed one another; None where it is that of the two figures.
        target: What is to be reached, or None where the row only informs.
        shares: Share of each step in our time, the largest first.
        notes: What should be known of it.
        spoiled: Whether the target is missed whatever the figures say; a note says why.
        others: Share of the cores that other processes used meanwhile, at worst, from 0 to 1; None where nobody looked.
        judged: Whether the target is held against it; not at sizes that it was not set for.
        details: Further figures for machines.
    """

    case: str
    data: str
    ours: float | None
    peer: float | None = None
    unit: str = "s"
    ratio: float | None = None
    target: Target | None = None
    shares: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spoiled: bool = False
    others: float | None = None
    judged: bool = True
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none, or it is not judged."""
        if self.spoiled:
            return False
        if self.target is None or self.ours is None or not self.judged:
            return None
        found = self.target.figure(self.ours, self.peer) if self.ratio is None else self.ratio
        return self.target.met(found)

    def cells(self) -> tuple[str, ...]:
        """The row for people."""
        verdict = {True: "yes", False: "NO", None: "-" if self.judged or not self.target else "not judged"}[self.met]
        target = self.target.cell(self.unit) if self.target else "-"
        figures = _figure(self.ours, self.unit), _figure(self.peer, self.unit), self._ratio()
        return self.case, self.data, *figures, target, verdict, self._others()

    def _others(self) -> str:
        return "-" if self.others is None else f"{self.others:.0%}"

    def _ratio(self) -> str:
        if self.ours is None or self.peer is None:
            return "-"
        if self.target is not None and self.target.of == "faster":
            return f"{self.ratio or self.peer / self.ours:.1f} x faster"
        return f"{self.ratio or self.ours / self.peer:.2f} x"

    def remarks(self) -> list[str]:
        """The notes, and where the time goes when the target is missed."""
        if self.met is False and self.shares:
            parts = ", ".join(f"{name} {share:.0%}" for name, share in self.shares.items() if share >= 0.01)
            return [*self.notes, f"missed; our time goes to: {parts}"]
        return self.notes

    def data_object(self) -> dict[str, Any]:
        """The row for machines."""
        target = {"limit": self.target.limit, "of": self.target.of} if self.target else None
        figures = {"ours": self.ours, "peer": self.peer, "unit": self.unit, "ratio": self.ratio}
        verdict = {"target": target, "met": self.met}
        rest = {"shares": self.shares, "notes": self.notes, "others": self.others, "details": self.details}
        return {"case": self.case, "data": self.data} | figures | verdict | rest


def compared(case: str, data: str, ours: Series, peer: Series | None, target: Target | None) -> Row:
    """The row of what was measured by time."""
    row = Row(case, data, ours.seconds, peer.seconds if peer else None, target=target, shares=ours.shares)
    row.others = max(each.others for each in (ours, peer) if each)
    row.details["seconds"] = {
        name: [sample.seconds for sample in each.samples] for name, each in (("ours", ours), ("peer", peer)) if each
    }
    return row


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = 0 if unit in ("MB", "/s", "") or value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f} {unit}".rstrip()


def markdown(rows: Sequence[Row]) -> str:
    """The table, its columns aligned, and the remarks below it."""
    cells = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADINGS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    remarks = [f"- {row.case}, {row.data}: {remark}." for row in rows for remark in row.remarks()]
    return "\n".join([*lines, "", *remarks] if remarks else lines)
