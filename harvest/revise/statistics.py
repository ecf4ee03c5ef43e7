"""
Statistics of a graph, from its sorted lines or from those of the version before and what changed.

    whole(b) == changed(whole(a), compare(a, b), b)

`whole` reads every line. What a delta changes costs what the delta holds: properties and classes come from its lines;
whether a subject came or went, from how many lines it has afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from harvest.model import Delta, Statistics
from harvest.revise.lines import SortedFile
from sparql.rdf import RDF

EMPTY = Statistics(0, 0, {}, {})

_TYPE = f"<{RDF}type>".encode()


def whole(path: Path) -> Statistics:
    """The statistics of the graph that a sorted file of canonical N-Quads holds."""
    tally = _SubjectCounts()
    subjects = sum(1 for _ in tally.subjects(path))
    return Statistics(tally.lines, subjects, *tally.added_to(EMPTY, 1))


def changed(before: Statistics, delta: Delta, after: Path) -> Statistics:
    """
    The statistics of a graph once a delta is applied to it.

    Args:
        before: Of the graph that the delta is applied to.
        delta: What changes; what it removes is there, what it adds is not.
        after: Sorted lines of at least the changed subjects afterwards, all lines of each.
    """
    removed, added = _SubjectCounts(), _SubjectCounts()
    with SortedFile(after) as held:
        gained = sum(_gained(removed.subjects(delta.removed), added.subjects(delta.added), held))
    smaller = Statistics(before.triples - removed.lines, before.subjects + gained, *removed.added_to(before, -1))
    return Statistics(smaller.triples + added.lines, smaller.subjects, *added.added_to(smaller, 1))


def _gained(
    removed: Iterator[tuple[bytes, int]], added: Iterator[tuple[bytes, int]], held: SortedFile
) -> Iterator[int]:
    """Yield 1 for each subject that is new and -1 for each that is gone."""
    gone = ((term, lines, False) for term, lines in removed)
    come = ((term, lines, True) for term, lines in added)
    for term, group in groupby(merge(gone, come), key=itemgetter(0)):
        sides = list(group)
        if len(sides) == 2:
            continue  # it had lines before and has lines now
        [(_, lines, new)] = sides
        if new:
            yield 0 if held.more_than(term, lines) else 1
        else:
            yield 0 if held.holds(term) else -1


class _SubjectCounts:
    """
    Counts lines while a file is read.

    Attributes:
        lines: Read so far.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._properties: Counter[bytes] = Counter()
        self._classes: Counter[bytes] = Counter()

    def subjects(self, path: Path) -> Iterator[tuple[bytes, int]]:
        """Yield each subject with the number of its lines, in order."""
        last, count = b"", 0
        properties, classes = self._properties, self._classes
        with path.open("rb") as stream:
            for line in stream:
                subject, property, rest = line.split(b" ", 2)
                properties[property] += 1
                if property == _TYPE:
                    classes[rest] += 1
                if subject == last:
                    count += 1
                    continue
                if count:
                    self.lines += count
                    yield last, count
                last, count = subject, 1
        if count:
            self.lines += count
            yield last, count

    def added_to(self, before: Statistics, sign: int) -> tuple[dict[str, int], dict[str, int]]:
        """The counts of properties and classes together with those from before, without what is no more."""
        properties = ((term[1:-1].decode(), count) for term, count in self._properties.items())
        classes = ((rest[1 : rest.rindex(b" <") - 1].decode(), count) for rest, count in self._types())
        return _sum(before.properties, properties, sign), _sum(before.classes, classes, sign)

    def _types(self) -> Iterator[tuple[bytes, int]]:
        """The types that can be classes: a literal or a triple is none."""
        return ((rest, n) for rest, n in self._classes.items() if rest[:1] == b"<" and rest[:2] != b"<<")


def _sum(before: Mapping[str, int], counts: Iterator[tuple[str, int]], sign: int) -> dict[str, int]:
    total = dict(before)
    for iri, count in counts:
        total[iri] = total.get(iri, 0) + sign * count
        if not total[iri]:
            del total[iri]
    return total
