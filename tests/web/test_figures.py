"""How things look on a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sparql.web.figures import ago, counted, duration, first_sentence, moment, number, prose, size


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
    """A size has as many digits as matter."""
    assert size(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (datetime(2026, 3, 1, 10, 0, 59, tzinfo=UTC), "2026-03-01 10:00 UTC"),
        (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01 00:00 UTC"),
        (None, "\N{EN DASH}"),
    ],
)
def test_times_are_read_by_people(value: datetime | None, shown: str) -> None:
    """Times are shown to the minute."""
    assert moment(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0 properties"), (1, "1 property"), (12345, "12\N{NARROW NO-BREAK SPACE}345 properties")]
)
def test_one_of_a_kind_is_not_many(value: int, shown: str) -> None:
    """A plural that an `s` does not make is given."""
    assert counted(value, "property", "properties") == shown
    assert (counted(1, "triple"), counted(2, "triple")) == ("1 triple", "2 triples")


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
        (timedelta(0), "now"),
        (timedelta(seconds=-2), "2 s ago"),
        (timedelta(hours=-2), "2 h ago"),
        (timedelta(hours=-47), "47 h ago"),
        (timedelta(days=-9), "9 d ago"),
        (timedelta(seconds=42), "in 42 s"),
        (None, "\N{EN DASH}"),
    ],
)
def test_times_are_shown_from_now(value: timedelta | None, shown: str) -> None:
    """Roughly; the time itself stands beside or behind it."""
    now = datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert ago(None if value is None else now + value, now) == shown


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
