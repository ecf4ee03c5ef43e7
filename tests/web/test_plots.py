"""Plots of versions: what they say, and that shapes stay where they belong, however many there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from sparql.reports import VersionReport
from sparql.web.plots import (
    COLUMNS,
    change_bars,
    change_plot,
    change_words,
    columns,
    size_plot,
    size_words,
    sparkline,
)
from tests.web.records import version

PLOTS = [sparkline, change_bars, size_plot, change_plot]
Plot = Callable[[list[VersionReport]], Markup]


def history(*sizes: int) -> list[VersionReport]:
    """Versions of these sizes, each with what it added or removed."""
    steps = zip((0, *sizes), sizes, strict=False)
    return [
        version(n, added=max(0, now - before), removed=max(0, before - now), triples=now)
        for n, (before, now) in enumerate(steps, start=1)
    ]


@pytest.mark.parametrize("plot", PLOTS)
def test_without_versions_there_is_no_plot(plot: Plot) -> None:
    """An empty frame says nothing."""
    assert plot([]) == ""


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize(
    "sizes",
    [(5,), (5, 5, 5), (0, 0), (1, 10**9, 3), tuple(range(1, 40)), tuple(n % 7 * 1000 for n in range(1000))],
    ids=["one", "equal", "empty", "extremes", "many", "a thousand"],
)
def test_a_plot_is_sound_and_stays_in_its_frame(plot: Plot, sizes: tuple[int, ...]) -> None:
    """It is XML, has words, no style, and no shape outside."""
    svg = ElementTree.fromstring(str(plot(history(*sizes))))
    assert svg.get("aria-label")
    _, _, width, height = map(float, svg.get("viewBox", "").split())
    for shape in svg.iter():
        assert not set(shape.attrib) & {"style", "onclick", "fill", "stroke"}
        path = shape.get("d", "")
        assert "nan" not in path
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height


def test_words_say_first_last_least_and_most() -> None:
    """The words are for who does not see the shapes."""
    versions = history(10, 4, 9)
    assert size_words(versions) == "Triples over 3 versions: first 10, last 9, least 4, most 10"
    assert change_words(versions) == (
        "Changes, logarithmic: most added 10 in version 1, most removed 6 in version 2, last +5 \N{MINUS SIGN}0"
    )


def test_neighbours_share_a_column_and_lose_no_extreme() -> None:
    """A version that lost everything for a day is what people look for."""
    sizes = [1000] * 1000
    sizes[500] = 1
    shown = columns(history(*sizes))
    assert len(shown) <= COLUMNS
    assert (shown[0].first, shown[-1].last) == (1, 1000)
    assert min(column.least for column in shown) == 1
    assert sum(column.added for column in shown) == 1999
    assert [each.last + 1 for each in shown[:-1]] == [each.first for each in shown[1:]]


def test_bars_grow_upwards_for_what_came_and_downwards_for_what_went() -> None:
    """Added and removed statements do not differ by colour alone."""
    svg = ElementTree.fromstring(str(change_plot(history(100, 50))))
    paths = {shape.get("class"): shape.get("d", "") for shape in svg}
    assert re.fullmatch(r"M[\d.]+ [\d.]+h[\d.]+v-[\d.]+h-[\d.]+z", paths["added"])
    assert re.fullmatch(r"M[\d.]+ [\d.]+h[\d.]+v[\d.]+h-[\d.]+z", paths["removed"])
