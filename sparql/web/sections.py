"""
The two sorted parts of a change, read as streams and by subject: named ones first, blank nodes after all of them.

A blank node of a dump has a Skolem IRI here, which says nothing to a reader who has not seen what leads to it.

What stands before the subject that is wanted is passed by in chunks of a mebibyte of which only the last lines are
looked at, so a place deep inside ten million lines costs unpacking and no more.

Source: Timbuctoo exchange protocol, "N-Quads U.D."
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Final

from isal import igzip

from sparql.rdf import GENID

CHUNK: Final = 1 << 20
_GENID: Final = GENID.encode()
_BLANK: Final = re.compile(rb"^[-+]<[^>\n]*" + re.escape(_GENID) + rb"[^\n]*\n", re.MULTILINE)
"""A line about a blank node."""
REMOVED: Final = b"-"
ADDED: Final = b"+"


def chunks(path: Path) -> Iterator[bytes]:
    """Yield what a compressed file holds, in chunks of whole lines."""
    with igzip.open(path, "rb") as lines:
        while chunk := lines.read(CHUNK):
            yield chunk if chunk.endswith(b"\n") else chunk + lines.readline()


def removed_part(change: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the chunks of a change up to the first line that was added."""
    for chunk in change:
        end = _border(chunk)
        if end:
            yield chunk[:end]
        if end < len(chunk):
            return


def added_part(change: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the chunks of a change from the first line that was added."""
    remaining = iter(change)
    for chunk in remaining:
        end = _border(chunk)
        if end < len(chunk):
            yield chunk[end:]
            break
    yield from remaining


def named_first(part: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the chunks of a part that can be read twice: what is about named subjects, then about blank nodes."""
    for chunk in part():
        named = b"" if _all_blank(chunk) else _BLANK.sub(b"", chunk) if _GENID in chunk else chunk
        if named:
            yield named
    for chunk in part():
        blank = chunk if _all_blank(chunk) else b"".join(_BLANK.findall(chunk)) if _GENID in chunk else b""
        if blank:
            yield blank


def rank(term: bytes) -> tuple[bool, bytes]:
    """What subjects are ordered by."""
    return _GENID in term, term


def _all_blank(chunk: bytes) -> bool:
    """Whether each line is about a blank node, as far as the first and the last say: the lines are sorted."""
    first, found, _ = _subject_at(chunk, 0).partition(_GENID)
    return bool(found) and _subject_at(chunk, _last_line(chunk)).startswith(first + found)


def _border(chunk: bytes) -> int:
    """Where the first added line of a chunk begins; its length when there is none, as the last line says."""
    if chunk.startswith(ADDED):
        return 0
    if chunk.startswith(REMOVED, _last_line(chunk)):
        return len(chunk)
    place = chunk.find(b"\n" + ADDED)
    return len(chunk) if place < 0 else place + 1


class Section:
    """
    The lines of one kind from a subject on.

    Attributes:
        passed: The last subjects that were passed by, known once a line was asked for.
    """

    def __init__(self, section: Iterable[bytes], start: bytes, keep: int) -> None:
        """
        The lines of a section whose subjects follow another.

        Args:
            section: In chunks of whole lines.
            start: The subject that they follow, as written, or empty for all.
            keep: How many subjects `passed` holds at most.
        """
        self._chunks = section
        self._start = start
        self._keep = keep
        self.passed: deque[bytes] = deque(maxlen=keep)

    def lines(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield subject and line, without its sign, of what follows the start."""
        remaining = iter(self._chunks)
        for chunk in remaining:
            if not self._start or rank(_subject_at(chunk, _last_line(chunk))) > rank(self._start):
                yield from self._beginning(chunk)
                break
            self._pass(_last_subjects(chunk, self._keep))
        for chunk in remaining:
            yield from _lines(chunk)

    def _beginning(self, chunk: bytes) -> Iterator[tuple[bytes, bytes]]:
        for term, line in _lines(chunk):
            if not self._start or rank(term) > rank(self._start):
                yield term, line
            else:
                self._pass((term,))

    def _pass(self, terms: Iterable[bytes]) -> None:
        for term in terms:
            if not self.passed or self.passed[-1] != term:
                self.passed.append(term)


def grouped(
    removed: Iterable[tuple[bytes, bytes]], added: Iterable[tuple[bytes, bytes]]
) -> Iterator[tuple[bytes, Iterator[bytes], Iterator[bytes]]]:
    """
    Yield each subject of two series, sorted by `rank`, of subject and line, with its lines in both, removed ones first.

    The lines have to be read in this order, before the next subject is asked for.
    """
    marked = heapq.merge(
        ((term, False, line) for term, line in removed), ((term, True, line) for term, line in added), key=_key
    )
    for term, lines in itertools.groupby(marked, key=itemgetter(0)):
        kinds = _Kinds(lines)
        yield term, kinds.of(False), kinds.of(True)


class _Kinds:
    """Parts the lines of a subject into those that went and those that came, which follow them."""

    def __init__(self, lines: Iterator[tuple[bytes, bool, bytes]]) -> None:
        self._lines = lines
        self._next = next(lines, None)

    def of(self, new: bool) -> Iterator[bytes]:
        while self._next is not None and self._next[1] is new:
            line = self._next[2]
            self._next = next(self._lines, None)
            yield line


def _key(marked: tuple[bytes, bool, bytes]) -> tuple[bool, bytes, bool]:
    return *rank(marked[0]), marked[1]


def _lines(chunk: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield subject and line, without its sign. What has no sign is passed by, as the exchange protocol wants it."""
    for line in chunk.splitlines(keepends=True):
        if line[:2] in (b"-<", b"+<"):
            yield line[1 : line.find(b" ")], line[1:]


def _last_line(chunk: bytes) -> int:
    return chunk.rfind(b"\n", 0, len(chunk) - 1) + 1


def _subject_at(chunk: bytes, begin: int) -> bytes:
    return chunk[begin + 1 : chunk.find(b" ", begin)]


def _last_subjects(chunk: bytes, count: int) -> list[bytes]:
    """The last so many subjects of a chunk, in order."""
    found: list[bytes] = []
    end = len(chunk)
    while end > 0 and len(found) < count:
        begin = chunk.rfind(b"\n", 0, end - 1) + 1
        term = _subject_at(chunk, begin)
        if not found or found[-1] != term:
            found.append(term)
        end = begin
    return found[::-1]
