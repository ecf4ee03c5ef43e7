"""
What a triple store must do for the platform: take changes, answer for a graph, and give a whole copy.

Lines are canonical N-Quads: UTF-8, one space between terms, the graph fourth, `\\n` at the end. They hold no blank
nodes, which every load would rename. A graph or a subject given as `str` is an IRI without brackets; a term given
as `bytes` is written as in N-Triples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


@dataclass(frozen=True, slots=True)
class Sent:
    """
    How a change went to an engine.

    Attributes:
        requests: In how many requests; of more than one readers may have seen some before the rest. 0 for no engine.
        refused: The first statement that it did not take, and why; empty where it took all.
    """

    requests: int = 0
    refused: str = ""


class Store(Protocol):
    """
    Named graphs that one process writes.

    Every method raises StoreError when the store fails: the disk is full, the data is damaged, a server is gone.
    What writes leaves each statement either as it was or as it is to be, and may be called again. A change of what
    readers see is `begin`, calls that write, `publish`, `end`; one that fails is undone by `revert`, after which the
    graphs in `torn` are to be put right.

    Attributes:
        trouble: Why an empty store is in place of what was there; None for the usual.
        torn: Graphs that may be between two versions, until `righted`.
        may_differ: Whether it may hold other triples than it was sent: an engine that rewrites or loses literals.

    Source: shared design, "Two ways to write, one meaning".
    """

    trouble: str | None
    torn: Sequence[str]
    may_differ: bool

    def begin(self) -> None:
        """A change begins; the store may hold back what is written until `publish`."""

    def end(self) -> None:
        """The change is over; what is written now is no part of one."""

    def apply(self, graph: str, change: StoreChange) -> None:
        """Take `removed` out of the graph, then put `added` in; again, also after a crash midway, ends the same."""

    def replace_subjects(self, graph: str, subjects: Iterable[str], added: Path) -> None:
        """Remove all triples of the subjects from the graph, then put `added` in, by SPARQL UPDATE."""

    def replace_graph(self, graph: str, lines: Iterable[bytes]) -> None:
        """Make the graph exactly these lines; for graphs that fit in memory."""

    def rather_rebuild(self, change: StoreChange, graph_triples: int, store_triples: int) -> bool:
        """Whether `rebuild` costs less than `apply` for a graph and a store of so many triples."""

    def rebuild(self, snapshots: Iterable[Path], keep: Iterable[str] = ()) -> None:
        """Make the store of these files of one graph each, and of the graphs to keep, and nothing else."""

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
        """Make `target`, which must not exist, what readers open to see the store as it is now."""

    def is_published(self, generation: Path) -> bool:
        """Whether a generation is one of this store, and not of another that was in its place."""

    def revert(self, source: Path | None) -> None:
        """Make the store what `source`, which `publish` made, stands for, or empty for None."""

    def sent(self) -> Sent:
        """How the last change went to an engine."""

    def righted(self) -> None:
        """The graphs in `torn` were put right."""

    def close(self) -> None:
        """Let the store go; another process may open it then."""
