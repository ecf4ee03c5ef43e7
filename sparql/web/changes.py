"""
Changes of versions by subject, a page at a time, read as a stream.

A change holds its removed lines, sorted, and then its added ones, sorted. Two readers go through it, one for each kind,
and meet at each subject.

Source: Timbuctoo exchange protocol, "N-Quads U.D."
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat

from sparql.web.sections import Section, added_part, chunks, grouped, removed_part
from sparql.web.terms import Value, value

SUBJECTS: Final = 50
"""Subjects of one page."""
LINES: Final = 200
"""Lines removed from, and lines added to, one subject that are shown."""
ROWS: Final = 2000
"""Lines of one page: with the subject that reaches them it ends."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    What became of one value.

    Attributes:
        predicate: Its IRI.
        old: What went, or None.
        new: What came, or None.
    """

    predicate: str
    old: Value | None
    new: Value | None


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
class Page:
    """
    A part of a change.

    Attributes:
        subjects: In the order of the file.
        after: The last of them if there are more, to begin the next page after; else None.
        before: What the page before this one begins after: a subject, or empty for the beginning; None on the first.
    """

    subjects: tuple[Subject, ...]
    after: str | None
    before: str | None


def read(path: Path, after: str = "") -> Page:
    """
    A page of a filed change: the subjects that follow `after`, or the first ones.

    Raises:
        OSError: The file cannot be read.
        EOFError: It ends too early.
        SyntaxError: It holds a line that is none.
    """
    start = f"<{after}>".encode() if after else b""
    removed = Section(removed_part(chunks(path)), start, SUBJECTS + 1)
    added = Section(added_part(chunks(path)), start, SUBJECTS + 1)
    subjects: list[Subject] = []
    rows, more = 0, False
    for term, gone, come in grouped(removed.lines(), added.lines()):
        if len(subjects) == SUBJECTS or rows >= ROWS:
            more = True
            break
        subjects.append(_subject(term, gone, come))
        rows += len(subjects[-1].rows)
    before = None if not after else _before(removed.passed, added.passed)
    return Page(tuple(subjects), subjects[-1].iri if more else None, before)


def _subject(term: bytes, gone: Iterator[bytes], come: Iterator[bytes]) -> Subject:
    old = list(itertools.islice(gone, LINES))
    removed = len(old) + sum(1 for _ in gone)
    new = list(itertools.islice(come, LINES))
    added = len(new) + sum(1 for _ in come)
    hidden = removed + added - len(old) - len(new)
    return Subject(term[1:-1].decode(), paired(_values(old), _values(new)), removed, added, hidden)


def _values(lines: Iterable[bytes]) -> list[tuple[str, Value]]:
    quads = pyoxigraph.parse(b"".join(lines), format=RdfFormat.N_QUADS, lenient=True)
    return [(quad.predicate.value, value(quad.object)) for quad in quads if isinstance(quad.predicate, NamedNode)]


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
    passed = sorted({*removed, *added})
    return passed[-SUBJECTS - 1][1:-1].decode() if len(passed) > SUBJECTS else ""
