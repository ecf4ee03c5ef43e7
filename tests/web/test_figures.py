"""How things look on a page."""

from __future__ import annotations

import pytest

from sparql.web.figures import moment, number, prose, size


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), (1234567, "1\u202f234\u202f567"), (None, "\N{EN DASH}")])
def test_counts_have_their_thousands_apart(value: int | None, shown: str) -> None:
    """Long figures are hard to read."""
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (300 << 20, "300 MiB"),
        (5 << 50, "5120 TiB"),
        (None, "\N{EN DASH}"),
    ],
)
def test_sizes_have_the_unit_that_suits_them(value: int | None, shown: str) -> None:
    """With as many digits as matter."""
    assert size(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2026-03-01T10:00:59Z", "2026-03-01 10:00 UTC"),
        ("2026-03-01T00:00:00Z", "2026-03-01 00:00 UTC"),
        ("2026-03-01", "2026-03-01"),
        ("long ago", "long ago"),
        (None, "\N{EN DASH}"),
    ],
)
def test_times_are_read_by_people(value: str | None, shown: str) -> None:
    """To the minute; what is no time is shown as it is."""
    assert moment(value) == shown


def test_messages_are_text_with_code() -> None:
    """Commands in them stand out, markup does nothing."""
    assert str(prose("run `a <b>` & see <i>")) == "run <code>a &lt;b&gt;</code> &amp; see &lt;i&gt;"
