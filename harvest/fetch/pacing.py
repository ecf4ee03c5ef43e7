"""How long to wait, and how many requests at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Final
from weakref import WeakValueDictionary

from harvest.errors import TransferError

CHECKS_PER_HOST: Final = 8
"""
Conditional requests at once to one host, besides downloads.

They are small, so `http.per_host` (2 by default) would only slow a tick down where one host describes hundreds of
providers; unbounded, 32 threads would be a burst that small servers answer with 429.
"""

BACK_OFF_S: Final = 60.0
"""Longest wait between two tries that we choose ourselves."""

RETRY_AFTER_S: Final = 300.0
"""Longest wait that a server may ask for; a longer one ends the request, and the next tick asks again."""

_POLL_S: Final = 0.2


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
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


class Lane:
    """At most so many requests at once: `parallel` in all (None: any number), and `per_host` to one host."""

    def __init__(self, per_host: int, parallel: int | None = None) -> None:
        self._per_host = per_host
        self._all = threading.Semaphore(parallel) if parallel is not None else None
        # A host's entry lives while somebody uses it: redirects can name any number of hosts.
        self._hosts: WeakValueDictionary[str, threading.Semaphore] = WeakValueDictionary()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self, host: str, url: str, stop: threading.Event) -> Iterator[float]:
        """
        A place in the lane while the block runs; gives the seconds that were waited for it.

        The host comes first: whoever waits for a busy host must not hold a place that another host could use.

        Raises:
            TransferError: `stop` was set meanwhile.
        """
        began = monotonic()
        with self._lock:
            places = self._hosts.setdefault(host, threading.Semaphore(self._per_host))
        with _held(places, url, stop):
            if self._all is None:
                yield monotonic() - began
            else:
                with _held(self._all, url, stop):
                    yield monotonic() - began


@contextmanager
def _held(places: threading.Semaphore, url: str, stop: threading.Event) -> Iterator[None]:
    while not places.acquire(timeout=_POLL_S):
        if stop.is_set():
            raise TransferError(f"{url}: the transfer was stopped while it waited for its turn", url=url)
    try:
        yield
    finally:
        places.release()
