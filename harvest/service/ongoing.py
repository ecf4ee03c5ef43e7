"""What the schedule has begun: each look and each seed once at a time, and of each provider one harvest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from enum import Enum
from functools import partial
from typing import Any

import structlog

log = structlog.get_logger()


class Ongoing:
    """Work with names that is not begun again before it has ended."""

    def __init__(self, what: str) -> None:
        """Nothing is begun; `what` the log calls this work."""
        self._what = what
        self._guard = threading.Lock()
        self._futures: dict[str, Future[Any]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._futures

    def __len__(self) -> int:
        return len(self._futures)

    def begin(self, name: str, submit: Callable[[], Future[Any]]) -> None:
        """Submit work unless that of this name goes on."""
        with self._guard:
            if name in self._futures:
                return
            future = self._futures[name] = submit()
        future.add_done_callback(partial(self._ended, name))

    def wait(self) -> None:
        """Return when all that was begun has ended."""
        wait(list(self._futures.values()))

    def _ended(self, name: str, future: Future[Any]) -> None:
        with self._guard:
            del self._futures[name]
        log_failure(self._what, name, future)


class HarvestState(Enum):
    """
    Whether a provider is harvested.

    | state      | something was announced or downloaded | the harvest ended |
    |------------|---------------------------------------|-------------------|
    | IDLE       | HARVESTING, if anything is ready      |                   |
    | HARVESTING | AGAIN                                 | IDLE              |
    | AGAIN      | AGAIN                                 | as IDLE           |
    """

    IDLE = "idle"
    HARVESTING = "harvesting"
    AGAIN = "again"
    """A harvest goes on and may have looked for more before there was more."""


class Harvests:
    """Has each provider harvested by one thread at a time while something of it is ready."""

    def __init__(self, is_ready: Callable[[str], bool], submit: Callable[[str], Future[Any]]) -> None:
        """
        All providers are idle.

        Args:
            is_ready: Whether there is something to harvest of a provider.
            submit: Has a thread harvest all of a provider that is ready.
        """
        self._is_ready = is_ready
        self._submit = submit
        self._guard = threading.Lock()
        self._states: dict[str, HarvestState] = {}
        """Of the providers that are not idle."""

    def state(self, name: str) -> HarvestState:
        """The state of a provider."""
        return self._states.get(name, HarvestState.IDLE)

    def came(self, name: str) -> None:
        """Note that something of a provider was announced or downloaded."""
        with self._guard:
            if name in self._states:
                self._states[name] = HarvestState.AGAIN
                return
        if not self._is_ready(name):
            return
        with self._guard:
            is_idle = name not in self._states
            self._states[name] = HarvestState.HARVESTING if is_idle else HarvestState.AGAIN
        if is_idle:
            self._submit(name).add_done_callback(partial(self._ended, name))

    def _ended(self, name: str, future: Future[Any]) -> None:
        log_failure("harvest", name, future)
        with self._guard:
            is_more = self._states.pop(name) is HarvestState.AGAIN
        if is_more and not future.cancelled():
            self.came(name)


def log_failure(what: str, name: str, future: Future[Any]) -> None:
    """Log what nobody has foreseen: a failure of a thread shows nowhere else."""
    if not future.cancelled() and (error := future.exception()) is not None:
        log.error(f"{what} failed", **{what if what in ("seed", "sitemap") else "provider": name}, reason=repr(error))
