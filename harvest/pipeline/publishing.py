"""
Publishing: readers get the working store whole, or what was published last.

    settled   --`changing` begins-->                     changing
    changing  --published, ended-->                      settled
    changing  --it failed, or the process died in it-->  torn
    torn      --back to the current generation-->        settled

A file `changing` beside the store stands there while it is not settled, so that the next start knows. What is known of
seeds is written at other times, too, as many seeds share a generation: what is lost of that on the way back is written
again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum

import structlog

from sparql.errors import StoreError
from sparql.store import files
from sparql.store.base import Store
from sparql.store.generations import Generations
from sparql.store.layout import StoreLayout

log = structlog.get_logger()


def _nothing(seed: str) -> None:
    """Writes nothing."""


def _no_graphs() -> None:
    """Puts nothing right."""


class StoreState(StrEnum):
    """What the working store is like."""

    SETTLED = "settled"
    CHANGING = "changing"
    TORN = "torn"


class Publishing:
    """
    The working store and the copies of it that readers see.

    Attributes:
        writing: Held while the working store is written; providers are washed side by side, loaded one by one.
        rewrite_seed: Writes what is known of a seed; called for what was written of seeds and lost on the way back.
        right_graphs: Puts the graphs right that are torn on the way back.
    """

    def __init__(self, store: Store, generations: Generations, layout: StoreLayout) -> None:
        self.writing = threading.RLock()
        self.rewrite_seed: Callable[[str], None] = _nothing
        self.right_graphs: Callable[[], None] = _no_graphs
        self._noted: dict[str, None] = {}
        self._store = store
        self._generations = generations
        self._marker = layout.changing
        self._state = StoreState.TORN if self._marker.exists() else StoreState.SETTLED

    @contextmanager
    def changing(self) -> Iterator[None]:
        """
        A change of the working store that ends with `publish`, or leaves nothing behind.

        Raises:
            StoreError: A change that failed before cannot be undone yet: the disk is full.
        """
        with self.writing:
            self.settle()
            self._mark(StoreState.CHANGING)
            self._store.begin()
            try:
                yield
                self._store.end()
            except BaseException:
                self._state = StoreState.TORN
                with suppress(StoreError, OSError):  # then before the next change
                    self.settle()
                raise
            self._mark(StoreState.SETTLED)

    def note(self, seed: str) -> None:
        """Note that what is known of a seed is written now, to be published later."""
        with self.writing:
            self.settle()
            self._noted[seed] = None

    def settle(self) -> bool:
        """
        Take the working store back to the current generation where a change failed; whether it was necessary.

        Raises:
            StoreError: It cannot: the disk is full.
        """
        with self.writing:
            if self._state is not StoreState.TORN:
                return False
            current = self._generations.current()
            try:
                self._store.revert(current.path if current else None)
                torn = len(self._store.torn)
                if torn:
                    self.right_graphs()
                    self._store.righted()
            except StoreError as error:
                log.error("a change that failed could not be undone; it is tried again", reason=error.message)
                raise
            if torn:
                log.warning("graphs of the engine were put right", graphs=torn)
            else:
                log.warning("a change that failed was undone", generation=current.number if current else 0)
            self._mark(StoreState.SETTLED)
            for seed in list(self._noted):
                self.rewrite_seed(seed)
            return True

    def tear(self) -> None:
        """The working store is not what it was."""
        self._mark(StoreState.TORN)

    def renewed(self) -> None:
        """The working store was made anew."""
        self._mark(StoreState.SETTLED)

    def publish(self) -> int:
        """
        Make what the working store holds the current generation, and collect those that nobody needs; its number.

        Raises:
            StoreError: The store cannot be copied, or a change that failed cannot be undone yet.
        """
        with self.writing:
            self.settle()
            published = self._generations.publish(self._store)
            self._generations.collect()
            self._noted.clear()
            return published.number

    def _mark(self, state: StoreState) -> None:
        """Go to a state, and have the next start know whether the store is settled."""
        if state is StoreState.SETTLED:
            self._marker.unlink(missing_ok=True)
        else:
            self._marker.touch()
            files.sync(self._marker.parent)
        self._state = state
