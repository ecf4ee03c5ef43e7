"""
An order of the nodes of a small coloured graph that is the same for isomorphic graphs.

Individualisation and refinement: nodes are kept in an ordered partition, which is refined until nodes of one cell have
equally many edges to and from every other cell. Where cells of several nodes stay, each of their nodes is set apart in
turn, which gives a tree of partitions; the leaf with the smallest trace of refinements, then with the smallest list of
edges, gives the order. Two leaves with the same edges show an automorphism, and what is automorphic to something
already explored is left out.

The tree can be exponentially large, so the search stops at a limit of work. The order is then the best one found:
still an order of all nodes, but one that may depend on their numbering.

Source: B. D. McKay and A. Piperno, "Practical graph isomorphism, II", Journal of Symbolic Computation 60 (2014).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Level:
    """
    A node of the search tree.

    Attributes:
        cells: Its partition.
        members: The nodes of the cell that is taken apart here; empty at a leaf.
        apart: The nodes set apart on the way here.
        trace: What the last refinement did.
        ahead: Whether the traces on the way here are smaller than those of the best leaf, or there is no leaf yet.
        explored: Those of `members` whose subtree has been searched.
    """

    cells: Cells
    members: list[int]
    apart: tuple[int, ...] = ()
    trace: list[Event] = field(default_factory=list)
    ahead: bool = True
    explored: list[int] = field(default_factory=list)


class _Search:
    """The search for the best leaf within a limit of work, counted in edges and nodes looked at."""

    def __init__(self, colours: Sequence[int], edges: Sequence[Edge], limit: int) -> None:
        self.edges = edges
        self.adjacent: list[list[tuple[int, int]]] = [[] for _ in colours]
        for subject, predicate, target in edges:
            self.adjacent[subject].append((2 * predicate, target))
            self.adjacent[target].append((2 * predicate + 1, subject))
        self.work = limit
        self.best: Cells | None = None
        self.best_apart: tuple[int, ...] = ()
        self.best_traces: list[list[Event]] = []
        self.best_edges: list[Edge] = []
        self.automorphisms: list[dict[int, int]] = []
        cells = Cells(colours)
        self.refine(cells, [cell for cell, size in enumerate(cells.size) if size], None)
        self.work = limit
        self.stack = [self.level(cells)]

    def run(self) -> list[int]:
        """The nodes in the order of the best leaf."""
        last = self.stack[0].cells
        while self.stack and self.work > 0:
            level = self.stack[-1]
            last = level.cells
            if not level.members:
                self.stack.pop()
                self.leaf(level)
                continue
            node = self.next_member(level)
            if node is None:
                self.stack.pop()
            else:
                level.explored.append(node)
                self.descend(level, node)
        return (self.best or last).nodes

    def level(self, cells: Cells) -> _Level:
        """A level whose partition is refined."""
        target = cells.target()
        return _Level(cells, [] if target is None else sorted(cells.members(target)))

    def next_member(self, level: _Level) -> int | None:
        """The next node to set apart that no known automorphism maps from one set apart here before."""
        known = set(level.explored)
        fixing = [move for move in self.automorphisms if not any(node in move for node in level.apart)]
        reached = list(known) if fixing else []
        for node in reached:
            self.work -= len(fixing)
            images = {move.get(node, node) for move in fixing} - known
            known |= images
            reached.extend(images)
        return next((node for node in level.members if node not in known), None)

    def descend(self, level: _Level, node: int) -> None:
        """Set a node apart, and go there unless its trace is greater than that of the best leaf."""
        depth = len(level.apart)
        cells = level.cells.copy()
        self.work -= len(cells.nodes)
        cell = cells.start[node]
        apart = cells.split(cell, [[node]])[-1]
        expected = None if level.ahead else self.best_traces[depth]
        trace = self.refine(cells, [apart], expected)
        if trace is not None:
            child = self.level(cells)
            child.apart = (*level.apart, node)
            child.trace = trace
            child.ahead = level.ahead or trace < self.best_traces[depth]
            self.stack.append(child)

    def refine(self, cells: Cells, queue: list[int], expected: list[Event] | None) -> list[Event] | None:
        """Refine until nothing splits; returns what was done, or None once that is greater than what is expected."""
        trace: list[Event] = []
        waiting = deque(queue)
        queued = set(queue)
        while waiting and (self.work > 0 or self.best is None):
            splitter = waiting.popleft()
            queued.discard(splitter)
            for cell, groups in self.touched(cells, splitter):
                keys = sorted(groups)
                trace.append((splitter, cell, tuple((key, len(groups[key])) for key in keys)))
                if expected is not None:
                    other = expected[len(trace) - 1] if len(trace) <= len(expected) else None
                    if other is None or trace[-1] > other:
                        return None
                    if trace[-1] < other:
                        expected = None
                self.divide(cells, cell, [groups[key] for key in keys], (waiting, queued))
        return trace

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

    def leaf(self, level: _Level) -> None:
        """Compare a leaf with the best one."""
        place = level.cells.start
        edges = sorted((place[subject], predicate, place[target]) for subject, predicate, target in self.edges)
        self.work -= 4 * len(edges) + len(place)
        if self.best is None or level.ahead or edges < self.best_edges:
            self.best, self.best_apart, self.best_edges = level.cells, level.apart, edges
            self.best_traces = [above.trace for above in self.stack[1:]] + [level.trace]
            for above in self.stack:
                above.ahead = False
        elif edges == self.best_edges:
            moves = zip(self.best.nodes, level.cells.nodes, strict=True)
            self.automorphisms.append({old: new for old, new in moves if old != new})
            pairs = zip(self.best_apart, level.apart, strict=True)
            common = next(depth for depth, (old, new) in enumerate(pairs) if old != new)
            del self.stack[common + 1 :]


def canonical_order(colours: Sequence[int], edges: Sequence[Edge], limit: int) -> list[int]:
    """
    The nodes 0 to n-1 in an order that depends on the graph only up to isomorphism, unless the limit is reached.

    Args:
        colours: For each node a number; nodes of different colour are never exchanged, and the order follows colours.
        edges: Directed and labelled with predicate numbers; without repeats.
        limit: Units of work, of about half a microsecond, after which the best order so far is taken.
    """
    return _Search(colours, edges, limit).run()
