"""
Changes of versions by subject, a page at a time, read as a stream.

A change holds its removed lines, sorted, and then its added ones, sorted. Two readers go through it, one for each kind,
and meet at each subject; each goes through it again for blank nodes, if it comes so far.

Source: Timbuctoo exchange protocol, "N-Quads U.D."
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat

from sparql.web.sections import Section, added_part, chunks, grouped, named_first, rank, removed_part
from sparql.web.terms import LONG, Value, value

SUBJECTS: Final = 50
"""Subjects of one page."""
LINES: Final = 200
"""Lines removed from, and lines added to, one subject that are shown."""
ROWS: Final = 2000
"""Lines of one page: with the subject that reaches them it ends."""
WHOLE: Final = sys.maxsize
"""Texts are compared whole, and cut afterwards."""
CONTEXT: Final = 80
"""Characters of a long text that are shown before the place where it differs."""
LIKE: Final = 0.5
"""Share of a text that must be as in the other one, at its begin and end, for the rest to be marked."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    What became of one value.

    Attributes:
        predicate: Its IRI.
        old: What went, or None.
        new: What came, or None.
        start: Where the shown texts begin, in characters of the whole: long ones are shown from where they differ.
        same: Characters at the begin of both shown texts that are equal, where it helps to distinguish them.
        old_differs: Characters after them that only the old one has.
        new_differs: Characters after them that only the new one has.
    """

    predicate: str
    old: Value | None
    new: Value | None
    start: int = 0
    same: int = 0
    old_differs: int = 0
    new_differs: int = 0


@dataclass(frozen=True, slots=True)
class Subject:
    """
    What a change does to a subject.

    Attributes:
        iri: Of the subject.
        rows: By predicate.
        removed: How many lines went.
        added: How many came.
        hidden: How many of both are not in `rows`.
    """

    iri: str
    rows: tuple[Row, ...]
    removed: int
    added: int
    hidden: int


@dataclass(frozen=True, slots=True)
class ChangePage:
    """
    A part of a change.

    Attributes:
        subjects: Named ones in the order of the file, then blank nodes.
        after: The last of them if there are more, to begin the next page after; else None.
        before: What the page before this one begins after: a subject, or empty for the beginning; None on the first.
    """

    subjects: tuple[Subject, ...]
    after: str | None
    before: str | None


def read(path: Path, after: str = "") -> ChangePage:
    """
    A page of a filed change: the subjects that follow `after`, or the first ones; blank nodes come last.

    Raises:
        OSError: The file cannot be read.
        EOFError: It ends too early.
        SyntaxError: It holds a line that is none.
    """
    start = f"<{after}>".encode() if after else b""
    removed = Section(named_first(lambda: removed_part(chunks(path))), start, SUBJECTS + 1)
    added = Section(named_first(lambda: added_part(chunks(path))), start, SUBJECTS + 1)
    subjects: list[Subject] = []
    rows, more = 0, False
    for term, gone, come in grouped(removed.lines(), added.lines()):
        if len(subjects) == SUBJECTS or rows >= ROWS:
            more = True
            break
        subjects.append(_subject(term, gone, come))
        rows += len(subjects[-1].rows)
    before = None if not after else _before(removed.passed, added.passed)
    return ChangePage(tuple(subjects), subjects[-1].iri if more else None, before)


def _subject(term: bytes, gone: Iterator[bytes], come: Iterator[bytes]) -> Subject:
    old = list(itertools.islice(gone, LINES))
    removed = len(old) + sum(1 for _ in gone)
    new = list(itertools.islice(come, LINES))
    added = len(new) + sum(1 for _ in come)
    hidden = removed + added - len(old) - len(new)
    rows = tuple(_shown(row) for row in paired(_values(old), _values(new)))
    return Subject(term[1:-1].decode(), rows, removed, added, hidden)


def _values(lines: Iterable[bytes]) -> list[tuple[str, Value]]:
    quads = pyoxigraph.parse(b"".join(lines), format=RdfFormat.N_QUADS, lenient=True)
    return [
        (quad.predicate.value, value(quad.object, WHOLE)) for quad in quads if isinstance(quad.predicate, NamedNode)
    ]


def _shown(row: Row) -> Row:
    """A row with its texts cut to what a page shows, and what differs in them marked."""
    old, new = row.old, row.new
    if old is None or new is None or old.kind != "literal" or new.kind != "literal":
        return replace(row, old=_cut(old), new=_cut(new))
    begin, end = _alike(old.text, new.text)
    start = begin - CONTEXT if begin > 2 * CONTEXT and max(len(old.text), len(new.text)) > LONG // 4 else 0
    cut = replace(row, old=_cut(old, start), new=_cut(new, start), start=start)
    if begin + end < LIKE * max(len(old.text), len(new.text)):
        return cut
    differs = len(old.text) - begin - end, len(new.text) - begin - end
    return replace(cut, same=begin - start, old_differs=differs[0], new_differs=differs[1])


def _alike(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at the begin, and of the rest at the end; by halving: they may be huge."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    begin, low, high = low, 0, min(len(old), len(new)) - low
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return begin, low


def _cut(found: Value | None, start: int = 0) -> Value | None:
    if found is None or found.kind in ("iri", "blank"):
        return found
    return replace(found, text=found.text[start : start + LONG])


def paired(removed: Iterable[tuple[str, Value]], added: Iterable[tuple[str, Value]]) -> tuple[Row, ...]:
    """
    The values that went and came, by predicate; side by side where it is clear what became what.

    That is so where one value of a predicate goes and one comes, among all its values or among those of one language or
    datatype.
    """
    old, new = _by_predicate(removed), _by_predicate(added)
    rows: list[Row] = []
    for predicate in sorted(old.keys() | new.keys()):
        rows += _rows(predicate, old.get(predicate, []), new.get(predicate, []))
    return tuple(rows)


def _rows(predicate: str, old: list[Value], new: list[Value]) -> list[Row]:
    rows = []
    for kind in sorted({_kind(found) for found in old} & {_kind(found) for found in new}):
        ones = [found for found in old if _kind(found) == kind]
        others = [found for found in new if _kind(found) == kind]
        if len(ones) == len(others) == 1:
            rows.append(Row(predicate, ones[0], others[0]))
            old.remove(ones[0])
            new.remove(others[0])
    if len(old) == len(new) == 1:
        return [*rows, Row(predicate, old[0], new[0])]
    return [*rows, *(Row(predicate, v, None) for v in old), *(Row(predicate, None, v) for v in new)]


def _by_predicate(found: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    groups: dict[str, list[Value]] = {}
    for predicate, shown in found:
        groups.setdefault(predicate, []).append(shown)
    return groups


def _kind(found: Value) -> tuple[str, str, str]:
    return found.kind, found.language, found.datatype


def _before(removed: Iterable[bytes], added: Iterable[bytes]) -> str:
    """What the page before begins after: the subject that stands a page further ahead, if there is one."""
    passed = sorted({*removed, *added}, key=rank)
    return passed[-SUBJECTS - 1][1:-1].decode() if len(passed) > SUBJECTS else ""
