"""
What a harvest changes: mirror, and subject replacement for full and partial dumps.

    first                the graph was empty
    mirror               the graph becomes the input
    full, keeping        every subject of the input has its triples replaced; IRIs that the input lacks stay
    partial              as full, keeping, but the graph is not read as a whole: the cost follows the input

Blank nodes (Skolem IRIs under the graph) follow what refers to them. A description that only replaced subjects
referred to goes with them. A full dump also ends those of its own dataset that nothing refers to: a blank node is named
by its document alone, so nothing could ever replace it.

Source: GeoLink Harvester, "Importing Process"; DESIGN, "Full and partial".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harvest.model import Delta, Snapshot
from harvest.revise import lines
from harvest.revise.clash import settled
from harvest.revise.delta import split
from harvest.revise.reach import Links, Reached, mark
from harvest.revise.target import ANY, Origin, Target


@dataclass(frozen=True, slots=True)
class Revision:
    """
    What an input does to a graph.

    Attributes:
        delta: What differs.
        vanished: IRIs that are subjects of the graph but no longer of the full input; 0 for a partial one.
        kept: Sorted lines of the old graph that stay although the input lacks them; None for a partial input,
            where they are not looked at. The new graph is the input and these.
        input: The input, its blank nodes under the names that they have in the new graph.
    """

    delta: Delta
    vanished: int
    kept: Path | None
    input: Path


def first(new: Snapshot, folder: Path) -> Revision:
    """An empty graph becomes the input: nothing has to be compared."""
    kept, removed, added = (folder / name for name in ("kept.nq", "removed.nq", "added.nq"))
    kept.touch()
    removed.touch()
    # A name of its own: the input's file may become the snapshot.
    added.hardlink_to(new.path)
    return Revision(Delta(removed, added, 0, new.triples), 0, kept, new.path)


def mirror(old: Path, new: Path, graph: str, folder: Path) -> Revision:
    """The graph becomes exactly the input: nothing stays that could share a name with it."""
    kept = folder / "kept.nq"
    kept.touch()
    counter = _Vanished(Target(graph).blank)
    with lines.SortedFile(new) as known:
        delta = split(counter.watch(lines.differing(old, new), known.holds), folder)
    return Revision(delta, counter.count, kept, new)


def full(old: Path, new: Path, graph: str, folder: Path, origin: Origin = ANY) -> Revision:
    """Subject replacement by a full input: IRIs that it lacks stay, with the blank nodes that they refer to."""
    target = Target(graph, origin)
    absent, kept, gone = (folder / name for name in ("absent.nq", "kept.nq", "gone.nq"))
    counter, delta = _compared(old, new, target, folder)
    with lines.SortedFile(new) as known:
        stays = _staying(old if target.safe else absent, absent, target, known)
    if stays is not None and target.safe:
        with lines.SortedFile(old) as held:
            named = settled(target, new, _FullRemainder(held, stays), folder)
        if named != new:
            new = named
            counter, delta = _compared(old, new, target, folder)
    _part(absent, target, stays, kept, gone)
    if gone.stat().st_size:
        replaced = folder / "replaced.nq"
        delta.removed.replace(replaced)
        removed = lines.union(delta.removed, replaced, gone)
        delta = Delta(delta.removed, delta.added, removed.triples, delta.added_triples)
    return Revision(delta, counter.count, kept, new)


class _Vanished:
    """Counts the IRIs whose lines all went."""

    def __init__(self, blank: bytes) -> None:
        self.count = 0
        self._blank = blank

    def watch(
        self, marked: Iterator[tuple[bool, bytes]], known: Callable[[bytes], bool]
    ) -> Iterator[tuple[bool, bytes]]:
        """Pass the lines through; count each subject that only the old graph has, once."""
        last = b""
        for new, line in marked:
            if not new and not (last and line.startswith(last)):
                last = lines.subject(line) + b" "
                self.count += not line.startswith(self._blank) and not known(last[:-1])
            yield new, line


def _compared(old: Path, new: Path, target: Target, folder: Path) -> tuple[_Vanished, Delta]:
    """What the input changes of its own subjects; old lines of other subjects are put aside in `absent.nq`."""
    counter = _Vanished(target.blank)
    with lines.SortedFile(new) as known, (folder / "absent.nq").open("wb") as out:
        marked = counter.watch(lines.differing(old, new), known.holds)
        return counter, split(_put_aside(marked, known.holds, out.write), folder)


def _put_aside(
    marked: Iterator[tuple[bool, bytes]], known: Callable[[bytes], bool], aside: Callable[[bytes], object]
) -> Iterator[tuple[bool, bytes]]:
    """Pass on what concerns subjects of the input; old lines of other subjects go aside."""
    for new, line in marked:
        if new or known(lines.subject(line)):
            yield new, line
        else:
            aside(line)


class _FullRemainder:
    """The old graph, as `harvest.revise.clash` asks for it."""

    def __init__(self, held: lines.SortedFile, stays: Reached) -> None:
        self.has = held.has
        self.size = held.size
        self.stays = stays.__contains__


def _staying(source: Path, absent: Path, target: Target, known: lines.SortedFile) -> Reached | None:
    """
    The blank nodes that stay whatever the input's are called; None when there are none.

    IRIs that the input lacks lead to them by the lines of `source`, or they are of other datasets, or lead there. Each
    file is read a fixed number of times, however long the chains of blank nodes are.
    """
    roots = array("Q")
    others = False
    with absent.open("rb") as stream:
        for line in stream:
            if line.startswith(target.blank):
                others = others or not target.is_own(lines.subject(line))
            elif value := target.refers(line):
                roots.append(mark(value))
    if not roots and not others:
        return None
    links = Links(_links(source, target), absent.parent)
    if others:
        roots.extend(_others(links, source, target, known))
    return links.reached(roots)


def _others(links: Links, source: Path, target: Target, known: lines.SortedFile) -> Iterator[int]:
    """The blank nodes of other datasets, without those that the replaced descriptions led to."""
    led = array("Q")
    with source.open("rb") as stream:
        for line in stream:
            value = b"" if line.startswith(target.blank) else target.refers(line)
            if value and known.holds(lines.subject(line)):
                led.append(mark(value))
    replaced = links.reached(led)
    for node in lines.subjects(source):
        if target.is_blank(node) and not target.is_own(node) and node not in replaced:
            yield mark(node)


def _links(path: Path, target: Target) -> Iterator[tuple[bytes, bytes]]:
    """Which blank node leads to which, and each to itself."""
    with path.open("rb") as stream:
        for line in stream:
            if target.blank in line:
                names = target.named(line)
                for name in names:
                    yield name, name
                if len(names) > 1:
                    yield names[0], names[1]


def _part(absent: Path, target: Target, stays: Reached | None, kept: Path, gone: Path) -> None:
    """Part the old lines whose subjects the input lacks: IRIs and the blank nodes that stay, and other blank nodes."""
    with absent.open("rb") as stream, kept.open("wb") as staying, gone.open("wb") as going:
        for line in stream:
            stay = not line.startswith(target.blank) or (stays is not None and lines.subject(line) in stays)
            (staying if stay else going).write(line)
