"""A partial dump into a large graph, beside the same one into a smaller graph: cost follows what changed."""

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
from bench.table import Row, Target

TARGET = Target(1.2, "slower")

PARTIALS = 7
"""Partial dumps into each graph, each with other subjects; all change a label and a price of every subject."""


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
        first = self.taken * (self.triples // TRIPLES_PER_ITEM // PARTIALS)
        self.taken += 1
        return Recipe(self.triples, edition=1, changed=1, only=(first, first + items))


def run(ground: Ground) -> Iterator[Row]:
    """One row: the large graph beside the small one; without the large one, the small one's time alone."""
    with ExitStack() as stack:
        graphs = [_opened(ground, triples, stack) for triples in ground.scale.sizes]
        contest: dict[str, Callable[[], Sample]] = {str(graph.triples): graph.take for graph in graphs}
        ground.say(f"harvesting {PARTIALS} partial dumps")
        series = list(interleaved(contest, PARTIALS).values())
        for graph in graphs:
            graph.agree()
    yield _row(ground, series)


def _opened(ground: Ground, triples: int, stack: ExitStack) -> Graph:
    room: Path = stack.enter_context(ground.room("partial"))
    served = stack.enter_context(provider(room / "served"))
    ours = stack.enter_context(instance(room / "ours", {"p": f"{served.url}/p.ttl"}))
    graph = Graph(ground, served, ours, triples)
    graph.begin()
    return graph


def _row(ground: Ground, series: list[Series]) -> Row:
    what = f"{millions(ground.scale.partial)} into {millions(ground.scale.sizes[-1])}"
    row = Row("partial dump", what, series[-1].seconds, target=TARGET, shares=series[-1].shares)
    row.details = {"seconds": [[sample.seconds for sample in each.samples] for each in series]}
    if len(series) == 1:
        row.notes.append("the large graph was not measured, so there is no ratio; --large does it")
        return row
    row.peer = series[0].seconds
    row.notes.append(f"the peer is the same into {millions(ground.scale.sizes[0])}; medians of {PARTIALS}")
    slowest = ", ".join(f"{max(sample.seconds for sample in each.samples):.2f} s" for each in reversed(series))
    row.notes.append(f"the slowest took {slowest}: now and then the store flushes or compacts")
    return row
