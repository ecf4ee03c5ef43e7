"""
A partial dump into a large graph, beside the same one into a smaller graph: cost follows what changed.

Exports are brought up to date before each, as the export job does every minute: that folds the changes since the last
snapshot into it. A second row shows what partial dumps cost that come in a row, without an export between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.data import TRIPLES_PER_ITEM, Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.instance import Instance, instance
from bench.measure import Sample, Series, interleaved
from bench.provider import Provider, provider
from bench.table import Row, Target, compared

TARGET = Target(1.2, "slower")

PARTIALS = 7
"""Partial dumps into each graph, each with other subjects; all change a label and a price of every subject."""
IN_A_ROW = 12
"""Further partial dumps into the smaller graph, without an export between them."""


@dataclass(slots=True)
class Graph:
    """A graph that takes partial dumps."""

    ground: Ground
    served: Provider
    ours: Instance
    triples: int
    taken: int = field(default=0)

    def begin(self) -> None:
        """Import the whole catalogue."""
        self.ground.say(f"importing {millions(self.triples)}")
        self.served.announce("p", self.ground.source(Recipe(self.triples)))
        self.ours.harvest("p")

    def take_exported(self) -> Sample:
        """Harvest the next partial dump into a graph whose changes are all exported."""
        self.ours.harvester.export()
        return self.take()

    def take(self) -> Sample:
        """Harvest the next partial dump."""
        self.served.announce("p", self.ground.source(self._next()), partial=True)
        return self.ours.harvest("p")

    def agree(self) -> None:
        """
        See that the graph has its size still: the partial dumps changed values, and nothing else.

        Raises:
            Disagreement: It has another.
        """
        found = self.ours.count("p")
        if found != self.triples:
            raise Disagreement(f"partial dumps took the graph from {self.triples} to {found} triples")

    def _next(self) -> Recipe:
        """Another part of the catalogue, spread over it."""
        items = self.ground.scale.partial // TRIPLES_PER_ITEM
        first = self.taken * (self.triples // TRIPLES_PER_ITEM // (PARTIALS + IN_A_ROW))
        self.taken += 1
        return Recipe(self.triples, edition=1, changed=1, only=(first, first + items))


def run(ground: Ground) -> Iterator[Row]:
    """
    A row for the large graph beside the small one, and one for partial dumps in a row into the small one.

    Without the large one, the first row has the small one's time alone.
    """
    with ExitStack() as stack:
        graphs = [_opened(ground, triples, stack) for triples in ground.scale.sizes]
        contest: dict[str, Callable[[], Sample]] = {str(graph.triples): graph.take_exported for graph in graphs}
        ground.say(f"harvesting {PARTIALS} partial dumps")
        series = list(interleaved(contest, PARTIALS).values())
        graphs[0].ours.harvester.export()
        in_a_row = [graphs[0].take() for _ in range(IN_A_ROW)]
        for graph in graphs:
            graph.agree()
    yield _row(ground, series)
    yield _row_in_a_row(ground, in_a_row)


def _opened(ground: Ground, triples: int, stack: ExitStack) -> Graph:
    room: Path = stack.enter_context(ground.room("partial"))
    served = stack.enter_context(provider(room / "served"))
    ours = stack.enter_context(instance(room / "ours", {"p": f"{served.url}/p.ttl"}))
    graph = Graph(ground, served, ours, triples)
    graph.begin()
    return graph


def _row(ground: Ground, series: list[Series]) -> Row:
    what = f"{millions(ground.scale.partial)} into {millions(ground.scale.sizes[-1])}"
    row = compared("partial dump", what, series[-1], series[0] if len(series) > 1 else None, TARGET)
    if len(series) == 1:
        row.notes.append("the large graph was not measured, so there is no ratio; --large does it")
        return row
    row.notes.append(f"the peer is the same into {millions(ground.scale.sizes[0])}; medians of {PARTIALS}")
    slowest = ", ".join(f"{max(sample.seconds for sample in each.samples):.2f} s" for each in reversed(series))
    row.notes.append(f"the slowest took {slowest}: now and then the store flushes or compacts")
    return row


def _row_in_a_row(ground: Ground, samples: list[Sample]) -> Row:
    """The last three of many beside the first three."""
    first, last = Series(samples[:3]), Series(samples[-3:])
    what = f"the last 3 of {len(samples)} in a row, into {millions(ground.scale.triples)}"
    row = compared("partial dump", what, last, first, None)
    row.notes.append("the peer are the first 3; no export ran between them")
    row.details["in_a_row"] = [sample.seconds for sample in samples]
    return row
