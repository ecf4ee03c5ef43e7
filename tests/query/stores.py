"""Published stores: stores with generations, for the query side to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, Store

from sparql.store.generations import Generation, Generations

BASE = "http://example.org/"
VALUE = NamedNode(f"{BASE}value")
NEXT = NamedNode(f"{BASE}next")
LABEL = NamedNode(f"{BASE}label")


class PublishedStore:
    """
    A store that is written here and read by others.

    Attributes:
        root: Its folder, with `current` and `generations/`.
        generations: What is published.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.generations = Generations(root, keep=1)
        self._store = Store(str(root / "working"))

    def publish(self, target: Path) -> None:
        """Make a copy, as `Generations` asks for it."""
        self._store.backup(str(target))

    def add(self, quads: Iterable[Quad]) -> Generation:
        """Add quads and make what there is now the current generation."""
        self._store.bulk_extend(quads)
        self._store.flush()
        return self.generations.publish(self)


def item(number: int) -> NamedNode:
    """The IRI of an item."""
    return NamedNode(f"{BASE}item/{number}")


def graph(name: str) -> NamedNode:
    """The IRI of a graph."""
    return NamedNode(f"{BASE}graph/{name}")


def items(count: int, name: str = "a", first: int = 0) -> Iterator[Quad]:
    """Yield three statements about each of a number of items, in one graph."""
    for number in range(first, first + count):
        yield Quad(item(number), VALUE, Literal(number), graph(name))
        yield Quad(item(number), NEXT, item(first + (number * 7 + 1) % count), graph(name))
        yield Quad(item(number), LABEL, Literal(f'Item "{number}",\nof {name} }}}},{{', language="en"), graph(name))
