"""
Threads for work that waits for other hosts: each host and each owner has so many at once, and they take turns.

What waits holds no thread, so a slow host cannot fill them all. What goes on for long makes room for something else,
where there is a time for that. Threads live while there is work.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from harvest.pipeline.priority import step_aside

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ThreadBounds:
    """
    How much is done at once.

    Attributes:
        threads: In all, what made room not counted.
        per_host: For one host.
        per_owner: For one owner.
        long_s: Seconds after which something makes room for something else; None: never.
        most: In all, what made room counted.
    """

    threads: int
    per_host: int
    per_owner: int
    long_s: float | None = None
    most: int = 0


@dataclass(eq=False, slots=True)
class _QueuedWork(Generic[T]):
    """Something to do, and since when it is done."""

    host: str
    owner: str
    work: Callable[[], T]
    future: Future[T]
    since: float = 0.0


class HostThreads:
    """Does what is submitted, so much at once as its bounds say; hosts take turns, and on a host owners."""

    def __init__(self, name: str, bounds: ThreadBounds, ended: Callable[[], None] = lambda: None) -> None:
        """
        No thread runs yet.

        Args:
            name: How the threads are called.
            bounds: How much is done at once.
            ended: Called in each thread before it ends.
        """
        self._name = name
        self._bounds = bounds
        self._ended = ended
        self._lock = threading.RLock()
        self._emptied = threading.Condition(self._lock)
        self._queue: dict[str, dict[str, deque[_QueuedWork[Any]]]] = {}
        self._running: set[_QueuedWork[Any]] = set()
        self._threads: set[ThreadPoolExecutor] = set()
        self._alarm: threading.Timer | None = None
        self._closed = False

    def submit(self, host: str, owner: str, work: Callable[[], T]) -> Future[T]:
        """Have something done in its turn; after `shutdown` it is cancelled at once."""
        job = _QueuedWork(host, owner, work, Future())
        with self._lock:
            if not self._closed:
                self._queue.setdefault(host, {}).setdefault(owner, deque()).append(job)
                self._fill()
                return job.future
        _cancel(job)
        return job.future

    def shutdown(self) -> None:
        """Cancel the work that was not begun, and wait for the rest."""
        with self._lock:
            self._closed = True
            waiting = [job for owners in self._queue.values() for jobs in owners.values() for job in jobs]
            self._queue.clear()
            threads = list(self._threads)
            if self._alarm is not None:
                self._alarm.cancel()
        for job in waiting:
            _cancel(job)
        with self._lock:
            while self._threads:
                self._emptied.wait()
        for thread in threads:
            thread.shutdown(wait=True)

    def _fill(self) -> None:
        """Begin what may be begun now."""
        while (job := self._next()) is not None:
            thread = ThreadPoolExecutor(1, self._name, initializer=step_aside)
            self._threads.add(thread)
            self._begin(thread, job)
        self._plan()

    def _begin(self, thread: ThreadPoolExecutor, job: _QueuedWork[Any]) -> None:
        if not job.future.set_running_or_notify_cancel():
            self._after(thread, job)
            return
        try:
            thread.submit(job.work).add_done_callback(partial(self._done, thread, job))
        except RuntimeError as error:  # the machine has no more threads
            job.future.set_exception(error)
            self._after(thread, job)

    def _done(self, thread: ThreadPoolExecutor, job: _QueuedWork[Any], done: Future[Any]) -> None:
        """Hand the result on, and have the thread do the next thing or end."""
        error = done.exception()
        if error is None:
            job.future.set_result(done.result())
        else:
            job.future.set_exception(error)
        self._after(thread, job)

    def _after(self, thread: ThreadPoolExecutor, job: _QueuedWork[Any]) -> None:
        with self._lock:
            self._running.discard(job)
            following = self._next()
            if following is not None:
                self._begin(thread, following)
            self._fill()
        if following is None:
            self._end(thread)

    def _end(self, thread: ThreadPoolExecutor) -> None:
        def ended(future: Future[None]) -> None:
            with self._lock:
                self._threads.discard(thread)
                self._emptied.notify_all()

        try:
            thread.submit(self._ended).add_done_callback(ended)
        except RuntimeError:  # it never began
            ended(Future())
        thread.shutdown(wait=False)

    def _next(self) -> _QueuedWork[Any] | None:
        """Whose turn it is, taken from the queue; None when nothing may be begun now."""
        if not self._queue or not self._has_room(monotonic()):
            return None
        hosts = Counter(job.host for job in self._running)
        mine = Counter(job.owner for job in self._running)
        for host, owners in self._queue.items():
            if hosts[host] < self._bounds.per_host:
                owner = next((owner for owner in owners if mine[owner] < self._bounds.per_owner), None)
                if owner is not None:
                    return self._taken(host, owner)
        return None

    def _taken(self, host: str, owner: str) -> _QueuedWork[Any]:
        """The first job of an owner at a host; both are last in turn now."""
        owners = self._queue.pop(host)
        jobs = owners.pop(owner)
        job = jobs.popleft()
        if jobs:
            owners[owner] = jobs
        if owners:
            self._queue[host] = owners
        job.since = monotonic()
        self._running.add(job)
        return job

    def _has_room(self, now: float) -> bool:
        bounds = self._bounds
        if bounds.long_s is None:
            return len(self._running) < bounds.threads
        counted = sum(now - job.since < bounds.long_s for job in self._running)
        return counted < bounds.threads and len(self._running) < bounds.most

    def _plan(self) -> None:
        """Look again when the next one makes room, if something waits."""
        long_s = self._bounds.long_s
        if long_s is None or not self._queue or self._alarm is not None:
            return
        now = monotonic()
        young = [left for job in self._running if (left := job.since + long_s - now) > 0]
        if young:
            self._alarm = threading.Timer(min(young) + 0.01, self._look_again)
            self._alarm.daemon = True
            self._alarm.start()

    def _look_again(self) -> None:
        with self._lock:
            self._alarm = None
            if not self._closed:
                self._fill()


def _cancel(job: _QueuedWork[Any]) -> None:
    if job.future.cancel():
        job.future.set_running_or_notify_cancel()


def host_of(url: str) -> str:
    """The host of a URL, in lower case; the whole text where there is none, or it cannot be read."""
    with suppress(ValueError):
        return urlsplit(url.strip()).hostname or url
    return url
