"""Which entries the cache's folder has, without a look at the disk for each query that has none: most have not."""

from __future__ import annotations

import threading
from collections.abc import Iterable


class Names:
    """
    The names of the entries of one edition, which this process listed or added; several threads may use it at once.

    What it takes to be there may be gone, so who finds a name looks for the entry. What another process has added is
    not there before the folder is listed again, and is computed once more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edition: str | None = None
        self._names: set[str] = set()
        self._listed = False

    def may_have(self, edition: str, name: str) -> bool:
        """Whether it is worth while to look for an entry; always, where the folder has not been listed."""
        return name in self._names or not self._listed or edition != self._edition

    def begin(self, edition: str | None) -> None:
        """Note that the folder of an edition is going to be listed: what is added from now on counts."""
        with self._lock:
            if edition != self._edition:
                self._listed = False
                self._names = set()
                self._edition = edition

    def list(self, edition: str | None, names: Iterable[str]) -> None:
        """Note all that the folder has, but for what was added since `begin`."""
        with self._lock:
            if edition == self._edition:
                self._names.update(names)
                self._listed = True

    def add(self, edition: str, name: str) -> None:
        """Note an entry that has its name now."""
        with self._lock:
            if edition == self._edition:
                self._names.add(name)

    def remove(self, edition: str | None, name: str) -> None:
        """Note that an entry is gone."""
        with self._lock:
            if edition == self._edition:
                self._names.discard(name)
