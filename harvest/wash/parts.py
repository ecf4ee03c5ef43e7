"""
A file with more blank nodes than memory can hold, cut into parts that can be labelled one after the other.

A part holds whole components: nodes that are connected through triples between blank nodes. All that a part cannot know
by itself is whether a ground subject has blank objects of the same predicate in other parts, which is marked on its
lines, and whether a label is claimed in other parts, for which the claims of all parts are brought together.

What has to be looked up by a key (the number of a label, the objects of a subject and predicate) is dealt to files by
the checksum of the key, solved file by file, and read back in the order in which it was dealt: no sorting, and each
file is read and written from one end to the other. Per blank node there are 18 bytes in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NamedTuple
from zlib import crc32

from harvest.wash.blanks import BLANK, CROWDED, split
from harvest.wash.components import Claim
from harvest.wash.twins import name

_MOST_FILES = 200
"""Files of one kind; beyond so many parts they get larger. Two kinds are open at once, and 1,024 is a usual limit."""

_CHUNK = 1 << 13
"""Answers read at once."""

_CLAIM = Struct("<16s16sQII")
"""Label, component, number of the component, rank, node; all zero bytes for the component of a simple claim."""

_NO_COMPONENT = bytes(16)


@dataclass(frozen=True, slots=True)
class Room:
    """
    Room for temporary files.

    Attributes:
        folder: Where they go.
        limit: Bytes that a part should not exceed; it does when a component does, or when there would be too many.
        files: How many files to deal keys to.
        opened: Closes what is still open when something goes wrong.
    """

    folder: Path
    limit: int
    files: int
    opened: ExitStack

    @classmethod
    def of(cls, folder: Path, limit: int, total: int, opened: ExitStack) -> Room:
        """Room for cutting a file of `total` bytes into parts of about `limit` bytes."""
        limit = max(limit, 2 * total // _MOST_FILES + 1)
        return cls(folder, limit, total // limit + 1, opened)

    def open(self, stem: str, count: int) -> tuple[list[Path], list[BinaryIO]]:
        """New files, open for writing."""
        paths = [self.folder / f"{stem}-{at}" for at in range(count)]
        return paths, [self.opened.enter_context(path.open("wb")) for path in paths]


class Parts(NamedTuple):
    """
    The parts of a file.

    Attributes:
        paths: N-Triples with `_:` and a number for each blank node, and a `!` before lines whose ground subject has
            several blank objects of that predicate.
        nodes: How many blank nodes there are; they are numbered from 0.
    """

    paths: list[Path]
    nodes: int


class _Deal:
    """
    Keys dealt to files, and then an answer for each, in the order in which the keys came.

    Attributes:
        code: The array type of the answers.
    """

    def __init__(self, room: Room, stem: str, code: str) -> None:
        self.code = code
        self._paths, self._files = room.open(stem, room.files)
        self._answers: list[Iterator[int]] = []

    def put(self, key: bytes, value: bytes = b"") -> None:
        """Deal a key, with what is to be known of it."""
        self._files[crc32(key) % len(self._files)].write(key + value + b"\n")

    def solve(self, answer: Callable[[Sequence[bytes]], Iterable[int]]) -> None:
        """Let `answer` map all lines of a file, in which are all lines of their keys, to their answers."""
        for path, file in zip(self._paths, self._files, strict=True):
            file.close()
            answers = array(self.code, answer(path.read_bytes().split(b"\n")[:-1]))
            with path.open("wb") as out:
                answers.tofile(out)
        self._answers = [self._read(path) for path in self._paths]

    def get(self, key: bytes) -> int:
        """The answer for the next key, which has to be asked for in the order of `put`."""
        return next(self._answers[crc32(key) % len(self._answers)])

    def _read(self, path: Path) -> Iterator[int]:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK * array(self.code).itemsize):
                yield from array(self.code, chunk)


@dataclass(slots=True)
class _Nodes:
    """
    The blank nodes of a file, numbered in the order of the file.

    Attributes:
        parent: For each node a node of the same component, nearer to the first.
        size: For each node the bytes of its lines.
    """

    parent: array[int]
    size: array[int]

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


def cut(source: Path, room: Room) -> Parts:
    """The parts of an N-Triples file with blank nodes."""
    numbers, count = _number(source, room)
    crowds = _Deal(room, "crowd", "B")
    plain = room.folder / "numbered"
    nodes = _renumber(source, plain, (numbers, count), crowds)
    crowds.solve(_crowded)
    paths = _deal_out(plain, room, nodes.parts(room.limit), crowds)
    plain.unlink()
    return Parts(paths, count)


def _number(source: Path, room: Room) -> tuple[_Deal, int]:
    """A number for each blank node label in the order of the lines, and how many there are."""
    numbers = _Deal(room, "label", "I")
    with source.open("rb") as lines:
        for line in lines:
            end, gap = split(line)
            if line[0] == BLANK:
                numbers.put(line[:end])
            if line[gap + 1] == BLANK:
                numbers.put(line[gap + 1 : -3])
    count = 0

    def answer(labels: Sequence[bytes]) -> Iterator[int]:
        nonlocal count
        known: dict[bytes, int] = {}
        before = count
        for label in labels:
            yield known.setdefault(label, before + len(known))
        count += len(known)

    numbers.solve(answer)
    return numbers, count


def _renumber(source: Path, target: Path, numbers: tuple[_Deal, int], crowds: _Deal) -> _Nodes:
    """Write the lines with numbers that count up for labels, and find what is connected."""
    deal, count = numbers
    later = array("I", bytes(4 * count))
    nodes = _Nodes(array("I", range(count)), array("Q", bytes(8 * count)))
    seen = 0

    def node(label: bytes) -> int:
        nonlocal seen
        number = deal.get(label)
        if not later[number]:
            seen += 1
            later[number] = seen
        return later[number] - 1

    with source.open("rb") as lines, target.open("wb") as out:
        for line in lines:
            end, gap = split(line)
            one = other = node(line[:end]) if line[0] == BLANK else -1
            subject = line[:end] if one < 0 else b"_:%d" % one
            if line[gap + 1] == BLANK:
                other = node(line[gap + 1 : -3])
                out.write(b"%s%s _:%d .\n" % (subject, line[end:gap], other))
            else:
                out.write(subject + line[end:])
            nodes.size[other] += len(line)
            if one < 0:
                crowds.put(line[:gap], b" %d" % other)
            elif one != other:
                nodes.join(one, other)
    return nodes


def _crowded(lines: Sequence[bytes]) -> Iterator[int]:
    """For each line, a subject, a predicate and a node, whether other nodes have the same subject and predicate."""
    only: dict[bytes, bytes] = {}
    for line in lines:
        key, _, node = line.rpartition(b" ")
        if only.setdefault(key, node) != node:
            only[key] = b""
    return (not only[line.rpartition(b" ")[0]] for line in lines)


def _deal_out(plain: Path, room: Room, part: array[int], crowds: _Deal) -> list[Path]:
    """Write each line to the file of its part."""
    paths, files = room.open("part", max(part) + 1)
    with plain.open("rb") as lines:
        for line in lines:
            end, gap = split(line)
            if line[0] == BLANK:
                files[part[int(line[2:end])]].write(line)
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
