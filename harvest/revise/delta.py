"""
Deltas: N-Quads unified diffs, and their algebra.

    compare(a, b) = d      apply(a, d) = b      invert(d) takes b to a      compose(d, e) does d, then e

A file holds the removed lines, each after a `-`, then the added ones, each after a `+`, both sorted, compressed with
gzip. Version n is version n-1 with delta n applied; version 0 is empty.
`harvest.revise.nqud` reads the diffs of others.

Source: Timbuctoo exchange protocol, "N-Quads U.D.".
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, cast

from isal import igzip
from isal.igzip_lib import IsalError

from harvest.errors import DamageError
from harvest.model import Delta, Snapshot
from harvest.revise import lines

_CHUNK = 1 << 20


def compare(old: Path, new: Path, folder: Path) -> Delta:
    """What takes the sorted file `old` to the sorted file `new`; written into `folder`."""
    return split(lines.differing(old, new), folder)


def split(marked: Iterator[tuple[bool, bytes]], folder: Path) -> Delta:
    """The delta of lines marked True (added) or False (removed), each kind in ascending order."""
    counts = [0, 0]
    names = folder / "removed.nq", folder / "added.nq"
    with names[0].open("wb") as removed, names[1].open("wb") as added:
        for new, line in marked:
            (added if new else removed).write(line)
            counts[new] += 1
    return Delta(*names, *counts)


def apply(base: Path, delta: Delta, target: Path) -> Snapshot:
    """Write `base` with the delta applied to `target`; a line removed that is not there is no error."""
    return lines.replaced(target, base, delta.removed, delta.added)


def apply_to_subjects(base: Path, delta: Delta, target: Path) -> int | None:
    """
    Write what the subjects of the delta have in `base` with the delta applied to `target`, in one pass over `base`.

    Returns:
        How many lines the graph has more afterwards, or None where the delta is of another graph: a line that is
        removed is not there, or one that is added is.
    """
    fits, more = True, 0
    with base.open("rb") as graph, target.open("wb") as out:
        line = graph.readline()
        for prefix, gone, new in _by_subject(delta):
            while line and line < prefix:
                line = graph.readline()
            held = set[bytes]()
            while line.startswith(prefix):
                held.add(line)
                line = graph.readline()
            fits = fits and gone <= held and new.isdisjoint(held)
            more += len(new) - len(gone)
            out.writelines(sorted((held - gone) | new))
    return more if fits else None


def _by_subject(delta: Delta) -> Iterator[tuple[bytes, set[bytes], set[bytes]]]:
    """What each subject loses and gains, in order, after what its lines begin with."""
    with delta.removed.open("rb") as removed, delta.added.open("rb") as added:
        marked = merge(((line, 0) for line in removed), ((line, 1) for line in added))
        for term, group in groupby(marked, lambda each: lines.subject(each[0])):
            sides = set[bytes](), set[bytes]()
            for line, side in group:
                sides[side].add(line)
            yield term + b" ", *sides


def invert(delta: Delta) -> Delta:
    """The delta that undoes it."""
    return Delta(delta.added, delta.removed, delta.added_triples, delta.removed_triples)


def compose(first: Delta, second: Delta, folder: Path) -> Delta:
    """
    One delta that does `first` and then `second`.

    A line added and removed again, or removed and added again, drops out: the result is what truly differs.
    """
    gone = _composed(first.removed, second.removed, (second.added, first.added), folder / "removed.nq")
    come = _composed(first.added, second.added, (second.removed, first.removed), folder / "added.nq")
    return Delta(gone.path, come.path, gone.triples, come.triples)


def _composed(one: Path, two: Path, undone: tuple[Path, Path], target: Path) -> Snapshot:
    """The lines of `one` that `undone[0]` lacks, and those of `two` that `undone[1]` lacks."""
    left, right = target.with_name(target.name + ".1"), target.with_name(target.name + ".2")
    try:
        lines.minus(left, one, undone[0])
        lines.minus(right, two, undone[1])
        return lines.union(target, left, right)
    finally:
        left.unlink(missing_ok=True)
        right.unlink(missing_ok=True)


def write(delta: Delta, target: Path) -> None:
    """File a delta as a compressed N-Quads unified diff, durably; `target` is whole or absent."""
    temporary = target.with_name(target.name + ".tmp")
    with temporary.open("wb") as raw:
        # No name and no time inside: the same delta gives the same bytes.
        with igzip.IGzipFile("", "wb", 1, raw, 0) as packed:
            for sign, path in ((b"-", delta.removed), (b"+", delta.added)):
                _signed(sign, path, packed)
        raw.flush()
        os.fsync(raw.fileno())
    temporary.replace(target)


def _signed(sign: bytes, path: Path, out: gzip.GzipFile) -> None:
    """Write every line of a file after a sign, in chunks of whole lines."""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if not chunk.endswith(b"\n"):
                chunk += stream.readline()
            out.write(sign + chunk[:-1].replace(b"\n", b"\n" + sign) + b"\n")


def read(source: Path, folder: Path) -> Delta:
    """
    The delta filed at `source` by `write`, unpacked into `folder`.

    Raises:
        DamageError: The file is gone, cut off, or holds something else.
    """
    return split(filed(source), folder)


def filed(source: Path) -> Iterator[tuple[bool, bytes]]:
    """
    Each statement of a file that `write` wrote, True for added.

    Raises:
        DamageError: The file is gone, cut off, or holds something else.
    """
    try:
        with source.open("rb") as raw, igzip.IGzipFile(fileobj=raw) as packed:
            if not raw.peek(1):
                raise EOFError("it is empty")
            for line in cast(BinaryIO, io.BufferedReader(packed, _CHUNK)):
                if line[:1] not in (b"+", b"-") or not line.endswith(b"\n"):
                    raise DamageError(f"the change file {source} holds a line that is no change", url=str(source))
                yield line[:1] == b"+", line[1:]
    except (OSError, EOFError, IsalError) as error:  # type: ignore[misc]  # its stub declares a value
        raise DamageError(f"the change file {source} is damaged or gone: {error}", url=str(source)) from error


def check(source: Path) -> int:
    """
    The length of what a file holds that `write` wrote, in bytes, once all of it could be read.

    Raises:
        DamageError: It is gone, cut off or damaged.
    """
    length = 0
    try:
        with source.open("rb") as raw, igzip.IGzipFile(fileobj=raw) as packed:
            while chunk := packed.read(_CHUNK):
                length += len(chunk)
    except (OSError, EOFError, IsalError) as error:  # type: ignore[misc]  # its stub declares a value
        raise DamageError(f"the change file {source} is damaged or gone: {error}", url=str(source)) from error
    return length


def replay(changes: Iterable[Path], target: Path, folder: Path) -> Snapshot:
    """
    Write the graph that all changes, applied from empty, end in.

    One external sort brings the fate of each statement together, so the cost is that of sorting all changes once,
    however many there are.

    Raises:
        DamageError: A change file is damaged, or the changes contradict each other: a statement added that was there,
            or removed that was not.
    """
    scratch = f"--temporary-directory={folder}"
    with lines.sorted_(_numbered(changes), "--buffer-size=64M", scratch) as ordered:
        return lines.write(target, _survivors(ordered))


def _numbered(changes: Iterable[Path]) -> Iterator[bytes]:
    """Each signed statement followed by a tab, the number of its change, and its sign."""
    for number, path in enumerate(changes, 1):
        mark = b"\t%08d" % number
        for added, line in filed(path):
            yield line[:-1] + mark + (b"+\n" if added else b"-\n")


def _survivors(ordered: Iterable[bytes]) -> Iterator[bytes]:
    """The statements that are there in the end; each must be added and removed in turn."""
    held, there = b"", False
    for line in ordered:
        statement, _, fate = line.rpartition(b"\t")
        if statement != held:
            if there:
                yield held + b"\n"
            held, there = statement, False
        added = fate.endswith(b"+\n")
        if added == there:
            deed = "adds a statement that is there" if added else "removes a statement that is not there"
            raise DamageError(f"change {int(fate[:8])} {deed}: {statement.decode('utf-8', 'replace')}")
        there = added
    if there:
        yield held + b"\n"
