"""
What differs between two files of N-Triples or N-Quads of anybody.

Both are sorted as they are and compared line by line. Only what differs is made canonical, and of the lines that both
have those that may not be so: the first file alone is looked through for them.

Source: RDF 1.1 N-Quads; RDF 1.1 N-Triples, section 4 (canonical form).
"""

from __future__ import annotations

import filecmp
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harvest.errors import WashError
from harvest.model import Delta, Snapshot
from harvest.revise import delta as deltas
from harvest.revise import line_files, lines


def difference(old: Path, new: Path, folder: Path) -> Delta:
    """
    What takes one file to another, as sorted canonical lines in files of `folder`.

    Raises:
        WashError: A line is no statement of N-Quads 1.1; `line` says which.
        StorageError: The disk is full, or a file cannot be read.
    """
    quick, whole = folder / "quick", folder / "whole"
    quick.mkdir()
    try:
        return _Difference(old, new, quick).delta()
    except WashError:  # a line of a sorted file has no number, and a byte order mark is elsewhere
        whole.mkdir()
    return _compared(old, new, whole)


def _compared(old: Path, new: Path, folder: Path) -> Delta:
    """The same with both files made canonical first."""
    targets = folder / "old.nq", folder / "new.nq"
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda one, other: line_files.sorted_lines(one, other, folder), (old, new), targets))
    return deltas.compare(*targets, folder)


class _Difference:
    """Two files and what is made of them on the way."""

    def __init__(self, old: Path, new: Path, folder: Path) -> None:
        self._files = old, new
        self._folder = folder
        self._sorted = folder / "old.sorted", folder / "new.sorted"
        self._odd = folder / "old.odd"

    def delta(self) -> Delta:
        """As `difference`, without the place of a bad line."""
        plain = [line_files.unpacked(file, self._folder / f"{n}.text") for n, file in enumerate(self._files)]
        _at_once(
            lambda: line_files.sort(plain[0], self._sorted[0], self._folder),
            lambda: line_files.sort(plain[1], self._sorted[1], self._folder),
            lambda: line_files.find_odd(plain[0], self._odd),
        )
        raw = self._folder / "old.raw", self._folder / "new.raw"
        _at_once(
            lambda: lines.minus(raw[0], self._sorted[0], self._sorted[1]),
            lambda: lines.minus(raw[1], self._sorted[1], self._sorted[0]),
        )
        clean = self._folder / "old.clean", self._folder / "new.clean"
        _at_once(
            lambda: line_files.sorted_lines(raw[0], clean[0], self._folder),
            lambda: line_files.sorted_lines(raw[1], clean[1], self._folder),
        )
        shared = self._shared(raw[0])
        removed = self._left("removed", (raw[0], clean[0]), (clean[1], shared, self._sorted[1]))
        added = self._left("added", (raw[1], clean[1]), (clean[0], shared, self._sorted[0]))
        return Delta(removed.path, added.path, removed.triples, added.triples)

    def _shared(self, raw: Path) -> Path:
        """The canonical lines of what both files have and what may not be canonical."""
        found, both, clean = (self._folder / f"shared.{name}" for name in ("found", "both", "clean"))
        with self._odd.open("rb") as stream:
            line_files.write_sorted((line.partition(b":")[2] for line in stream), found, self._folder)
        lines.minus(both, found, raw)
        line_files.sorted_lines(both, clean, self._folder)
        return clean

    def _left(self, name: str, side: tuple[Path, Path], others: tuple[Path, Path, Path]) -> Snapshot:
        """
        The canonical lines of one side that the other file does not have in any spelling.

        The other has a line as it is only if this side spells it in another way, or both do.
        """
        raw, clean = side
        other, shared, standing = others
        first = lines.minus(self._folder / f"{name}.1", clean, other)
        found = lines.minus(self._folder / f"{name}.2", first.path, shared)
        if filecmp.cmp(raw, clean, shallow=False):
            return found
        return lines.minus(self._folder / f"{name}.3", found.path, standing)


def _at_once(*work: Callable[[], object]) -> None:
    """Do several things beside each other."""
    with ThreadPoolExecutor(len(work)) as threads:
        for each in [threads.submit(call) for call in work]:
            each.result()
