"""What a washing process may be asked for, wherever it runs: functions of documents and terms, and their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from harvest.model import Document, Part, Snapshot
from harvest.wash.apart import Lines
from harvest.wash.canonical import Washed, wash
from harvest.wash.launder import launder
from harvest.wash.leaves import Terms
from harvest.wash.pieces import Piece

T = TypeVar("T")


def union(documents: Sequence[Document], terms: Terms, *, graph: str) -> Washed:
    """The union of the documents as `harvest.wash.canonical.wash` makes it; its snapshot is in `terms.scratch`."""
    return wash(documents, graph, terms.scratch / "input.nq", terms.memory, terms)


def separate(
    documents: Sequence[Document], terms: Terms, *, graph: Callable[[tuple[str, ...]], str]
) -> tuple[Part, ...]:
    """The parts of one document as `harvest.wash.launder` makes them; their snapshots are in `terms.scratch`."""
    (document,) = documents
    return launder(document, graph, terms.scratch, terms.memory, terms)


def moved(result: T, move: Callable[[Snapshot], Path]) -> T:
    """A result of the above or of `apart` and `pieces` there, with each of its snapshots where `move` put it."""

    def placed(snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, path=move(snapshot))

    moved_result: Any = result
    if isinstance(result, Washed):
        moved_result = replace(result, snapshot=placed(result.snapshot))
    elif isinstance(result, Piece | Lines):
        moved_result = replace(result, ground=placed(result.ground), blank=placed(result.blank))
    elif isinstance(result, tuple):
        moved_result = tuple(replace(part, clean=placed(part.clean)) if part.clean else part for part in result)
    return cast(T, moved_result)
