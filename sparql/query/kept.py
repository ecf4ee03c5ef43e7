"""Results that come from the cache, or go into it on their way."""

from __future__ import annotations

import asyncio
import time
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
"""Bytes that are read or written at once."""
KEPT_S: Final = 0.005
"""An answer that came faster is not kept: a worker gives it about as soon as the disk."""


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
    """
    A long result that is written to the cache while it passes; `Result` tells its attributes.

    Args:
        answer: Where it comes from.
        begin: Gives an entry to be written, or None when there can be none.
        keep: Called with that when the result is complete.
        threads: Where what may wait for the disk is done.
    """

    def __init__(
        self,
        answer: Answer,
        begin: Callable[[], Draft | None],
        keep: Callable[[Draft], None],
        threads: ThreadPoolExecutor,
    ) -> None:
        self.generation = answer.generation
        self.form = answer.form
        self.whole: bytes | None = None
        self.volatile = answer.volatile
        self.remembered = False
        self.cut: SparqlError | None = None
        self._answer = answer
        self._begin: Callable[[], Draft | None] | None = begin
        self._draft: Draft | None = None
        self._keep = keep
        self._threads = threads
        self._chunks: list[bytes] = []
        self._size = 0
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._answer.__anext__()
        except StopAsyncIteration:
            self.cut = self._answer.cut
            if self.cut is None and (self._draft is not None or is_slow(self._answer)):
                await in_thread(self._threads, self._finish)
            raise
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size >= CHUNK:
            await in_thread(self._threads, self._write)
        return chunk

    def close(self) -> None:
        """End the query if it is still running, and forget what is not complete."""
        self._answer.close()
        self._closed = True
        if self._draft is not None:
            self._draft.drop()

    def _write(self) -> None:
        """Write what has passed; nobody waits for the first of it."""
        begin, self._begin = self._begin, None
        if begin is not None:
            self._draft = begin()
        data, self._chunks, self._size = b"".join(self._chunks), [], 0
        if self._draft is not None and self._closed:
            self._draft.drop()
        elif self._draft is not None:
            self._draft.write(data)

    def _finish(self) -> None:
        self._write()
        if self._draft is not None:
            self._keep(self._draft)


def is_slow(answer: Answer) -> bool:
    """Whether an answer took long enough to be kept."""
    return time.monotonic() - answer.since >= KEPT_S


def in_thread(threads: ThreadPoolExecutor, function: Callable[[], T]) -> asyncio.Future[T]:
    """What a function gives that may wait for the disk."""
    return asyncio.get_running_loop().run_in_executor(threads, function)
