"""What a store on an engine keeps back until it is sent, and the note of what was sent in part."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from sparql.store import files, literal


@dataclass(frozen=True, slots=True)
class HeldUpdate:
    """
    One SPARQL update of a graph.

    Attributes:
        verb: `DROP`, `DELETE DATA`, `INSERT DATA`, or `DELETE WHERE` for all triples of subjects.
        graph: Its IRI.
        items: Lines, or IRIs of subjects.
    """

    verb: str
    graph: str
    items: tuple[bytes, ...] = ()

    @property
    def text(self) -> str:
        """It as SPARQL."""
        if self.verb == "DROP":
            return f"DROP SILENT GRAPH <{self.graph}>"
        if self.verb == "DELETE WHERE":
            return literal.deletion(self.graph, [item.decode() for item in self.items])
        return f"{self.verb} {{ GRAPH <{self.graph}> {{\n{b''.join(bare(self.items)).decode()}}} }}"

    def halves(self) -> tuple[HeldUpdate, HeldUpdate]:
        """Two updates that come to the same."""
        middle = len(self.items) // 2
        return replace(self, items=self.items[:middle]), replace(self, items=self.items[middle:])


@dataclass(frozen=True, slots=True)
class HeldChange:
    """
    What one graph loses and gains.

    Attributes:
        graph: Its IRI.
        removed: A file of lines that go, or None.
        subjects: Subjects all of whose triples go.
        whole: Whether all of the graph goes.
        added: A file of lines that come, or None.
        statements: Lines in both files.
    """

    graph: str
    removed: Path | None = None
    subjects: tuple[str, ...] = field(default=())
    whole: bool = False
    added: Path | None = None
    statements: int = 0

    def updates(self, most: int, taken: Callable[[Iterable[bytes]], Iterable[bytes]]) -> Iterator[HeldUpdate]:
        """
        Updates of at most so many statements or subjects each, to be done in this order.

        Args:
            most: Statements or subjects of one.
            taken: Which of the lines that come are sent.
        """
        if self.whole:
            yield HeldUpdate("DROP", self.graph)
        for part in parts(read(self.removed), most):
            yield HeldUpdate("DELETE DATA", self.graph, tuple(part))
        waiting = (subject.encode() for subject in self.subjects)
        while batch := tuple(islice(waiting, min(most, literal.SUBJECTS))):
            yield HeldUpdate("DELETE WHERE", self.graph, batch)
        for part in parts(taken(read(self.added)), most):
            yield HeldUpdate("INSERT DATA", self.graph, tuple(part))


class HeldFiles:
    """The files of what is kept back, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    def keep(self, lines: Iterable[bytes], more: Path | None = None) -> Path:
        """A file of lines that stays until `clear`, and of those of another file."""
        self._folder.mkdir(exist_ok=True)
        self._number += 1
        path = self._folder / f"{self._number}.nq"
        with path.open("wb") as out:
            out.writelines(lines)
            out.writelines(read(more))
        return path

    def clear(self) -> None:
        """Remove all of them."""
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class UnsettledNote:
    """
    Which graphs may be between two versions, in a file, so that the next start knows.

    Attributes:
        path: The file.
    """

    path: Path

    def read(self) -> tuple[int | None, list[str]] | None:
        """The edition that one request was to make, or None for parts, and the graphs; None where all is settled."""
        try:
            noted = json.loads(self.path.read_text())
        except FileNotFoundError:
            return None
        return noted["edition"], noted["graphs"]

    def add(self, edition: int | None, graphs: Iterable[str]) -> None:
        """Note graphs; what is noted already stays, and then it is no single request any more."""
        before = self.read()
        if before is not None:
            graphs, edition = [*before[1], *graphs], None
        making = self.path.with_suffix(".tmp")
        making.write_text(json.dumps({"edition": edition, "graphs": sorted(set(graphs))}))
        os.replace(making, self.path)
        files.sync(self.path.parent)

    def remove(self) -> None:
        """All is settled."""
        self.path.unlink(missing_ok=True)


def read(path: Path | None) -> Iterator[bytes]:
    """The lines of a file; none of none."""
    if path is not None:
        with path.open("rb") as lines:
            yield from lines


def parts(lines: Iterable[bytes], most: int) -> Iterator[list[bytes]]:
    """Lines in lists of at most so many."""
    waiting = iter(lines)
    while part := list(islice(waiting, most)):
        yield part


def bare(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as N-Triples: without their graph."""
    return (line[: line.rindex(b" <")] + b" .\n" for line in lines)


def count(path: Path) -> int:
    """How many lines a file has."""
    with path.open("rb") as lines:
        return sum(1 for _ in lines)
