"""
What blank nodes lead to, and which of them hang together, however many there are and however long the chains.

Terms stand as digests of 8 bytes. The links between them are sorted on disk and then held in two arrays: 17 bytes a
link, and a step from a node to those that it leads to is a binary search. Terms that share a digest count as one, so
more may seem to be reached than is, never less; that two of ten million terms do is one chance in 370,000.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from harvest.revise import lines

_BYTES = 8
_RECORDS = 1 << 15
"""Pairs read at once; each is a line of 33 bytes."""


def mark(term: bytes) -> int:
    """The digest of a term, as a number."""
    return int.from_bytes(blake2b(term, digest_size=_BYTES).digest(), "big")


class Links:
    """Which term leads to which; a term that leads to nothing counts when it leads to itself."""

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]], folder: Path) -> None:
        """
        Args:
            pairs: Terms and what they lead to, in any order; may repeat.
            folder: For temporary files, which are gone afterwards.
        """
        both = array("Q")
        options = "-u", "--buffer-size=64M", f"--temporary-directory={folder}"
        with lines.sorted_(_written(pairs), *options) as out:
            while chunk := out.read(_RECORDS * (4 * _BYTES + 1)):
                both.frombytes(bytes.fromhex(chunk.decode()))
        if sys.byteorder == "little":
            both.byteswap()
        self._from, self._to = both[0::2], both[1::2]

    def reached(self, roots: Iterable[int]) -> Reached:
        """What is reached from the terms with these digests, themselves included, in time that follows the links."""
        part = array("I", bytes(4 * len(self._from)))
        self._walk(array("Q", roots), part, 1)
        return Reached(self._from, part)

    def parts(self) -> Reached:
        """All terms, by what hangs together; of each link the reverse must be there, too."""
        part = array("I", bytes(4 * len(self._from)))
        number = 0
        for at, node in enumerate(self._from):
            if not part[at] and (at == 0 or self._from[at - 1] != node):
                number += 1
                self._walk(array("Q", [node]), part, number)
        return Reached(self._from, part)

    def _walk(self, waiting: array[int], part: array[int], number: int) -> None:
        """Give a number to all that is reached and has none yet; it stands at the first link of a term."""
        origin, target = self._from, self._to
        while waiting:
            node = waiting.pop()
            at = bisect_left(origin, node)
            if at < len(origin) and origin[at] == node and not part[at]:
                part[at] = number
                while at < len(origin) and origin[at] == node:
                    waiting.append(target[at])
                    at += 1


class Reached:
    """Terms of some links, each with the number of its part, or with 0 where it was not reached."""

    def __init__(self, origin: array[int], part: array[int]) -> None:
        self._origin = origin
        self._part = part

    def part(self, node: int) -> int:
        """The part of the term with this digest."""
        at = bisect_left(self._origin, node)
        return self._part[at] if at < len(self._origin) and self._origin[at] == node else 0

    def __contains__(self, term: bytes) -> bool:
        return self.part(mark(term)) > 0


def _written(pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Pairs as lines that sort as their numbers do."""
    for one, other in pairs:
        yield b"%016x%016x\n" % (mark(one), mark(other))
