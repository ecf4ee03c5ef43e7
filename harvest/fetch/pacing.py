"""How long to wait before another try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

BACK_OFF_S: Final = 60.0
"""Longest wait between two tries that we choose ourselves."""

RETRY_AFTER_S: Final = 300.0
"""Longest wait that a server may ask for; a longer one ends the request, and the next tick asks again."""

EPOCH_FROM: Final = 1e9
"""Larger figures of a limit's end are seconds since 1970; smaller ones are seconds from now."""


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


def asked_pause_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """
    Seconds that the headers of a refusal ask for: by Retry-After, else until the limit of requests begins anew.

    X-RateLimit-Reset holds seconds since 1970, as Zenodo and GitHub have it, or seconds from now, as the draft of the
    standard has it for RateLimit-Reset. It counts where no request remains.
    """
    asked = retry_after_s(headers.get("Retry-After"), now)
    if asked is not None:
        return asked
    for prefix in ("X-RateLimit-", "RateLimit-"):
        remaining, reset = (headers.get(f"{prefix}{name}", "").strip() for name in ("Remaining", "Reset"))
        if remaining == "0" and reset.isascii() and reset.isdecimal() and len(reset) < 16:
            seconds = float(reset)
            return max(0.0, seconds - now.timestamp()) if seconds > EPOCH_FROM else seconds
    return None


def http_date(text: str | None) -> datetime | None:
    """The time that an HTTP-date says (aware, UTC), or None. Source: RFC 9110, section 5.6.7."""
    try:
        at = parsedate_to_datetime(text or "")
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):  # years, days and zones may have any number of digits
        return None
