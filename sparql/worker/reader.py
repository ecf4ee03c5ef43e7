"""The current generation of the store, as a worker reads it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pyoxigraph import Store

from sparql.errors import StoreError
from sparql.protocol.dataset import Graphs, listed_graphs
from sparql.store.address import address_in
from sparql.store.generations import Generations, Lease
from sparql.store.layout import StoreLayout
from sparql.store.view import EngineView


class GenerationReader:
    """
    The current generation, open.

    Attributes:
        number: Which one; 0 while there is none.
        listed: The graphs whose union is its default graph; None where that is the union of all.
    """

    def __init__(self, root: Path, own: Sequence[str] = (), listed: int = 0) -> None:
        self.listed: Graphs | None = None
        self._root = root
        self._own = tuple(own)
        self._most = listed
        self._generations = Generations(root)
        self._link = str(StoreLayout(root).current)
        self._target = ""
        self._lease: Lease | None = None
        self._store: Store | EngineView | None = None
        self.number = 0

    def store(self) -> Store | EngineView:
        """
        The current generation's contents; an earlier one's when the current one cannot be opened.

        Raises:
            StoreError: None can be opened, or there is none yet.
        """
        try:
            target = os.readlink(self._link)  # A tenth of what `Generations.current` takes, and this is done per query.
        except OSError:
            target = ""
        if target != self._target:
            self._move()
            self._target = target
        if self._store is None:
            raise StoreError("There are no data yet: no generation of the store has been published.")
        return self._store

    def asks_engine(self) -> bool:
        """Whether the store is an engine that is asked over the network."""
        return StoreLayout(self._root).engine.exists()

    def _move(self) -> None:
        try:
            lease = self._generations.hold_current()
            if lease is not None and lease.generation.number != self.number:
                self._open(lease)
        except StoreError as error:
            if self._store is None:
                raise
            print(f"{error.message} Queries go on over generation {self.number}.", file=sys.stderr, flush=True)

    def _open(self, lease: Lease) -> None:
        generation = lease.generation
        try:
            address = address_in(generation.path)
            store = Store.read_only(str(generation.path)) if address is None else EngineView(address)
            listed = listed_graphs(store, self._own, self._most)
        except (OSError, StoreError) as error:
            lease.release()
            raise StoreError(f"Generation {generation.number} cannot be opened: {error}.") from error
        before, self._lease = self._lease, lease
        self._store, self.number = store, generation.number
        self.listed = listed
        if before is not None:
            before.release()
