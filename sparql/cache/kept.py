"""Results that come from the cache, or go into it on their way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Self, TypeVar

from sparql.cache.cache import CacheEntry, Draft
from sparql.errors import SparqlError, StoreError
from sparql.protocol.results import FORMATS, ResultFormat
from sparql.query.answer import QueryAnswer

T = TypeVar("T")

SMALL: Final = 1 << 17
"""Bytes of an entry that is read at once."""
CHUNK: Final = 1 << 18
"""Bytes that are read or written at once."""


class Remembered:
    """A result of an earlier request, whole or an entry of the cache; its attributes are those of `QueryAnswer`."""

    def __init__(
        self, generation: int, form: ResultFormat, body: bytes | CacheEntry, thread: ThreadPoolExecutor | None = None
    ) -> None:
        self.generation = generation
        self.form = form
        self.whole = body if isinstance(body, bytes) else None
        self.volatile = False
        self.remembered = True
        self.cut: SparqlError | None = None
        self._entry = None if isinstance(body, bytes) else body
        self._thread = thread

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._entry is None or self._thread is None:
            raise StopAsyncIteration
        try:
            piece = await in_thread(self._thread, partial(self._entry.read, CHUNK))
        except (OSError, ValueError) as error:
            raise StoreError(f"A result that was kept cannot be read: {error}.") from error
        if not piece:
            raise StopAsyncIteration
        return piece

    def close(self) -> None:
        """Close the entry, behind what is being read of it."""
        if self._entry is not None and self._thread is not None:
            self._thread.submit(self._entry.close)


def remembered(edition: str, entry: CacheEntry, thread: ThreadPoolExecutor) -> Remembered | None:
    """The result in an entry, or None when it is damaged."""
    generation = int(edition.partition("-")[0])
    if entry.place < len(FORMATS) and entry.length > SMALL:
        return Remembered(generation, FORMATS[entry.place], entry, thread)
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
    A long result that is written to the cache while it passes; its attributes are those of `QueryAnswer`.

    Args:
        answer: Where it comes from.
        begin: Gives an entry to be written, or None when there can be none.
        keep: Called with that when the result is complete.
        is_slow: Whether the result took long enough to be kept, so far.
        thread: Where all is done that may wait for the disk, one after the other.
    """

    def __init__(
        self,
        answer: QueryAnswer,
        begin: Callable[[], Draft | None],
        keep: Callable[[Draft], None],
        is_slow: Callable[[], bool],
        thread: ThreadPoolExecutor,
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
        self._is_slow = is_slow
        self._thread = thread
        self._chunks: list[bytes] = []
        self._size = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._answer.__anext__()
        except StopAsyncIteration:
            self.cut = self._answer.cut
            if self.cut is None and (self._draft is not None or self._is_slow()):
                await in_thread(self._thread, self._finish)
            raise
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size >= CHUNK:
            await in_thread(self._thread, self._write)
        return chunk

    def close(self) -> None:
        """End the query if it is still running, and drop what is not complete, behind what is being written."""
        self._answer.close()
        self._thread.submit(self._drop)

    def _write(self) -> None:
        """Write what has passed; nobody waits for the first of it."""
        begin, self._begin = self._begin, None
        if begin is not None:
            self._draft = begin()
        data, self._chunks, self._size = b"".join(self._chunks), [], 0
        if self._draft is not None:
            self._draft.write(data)

    def _finish(self) -> None:
        self._write()
        if self._draft is not None:
            self._keep(self._draft)

    def _drop(self) -> None:
        if self._draft is not None:
            self._draft.drop()


Result = QueryAnswer | Remembered | Recorded
"""The result of one query, from wherever it comes."""


def in_thread(thread: ThreadPoolExecutor, function: Callable[[], T]) -> asyncio.Future[T]:
    """What a function returns that may wait for the disk."""
    return asyncio.get_running_loop().run_in_executor(thread, function)
