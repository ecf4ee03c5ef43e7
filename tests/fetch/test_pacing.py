"""How long to wait before another try."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from harvest.fetch.pacing import BACK_OFF_S, asked_pause_s, back_off_s, http_date, now_utc, retry_after_s

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_wait_doubles_up_to_a_limit() -> None:
    """A server in trouble is asked ever more rarely."""
    assert [back_off_s(tries, lambda: 1.0) for tries in (1, 2, 3, 7, 50)] == [1, 2, 4, BACK_OFF_S, BACK_OFF_S]


def test_the_wait_is_a_random_share_of_the_whole() -> None:
    """Clients that failed together must not come back together."""
    assert (back_off_s(3, lambda: 0.0), back_off_s(3, lambda: 0.25)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120.0),
        ("Sunday, 01-Mar-26 12:02:00 GMT", 120.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sun, 01 Mar 2026 12:02:00 -0000", 120.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("\xb2", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read(header: str | None, seconds: float | None) -> None:
    """It is seconds or a date."""
    assert retry_after_s(header, NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{NOW.timestamp() + 42:.0f}"}, 42.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{NOW.timestamp() - 42:.0f}"}, 0.0),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "17"}, 17.0),
        ({"Retry-After": "3", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "17"}, 3.0),
        ({"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "17"}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 400}, None),
        ({}, None),
    ],
)
def test_the_end_of_a_limit_of_requests_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """As a time or as seconds from now; Retry-After counts more, and what remains less."""
    assert asked_pause_s(headers, NOW) == seconds


def test_a_date_without_zone_is_utc() -> None:
    """HTTP knows no other."""
    assert http_date("Sun, 01 Mar 2026 12:00:00") == NOW


def test_now_is_aware() -> None:
    """Times without zone would compare wrongly in the ledger."""
    assert now_utc().utcoffset() == timedelta(0)
