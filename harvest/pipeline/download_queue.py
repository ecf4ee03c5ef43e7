"""
The downloads of an instance: what is announced is downloaded when it is seen, whatever waits before it.

Downloads have threads of their own, so a slow server keeps nobody from harvesting; each announcement is downloaded once
at a time, whoever asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Final, TypeVar

from harvest.fetch.lanes import MOST
from harvest.model import Announcement, Finding
from harvest.pipeline.harvest.watch import Watching
from harvest.pipeline.instance import Instance
from harvest.pipeline.threads import HostThreads, ThreadBounds, host_of

T = TypeVar("T")

BOUNDS: Final = ThreadBounds(threads=MOST, per_host=8, per_owner=4)
"""
Announcements that are downloaded at once, those included that wait for `http.parallel` and `http.per_host`.

A host has more of them than `http.per_host` allows to be asked at once, as it may redirect them to others.
"""

OTHERS: Final = "files that are no RDF"
"""In place of the host of such files: all providers together have `per_host` at once, dumps the other threads."""

Listener = Callable[[str], object]
"""Called with the name of a provider of which something was downloaded, or could not be."""


class DownloadQueue:
    """Downloads that run and wait; safe to use from several threads."""

    def __init__(
        self,
        instance: Instance,
        fetch: Callable[[Announcement], Finding | None],
        watch: Callable[[str], Watching],
        store_files: Callable[[str], None],
    ) -> None:
        """
        Nothing runs yet.

        Args:
            instance: The tools.
            fetch: Downloads an announcement; returns what went wrong, or None.
            watch: Asks for the dumps of a provider that no date covers.
            store_files: Archives the files of a provider that are no RDF.
        """
        self._instance = instance
        self._fetch = fetch
        self._watch = watch
        self._store_files = store_files
        self._guard = threading.Lock()
        self._running: dict[int | str, Future[Any]] = {}
        self._listeners: list[Listener] = []
        self._threads = HostThreads("fetch", BOUNDS, ended=instance.ledger.database.close)

    def on_end(self, listener: Listener) -> None:
        """Have `listener` called after each download."""
        self._listeners.append(listener)

    def begin(self, name: str) -> dict[int, Future[Finding | None]]:
        """Begin all downloads of a provider that may begin now; returns them, and those that run, by announcement."""
        with self._guard:
            wanted = self._instance.ledger.announcements.unfetched(self._instance.clock(), name)
            return {each.id: self._begun(each.id, _host(each), name, partial(self._fetch, each)) for each in wanted}

    def watch(self, name: str) -> Future[Watching]:
        """Begin to ask for the dumps of a provider that no date covers, unless they are asked for now."""
        with self._guard:
            return self._begun(name, name, name, partial(self._watch, name))

    def store_files(self, name: str) -> Future[None]:
        """Begin to archive the files of a provider that are no RDF, unless that goes on."""
        with self._guard:
            return self._begun(f"{OTHERS} {name}", OTHERS, name, partial(self._store_files, name))

    def finish_files(self) -> None:
        """Return when the files that are no RDF are archived whose turn has begun, or the instance stops."""
        with self._guard:
            begun = [future for key, future in self._running.items() if str(key).startswith(OTHERS)]
        wait(begun)

    def _begun(self, key: int | str, host: str, name: str, work: Callable[[], T]) -> Future[T]:
        if key not in self._running:
            self._running[key] = self._threads.submit(host, name, partial(self._do, key, name, work))
        return self._running[key]

    def _do(self, key: int | str, name: str, work: Callable[[], T]) -> T:
        with self._instance.crawl.working():  # a listener may go on at once, and one log holds both
            try:
                return work()
            finally:
                with self._guard:
                    self._running.pop(key, None)
                for listener in self._listeners:
                    listener(name)

    def stop(self) -> None:
        """Cancel the downloads that wait, and wait for those that run."""
        self._threads.shutdown()


def _host(announcement: Announcement) -> str:
    return host_of(next(iter(announcement.dataset.dumps), ""))
