"""
What a harvest changes: mirror, and subject replacement for full and partial dumps.

    first                the graph was empty
    mirror               the graph becomes the input
    full, keeping        every subject of the input has its triples replaced; IRIs that the input lacks stay
    partial              the same, and the graph is not read as a whole: the cost follows the input

Blank nodes (Skolem IRIs under the graph) follow what refers to them. A description that only replaced subjects
referred to goes with them. A full dump also ends those that nothing refers to: a blank node is named by its document
alone, so nothing could ever replace it.

Source: GeoLink Harvester, "Importing Process"; DESIGN, "Full and partial".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harvest.model import Delta, Snapshot
from harvest.revise import lines
from harvest.revise.delta import split
from sparql.rdf import GENID


@dataclass(frozen=True, slots=True)
class Revision:
    """
    What an input does to a graph.

    Attributes:
        delta: What differs.
        vanished: IRIs that are subjects of the graph but no longer of the full input; 0 for a partial one.
        kept: Sorted lines of the old graph that stay although the input lacks them; None for a partial input,
            where they are not looked at. The new graph is the input and these.
    """

    delta: Delta
    vanished: int
    kept: Path | None


def genid(graph: str) -> bytes:
    """What the Skolem IRIs of a graph begin with, as a term of a line."""
    return b"<" + graph.encode() + GENID.encode()


def first(new: Snapshot, folder: Path) -> Revision:
    """An empty graph becomes the input: nothing has to be compared."""
    kept, removed, added = (folder / name for name in ("kept.nq", "removed.nq", "added.nq"))
    kept.touch()
    removed.touch()
    # A name of its own: the input's file may become the snapshot.
    added.hardlink_to(new.path)
    return Revision(Delta(removed, added, 0, new.triples), 0, kept)


def mirror(old: Path, new: Path, graph: str, folder: Path) -> Revision:
    """The graph becomes exactly the input."""
    kept = folder / "kept.nq"
    kept.touch()
    counter = _Vanished(genid(graph))
    with lines.SortedFile(new) as known:
        delta = split(counter.watch(lines.differing(old, new), known.holds), folder)
    return Revision(delta, counter.count, kept)


def full(old: Path, new: Path, graph: str, folder: Path) -> Revision:
    """Subject replacement by a full input: IRIs that it lacks stay, with the blank nodes that they refer to."""
    absent, kept, gone = (folder / name for name in ("absent.nq", "kept.nq", "gone.nq"))
    counter = _Vanished(genid(graph))
    with lines.SortedFile(new) as known, absent.open("wb") as out:
        marked = counter.watch(lines.differing(old, new), known.holds)
        delta = split(_put_aside(marked, known.holds, out.write), folder)
    _part(absent, genid(graph), kept, gone)
    if gone.stat().st_size:
        replaced = folder / "replaced.nq"
        delta.removed.replace(replaced)
        removed = lines.union(delta.removed, replaced, gone)
        delta = Delta(delta.removed, delta.added, removed.triples, delta.added_triples)
    return Revision(delta, counter.count, kept)


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


def _put_aside(
    marked: Iterator[tuple[bool, bytes]], known: Callable[[bytes], bool], aside: Callable[[bytes], object]
) -> Iterator[tuple[bool, bytes]]:
    """Pass on what concerns subjects of the input; old lines of other subjects go aside."""
    for new, line in marked:
        if new or known(lines.subject(line)):
            yield new, line
        else:
            aside(line)


def _part(absent: Path, blank: bytes, kept: Path, gone: Path) -> None:
    """
    Part the old lines whose subjects the input lacks: IRIs and the blank nodes they lead to stay, other blanks go.

    Reads the file once more for each step that a chain of kept blank nodes is long.
    """
    reached: set[bytes] = set()
    grown = True
    while grown:
        before = len(reached)
        with absent.open("rb") as stream:
            for line in stream:
                if b" " + blank in line and (not line.startswith(blank) or lines.subject(line) in reached):
                    value = lines.object_(line)
                    if value.startswith(blank):
                        reached.add(value)
        grown = len(reached) > before
    with absent.open("rb") as stream, kept.open("wb") as stays, gone.open("wb") as goes:
        for line in stream:
            stay = not line.startswith(blank) or lines.subject(line) in reached
            (stays if stay else goes).write(line)
