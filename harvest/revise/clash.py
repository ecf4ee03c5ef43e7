"""
Names of an input's blank nodes that stand in what stays of the graph, and the names that the nodes get instead.

A node keeps its name when the name stands nowhere in what stays. It also keeps it when the graph has, word for word,
all that the input says of the nodes that it hangs together with, and says no more of them. Otherwise it is another node
than the one that has the name, and takes the next name that is free. A repeated input finds its nodes under the names
that they got then: nodes that hang together are looked for under all names that they may have.

So the graph afterwards says nothing that neither the graph before nor the input said, whatever names washing gave.

Source: DESIGN, "Safety comes before stability".
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import sha256
from itertools import count, groupby, islice
from pathlib import Path
from typing import Protocol

from harvest.revise import lines
from harvest.revise.reach import Links, Reached, mark
from harvest.revise.target import Target

_COUNTED = 16
"""Names of a node up to this one differ by their number alone; further ones by what the node hangs together with."""

_HELD = 200_000
"""Lines that hang together and are looked for in the graph; more are taken for new ones, to bound memory."""

_HASH = re.compile(rb"/([0-9a-f]{32})(-[0-9a-f]+)?>$")


class Remainder(Protocol):
    """What is asked of the graph before the input; terms and lines are canonical N-Quads."""

    def has(self, line: bytes) -> bool:
        """Whether the graph has this line."""

    def size(self, term: bytes) -> int:
        """How many lines have this subject."""

    def stays(self, name: bytes) -> bool:
        """Whether a blank node's name stands in what stays of the graph, whatever the input's nodes are called."""


def settled(target: Target, new: Path, standing: Remainder, folder: Path) -> Path:
    """
    The input with names that are safe: `new` itself where all are.

    Memory follows the links between blank nodes of the input, 25 bytes each, and the nodes that are renamed.
    """
    taken = array("Q", sorted(mark(name) for name in _names(target, new, folder) if standing.stays(name)))
    if not taken:
        return new
    changed = array("Q")
    parts = Links(_links(target, new, standing, changed), folder).parts()
    other = {parts.part(node) for node in changed}
    clashing = {part for part in (parts.part(node) for node in taken) if part in other}
    renamed: dict[bytes, bytes] = {}
    if clashing:
        for found in _components(target, new, parts, clashing, folder):
            renamed.update(_Connected(target, found, standing, taken).renamed())
    return _rewritten(target, new, renamed, folder) if renamed else new


def _names(target: Target, new: Path, folder: Path) -> Iterator[bytes]:
    """Each blank node of a file, once, in order."""
    found = (name for line in _blank(target, new) for name in target.named(line))
    first = next(found, None)
    if first is None:
        return
    every = (name + b"\n" for some in ((first,), found) for name in some)
    with lines.sorted_(every, "-u", "--buffer-size=64M", f"--temporary-directory={folder}") as ordered:
        for line in ordered:
            yield line[:-1]


def _blank(target: Target, path: Path) -> Iterator[bytes]:
    """The lines of a file that have a blank node, and maybe others."""
    with path.open("rb") as stream:
        for line in stream:
            if target.blank in line:
                yield line


def _links(target: Target, new: Path, standing: Remainder, changed: array[int]) -> Iterator[tuple[bytes, bytes]]:
    """What blank nodes hang together, both ways; nodes of which input and graph do not say the same are `changed`."""
    for subject, group in groupby(_blank(target, new), lines.subject):
        said = 0
        for line in group:
            said += 1
            names = target.named(line)
            if names and not standing.has(line):
                changed.extend(mark(name) for name in names)
            if names:
                yield names[0], names[-1]
                yield names[-1], names[0]
        if target.is_blank(subject) and standing.size(subject) != said:
            changed.append(mark(subject))


def _components(target: Target, new: Path, parts: Reached, wanted: set[int], folder: Path) -> Iterator[Iterator[bytes]]:
    """The lines that hang together by blank nodes, for each of the parts that are wanted."""

    def tagged() -> Iterator[bytes]:
        for line in _blank(target, new):
            names = target.named(line)
            if names and (part := parts.part(mark(names[0]))) in wanted:
                yield b"%010d%s" % (part, line)

    with lines.sorted_(tagged(), "--buffer-size=64M", f"--temporary-directory={folder}") as ordered:
        for _, group in groupby(ordered, lambda line: line[:10]):
            yield (line[10:] for line in group)


class _Connected:
    """Lines of the input that hang together by blank nodes, at least one of which has a name that is taken."""

    def __init__(self, target: Target, found: Iterator[bytes], standing: Remainder, taken: array[int]) -> None:
        self._target = target
        self._standing = standing
        self._taken = taken
        self._digest = sha256()
        self._nodes: dict[bytes, None] = {}
        self._own: dict[bytes, list[bytes]] = {}
        self._into: dict[bytes, list[bytes]] = {}
        for line in islice(found, _HELD):
            self._take(line)
            if target.is_blank(line):
                self._own.setdefault(lines.subject(line), []).append(line)
            if name := target.refers(line):
                self._into.setdefault(name, []).append(line)
        self._whole = True
        for line in found:
            self._whole = False
            self._take(line)

    def _take(self, line: bytes) -> None:
        self._digest.update(line)
        self._nodes.update(dict.fromkeys(self._target.named(line)))

    def renamed(self) -> dict[bytes, bytes]:
        """The nodes that get other names, with these."""
        clashing = [node for node in self._nodes if self._is_taken(node)]
        if self._whole:
            for level in range(_COUNTED + 1):
                found = self._found(clashing[0], level)
                if found is not None:
                    return {node: name for node, name in found.items() if node != name}
        return {node: self._free(node) for node in clashing if _HASH.search(node)}

    def _is_taken(self, node: bytes) -> bool:
        digest = mark(node)
        at = bisect_left(self._taken, digest)
        return at < len(self._taken) and self._taken[at] == digest

    def _free(self, node: bytes) -> bytes:
        """The first name of a node that stands nowhere in what stays."""
        return next(name for name in map(self._name, _always(node), count(1)) if not self._standing.stays(name))

    def _name(self, node: bytes, level: int) -> bytes:
        """A name that a node may have; the first is the one that washing gave it."""
        match = _HASH.search(node)
        if level == 0 or match is None:
            return node
        stem = b"apart %d %s" % (level, match[1])
        if level >= _COUNTED:
            stem += b" " + self._digest.hexdigest().encode()
        fresh = sha256(stem).hexdigest()[:32].encode()
        return node[: match.start(1)] + fresh + node[match.end(1) :]

    def _found(self, start: bytes, level: int) -> dict[bytes, bytes] | None:
        """The names under which the graph has all these lines, and no more about the nodes; None when it has not."""
        names = {start: self._name(start, level)}
        waiting = [start]
        for node in waiting:
            own = self._own.get(node, [])
            if self._standing.size(names[node]) != len(own):
                return None
            if not all(self._fits(line, names, waiting) for line in (*own, *self._into.get(node, []))):
                return None
        return names if len(names) == len(self._nodes) else None

    def _fits(self, line: bytes, names: dict[bytes, bytes], waiting: list[bytes]) -> bool:
        """Whether the graph has a line under some name of the one node that may have none yet, which then has it."""
        fresh = [node for node in self._target.named(line) if node not in names]
        if not fresh:
            return self._standing.has(_under(line, names))
        for level in range(_COUNTED + 1):
            names[fresh[0]] = self._name(fresh[0], level)
            if self._standing.has(_under(line, names)):
                waiting.append(fresh[0])
                return True
        return False


def _always(node: bytes) -> Iterator[bytes]:
    while True:
        yield node


def _under(line: bytes, names: dict[bytes, bytes]) -> bytes:
    """A line with other names for its blank nodes."""
    subject, predicate, rest = line.split(b" ", 2)
    end = rest.rindex(b" <")
    return b" ".join((names.get(subject, subject), predicate, names.get(rest[:end], rest[:end]))) + rest[end:]


def _rewritten(target: Target, new: Path, names: dict[bytes, bytes], folder: Path) -> Path:
    """The input with the new names, sorted."""
    renamed = folder / "renamed.nq"

    def rewritten() -> Iterator[bytes]:
        with new.open("rb") as stream:
            for line in stream:
                yield _under(line, names) if target.blank in line else line

    with lines.sorted_(rewritten(), "--buffer-size=64M", f"--temporary-directory={folder}") as ordered:
        lines.write(renamed, iter(lambda: ordered.read(1 << 20), b""))
    return renamed
