"""
Which blank node is part of which record.

A node has an owner when exactly one triple refers to it, from another blank node. What has none is the head of a
record, and the record is the tree of what it owns. Nodes can own each other in a ring; then each of them is a head.
"""

from __future__ import annotations

from collections.abc import Sequence

from harvest.wash.naming.blanks import Blanks, digest

_NOBODY = -1
_SEVERAL = -2


class Records:
    """
    The records of a set of triples.

    Attributes:
        owner: For each node its owner, or -1.
        order: All nodes, heads first, owned nodes in the order of their owners.
        shared: Nodes that several triples refer to, and nodes of rings.
        roots: Nodes that nothing refers to.
        rings: Nodes that would own each other in a ring, each after the one that it refers to.
    """

    def __init__(self, blanks: Blanks) -> None:
        self._blanks = blanks
        self.shared: set[int] = set()
        self.roots: list[int] = []
        self.owner = self._owners()
        self.order = self._below([node for node, owner in enumerate(self.owner) if owner == _NOBODY])
        self.rings: list[list[int]] = []
        if len(self.order) < len(self.owner):
            self._break_rings()

    def _owners(self) -> list[int]:
        owner = [_NOBODY] * len(self._blanks.facts)
        for node, keys in self._blanks.mentions.items():
            owner[node] = _SEVERAL
            if len(keys) > 1:
                self.shared.add(node)
        for node, links in self._blanks.links.items():
            for _, target in links:
                if owner[target] == _NOBODY:
                    owner[target] = node
                else:
                    owner[target] = _SEVERAL
                    self.shared.add(target)
        self.roots = [node for node, own in enumerate(owner) if own == _NOBODY]
        return [_NOBODY if node == _SEVERAL else node for node in owner]

    def _below(self, heads: list[int]) -> list[int]:
        """Some heads and all nodes of their records."""
        order = heads.copy()
        for node in order:
            order.extend(target for _, target in self._blanks.links.get(node, ()) if self.owner[target] == node)
        return order

    def _break_rings(self) -> None:
        """Make heads of the nodes of rings."""
        reached = set(self.order)
        self.rings = _rings(self.owner, [node for node in range(len(self.owner)) if node not in reached])
        heads = [node for ring in self.rings for node in ring]
        self.shared.update(heads)
        for node in heads:
            self.owner[node] = _NOBODY
        self.order += self._below(heads)


def _rings(owner: Sequence[int], nodes: list[int]) -> list[list[int]]:
    """The rings that are found by going from owner to owner; each of `nodes` has an owner among them."""
    visit = dict.fromkeys(nodes, 0)
    found: list[list[int]] = []
    for number, start in enumerate(nodes, 1):
        node = start
        while not visit[node]:
            visit[node] = number
            node = owner[node]
        if visit[node] == number:
            ring = [node]
            while owner[ring[-1]] != node:
                ring.append(owner[ring[-1]])
            found.append(ring)
    return found


def around_ring(contents: Sequence[bytes]) -> list[bytes]:
    """For each place of a ring a digest of the contents going round from there."""
    count = len(contents)
    start = _least_rotation(contents)
    turned = [*contents[start:], *contents[:start]]
    period = _period(turned)
    ring = digest(b"\n".join(turned))
    return [digest(b"ring %s %d" % (ring, (place - start) % count % period)) for place in range(count)]


def _least_rotation(items: Sequence[bytes]) -> int:
    """Where to begin going round so that the items come in the smallest order."""
    count = len(items)
    one, other, equal = 0, 1, 0
    while one < count and other < count and equal < count:
        left, right = items[(one + equal) % count], items[(other + equal) % count]
        if left == right:
            equal += 1
            continue
        if left > right:
            one = max(one + equal + 1, other)
            other = one + 1
        else:
            other += equal + 1
        equal = 0
    return min(one, other)


def _period(items: Sequence[bytes]) -> int:
    """After how many places going round begins to repeat itself."""
    border = [0] * len(items)
    for place in range(1, len(items)):
        length = border[place - 1]
        while length and items[place] != items[length]:
            length = border[length - 1]
        border[place] = length + (items[place] == items[length])
    period = len(items) - border[-1]
    return period if len(items) % period == 0 else len(items)
