"""
Distinguishing blank nodes that came to the same label though they are not the same.

That can only happen to nodes connected with one that several triples refer to, or with a ring. Such nodes are looked
at by connected component, where nodes labelled by their path count as ground. Equal labels are sharpened by what
surrounds the nodes, one step at a time and no further than it takes, so that the labels stay as local as they can be.
What is still equal is put in order by `symmetry`, cluster by cluster. Each component gets a digest that is equal for
isomorphic components, so that equal labels of different components can be put in order too. Out of the labels that
nodes claim, `name` makes names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from harvest.wash.naming.blanks import digest
from harvest.wash.naming.labels import Labels, references
from harvest.wash.naming.symmetry import canonical_order

_ROUNDS = 8
"""How many steps of surroundings go into a label; what is equal further out than that is left to ordering."""

_WORK = 300
"""Units of work for each node and edge of a cluster, at about half a microsecond a unit."""

_MOST_WORK = 2_000_000
"""Units of work for one cluster: a few seconds."""


class Claim(NamedTuple):
    """
    A node's claim to a label; claims sort in the order in which they are met.

    Attributes:
        label: 32 hex digits.
        component: Digest of the node's component; empty for nodes that are interchangeable with all others of the same
            label.
        number: A number of the component.
        rank: Place of the node within the component.
        node: The node.
    """

    label: bytes
    component: bytes
    number: int
    rank: int
    node: int


@dataclass(slots=True)
class _Component:
    """
    A connected component, its nodes renumbered from 0.

    Attributes:
        nodes: The nodes, ascending.
        label: For each node its label.
        marks: For each node the digest of what refers to it from outside.
        links: For each node its links to nodes of the component; made when asked for, since they can be many.
        around: For each node the predicates and nodes beside it; `> ` goes before the predicate when the node is the
            subject, `< ` when it is the object. Empty when all labels differ.
    """

    nodes: list[int]
    label: list[bytes]
    marks: list[bytes]
    links: Callable[[int], Iterator[tuple[bytes, int]]]
    around: list[list[tuple[bytes, int]]] = field(default_factory=list)

    def sign(self, node: int) -> bytes:
        """A digest of the label of a node, its marks, and the labels of the nodes beside it."""
        beside = sorted(side + b" " + self.label[other] for side, other in self.around[node])
        return digest(b"\n".join((b"near " + self.label[node], self.marks[node], *beside)))

    def tied(self) -> list[list[int]]:
        """Groups of nodes with equal labels."""
        groups: dict[bytes, list[int]] = {}
        for node, label in enumerate(self.label):
            groups.setdefault(label, []).append(node)
        return [group for group in groups.values() if len(group) > 1]


def settle(labels: Labels) -> Iterator[Claim]:
    """The claims of all nodes whose component has a node that several triples refer to, or a ring."""
    for number, component in enumerate(_components(labels)):
        _sharpen(component)
        order = _order(component)
        name = _digest(component, order)
        for rank, node in enumerate(order):
            yield Claim(component.label[node], name, number, rank, component.nodes[node])


def name(simple: Iterable[tuple[bytes, int]], claims: Iterable[Claim]) -> Iterator[tuple[int, bytes]]:
    """
    Each node with its name, 32 hex digits that no other node has.

    A label that one node claims is its name. Interchangeable claims to a label are counted. Where different claims
    meet, the names say which component they are from: then a change to one component leaves the names in others alone.

    Args:
        simple: Label and node, for nodes that are interchangeable with all others of this label; a node comes after the
            one that owns it, and in the order of those.
        claims: The claims of other nodes.
    """
    seen: dict[bytes, int] = {}
    for label, node in simple:
        before = seen[label] = seen.get(label, -1) + 1
        yield node, _twin(label, before)
    for label, met in groupby(sorted(claims), attrgetter("label")):
        rivals = list(met)
        alone = label not in seen and rivals[0].component == rivals[-1].component
        for component, equals in groupby(rivals, attrgetter("component")):
            stem = label if alone else digest(b"rival %s %s" % (component, label))
            for before, claim in enumerate(equals):
                yield claim.node, _twin(stem, before)


def _twin(label: bytes, before: int) -> bytes:
    """The name of the node that comes after so many others with an equal claim."""
    return digest(b"twin %d %s" % (before, label)) if before else label


def _components(labels: Labels) -> Iterator[_Component]:
    """The components that need settling, in the order of their first shared node."""
    if not labels.shared:
        return
    referrers: dict[int, list[int]] = defaultdict(list)
    for node, links in labels.blanks.links.items():
        if not labels.paths[node]:
            for _, target in links:
                if target in labels.shared:
                    referrers[target].append(node)
    marks = _marks(labels)
    seen: set[int] = set()
    for start in sorted(labels.shared):
        if start not in seen:
            nodes = [start]
            seen.add(start)
            for node in nodes:
                beside = dict.fromkeys((*_beside(labels, node), *referrers.get(node, ())))
                fresh = [other for other in beside if other not in seen]
                seen.update(fresh)
                nodes.extend(fresh)
            yield _component(labels, sorted(nodes), marks)


def _beside(labels: Labels, node: int) -> Iterator[int]:
    """The nodes that a node links to or is owned by, except those labelled by their path."""
    for _, target in labels.blanks.links.get(node, ()):
        if not labels.paths[target]:
            yield target
    if labels.owner[node] >= 0 and not labels.paths[labels.owner[node]]:
        yield labels.owner[node]


def _marks(labels: Labels) -> dict[int, list[bytes]]:
    """For shared nodes what refers to them from ground subjects and from nodes labelled by their path."""
    marks = {node: labels.blanks.mentions.get(node, []).copy() for node in labels.shared}
    for node, predicate, target in references(labels):
        if target in marks:
            marks[target].append(labels.label[node] + b" " + predicate)
    return marks


def _component(labels: Labels, nodes: list[int], marks: dict[int, list[bytes]]) -> _Component:
    """The component of some nodes."""
    place = {node: at for at, node in enumerate(nodes)}
    outside = [digest(b"\n".join(sorted(marks[node]))) if marks.get(node) else b"" for node in nodes]

    def links(at: int) -> Iterator[tuple[bytes, int]]:
        own = labels.blanks.links.get(nodes[at], ())
        return ((predicate, place[target]) for predicate, target in own if target in place)

    component = _Component(nodes, [labels.label[node] for node in nodes], outside, links)
    if component.tied():
        component.around = [[] for _ in nodes]
        for at in range(len(nodes)):
            for predicate, target in links(at):
                component.around[at].append((b"> " + predicate, target))
                component.around[target].append((b"< " + predicate, at))
    return component


def _sharpen(component: _Component) -> None:
    """Replace equal labels by ones that say what surrounds the node, where that distinguishes nodes."""
    for _ in range(_ROUNDS):
        fresh: dict[int, bytes] = {}
        for group in component.tied():
            signs = {node: component.sign(node) for node in group}
            if len(set(signs.values())) > 1:
                fresh.update(signs)
        for node, label in fresh.items():
            component.label[node] = label
        if not fresh:
            break


def _order(component: _Component) -> list[int]:
    """The nodes, those with a label of their own first; equal ones by cluster and within each canonically."""
    tied = {node for group in component.tied() for node in group}
    order = sorted((node for node in range(len(component.nodes)) if node not in tied), key=component.label.__getitem__)
    clusters = sorted(
        (_cluster(component, nodes) for nodes in _clusters(component, tied)),
        key=lambda cluster: cluster[0],
    )
    return [*order, *(node for _, nodes in clusters for node in nodes)]


def _clusters(component: _Component, tied: set[int]) -> Iterator[list[int]]:
    """The tied nodes that are connected with each other through tied nodes."""
    left = dict.fromkeys(sorted(tied))
    while left:
        nodes = [next(iter(left))]
        del left[nodes[0]]
        for node in nodes:
            for _, other in component.around[node]:
                if other in left:
                    del left[other]
                    nodes.append(other)
        yield sorted(nodes)


def _cluster(component: _Component, nodes: list[int]) -> tuple[bytes, list[int]]:
    """A digest of a cluster that is equal for isomorphic ones, and its nodes in canonical order."""
    signs = [component.sign(node) for node in nodes]
    colours = _numbers(signs)
    place = {node: at for at, node in enumerate(nodes)}
    links = [
        (at, side, place[other])
        for at, node in enumerate(nodes)
        for side, other in component.around[node]
        if other in place and side.startswith(b"> ")
    ]
    predicates = _numbers([predicate for _, predicate, _ in links])
    edges = [(subject, number, target) for (subject, _, target), number in zip(links, predicates, strict=True)]
    limit = min(_WORK * (len(nodes) + len(edges)), _MOST_WORK)
    order = canonical_order(colours, edges, limit) if len(nodes) > 1 else [0]
    rank = {node: at for at, node in enumerate(order)}
    lines = [signs[at] for at in order]
    lines += sorted(b"%d %s %d" % (rank[subject], predicate, rank[target]) for subject, predicate, target in links)
    return digest(b"\n".join(lines)), [nodes[at] for at in order]


def _numbers(keys: list[bytes]) -> list[int]:
    """For each key its place among the distinct keys."""
    places = {key: at for at, key in enumerate(sorted(set(keys)))}
    return [places[key] for key in keys]


def _digest(component: _Component, order: Sequence[int]) -> bytes:
    """A digest of a component that is equal for isomorphic ones."""
    rank = [0] * len(component.nodes)
    for at, node in enumerate(order):
        rank[node] = at
    total = sha256()
    for node in order:
        total.update(b"%s %s\n" % (component.label[node], component.marks[node]))
        for target, predicate in sorted((rank[target], predicate) for predicate, target in component.links(node)):
            total.update(b"%s %d\n" % (predicate, target))
    return total.hexdigest()[:32].encode()
