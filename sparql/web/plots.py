"""
Plots of a provider's versions as SVG that stands in the page: sizes as a line, changes as bars.

Shapes have classes and attributes only, for the policy of the pages allows no style in them. A plot says in words what
it shows; the table of versions says all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from markupsafe import Markup, escape

from sparql.reports import VersionReport
from sparql.web.figures import counted, moment, number

COLUMNS: Final = 160
"""Most columns of a plot; of more versions, neighbours share one."""

_SMALL: Final = (112.0, 28.0)
_LARGE: Final = (1000.0, 160.0)
_MARGIN: Final = 3.0


@dataclass(frozen=True, slots=True)
class PlotColumn:
    """
    One version, or several that stand beside each other.

    Attributes:
        first: Number of the first of them.
        last: Number of the last.
        at: When the last was made.
        least: The fewest triples of any of them.
        most: The most.
        triples: Those of the last.
        added: By all of them.
        removed: By all of them.
    """

    first: int
    last: int
    at: datetime
    least: int
    most: int
    triples: int
    added: int
    removed: int

    def __str__(self) -> str:
        """As a pointer that rests on it shows."""
        name = f"Version {self.last}" if self.first == self.last else f"Versions {self.first} to {self.last}"
        change = f"+{number(self.added)} \N{MINUS SIGN}{number(self.removed)}"
        return f"{name}, {moment(self.at)}: {change}, {counted(self.triples, 'triple')}"


def columns(versions: Sequence[VersionReport], most: int = COLUMNS) -> list[PlotColumn]:
    """The versions, oldest first, in at most so many columns."""
    share = max(1, math.ceil(len(versions) / most))
    return [_column(versions[start : start + share]) for start in range(0, len(versions), share)]


def _column(versions: Sequence[VersionReport]) -> PlotColumn:
    if len(versions) == 1:
        [one] = versions
        size = one.triples
        return PlotColumn(one.n, one.n, one.at, size, size, size, one.added, one.removed)
    sizes = [version.triples for version in versions]
    last = versions[-1]
    return PlotColumn(
        versions[0].n,
        last.n,
        last.at,
        min(sizes),
        max(sizes),
        sizes[-1],
        sum(version.added for version in versions),
        sum(version.removed for version in versions),
    )


def size_words(versions: Sequence[VersionReport]) -> str:
    """What a line of sizes shows: first, last, least, most."""
    sizes = [version.triples for version in versions]
    if len(sizes) == 1:
        return f"Triples in the one version: {number(sizes[0])}"
    return (
        f"Triples over {number(len(sizes))} versions: first {number(sizes[0])}, last {number(sizes[-1])}, "
        f"least {number(min(sizes))}, most {number(max(sizes))}"
    )


def change_words(versions: Sequence[VersionReport]) -> str:
    """What the bars of changes show."""
    added = max(versions, key=lambda version: version.added)
    removed = max(versions, key=lambda version: version.removed)
    last = versions[-1]
    return (
        f"Changes, logarithmic: most added {number(added.added)} in version {added.n}, most removed "
        f"{number(removed.removed)} in version {removed.n}, last +{number(last.added)} "
        f"\N{MINUS SIGN}{number(last.removed)}"
    )


def sparkline(versions: Sequence[VersionReport]) -> Markup:
    """A small line of the sizes of versions, oldest first; nothing where there is none."""
    return _line(columns(versions), _SMALL, size_words(versions)) if versions else Markup()


def change_bars(versions: Sequence[VersionReport]) -> Markup:
    """Small bars of what versions added, upwards, and removed, downwards."""
    return _bars(columns(versions, 40), _SMALL, change_words(versions)) if versions else Markup()


def size_plot(versions: Sequence[VersionReport]) -> Markup:
    """The same as `sparkline` for the width of a page; it is stretched, so it holds no text and no circle."""
    return _line(columns(versions), _LARGE, size_words(versions)) if versions else Markup()


def change_plot(versions: Sequence[VersionReport]) -> Markup:
    """The same as `change_bars` for the width of a page."""
    return _bars(columns(versions), (_LARGE[0], 110.0), change_words(versions)) if versions else Markup()


def _line(shown: Sequence[PlotColumn], box: tuple[float, float], words: str) -> Markup:
    width, height = box
    low, high = min(column.least for column in shown), max(column.most for column in shown)
    room = height - 2 * _MARGIN

    def y(triples: int) -> float:
        return height / 2 if high == low else height - _MARGIN - room * (triples - low) / (high - low)

    places: list[tuple[float, float]] = []
    for i, column in enumerate(shown):
        x = _centre(i, len(shown), width)
        if column.least < column.triples < column.most or column.first != column.last:
            places += [(x, y(column.most)), (x, y(column.least))]
        places.append((x, y(column.triples)))
    path = " ".join(f"{'L' if i else 'M'}{x:.1f} {at:.1f}" for i, (x, at) in enumerate(places))
    right, end = places[-1]
    # No area below the line: it begins at the least size and not at 0, so that an area would make growth look larger.
    line = f'<path class="line" d="{path}"/><path class="dot" d="M{right:.1f} {end:.1f} h.01"/>'
    return _svg(box, words, line + _spots(shown, box))


def _bars(shown: Sequence[PlotColumn], box: tuple[float, float], words: str) -> Markup:
    width, height = box
    up, down = (max(map(_scaled, each)) for each in ([c.added for c in shown], [c.removed for c in shown]))
    unit = (height - 2) / ((up + down) or 1)
    zero = 1 + up * unit
    wide = min(max(width / _slots(len(shown), width) * 0.66, 0.6), width / 18)
    shapes = f'<path class="zero" d="M0 {zero:.1f} H{width:g}"/>'
    for kind, sign in (("added", -1), ("removed", 1)):
        path = ""
        for i, column in enumerate(shown):
            if size := column.added if sign < 0 else column.removed:
                tall = max(_scaled(size) * unit, 1.0)
                left = _centre(i, len(shown), width) - wide / 2
                path += f"M{left:.1f} {zero:.1f}h{wide:.1f}v{sign * tall:.1f}h{-wide:.1f}z"
        shapes += f'<path class="{kind}" d="{path}"/>' if path else ""
    return _svg(box, words, shapes + _spots(shown, box))


def _scaled(size: int) -> float:
    """Changes go from one triple to millions, so their bars are logarithmic."""
    return math.log10(1 + size)


def _centre(i: int, count: int, width: float) -> float:
    """Where a column stands; in a small plot a few stand at the right, where what is new is looked for."""
    slots = _slots(count, width)
    return (i + slots - count + 0.5) * width / slots


def _slots(count: int, width: float) -> int:
    """How many columns there is room for."""
    return max(count, 12) if width <= _SMALL[0] else count


def _spots(shown: Sequence[PlotColumn], box: tuple[float, float]) -> str:
    """What a pointer rests on, in large plots."""
    if box[0] <= _SMALL[0]:
        return ""
    width = box[0] / _slots(len(shown), box[0])
    places = ((_centre(i, len(shown), box[0]) - width / 2, str(column)) for i, column in enumerate(shown))
    return "".join(
        f'<rect class="spot" x="{x:.1f}" y="0" width="{width:.1f}" height="{box[1]:g}">'
        f"<title>{escape(text)}</title></rect>"
        for x, text in places
    )


def _svg(box: tuple[float, float], words: str, shapes: str) -> Markup:
    text = escape(words)
    title = f"<title>{text}</title>" if box[0] <= _SMALL[0] else ""
    return Markup(
        f'<svg class="plot" role="img" aria-label="{text}" viewBox="0 0 {box[0]:g} {box[1]:g}" '
        f'preserveAspectRatio="none" focusable="false">{title}{shapes}</svg>'
    )
