"""What a provider's graph holds now, asked by subject and by object, without reading the whole of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from harvest.model import Delta
from harvest.revise.lines import SortedFile
from sparql.store.base import Store


class Current:
    """
    A graph as its last snapshot and the changes since; fulfils `harvest.revise.partial.Lookup`.

    Attributes:
        base: The snapshot, or None when there is none yet.
        since: What changed after it, as one delta, or None.
    """

    def __init__(self, base: Path | None, since: Delta | None, store: Store) -> None:
        self._store = store
        self._files = ExitStack()
        self._base = self._opened(base)
        self._removed = self._opened(since.removed if since else None)
        self._added = self._opened(since.added if since else None)

    def __enter__(self) -> Current:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""
        for term in subjects:
            held = self._base.of(term) if self._base else []
            if self._removed and self._added:
                held = sorted((set(held) - set(self._removed.of(term))) | set(self._added.of(term)))
            yield from held

    def has(self, graph: str, line: bytes) -> bool:
        """Whether this line is there."""
        if self._added and self._added.has(line):
            return True
        return bool(self._base and self._base.has(line)) and not (self._removed and self._removed.has(line))

    def size(self, graph: str, subject: bytes) -> int:
        """How many lines a subject has."""
        held = self._base.size(subject) if self._base else 0
        if self._removed and self._added:
            held += self._added.size(subject) - self._removed.size(subject)
        return held

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object, as the store spells them."""
        return self._store.referrers(graph, object)

    def _opened(self, path: Path | None) -> SortedFile | None:
        return None if path is None else self._files.enter_context(SortedFile(path))
