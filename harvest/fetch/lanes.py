"""
How many requests run at once, and whose turn it is.

A place goes to the host that has fewest, then to the one that had none for longest, then likewise to a group (the
orders that one dataset waits for). A request that goes on for long, or that brings hardly anything, takes little of
what is shared: it makes room for another one where others wait, so that nobody waits for a slow server but those who
ask it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from harvest.errors import TransferError
from harvest.fetch.transfer import Transfer

CHECKS_PER_HOST: Final = 8
"""
Conditional requests at once to one host, besides downloads.

They are small, so `http.per_host` (2 by default) would only slow a tick down where one host describes hundreds of
providers; unbounded, 32 threads would be a burst that small servers answer with 429.
"""

YOUNG_S: Final = 2.0
"""Seconds in which a request need not have brought anything."""

LONG_S: Final = 60.0
"""Seconds after which a request makes room for another one, however much it brings."""

BRISK: Final = 1 << 16
"""Bytes a second below which a request makes room earlier."""

MOST: Final = 64
"""Requests of a lane at once, those that made room included, where the lane has a bound."""

_POLL_S: Final = 0.2


@dataclass(eq=False, slots=True)
class Slot:
    """
    A place in a lane, or one that is waited for.

    Attributes:
        host: Which host is asked.
        group: What the request belongs to; requests of one group come after those of others.
        since: When it was asked for; when it was given, once it is (monotonic).
        waited_s: Seconds that were waited for it.
        transfer: The request that it is used for, once there is one.
        given: Set when the place is given.
    """

    host: str
    group: object
    since: float
    waited_s: float = 0.0
    transfer: Transfer | None = None
    given: threading.Event = field(default_factory=threading.Event)

    def makes_room(self, now: float) -> bool:
        """Whether a request that goes on for this long makes room for another one."""
        age = now - self.since
        received = self.transfer.received if self.transfer else 0
        return age > LONG_S or (age > YOUNG_S and received < BRISK * age)


class Lane:
    """
    At most so many requests at once: `parallel` in all (None: any number), and `per_host` to one host.

    Those that make room are not counted; there are never more than `MOST` in all, nor twice `per_host` to one host.
    """

    def __init__(self, per_host: int, parallel: int | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._per_host = per_host
        self._parallel = parallel
        self._clock = clock
        self._lock = threading.Lock()
        self._held: list[Slot] = []
        self._waiting: list[Slot] = []
        self._served: dict[object, int] = {}
        self._turn = 0
        self._given_at = 0.0

    @contextmanager
    def slot(self, host: str, url: str, stop: threading.Event) -> Iterator[Slot]:
        """
        A place in the lane while the block runs; requests with the same `stop` are a group.

        Raises:
            TransferError: `stop` was set meanwhile.
        """
        place = Slot(host, stop, self._clock())
        with self._lock:
            self._waiting.append(place)
            self._give()
        try:
            self._wait(place, url, stop)
            yield place
        finally:
            with self._lock:
                (self._held if place.given.is_set() else self._waiting).remove(place)
                self._give()
                self._forget(place)

    def _wait(self, place: Slot, url: str, stop: threading.Event) -> None:
        while not place.given.wait(_POLL_S):
            if stop.is_set():
                raise TransferError(f"{url}: the transfer was stopped while it waited for its turn", url=url)
            with self._lock:
                if monotonic() - self._given_at >= _POLL_S:
                    self._give()  # others may have made room

    def _give(self) -> None:
        """Give away the places that there are."""
        self._given_at = monotonic()
        while self._waiting and (place := self._next()) is not None:
            now = self._clock()
            place.waited_s, place.since = now - place.since, now
            self._turn += 1
            self._served[place.host] = self._served[place.group] = self._turn
            self._waiting.remove(place)
            self._held.append(place)
            place.given.set()

    def _next(self) -> Slot | None:
        """Whose turn it is, if there is a place."""
        now = self._clock()
        counted = [place for place in self._held if not place.makes_room(now)]
        if self._parallel is not None and (len(counted) >= self._parallel or len(self._held) >= self._most()):
            return None
        hosts, groups = Counter(place.host for place in self._held), Counter(place.group for place in self._held)
        busy = Counter(place.host for place in counted)

        def rank(place: Slot) -> tuple[int, int, int, int]:
            served = self._served
            return hosts[place.host], served.get(place.host, 0), groups[place.group], served.get(place.group, 0)

        free = [p for p in self._waiting if busy[p.host] < self._per_host and hosts[p.host] < 2 * self._per_host]
        return min(free, key=rank, default=None)

    def _most(self) -> int:
        assert self._parallel is not None
        return max(MOST, self._parallel)

    def _forget(self, place: Slot) -> None:
        """Forget when a host and a group had their last turn, once none of theirs is left."""
        left = [*self._held, *self._waiting]
        if all(other.host != place.host for other in left):
            self._served.pop(place.host, None)
        if all(other.group is not place.group for other in left):
            self._served.pop(place.group, None)
