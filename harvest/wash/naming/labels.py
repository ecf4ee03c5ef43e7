"""
Labels for blank nodes that stay the same while the data around the node stays the same.

A node has an *owner* when exactly one triple refers to it and the subject of that triple is blank. A node with no owner
is the head of a *record*; its record is the tree of nodes below it that are owned. Each node gets its label by the
first rule that fits:

0. root: nothing refers to it, and there are few of its kind (`roots`). Its label has the kind, or a statement of its
   own. This rule is for full dumps; lone nodes of a partial one, which nothing ever replaces, go by rule 6.
1. path: it is the only blank object of a subject and predicate, and that subject is ground or has a label by rule 0 or
   this rule. Of several such paths the shortest counts, then the one with the smallest digest. Nothing said about the
   node changes such a label.
2. cell: it is a cell of an RDF list below a labelled node. The label is made of that node, the member in the cell, and
   the number of cells before it with an equal member, so that inserting a member leaves the other cells alone.
3. sibling: a ground subject, or one with a label by rule 0 or 1, refers to it beside other blank objects of the same
   predicate. The label is made of subject, predicate and the node's content. Of several the smallest counts.
4. below: it is owned. The label is made of the owner's label and the predicate, and of its content too where the owner
   has other blank objects for that predicate.
5. ring: it is one of some nodes that own each other in a ring. The label is made of the content of all of them, going
   round from the node itself.
6. loose: nothing refers to it, or only other records do. The label is made of its content.

The *content* of a node is the digest of its triples: ground objects as they are, owned nodes by their content, nodes
labelled by rule 1 by that label, and other nodes without any mark. So the content of a record does not change with
what other records say, and there is no cycle in it; the nodes of a ring count as heads.

Several nodes can come to the same label; `components` distinguishes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harvest.wash.naming.blanks import Blanks, digest
from harvest.wash.naming.records import Records, around_ring
from sparql.rdf import RDF

_FIRST = f"<{RDF}first>".encode()
_REST = f"<{RDF}rest>".encode()
_SEVERAL = -1

Roots = Callable[[list[int]], dict[int, bytes]]
"""The labels by rule 0, of roots that have one."""


class Labels:
    """
    The labels of all blank nodes of a set of triples.

    Attributes:
        blanks: The triples.
        label: For each node its label, 32 hex digits.
        owner: For each node its owner, or -1.
        order: All nodes, heads first, owned nodes in the order of their owners.
        paths: For each node whether its label comes from rule 0 or 1, or from rule 2 with ground members only. No two
            nodes share such a label.
        shared: Other nodes that several triples refer to, or that own each other in a ring.
    """

    def __init__(self, blanks: Blanks, roots: Roots) -> None:
        self.blanks = blanks
        count = len(blanks.facts)
        self.label: list[bytes] = [b""] * count
        self._content: list[bytes] = [b""] * count
        self._cells: set[int] = set()
        self._chains: list[tuple[int, list[int]]] = []
        records = Records(blanks)
        self.owner, self.order, self._rings = records.owner, records.order, records.rings
        self._follow_paths(roots(records.roots))
        self.paths = [bool(label) for label in self.label]
        self.shared = {node for node in records.shared if not self.paths[node]}
        self._describe()
        self._label_rest()

    def _singles(self, node: int) -> Iterator[tuple[bytes, int]]:
        """The links of a node whose predicate has no other blank object."""
        links = self.blanks.links.get(node)
        if not links:
            return iter(())
        if len(links) == 1:
            return iter(links)
        only: dict[bytes, int] = {}
        for predicate, target in links:
            only[predicate] = _SEVERAL if predicate in only else target
        return ((predicate, target) for predicate, target in only.items() if target != _SEVERAL)

    def _follow_paths(self, found: dict[int, bytes]) -> None:
        """Label by rules 0 and 1, one step further from the ground and the roots in each round."""
        crowded = self.blanks.crowded
        for node, keys in self.blanks.mentions.items():
            paths = [digest(b"path " + key) for key in keys if key not in crowded]
            if paths:
                found[node] = min(paths)
        while found:
            for node, label in found.items():
                self.label[node] = label
            found = self._step(found)

    def _step(self, reached: dict[int, bytes]) -> dict[int, bytes]:
        """Labels of the nodes one path step below those just reached."""
        found: dict[int, bytes] = {}
        for node, label in reached.items():
            for predicate, target in self._singles(node):
                if self._is_cell(node, predicate, target):
                    found.update(self._chain(node, target, self._ground_member))
                elif not self.label[target]:
                    path = digest(b"path " + label + b" " + predicate)
                    found[target] = min(path, found.get(target, path))
        return found

    def _is_cell(self, node: int, predicate: bytes, target: int) -> bool:
        """Whether the only blank object `target` of node and predicate is a cell of a well-formed list."""
        return predicate == _REST and self.owner[target] == node and self._member(target) is not None

    def _member(self, cell: int) -> bytes | int | None:
        """What stands in a cell: `rdf:first` with a ground term, or a node; None unless there is exactly one."""
        facts = {fact for fact in self.blanks.facts[cell] if fact.startswith(_FIRST)}
        nodes = [target for predicate, target in self.blanks.links.get(cell, ()) if predicate == _FIRST]
        found: list[bytes | int] = [*facts, *nodes]
        return found[0] if len(found) == 1 else None

    def _ground_member(self, cell: int) -> bytes | None:
        member = self._member(cell)
        return member if isinstance(member, bytes) else None

    def _any_member(self, cell: int) -> bytes | None:
        member = self._member(cell)
        if isinstance(member, int):
            return self.label[member] if self.paths[member] else self._content[member]
        return member

    def _chain(self, anchor: int, cell: int, key: Callable[[int], bytes | None]) -> dict[int, bytes]:
        """Labels of the list cells that follow a labelled node; empty when the node is itself within such a list."""
        if anchor in self._cells:
            return {}
        cells = [cell]
        while (last := dict(self._singles(cells[-1])).get(_REST)) is not None and self._is_cell(cells[-1], _REST, last):
            cells.append(last)
        self._cells.update(cells)
        self._chains.append((anchor, cells))
        return self._label_cells(anchor, cells, key)

    def _label_cells(self, anchor: int, cells: list[int], key: Callable[[int], bytes | None]) -> dict[int, bytes]:
        """Labels by rule 2 of those cells to whose member `key` gives a name."""
        seen: dict[bytes, int] = {}
        found: dict[int, bytes] = {}
        for cell in cells:
            member = key(cell)
            if member is not None:
                before = seen[member] = seen.get(member, -1) + 1
                found[cell] = digest(b"cell %s %d %s" % (self.label[anchor], before, member))
        return found

    def _describe(self) -> None:
        """Find the content of every node that has no label yet, owned nodes first."""
        facts, links = self.blanks.facts, self.blanks.links
        for node in reversed(self.order):
            if not self.label[node]:
                parts = list(set(facts[node])) if len(facts[node]) > 1 else facts[node].copy()
                if node in links:
                    parts.extend(self._link(node, predicate, target) for predicate, target in links[node])
                parts.sort()
                self._content[node] = digest(b"\n".join(parts))

    def _link(self, node: int, predicate: bytes, target: int) -> bytes:
        """A triple with a blank object, as it counts in the content of its subject."""
        if self.paths[target]:
            return predicate + b" = " + self.label[target]
        if self.owner[target] == node:
            return predicate + b" > " + self._content[target]
        return predicate + b" ?"

    def _label_rest(self) -> None:
        """Label by rules 2 to 6."""
        for anchor, cells in self._chains:
            for cell, label in self._label_cells(anchor, cells, self._any_member).items():
                self.label[cell] = label
        siblings = self._siblings()
        for ring in self._rings:
            for node, label in zip(ring, around_ring([self._content[node] for node in ring]), strict=True):
                self.label[node] = label
        for node in self.order:
            if not self.label[node]:
                self.label[node] = siblings.get(node) or digest(b"loose " + self._content[node])
            if node in self.blanks.links:
                self._label_owned(node)

    def _siblings(self) -> dict[int, bytes]:
        """Labels by rule 3 of heads."""
        found: dict[int, bytes] = {}
        for node, keys in self.blanks.mentions.items():
            if not self.label[node]:
                found[node] = min(digest(b"some " + key + b" " + self._content[node]) for key in keys)
        for node, predicate, target in references(self):
            if self.owner[target] != node:
                key = self.label[node] + b" " + predicate
                label = digest(b"some " + key + b" " + self._content[target])
                found[target] = min(label, found.get(target, label))
        return found

    def _label_owned(self, node: int) -> None:
        """Label what a labelled node owns, by rules 2, 3 and 4."""
        singles = dict(self._singles(node))
        for predicate, target in self.blanks.links[node]:
            if self.owner[target] != node or self.label[target]:
                continue
            if predicate not in singles:
                key = self.label[node] + b" " + predicate
                self.label[target] = digest(b"some " + key + b" " + self._content[target])
            elif self._is_cell(node, predicate, target):
                for cell, label in self._chain(node, target, self._any_member).items():
                    self.label[cell] = label
            else:
                self.label[target] = digest(b"path " + self.label[node] + b" " + predicate)


def references(labels: Labels) -> Iterator[tuple[int, bytes, int]]:
    """The triples from nodes labelled by their path to nodes that are not."""
    for node, links in labels.blanks.links.items():
        if labels.paths[node]:
            for predicate, target in links:
                if not labels.paths[target]:
                    yield node, predicate, target
