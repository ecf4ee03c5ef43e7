"""
Names for blank nodes out of the labels that they claim.

A label that one node claims is its name. Interchangeable claims to a label are counted. Where different claims meet,
the names say which component they are from: then a change to one component leaves the names in others alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from harvest.wash.naming.blanks import digest
from harvest.wash.naming.components import Claim


def name(simple: Iterable[tuple[bytes, int]], claims: Iterable[Claim]) -> Iterator[tuple[int, bytes]]:
    """
    Each node with its name, 32 hex digits that no other node has.

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
