"""
What a triple store must do for the platform: take changes, answer for a graph, and give a whole copy.

Lines are canonical N-Quads: UTF-8, one space between terms, the graph fourth, `\\n` at the end. They hold no blank
nodes, which every load would rename. A graph or a subject given as `str` is an IRI without brackets; a term given
as `bytes` is written as in N-Triples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoreChange:
    """
    What a graph loses and gains.

    Attributes:
        removed: Sorted lines that go, or None for none.
        added: Sorted lines that come, disjoint from `removed`, or None for none.
        removed_triples: Lines in `removed`.
        added_triples: Lines in `added`.
        after: The sorted lines of the whole graph afterwards, or None where there is no such file. A store that folds
            spellings of a value into one (`sparql.store.spelling`) needs it to remove one of two of them rightly.
    """

    removed: Path | None
    added: Path | None
    removed_triples: int
    added_triples: int
    after: Path | None = None


class Store(Protocol):
    """
    Named graphs that one process writes.

    Every method raises StoreError when the store fails: the disk is full, the data is damaged, a server is gone.
    What writes leaves each statement either as it was or as it is to be, and may be called again.

    Source: shared design, "Two ways to write, one meaning".
    """

    def apply(self, graph: str, change: StoreChange) -> None:
        """Take `removed` out of the graph, then put `added` in; again, also after a crash midway, ends the same."""

    def replace_subjects(self, graph: str, subjects: Iterable[str], added: Path) -> None:
        """Remove all triples of the subjects from the graph, then put `added` in, by SPARQL UPDATE."""

    def replace_graph(self, graph: str, lines: Iterable[bytes]) -> None:
        """Make the graph exactly these lines; for graphs that fit in memory."""

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object, in no order."""

    def count(self, graph: str) -> int:
        """How many triples the graph has; 0 for one that does not exist."""

    def dump(self, graph: str) -> Iterator[bytes]:
        """Every line of the graph, in no order."""

    def graphs(self) -> list[str]:
        """The graphs that hold a triple, sorted."""

    def drop(self, graph: str) -> None:
        """Remove the graph with all its triples."""

    def publish(self, target: Path) -> None:
        """Make `target`, which must not exist, a whole consistent copy of the store."""

    def close(self) -> None:
        """Let the store go; another process may open it then."""
