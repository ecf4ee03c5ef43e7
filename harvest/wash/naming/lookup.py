"""
What is looked up by a key while a file is cut into parts: the number of a label, whether a subject has several
blank objects of a predicate.

It is kept in memory up to a number of keys. Beyond that it is dealt to files by the checksum of the key, solved file
by file, and read back in the order in which it was dealt: no sorting, and each file is read and written from one end to
the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol
from zlib import crc32

from harvest.wash.naming.blanks import BLANK, split

_MOST_FILES = 200
"""Files of one kind; beyond so many parts they get larger. Two kinds are open at once, and 1,024 is a usual limit."""

_CHUNK = 1 << 13
"""Answers read at once."""

_KEY = 128
"""Bytes of the largest part for each key that is kept in memory; one takes about 200."""


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


class Many(Exception):
    """More keys than memory has room for."""


class NumbersInMemory:
    """Numbers that count up for labels."""

    def __init__(self, room: Room) -> None:
        self._most = room.limit // _KEY
        self._known: dict[bytes, int] = {}

    def __call__(self, label: bytes) -> int:
        """
        The number of a label.

        Raises:
            Many: There are too many labels.
        """
        number = self._known.setdefault(label, len(self._known))
        if number >= self._most:
            raise Many
        return number


class NumbersInFiles:
    """The same for any number of labels, which have to be asked for in the order of the file."""

    def __init__(self, source: Path, room: Room) -> None:
        self._deal, count = _number(source, room)
        self._later = array("I", bytes(4 * count))
        self._seen = 0

    def __call__(self, label: bytes) -> int:
        """The number of the next label."""
        number = self._deal.get(label)
        if not self._later[number]:
            self._seen += 1
            self._later[number] = self._seen
        return self._later[number] - 1


class Crowds(Protocol):
    """Which pairs of a ground subject and a predicate have several blank objects."""

    def put(self, key: bytes, node: int) -> None:
        """Take in that a pair has this object."""

    def solve(self) -> None:
        """Go over from taking in to answering."""

    def get(self, key: bytes) -> bool:
        """Whether a pair has several, asked for in the order of `put`."""


class CrowdsInMemory:
    """In two dictionaries."""

    def __init__(self, room: Room) -> None:
        self._most = room.limit // _KEY
        self._only: dict[bytes, int] = {}
        self._crowded: set[bytes] = set()

    def put(self, key: bytes, node: int) -> None:
        """
        Take in that a pair has this object.

        Raises:
            Many: There are too many pairs.
        """
        if self._only.setdefault(key, node) != node:
            self._crowded.add(key)
        if len(self._only) > self._most:
            raise Many

    def solve(self) -> None:
        """Forget the objects."""
        self._only = {}

    def get(self, key: bytes) -> bool:
        """Whether a pair has several."""
        return key in self._crowded


class CrowdsInFiles:
    """For any number of pairs."""

    def __init__(self, room: Room) -> None:
        self._deal = _Deal(room, "crowd", "B")

    def put(self, key: bytes, node: int) -> None:
        """Take in that a pair has this object."""
        self._deal.put(key, b" %d" % node)

    def solve(self) -> None:
        """Find the answers."""
        self._deal.solve(_crowded)

    def get(self, key: bytes) -> bool:
        """Whether the next pair has several."""
        return bool(self._deal.get(key))


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


def _crowded(lines: Sequence[bytes]) -> Iterator[int]:
    """For each line, a subject, a predicate and a node, whether other nodes have the same subject and predicate."""
    only: dict[bytes, bytes] = {}
    for line in lines:
        key, _, node = line.rpartition(b" ")
        if only.setdefault(key, node) != node:
            only[key] = b""
    return (not only[line.rpartition(b" ")[0]] for line in lines)
