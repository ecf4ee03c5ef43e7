"""
Subject replacement by a partial input, at a cost that follows the input and not the graph.

The current triples of the replaced subjects are found by binary search in the snapshot, so a graph of ten million
triples is not read to change twenty thousand. They do not come from the store, which may spell a value in another way;
who refers to a blank node does, because a search by object needs an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import Protocol

from harvest.revise import lines
from harvest.revise.clash import settled
from harvest.revise.delta import split
from harvest.revise.replace import Revision
from harvest.revise.target import ANY, Origin, Target


class Lookup(Protocol):
    """What is asked of the graph; terms and lines are canonical N-Quads."""

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""

    def has(self, graph: str, line: bytes) -> bool:
        """Whether a line is there."""

    def size(self, graph: str, subject: bytes) -> int:
        """How many lines a subject has."""

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object."""


def partial(graph: str, new: Path, current: Lookup, folder: Path, origin: Origin = ANY) -> Revision:
    """Replace all triples of every subject in `new`, and drop the blank nodes that only those referred to."""
    target = Target(graph, origin)
    old = folder / "old.nq"
    with lines.SortedFile(new) as known:
        subjects = (term for term in lines.subjects(new) if not (target.safe and target.is_blank(term)))
        with old.open("wb") as out:
            out.writelines(current.describe(target.graph, subjects))
        gone = _Orphans(target, known, current).found(old)
    further: Iterable[bytes] = sorted(gone)
    if target.safe:
        new = settled(target, new, _PartialRemainder(target, current, gone), folder)
        given = (term for term in lines.subjects(new) if target.is_blank(term))
        further = (term for term, _ in groupby(merge(further, given)))
    old = _with(old, current.describe(target.graph, further), folder)
    return Revision(split(lines.differing(old, new), folder), 0, None, new)


def _with(path: Path, more: Iterator[bytes], folder: Path) -> Path:
    """The lines of a sorted file with further ones, which are sorted too."""
    further = folder / "further.nq"
    with further.open("wb") as out:
        out.writelines(more)
    return lines.union(folder / "before.nq", path, further).path if further.stat().st_size else path


class _PartialRemainder:
    """The graph before the input, as `harvest.revise.clash` asks for it."""

    def __init__(self, target: Target, current: Lookup, gone: set[bytes]) -> None:
        self._graph = target.graph
        self._current = current
        self._gone = gone

    def has(self, line: bytes) -> bool:
        """Whether the graph has a line."""
        return self._current.has(self._graph, line)

    def size(self, term: bytes) -> int:
        """How many lines have this subject."""
        return self._current.size(self._graph, term)

    def stays(self, name: bytes) -> bool:
        """Whether a blank node is in what stays."""
        if name in self._gone:
            return False
        return self.size(name) > 0 or next(self._current.referrers(self._graph, name), None) is not None


class _Orphans:
    """
    The blank nodes that nothing leads to any more once the subjects of the input are replaced.

    Marks what the replaced descriptions led to, then takes back what another subject still leads to. The input's own
    blank nodes are others than the graph's, whatever their names; by older rules they were not.
    """

    def __init__(self, target: Target, known: lines.SortedFile, current: Lookup) -> None:
        self._target = target
        self._known = known
        self._current = current

    def found(self, old: Path) -> set[bytes]:
        """The Skolem IRIs, as terms; `old` has the descriptions that are replaced."""
        with old.open("rb") as stream:
            edges = self._reachable(self._blank_objects(stream))
        kept = [node for node in edges if self._held(node, edges)]
        spared: set[bytes] = set()
        while kept:
            node = kept.pop()
            if node not in spared:
                spared.add(node)
                kept.extend(edges[node])
        return edges.keys() - spared

    def _reachable(self, waiting: set[bytes]) -> dict[bytes, set[bytes]]:
        """Each blank node that a replaced description leads to and that is not replaced itself, with its own."""
        edges: dict[bytes, set[bytes]] = {}
        while waiting:
            node = waiting.pop()
            if node not in edges:
                edges[node] = self._blank_objects(self._current.describe(self._target.graph, [node]))
                waiting.update(each for each in edges[node] if each not in edges)
        return edges

    def _blank_objects(self, described: Iterable[bytes]) -> set[bytes]:
        values = {value for line in described if (value := self._target.refers(line))}
        return {value for value in values if not self._replaced(value)}

    def _held(self, node: bytes, edges: dict[bytes, set[bytes]]) -> bool:
        """Whether a subject that stays as it is refers to the node."""
        referring = map(lines.subject, self._current.referrers(self._target.graph, node))
        return any(term not in edges and not self._replaced(term) for term in referring)

    def _replaced(self, term: bytes) -> bool:
        """Whether the input replaces the description of a term."""
        return not (self._target.safe and self._target.is_blank(term)) and self._known.holds(term)
