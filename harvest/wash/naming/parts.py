"""
A file with more blank nodes than memory can hold, cut into parts that can be labelled one after the other.

A part holds whole components: nodes that are connected through triples between blank nodes. All that a part cannot know
by itself is whether a ground subject has blank objects of the same predicate in other parts, which is marked on its
lines, and whether a label is claimed in other parts, for which the claims of all parts are brought together.

What is looked up by a key (`lookup`) is kept in memory while it fits there, else in files. Per blank
node there are 18 bytes in memory besides.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from harvest.wash.naming.blanks import BLANK, CROWDED, split
from harvest.wash.naming.components import Claim, name
from harvest.wash.naming.lookup import (
    Crowds,
    CrowdsInFiles,
    CrowdsInMemory,
    Many,
    NumbersInFiles,
    NumbersInMemory,
    Room,
)
from harvest.wash.naming.roots import TYPE, RootsOfFile

_CLAIM = Struct("<16s16sQII")
"""Label, component, number of the component, rank, node; all zero bytes for the component of a simple claim."""

_NO_COMPONENT = bytes(16)


class Parts(NamedTuple):
    """
    The parts of a file.

    Attributes:
        paths: N-Triples with `_:` and a number for each blank node, and a `!` before lines whose ground subject has
            several blank objects of that predicate.
        nodes: How many blank nodes there are; they are numbered from 0.
        roots: The labels of roots that have one, by number.
    """

    paths: list[Path]
    nodes: int
    roots: dict[int, bytes]


@dataclass(slots=True)
class _Nodes:
    """
    The blank nodes of a file, numbered in the order of the file.

    Attributes:
        parent: For each node a node of the same component, nearer to the first.
        size: For each node the bytes of its lines.
        roots: Which of them nothing refers to.
    """

    parent: array[int]
    size: array[int]
    roots: RootsOfFile

    def first(self, node: int) -> int:
        """The first node of the component of a node."""
        parent = self.parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, one: int, other: int) -> None:
        """Make one component of the components of two nodes."""
        one, other = self.first(one), self.first(other)
        self.parent[max(one, other)] = min(one, other)

    def parts(self, limit: int) -> array[int]:
        """For each node the number of its part; components follow each other until a part would exceed the limit."""
        for node, size in enumerate(self.size):
            first = self.first(node)
            if first != node:
                self.size[first] += size
        part = array("H", bytes(2 * len(self.parent)))
        number, filled = 0, 0
        for node in range(len(self.parent)):
            first = self.first(node)
            if first == node:
                if filled and filled + self.size[node] > limit:
                    number, filled = number + 1, 0
                filled += self.size[node]
                part[node] = number
            else:
                part[node] = part[first]
        return part


def cut(source: Path, room: Room, *, steady: bool) -> Parts:
    """The parts of an N-Triples file with blank nodes; `steady` finds labels for roots."""
    plain = room.folder / "numbered"
    nodes, crowds = _in_memory(source, plain, room) or _in_files(source, plain, room)
    crowds.solve()
    if steady:
        nodes.roots.choose()
    paths = _deal_out(plain, room, nodes, crowds)
    plain.unlink()
    return Parts(paths, len(nodes.parent), nodes.roots.named())


def _in_memory(source: Path, plain: Path, room: Room) -> tuple[_Nodes, Crowds] | None:
    """The nodes and what is known of crowds, or None where memory has no room for the keys, which then are let go."""
    crowds = CrowdsInMemory(room)
    try:
        return _renumber(source, plain, NumbersInMemory(room), crowds), crowds
    except Many:
        return None


def _in_files(source: Path, plain: Path, room: Room) -> tuple[_Nodes, Crowds]:
    """The same for any number of keys."""
    crowds = CrowdsInFiles(room)
    return _renumber(source, plain, NumbersInFiles(source, room), crowds), crowds


def _renumber(source: Path, target: Path, number: Callable[[bytes], int], crowds: Crowds) -> _Nodes:
    """Write the lines with numbers that count up for labels, and find what is connected."""
    roots = RootsOfFile()
    nodes = _Nodes(array("I"), array("Q"), roots)

    def node(label: bytes) -> int:
        found = number(label)
        if found == len(nodes.parent):
            nodes.parent.append(found)
            nodes.size.append(0)
            roots.add()
        return found

    with source.open("rb") as lines, target.open("wb") as out:
        for line in lines:
            end, gap = split(line)
            one = other = node(line[:end]) if line[0] == BLANK else -1
            subject = line[:end] if one < 0 else b"_:%d" % one
            if line[gap + 1] == BLANK:
                other = node(line[gap + 1 : -3])
                roots.refer(other)
                out.write(b"%s%s _:%d .\n" % (subject, line[end:gap], other))
            else:
                if line.startswith(TYPE, end + 1):
                    roots.type(one, line[end + 1 : -3])
                out.write(subject + line[end:])
            nodes.size[other] += len(line)
            if one < 0:
                crowds.put(line[:gap], other)
            elif one != other:
                nodes.join(one, other)
    return nodes


def _deal_out(plain: Path, room: Room, nodes: _Nodes, crowds: Crowds) -> list[Path]:
    """Write each line to the file of its part, and collect what the roots say that may have labels."""
    part, roots = nodes.parts(room.limit), nodes.roots
    paths, files = room.open("part", max(part) + 1)
    with plain.open("rb") as lines:
        for line in lines:
            end, gap = split(line)
            if line[0] == BLANK:
                number = int(line[2:end])
                files[part[number]].write(line)
                if number in roots.wanted and line[gap + 1] != BLANK:
                    roots.describe(number, line[end + 1 : -3])
            else:
                crowded = crowds.get(line[:gap])
                files[part[int(line[gap + 3 : -3])]].write(b"%c%s" % (CROWDED, line) if crowded else line)
    for file in files:
        file.close()
    return paths


class Claims:
    """The claims of all parts, in files by label."""

    def __init__(self, room: Room) -> None:
        self._paths, self._files = room.open("claims", room.files)
        self._components = 0

    def put(self, numbers: Sequence[int], simple: Iterable[tuple[bytes, int]], claims: Iterable[Claim]) -> None:
        """Take the claims of a part, whose nodes have these numbers in the file as a whole."""
        for label, node in simple:
            self._write(Claim(label, b"", 0, 0, numbers[node]))
        last = -1
        for claim in claims:
            last = claim.number
            self._write(claim._replace(number=self._components + last, node=numbers[claim.node]))
        self._components += last + 1

    def names(self, count: int) -> bytearray:
        """The names of all nodes, 16 bytes each, in the order of their numbers."""
        names = bytearray(16 * count)
        for path, file in zip(self._paths, self._files, strict=True):
            file.close()
            claims = [_unpack(fields) for fields in _CLAIM.iter_unpack(path.read_bytes())]
            simple = ((claim.label, claim.node) for claim in claims if not claim.component)
            for node, found in name(simple, (claim for claim in claims if claim.component)):
                names[16 * node : 16 * node + 16] = bytes.fromhex(found.decode())
            path.unlink()
        return names

    def _write(self, claim: Claim) -> None:
        label = bytes.fromhex(claim.label.decode())
        component = bytes.fromhex(claim.component.decode()) or _NO_COMPONENT
        file = self._files[int.from_bytes(label[:4], "big") % len(self._files)]
        file.write(_CLAIM.pack(label, component, claim.number, claim.rank, claim.node))


def _unpack(fields: tuple[bytes, bytes, int, int, int]) -> Claim:
    """The claim that a record holds."""
    label, component, number, rank, node = fields
    name_of_component = b"" if component == _NO_COMPONENT else component.hex().encode()
    return Claim(label.hex().encode(), name_of_component, number, rank, node)
