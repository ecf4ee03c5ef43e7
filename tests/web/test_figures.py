"""How things look on a page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sparql.web.figures import ago, duration, first_sentence, moment, number, prose, size


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


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "\N{EN DASH}"),
        (0, "under 1 ms"),
        (0.0126, "13 ms"),
        (1, "1.0 s"),
        (59.94, "59.9 s"),
        (90, "1 min 30 s"),
        (3600, "1 h 0 min"),
        (3 * 86400 + 7200, "3 days 2 h"),
    ],
)
def test_durations_have_the_unit_that_suits_them(seconds: float | None, shown: str) -> None:
    """Steps take from a millisecond to a day."""
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2026-03-01T10:00:00Z", "now"),
        ("2026-03-01T09:59:58+00:00", "2 s ago"),
        ("2026-03-01T08:00:00", "2 h ago"),
        ("2026-02-27T11:00:00Z", "47 h ago"),
        ("2026-02-20T10:00:00Z", "9 d ago"),
        ("2026-03-01T10:00:42Z", "in 42 s"),
        ("soon", "soon"),
        (None, "\N{EN DASH}"),
    ],
)
def test_times_are_told_from_now(value: str | None, shown: str) -> None:
    """Roughly; the time itself stands beside or behind it."""
    assert ago(value, datetime(2026, 3, 1, 10, tzinfo=UTC)) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("It failed; see to it", "It failed"),
        ("http://d.example/a.nt: 3 of 4 are bad. Mend it.", "http://d.example/a.nt: 3 of 4 are bad"),
        ("more than 1.5 % of it", "more than 1.5 % of it"),
        ("x" * 500, "x" * 239 + "\N{HORIZONTAL ELLIPSIS}"),
    ],
)
def test_the_first_sentence_says_what_happened(message: str, shown: str) -> None:
    """What to do about it stands on the page of the provider."""
    assert first_sentence(message) == shown
