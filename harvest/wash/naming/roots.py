"""
Names of roots that survive edits: of nodes that nothing refers to, where there are few of their kind.

What is below a root is named by it. If a root were named by its content, each edit would rename all of that. The kind
of a root is the least of its types. A root that is the only one of its kind is named by the kind. Of a few, each is
named by the kind and the first of its statements that no other of them makes: objects that are IRIs come before words,
and words before numbers and dates, which change more often. Roots without such a statement, and roots of which there
are many, as lone records are, are named by their content.

An edit never renames what is below another root that stays. Of roots with 39 lines each, edited one at a time, as many
lines went and came for 3, 20 and 100 roots: 1 where the statement does not name the root, 4 where it is of a record,
39 where it names the root, or where only what is below distinguishes the roots; of 101 and of 500 roots always 39. The
101st root of a kind renames those that were there.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import nsmallest

from harvest.wash.naming.blanks import digest
from sparql.rdf import RDF

TYPE = f"<{RDF}type> ".encode()

_FEW = 100
"""Roots of one kind that are distinguished by their statements."""

_ALL = 2_000
"""Roots of such kinds together; where there are more, none gets a name of its own."""

_FACTS = 64
"""Statements of a root that are looked at, the first ones."""

_UNTYPED = (1 << 64) - 1


def _kind(fact: bytes) -> int:
    """A number for a statement of a type; the least of a root's is its kind."""
    return int(digest(fact)[:16], 16)


def _place(fact: bytes) -> tuple[int, bytes]:
    """Where a statement stands among those of a root."""
    if fact.endswith(b">"):
        return (2 if b'"^^<' in fact else 0), fact
    return 1, fact


def _named(kinds: Mapping[int, list[int]], facts: Callable[[int], Iterable[bytes]]) -> dict[int, bytes]:
    """The labels of the roots of some kinds, where they have one."""
    found: dict[int, bytes] = {}
    for kind, roots in kinds.items():
        if len(roots) == 1:
            found[roots[0]] = digest(b"root %d" % kind)
            continue
        first = {root: nsmallest(_FACTS, set(facts(root)), key=_place) for root in roots}
        often = Counter(fact for some in first.values() for fact in some)
        for root, some in first.items():
            own = next((fact for fact in some if often[fact] == 1), None)
            if own is not None:
                found[root] = digest(b"root %d %s" % (kind, own))
    return found


def _few(kinds: Mapping[int, list[int]]) -> dict[int, list[int]]:
    """The kinds of which there are few roots; none where these are many together."""
    few = {kind: roots for kind, roots in kinds.items() if len(roots) <= _FEW}
    return few if sum(map(len, few.values())) <= _ALL else {}


def named_roots(facts: list[list[bytes]], roots: list[int]) -> dict[int, bytes]:
    """The labels of those of the roots that have one; `facts` has the statements of each node with a ground object."""
    kinds: dict[int, list[int]] = defaultdict(list)
    for root in roots:
        types = [_kind(fact) for fact in facts[root] if fact.startswith(TYPE)]
        kinds[min(types, default=_UNTYPED)].append(root)
    return _named(_few(kinds), facts.__getitem__)


class RootsOfFile:
    """
    The same for a file that is read twice: `add`, `refer` and `type` at first, then `describe` of what is wanted.

    Nodes are numbered from 0 as they come.

    Attributes:
        wanted: The statements so far of the nodes that are to be described; there are none before `choose`.
    """

    def __init__(self) -> None:
        self._kind = array("Q")
        self._referred = bytearray()
        self._few: dict[int, list[int]] = {}
        self.wanted: dict[int, list[bytes]] = {}

    def add(self) -> None:
        """Take in a further node."""
        self._kind.append(_UNTYPED)
        self._referred.append(0)

    def refer(self, node: int) -> None:
        """Take in that a triple refers to a node."""
        self._referred[node] = 1

    def type(self, node: int, fact: bytes) -> None:
        """Take in a type of a node."""
        self._kind[node] = min(self._kind[node], _kind(fact))

    def choose(self) -> None:
        """Go over to collecting what the roots say that may have labels."""
        counts = Counter(kind for node, kind in enumerate(self._kind) if not self._referred[node])
        few: dict[int, list[int]] = defaultdict(list)
        for node, kind in enumerate(self._kind):
            if not self._referred[node] and counts[kind] <= _FEW:
                few[kind].append(node)
        self._few = _few(few)
        self.wanted = {node: [] for nodes in self._few.values() if len(nodes) > 1 for node in nodes}

    def describe(self, node: int, fact: bytes) -> None:
        """Take in a statement of a wanted node."""
        facts = self.wanted[node]
        facts.append(fact)
        if len(facts) > 4 * _FACTS:
            self.wanted[node] = nsmallest(_FACTS, set(facts), key=_place)

    def named(self) -> dict[int, bytes]:
        """The labels of those of the roots that have one."""
        return _named(self._few, self.wanted.__getitem__)
