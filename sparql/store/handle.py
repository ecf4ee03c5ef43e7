"""
The one open RocksDB of a working folder, opened anew after a failed write and now and then.

RocksDB keeps blocks that it has read in memory, those of files that are gone as well: 0.05 MB a harvest of a small
provider. pyoxigraph has no call that limits or empties these caches. Opening a store takes 30 ms and
begins with none.
"""

from __future__ import annotations

import gc
import sys
import threading
from typing import Final
from weakref import WeakSet

import pyoxigraph

from sparql.errors import StoreError
from sparql.store.working import WorkingFolder

AGE: Final = 200
"""Copies that are made of a store before it is opened anew: some 10 MB of blocks that nobody reads again."""


class StoreReading:
    """
    A use of the store by a reader; the store is not closed while anything refers to this.

    Attributes:
        store: What is read.
    """

    __slots__ = ("__weakref__", "store")

    def __init__(self, store: pyoxigraph.Store) -> None:
        self.store = store


class Handle:
    """The open store of a working folder; all but `reading` is for whoever may write."""

    def __init__(self, folder: WorkingFolder) -> None:
        """
        Open the store in use.

        Raises:
            OSError: It cannot be opened.
        """
        self._folder = folder
        self._guard = threading.Lock()
        self._readings: WeakSet[StoreReading] = WeakSet()
        self._failed = False
        self._copies = 0
        self._store: pyoxigraph.Store | None = None
        self._open()

    @property
    def store(self) -> pyoxigraph.Store:
        """
        The store.

        Raises:
            StoreError: It is closed.
        """
        if self._store is None:
            raise StoreError("The store is closed, or a write failed and it could not be opened again yet.")
        return self._store

    def reading(self) -> StoreReading:
        """
        A use of the store that keeps it open.

        Raises:
            StoreError: It is closed.
        """
        with self._guard:
            found = StoreReading(self.store)
            self._readings.add(found)
            return found

    def failed(self) -> None:
        """A write failed: RocksDB refuses all writes from then on."""
        self._failed = True

    def copied(self) -> None:
        """A copy was made of the store."""
        self._copies += 1

    def replace(self, store: pyoxigraph.Store) -> None:
        """Use another store from now on."""
        self._store = store
        self._failed = False
        self._copies = 0

    def close(self) -> None:
        """Let the store go once nobody reads it."""
        self._store = None

    def refresh(self) -> None:
        """
        Open the store anew where a write failed, or where it is old and nobody reads it.

        After a failure that works once nothing refers to the store that failed: no iterator, and no exception that is
        still handled.

        Raises:
            OSError: It cannot be opened; the next call tries again.
        """
        if self._failed or (self._copies >= AGE and not self._readings):
            gc.collect()  # a future that failed, its exception and the frame with the store refer to each other
            with self._guard:
                if self._failed or self._is_idle():
                    self._failed = True
                    self._store = None
                    self._open()

    def _is_idle(self) -> bool:
        """Whether nothing but this refers to the store."""
        return not self._readings and sys.getrefcount(self._store) <= 2  # this object, and the argument

    def _open(self) -> None:
        self._store = pyoxigraph.Store(str(self._folder.open()))
        self._failed = False
        self._copies = 0


def opened(folder: WorkingFolder) -> tuple[Handle, str | None]:
    """
    The open store in use, and None; where that is damaged, an empty one in its place, and the reason.

    Raises:
        OSError: Not even that can be made.
    """
    try:
        return Handle(folder), None
    except (OSError, RuntimeError) as error:
        if not isinstance(error, FileNotFoundError) and "Corruption" not in str(error):
            raise  # in use, no space, no right to read it
        reason = f"the working store was damaged: {error}"
    folder.renew()
    return Handle(folder), reason
