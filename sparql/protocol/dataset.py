"""
Which graphs make up the default graph.

The metadata graph of an instance and the graphs of its seeds are to be asked for by name. The store has a switch for
the union of all graphs, or takes a list of graphs, which it looks through one by one: 6 µs for each graph each time a
pattern is matched. So lookups are as quick as with the switch in up to four graphs, take a quarter longer in eight,
and three times as long in thirty-one. An answer that counts the platform's own statements is wrong to an analyst, so
the list may be that long; beyond, the union of all graphs is the default graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pyoxigraph import BlankNode, DefaultGraph, NamedNode


class HoldsGraphs(Protocol):
    """What has named graphs: a store, or a view of one."""

    def named_graphs(self) -> Iterable[NamedNode | BlankNode]:
        """Their names."""


Graphs = list[NamedNode | BlankNode | DefaultGraph]
"""Names of graphs, as the store takes them."""


def listed_graphs(store: HoldsGraphs, own: tuple[str, ...], most: int) -> Graphs | None:
    """
    The graphs whose union is the default graph; None where that is the union of all.

    Args:
        store: What is asked.
        own: What the names of graphs begin with that are not in the default graph.
        most: Graphs that are listed; where there are more, or none but the instance's own, the union is of all.
    """
    listed: Graphs = []
    hides = False
    for graph in store.named_graphs() if own else ():
        if isinstance(graph, NamedNode) and graph.value.startswith(own):
            hides = True
        elif isinstance(graph, NamedNode):
            listed.append(graph)
        if len(listed) > most:
            return None
    return listed if hides and listed else None
