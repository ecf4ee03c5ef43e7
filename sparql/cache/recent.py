"""
Short answers that were given a moment ago, in memory, by the very request.

The cache on disk keeps what took long to compute; asking a worker again is as quick as reading a short file. An answer
found here costs neither: not even the request is read. It is of the current edition, or it is not found.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from sparql.cache.edition import Editions

Headers = list[tuple[bytes, bytes]]
Key = tuple[str | None, bytes]
"""The Accept header, which need not be there, and the query string."""

LARGEST: Final = 1 << 14
"""Bytes of the largest answer that is kept."""
BOUND: Final = 1 << 24
"""Bytes of all answers and requests together."""
OVERHEAD: Final = 1 << 10
"""Bytes that an entry takes beside these, rather more than less."""


@dataclass(frozen=True, slots=True)
class Reply:
    """
    A whole response with status 200.

    Attributes:
        headers: As they were sent, but for the one that says whether they came from the cache.
        body: All of it.
    """

    headers: Headers
    body: bytes


class Recent:
    """The last answers; on the event loop's thread."""

    def __init__(self, editions: Editions) -> None:
        self._editions = editions
        self._edition: str | None = None
        self._replies: OrderedDict[Key, Reply] = OrderedDict()
        self._size = 0

    def find(self, accept: str | None, query_string: bytes, edition: str | None) -> Reply | None:
        """The answer to a GET, if it was given over the data of an edition, the current one, and is still there."""
        if edition is None or edition != self._edition:
            return None
        reply = self._replies.get((accept, query_string))
        if reply is not None:
            self._replies.move_to_end((accept, query_string))
        return reply

    def keep(self, accept: str | None, query_string: bytes, reply: Reply, edition: str) -> None:
        """Remember the answer to a GET, given over the data of an edition and not volatile."""
        if len(reply.body) > LARGEST or len(query_string) > LARGEST:
            return
        if edition != self._edition:
            if edition != self._editions.current():
                return
            self._replies.clear()
            self._edition, self._size = edition, 0
        key = (accept, query_string)
        if key not in self._replies:
            self._replies[key] = reply
            self._size += _size(key, reply)
        while self._size > BOUND:
            self._size -= _size(*self._replies.popitem(last=False))


def _size(key: Key, reply: Reply) -> int:
    return len(key[0] or "") + len(key[1]) + len(reply.body) + OVERHEAD
