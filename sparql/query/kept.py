"""Results that come from the cache, or go into it on their way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol, Self, TypeVar

from sparql.errors import SparqlError, StoreError
from sparql.query.answer import Answer
from sparql.query.cache import Draft, Entry
from sparql.query.results import FORMATS, ResultFormat

T = TypeVar("T")

SMALL: Final = 1 << 17
"""Bytes of an entry that is read at once."""
CHUNK: Final = 1 << 18


class Result(Protocol):
    """
    The result of one query, from wherever it comes.

    Attributes: as those of `sparql.query.answer.Answer`.
    """

    generation: int
    form: ResultFormat
    whole: bytes | None
    volatile: bool
    remembered: bool
    cut: SparqlError | None

    def __aiter__(self) -> Self:
        """Itself."""

    async def __anext__(self) -> bytes:
        """The next bytes of a result that is not whole."""

    def close(self) -> None:
        """Let go of what it holds."""


@dataclass(frozen=True, slots=True)
class Kept:
    """
    A long entry.

    Attributes:
        entry: Open.
        threads: Where it is read.
    """

    entry: Entry
    threads: ThreadPoolExecutor


class Remembered:
    """A result that was made for an earlier request; `Result` tells its attributes."""

    def __init__(self, generation: int, form: ResultFormat, body: bytes | Kept) -> None:
        self.generation = generation
        self.form = form
        self.whole = body if isinstance(body, bytes) else None
        self.volatile = False
        self.remembered = True
        self.cut: SparqlError | None = None
        self._kept = None if isinstance(body, bytes) else body

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._kept is None:
            raise StopAsyncIteration
        entry = self._kept.entry
        try:
            piece = await in_thread(self._kept.threads, lambda: entry.read(CHUNK))
        except (OSError, ValueError) as error:
            raise StoreError(f"A result that was kept cannot be read: {error}.") from error
        if not piece:
            raise StopAsyncIteration
        return piece

    def close(self) -> None:
        """Close the entry."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.entry.close()


def remembered(edition: str, entry: Entry, threads: ThreadPoolExecutor) -> Remembered | None:
    """The result in an entry, or None when it is damaged."""
    generation = int(edition.partition("-")[0])
    if entry.place < len(FORMATS) and entry.length > SMALL:
        return Remembered(generation, FORMATS[entry.place], Kept(entry, threads))
    try:
        whole = entry.read(entry.length)
        return Remembered(generation, FORMATS[entry.place], whole)
    except (OSError, ValueError, IndexError):
        entry.remove()
        return None
    finally:
        entry.close()


class Recorded:
    """A long result that is written to the cache while it passes; `Result` tells its attributes."""

    def __init__(self, answer: Answer, draft: Draft, keep: Callable[[], None], threads: ThreadPoolExecutor) -> None:
        self.generation = answer.generation
        self.form = answer.form
        self.whole: bytes | None = None
        self.volatile = answer.volatile
        self.remembered = False
        self.cut: SparqlError | None = None
        self._answer = answer
        self._draft = draft
        self._keep = keep
        self._threads = threads

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._answer.__anext__()
        except StopAsyncIteration:
            self.cut = self._answer.cut
            if self.cut is None:
                await in_thread(self._threads, self._keep)
            raise
        await in_thread(self._threads, lambda: self._draft.write(chunk))
        return chunk

    def close(self) -> None:
        """End the query if it is still running, and forget what is not complete."""
        self._answer.close()
        self._draft.drop()


def in_thread(threads: ThreadPoolExecutor, function: Callable[[], T]) -> asyncio.Future[T]:
    """What a function gives that may wait for the disk."""
    return asyncio.get_running_loop().run_in_executor(threads, function)
