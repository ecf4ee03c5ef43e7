"""
Subject replacement by a partial input, at a cost that follows the input and not the graph.

The current triples of the replaced subjects are found by binary search in the snapshot, so a graph of ten million
triples is not read to change twenty thousand. They do not come from the store, which may spell a value in another way;
who refers to a blank node does, because a search by object needs an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from harvest.model import Delta
from harvest.revise import lines
from harvest.revise.delta import split
from harvest.revise.replace import Revision, genid


class Lookup(Protocol):
    """What is asked of the graph; terms and lines are canonical N-Quads."""

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object."""


def partial(graph: str, new: Path, current: Lookup, folder: Path) -> Revision:
    """Replace all triples of every subject in `new`, and drop the blank nodes that only those referred to."""
    old = folder / "old.nq"
    blank = genid(graph)
    with old.open("wb") as out:
        for line in current.describe(graph, lines.subjects(new)):
            out.write(line)
    delta = split(lines.differing(old, new), folder)
    orphans = _Orphans(graph, new, old, current).found() if _refers(old, blank) else set()
    if orphans:
        delta = _with_removed(delta, current.describe(graph, sorted(orphans)), folder)
    return Revision(delta, 0, None)


def _refers(path: Path, blank: bytes) -> bool:
    with path.open("rb") as stream:
        return any(b" " + blank in line for line in stream)


def _with_removed(delta: Delta, more: Iterator[bytes], folder: Path) -> Delta:
    """The delta with further removals."""
    orphaned, replaced = folder / "orphaned.nq", folder / "replaced.nq"
    with orphaned.open("wb") as out:
        for line in more:
            out.write(line)
    delta.removed.replace(replaced)
    removed = lines.union(delta.removed, replaced, orphaned)
    return Delta(delta.removed, delta.added, removed.triples, delta.added_triples)


class _Orphans:
    """
    The blank nodes that nothing leads to any more once the subjects of the input are replaced.

    Marks what the replaced descriptions led to, then takes back what another subject still leads to.
    """

    def __init__(self, graph: str, new: Path, old: Path, current: Lookup) -> None:
        self._graph = graph
        self._blank = genid(graph)
        self._new = new
        self._old = old
        self._current = current

    def found(self) -> set[bytes]:
        """The Skolem IRIs, as terms."""
        with lines.SortedFile(self._new) as replaced:
            edges = self._reachable(replaced)
            kept = [node for node in edges if self._held(node, edges, replaced)]
        spared: set[bytes] = set()
        while kept:
            node = kept.pop()
            if node not in spared:
                spared.add(node)
                kept.extend(edges[node])
        return edges.keys() - spared

    def _reachable(self, replaced: lines.SortedFile) -> dict[bytes, set[bytes]]:
        """Each blank node that a replaced description leads to and the input does not describe, with its own."""
        with self._old.open("rb") as stream:
            waiting = self._blank_objects(stream, replaced)
        edges: dict[bytes, set[bytes]] = {}
        while waiting:
            node = waiting.pop()
            if node not in edges:
                edges[node] = self._blank_objects(self._current.describe(self._graph, [node]), replaced)
                waiting |= edges[node] - edges.keys()
        return edges

    def _blank_objects(self, described: Iterable[bytes], replaced: lines.SortedFile) -> set[bytes]:
        values = {lines.object_(line) for line in described if b" " + self._blank in line}
        return {value for value in values if value.startswith(self._blank) and not replaced.holds(value)}

    def _held(self, node: bytes, edges: dict[bytes, set[bytes]], replaced: lines.SortedFile) -> bool:
        """Whether a subject that stays as it is refers to the node."""
        referring = {lines.subject(line) for line in self._current.referrers(self._graph, node)}
        return any(term not in edges and not replaced.holds(term) for term in referring)
