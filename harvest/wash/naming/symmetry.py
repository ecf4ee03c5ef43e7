"""
An order of the nodes of a small coloured graph that is the same for isomorphic graphs, but for a few.

Greedy individualisation and refinement: nodes are kept in an ordered partition, which is refined until nodes of one
cell have equally many edges to and from every other cell. While a cell has several nodes, the one of them is set apart
whose refinement has the smallest trace. Of several with the same trace the first is taken: most often they are
interchangeable. Where they are not, as in some strongly regular graphs, the order depends on how nodes are numbered.

There is a limit of work, behind which the first node of a cell is taken without looking at the others. The order is
then still one of all nodes, but may depend on their numbering.

Source: B. D. McKay and A. Piperno, "Practical graph isomorphism, II", Journal of Symbolic Computation 60 (2014); of
its search tree, one way down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

Edge = tuple[int, int, int]
"""Subject, predicate, object."""

Event = tuple[int, int, tuple[tuple[tuple[int, ...], int], ...]]
"""Splitting cell, split cell, and for each group there how its nodes touch the splitting cell, and their number."""


class Cells:
    """
    An ordered partition of the nodes 0 to n-1; a cell is named by its place in the order.

    Attributes:
        nodes: The nodes, cell by cell.
        start: For each node its cell.
        size: For each cell how many nodes it has; 0 where no cell starts.
    """

    __slots__ = ("_place", "nodes", "size", "start")

    def __init__(self, colours: Sequence[int]) -> None:
        self.nodes = sorted(range(len(colours)), key=colours.__getitem__)
        self._place = [0] * len(colours)
        self.start = [0] * len(colours)
        self.size = [0] * len(colours)
        cell = 0
        for place, node in enumerate(self.nodes):
            if colours[node] != colours[self.nodes[cell]]:
                cell = place
            self._place[node] = place
            self.start[node] = cell
            self.size[cell] += 1

    def copy(self) -> Cells:
        """The same partition, to be refined apart from this one."""
        other = object.__new__(Cells)
        other.nodes = self.nodes.copy()
        other._place = self._place.copy()
        other.start = self.start.copy()
        other.size = self.size.copy()
        return other

    def members(self, cell: int) -> list[int]:
        """The nodes of a cell."""
        return self.nodes[cell : cell + self.size[cell]]

    def target(self) -> int | None:
        """The first of the smallest cells with several nodes, or None."""
        several = [cell for cell, size in enumerate(self.size) if size > 1]
        return min(several, key=self.size.__getitem__, default=None)

    def split(self, cell: int, groups: Iterable[list[int]]) -> list[int]:
        """Put groups of nodes, in their order, behind the other nodes of their cell; returns the cells that result."""
        end = cell + self.size[cell]
        cells = []
        for group in reversed(list(groups)):
            for node in group:
                end -= 1
                self._swap(node, end)
            cells.append(end)
            self.size[end] = len(group)
            for node in group:
                self.start[node] = end
        if end > cell:
            self.size[cell] = end - cell
            cells.append(cell)
        return cells[::-1]

    def _swap(self, node: int, place: int) -> None:
        other, old = self.nodes[place], self._place[node]
        self.nodes[place], self.nodes[old] = node, other
        self._place[node], self._place[other] = place, old


class _Refinement:
    """Refines partitions of a graph within a limit of work, counted in edges and nodes looked at."""

    def __init__(self, count: int, edges: Sequence[Edge], limit: int) -> None:
        self.adjacent: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for subject, predicate, target in edges:
            self.adjacent[subject].append((2 * predicate, target))
            self.adjacent[target].append((2 * predicate + 1, subject))
        self.work = limit

    def refine(self, cells: Cells, queue: list[int], best: list[Event] | None = None) -> list[Event] | None:
        """Refine by the cells of a queue; returns the trace, or None where it is not smaller than the best."""
        trace: list[Event] = []
        waiting = deque(queue)
        queued = set(queue)
        level = best is not None
        while waiting:
            if best is not None and self.work <= 0:
                return None
            splitter = waiting.popleft()
            queued.discard(splitter)
            for cell, groups in self.touched(cells, splitter):
                keys = sorted(groups)
                trace.append((splitter, cell, tuple((key, len(groups[key])) for key in keys)))
                if level:
                    assert best is not None
                    other = best[len(trace) - 1] if len(trace) <= len(best) else None
                    if other is None or trace[-1] > other:
                        return None
                    level = trace[-1] == other
                self.divide(cells, cell, [groups[key] for key in keys], (waiting, queued))
        return None if best is not None and trace >= best else trace

    def set_apart(self, cells: Cells, cell: int) -> Cells:
        """The partition in which one node of a cell is set apart, with the smallest trace of those within the limit."""
        best: Cells | None = None
        smallest: list[Event] | None = None
        for node in sorted(cells.members(cell)):
            if best is not None and self.work <= 0:
                break
            refined = cells.copy()
            self.work -= len(refined.nodes)
            trace = self.refine(refined, refined.split(cell, [[node]])[-1:], smallest)
            if trace is not None:
                best, smallest = refined, trace
        assert best is not None, "the trace of the first node is the smallest so far"
        return best

    def touched(self, cells: Cells, splitter: int) -> list[tuple[int, dict[tuple[int, ...], list[int]]]]:
        """For each cell with edges from or to the splitting one its nodes, grouped by those edges."""
        codes: dict[int, list[int]] = {}
        for node in cells.members(splitter):
            for code, other in self.adjacent[node]:
                codes.setdefault(other, []).append(code)
            self.work -= 2 * len(self.adjacent[node]) + 1
        found: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for node, touching in codes.items():
            groups = found.setdefault(cells.start[node], {})
            groups.setdefault(tuple(sorted(touching)), []).append(node)
        return sorted(found.items(), key=lambda item: item[0])

    def divide(self, cells: Cells, cell: int, groups: list[list[int]], queue: tuple[deque[int], set[int]]) -> None:
        """Split a cell, and queue the parts that can still split others."""
        if len(groups) == 1 and len(groups[0]) == cells.size[cell]:
            return
        waiting, queued = queue
        parts = cells.split(cell, groups)
        if cell in queued:
            parts = [part for part in parts if part != cell]
        else:
            parts.remove(max(parts, key=cells.size.__getitem__))
        waiting.extend(parts)
        queued.update(parts)


def canonical_order(colours: Sequence[int], edges: Sequence[Edge], limit: int) -> list[int]:
    """
    The nodes 0 to n-1 in an order that most often depends on the graph only up to isomorphism, within the limit.

    Args:
        colours: For each node a number; nodes of different colour are never exchanged, and the order follows colours.
        edges: Directed and labelled with predicate numbers; without repeats.
        limit: Units of work, of about half a microsecond.
    """
    refinement = _Refinement(len(colours), edges, limit)
    cells = Cells(colours)
    refinement.refine(cells, [cell for cell, size in enumerate(cells.size) if size])
    refinement.work = limit
    while (cell := cells.target()) is not None:
        cells = refinement.set_apart(cells, cell)
    return cells.nodes
