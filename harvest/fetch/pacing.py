"""How long to wait before another try."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

BACK_OFF_S: Final = 60.0
"""Longest wait between two tries that we choose ourselves."""

RETRY_AFTER_S: Final = 300.0
"""Longest wait that a server may ask for; a longer one ends the request, and the next tick asks again."""


def now_utc() -> datetime:
    """The time, aware, in UTC."""
    return datetime.now(UTC)


def back_off_s(tries: int, chance: Callable[[], float]) -> float:
    """
    Seconds to wait after so many failed tries: a random share of 1, 2, 4, ... at most BACK_OFF_S.

    The share is of the whole ("full jitter"), so that clients that failed together do not come back together.
    """
    return chance() * min(BACK_OFF_S, 2.0 ** (tries - 1))


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """
    Seconds that a Retry-After header asks for, 0 for a time that has passed; None when it cannot be read.

    Source: RFC 9110, section 10.2.3.
    """
    text = (header or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    at = http_date(text)
    return max(0.0, (at - now).total_seconds()) if at else None


def http_date(text: str | None) -> datetime | None:
    """The time that an HTTP-date says (aware, UTC), or None. Source: RFC 9110, section 5.6.7."""
    try:
        at = parsedate_to_datetime(text or "")
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):  # years, days and zones may have any number of digits
        return None
