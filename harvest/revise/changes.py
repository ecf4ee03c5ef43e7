"""
What changes of somebody else do to a graph: statements go and come, and nothing else is touched.

A change is two sorted files, what it removes and what it adds; what is in both is there afterwards. Several are applied
one after the other, and come to one delta. What the graph is like already is counted, and is no error.

Names of blank nodes that a change adds are settled against the graph, so that none is taken for one that is there.
A blank node that a change removes is one of the graph where the graph has the statement under the name that washing
gives the node by its description in the change; else it is none.

Source: Timbuctoo exchange protocol, "N-Quads U.D."; DESIGN, "Safety comes before stability".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from heapq import merge
from itertools import groupby
from pathlib import Path

from harvest.model import Delta, Finding, Snapshot
from harvest.revise import delta as deltas
from harvest.revise import lines
from harvest.revise.clash import settled
from harvest.revise.partial import Lookup
from harvest.revise.replace import Revision
from harvest.revise.target import Origin, Target

Sides = tuple[Path, Path]
"""The sorted lines that a change removes, and those that it adds."""


def applied(
    graph: str, changes: Sequence[Sides], current: Lookup | None, folder: Path, origin: Origin
) -> tuple[Revision, list[Finding]]:
    """
    What changes do to a graph, one after the other, and what of them it was like already.

    The cost follows the changes and not the graph. `current` is None for a graph that is empty.
    """
    target = Target(graph, origin)
    delta, findings = _nothing(folder), list[Finding]()
    for number, sides in enumerate(changes):
        room = folder / f"change-{number}"
        room.mkdir()
        with Overlay(current, delta) as standing:
            step = _Step(target, standing, room)
            later = step.delta(*sides)
            findings += step.findings(*sides)
        delta = deltas.compose(delta, later, room) if number else later
    with Overlay(current, _nothing(folder)) as before:
        old = _described(target, (delta.removed, delta.added), before, folder / "old.nq")
    return Revision(delta, 0, None, deltas.apply(old, delta, folder / "after.nq").path), findings


def _nothing(folder: Path) -> Delta:
    empty = folder / "nothing.nq"
    empty.touch()
    return Delta(empty, empty, 0, 0)


class Overlay:
    """A graph and what changed since; fulfils `harvest.revise.partial.Lookup`."""

    def __init__(self, current: Lookup | None, since: Delta) -> None:
        """An empty graph where `current` is None."""
        self._current = current
        self._added = since.added
        self._files = ExitStack()
        self._gone = self._files.enter_context(lines.SortedFile(since.removed))
        self._new = self._files.enter_context(lines.SortedFile(since.added))

    def __enter__(self) -> Overlay:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""
        for term in subjects:
            held = list(self._current.describe(graph, [term])) if self._current else []
            gone, new = self._gone.of(term), self._new.of(term)
            yield from sorted({*held}.difference(gone).union(new)) if gone or new else held

    def has(self, graph: str, line: bytes) -> bool:
        """Whether this line is there."""
        if self._new.has(line):
            return True
        return self._current is not None and self._current.has(graph, line) and not self._gone.has(line)

    def size(self, graph: str, subject: bytes) -> int:
        """How many lines a subject has."""
        held = self._current.size(graph, subject) if self._current else 0
        return held + self._new.size(subject) - self._gone.size(subject)

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object."""
        if self._current is not None:
            yield from (line for line in self._current.referrers(graph, object) if not self._gone.has(line))
        ending = b" %s <%s> .\n" % (object, graph.encode())
        with self._added.open("rb") as stream:
            yield from (line for line in stream if line.endswith(ending))


class _Step:
    """One change, on its way to a delta."""

    def __init__(self, target: Target, current: Overlay, folder: Path) -> None:
        self._target = target
        self._current = current
        self._folder = folder
        self._new = self._old = folder / "nothing.nq"

    def delta(self, gone: Path, new: Path) -> Delta:
        """What truly differs."""
        old = _described(self._target, (gone, new), self._current, self._folder / "described.nq")
        going = lines.common(self._folder / "going.nq", gone, old)
        with lines.SortedFile(going.path) as file:
            named = settled(self._target, new, _Remainder(self._target.graph, self._current, file), self._folder)
        if named != new:
            old = _described(self._target, (gone, named), self._current, self._folder / "described-again.nq")
        removed = lines.minus(self._folder / "truly-removed.nq", going.path, named)
        added = lines.minus(self._folder / "truly-added.nq", named, old)
        self._new, self._old = named, old
        return Delta(removed.path, added.path, removed.triples, added.triples)

    def findings(self, gone: Path, new: Path) -> Iterator[Finding]:
        """What the change says that was so already, or that contradicts itself."""
        named = self._target.named
        absent = lines.minus(self._folder / "absent.nq", gone, self._old)
        blank = self._where(absent, lambda line: bool(named(line)))
        if count := absent.triples - blank.triples:
            first = self._where(absent, lambda line: not named(line))
            said = f"{_many(count)} that the change removes {_was(count)} not there"
            yield Finding("change-absent", said, excerpt=_first(first.path))
        if blank.triples:
            said = (
                f"{_many(blank.triples)} with blank nodes that the change removes could not be found: a label says "
                "nothing outside its file, and no node of the graph has the description that the change gives"
            )
            yield Finding("change-blank", said, excerpt=_first(blank.path))
        present = lines.common(self._folder / "present.nq", self._new, self._old)
        twice = self._where(lines.common(self._folder / "both.nq", gone, new), lambda line: not named(line))
        if count := lines.minus(self._folder / "known.nq", present.path, gone).triples:
            said = f"{_many(count)} that the change adds {_was(count)} there already"
            yield Finding("change-present", said, excerpt=_first(self._folder / "known.nq"))
        if twice.triples:
            said = f"{_many(twice.triples)} that the change both removes and adds; the graph has them afterwards"
            yield Finding("change-twice", said, excerpt=_first(twice.path))

    def _where(self, found: Snapshot, wanted: Callable[[bytes], bool]) -> Snapshot:
        with found.path.open("rb") as stream:
            return lines.write(found.path.with_suffix(".some"), filter(wanted, stream))


def _described(target: Target, files: Sequence[Path], current: Lookup, into: Path) -> Path:
    """The lines that the graph has of the subjects of sorted files."""
    subjects = (term for term, _ in groupby(merge(*map(lines.subjects, files))))
    with into.open("wb") as out:
        out.writelines(current.describe(target.graph, subjects))
    return into


class _Remainder:
    """The graph, as `harvest.revise.clash` asks for it; what goes is no more."""

    def __init__(self, graph: str, current: Lookup, going: lines.SortedFile) -> None:
        self._graph = graph
        self._current = current
        self._going = going

    def has(self, line: bytes) -> bool:
        """Whether the graph has a line."""
        return self._current.has(self._graph, line)

    def size(self, term: bytes) -> int:
        """How many lines have this subject."""
        return self._current.size(self._graph, term)

    def stays(self, name: bytes) -> bool:
        """Whether a blank node is in what stays."""
        if self.size(name) > self._going.size(name):
            return True
        return not all(self._going.has(line) for line in self._current.referrers(self._graph, name))


def _first(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.readline(200).decode("utf-8", "replace").strip()


def _many(count: int) -> str:
    return f"{count:,} statement{'s' * (count != 1)}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
