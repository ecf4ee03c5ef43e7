"""Tables fit a terminal, and figures in them are whole."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harvest.cli import output as show
from harvest.cli.tables import Column, Kind, table
from sparql.reports import StepReport
from tests.web import records
from tests.web.records import ENDED, provider, version

WIDTHS = (80, 100, 200)
LARGE = 1_009_287_123
RUN = replace(records.RUN, steps=(StepReport("file-version", records.STARTED, None, None, broken=False, figures={}),))


def printed(width: int, *what: Any) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(*what)
    return out.getvalue().splitlines()


@given(st.lists(st.tuples(st.text("abc ", max_size=60), st.integers(0, 10**12 - 1), st.booleans()), max_size=5))
def test_figures_are_whole_and_words_give_way(rows: list[tuple[str, int, bool]]) -> None:
    """What is cut off a figure makes it another one."""
    columns = [Column("name"), Column("triples", Kind.FIGURE), Column("at", Kind.TIME), Column("next", Kind.TIME, True)]
    time = "2026-03-01 10:00:09"
    cells = [(name.strip() or "-", f"{n:,}", time if known else "-", time) for name, n, known in rows]
    for width in (40, 50, 80):
        lines = printed(width, table(columns, cells, width))
        text = "\n".join(lines)
        assert max(map(len, lines)) <= width
        assert all(figure in text for _, figure, _, _ in cells)
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        assert all(("2026-03-01" in text and "10:00:09" in text) for _, _, at, _ in cells if at == time)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_commands_print_fits(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables here have more triples, versions and longer names than those of most instances."""
    out = io.StringIO()
    monkeypatch.setattr(show, "OUT", Console(file=out, width=width))
    figures = {"state": "harvesting", "version": 12345, "triples": LARGE, "last_run": RUN}
    show.status([provider("a" * 40, **figures), provider("b", **figures)])
    counts = {"added": LARGE, "removed": LARGE // 99, "triples": LARGE}
    show.history([version(12345, at=ENDED, coverage="partial", **counts)], [])
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for figure in ("12345", f"{LARGE:,}", f"+{LARGE:,}", f"-{LARGE // 99:,}", "2026-02-28"):
        assert figure in out.getvalue()


def test_a_row_is_a_line_where_nobody_sees_a_width() -> None:
    """Programs that read a pipe read lines."""
    lines = printed(show.PIPED, table([Column("name"), Column("at", Kind.TIME)], [("word " * 200, "a b")], show.PIPED))
    assert len(lines) == 3
