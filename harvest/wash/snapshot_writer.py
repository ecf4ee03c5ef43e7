"""What is to become one canonical snapshot: ground lines on their way through the sorter, the others beside it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Protocol

from harvest.errors import WashError
from harvest.model import Snapshot
from harvest.wash.naming.skolem import Naming, skolemize
from harvest.wash.sorting import Sorting
from harvest.wash.text import Sink

_CHUNK = 1 << 20


class SnapshotWriter:
    """
    The lines of one graph; `ground` and what `blank` gives take them, `finish` makes the snapshot.

    Temporary files stand beside `target`; about twice the size of the N-Triples is needed.

    Attributes:
        ground: Takes lines without blank nodes.
    """

    def __init__(self, graph: str, target: Path, memory: int, ground: Sequence[Path] = ()) -> None:
        """
        Args:
            graph: IRI of the graph.
            target: The file to write.
            memory: Bytes that sorting and labelling aim to stay under together.
            ground: Files of sorted lines without blank nodes, which are in it, too.
        """
        self.ground = Sorting(target.parent, memory // 4, ground)
        self._blank: dict[Naming, _Aside] = {}
        self._graph = graph
        self._target = target
        self._memory = memory

    def blank(self, dataset: str | None = None, *, steady: bool = False) -> Sink:
        """Takes lines with blank nodes of a dataset, whose labels mean the same node throughout; they are named so."""
        naming = Naming(dataset, steady, self._memory)
        if naming not in self._blank:
            self._blank[naming] = _Aside(self._target.with_name(f"{self._target.name}.blank-{len(self._blank)}"))
        return self._blank[naming]

    def finish(self, *, durable: bool = True) -> tuple[Snapshot, int]:
        """
        The snapshot, and how many blank nodes became Skolem IRIs; `durable` has it on the disk when this returns.

        Raises:
            StorageError: The disk is full.
        """
        nodes = sum(self._name(blank, naming) for naming, blank in self._blank.items() if blank.size)
        return self._collect(durable), nodes

    def _name(self, blank: _Aside, naming: Naming) -> int:
        """Hand on the lines of some blank nodes under their names; returns how many nodes there are."""
        blank.close()
        skolem = self._target.with_name(f"{self._target.name}.skolem")
        try:
            nodes = skolemize(blank.path, self._graph, skolem, skolem.parent, naming)
            with skolem.open("rb") as lines:
                while chunk := lines.read(_CHUNK):
                    self.ground.write(chunk)
        finally:
            skolem.unlink(missing_ok=True)
        return nodes

    def close(self) -> None:
        """Remove what is temporary."""
        self.ground.close()
        for blank in self._blank.values():
            blank.close()
            blank.path.unlink(missing_ok=True)

    def __enter__(self) -> SnapshotWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _collect(self, durable: bool) -> Snapshot:
        """Write what the sorter gives, each line with its graph, and count and digest it on the way."""
        ending = b" <" + self._graph.encode() + b"> .\n"
        digest = hashlib.sha256()
        triples = 0
        rest = b""
        try:
            # Digesting and writing let the interpreter go: they happen beside rewriting the next chunk.
            with self._target.open("wb", buffering=0) as out, ThreadPoolExecutor(1) as beside:
                pending = beside.submit(_keep, b"", digest, out)
                for chunk in self.ground.chunks():
                    # " .\n" may be cut by a chunk's end: only whole lines are rewritten.
                    whole, newline, rest = (rest + chunk).rpartition(b"\n")
                    lines = (whole + newline).replace(b" .\n", ending)
                    triples += lines.count(b"\n")
                    pending.result()
                    pending = beside.submit(_keep, lines, digest, out)
                pending.result()
                if durable:
                    os.fsync(out.fileno())
            if rest:
                raise WashError(f"sorting gave an unfinished line of {len(rest)} bytes", url=str(self._target))
        except BaseException:
            self._target.unlink(missing_ok=True)
            raise
        return Snapshot(self._target, triples, digest.hexdigest())


class _Aside:
    """
    A file that is there once something was written to it.

    Attributes:
        path: Where it is, or would be.
        size: Bytes written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._file: BinaryIO | None = None

    def write(self, data: bytes) -> int:
        """Write all of it."""
        if self._file is None:
            self._file = self.path.open("wb")
        self.size += len(data)
        return self._file.write(data)

    def close(self) -> None:
        """Have all of it in the file."""
        if self._file is not None:
            self._file.close()


def _keep(lines: bytes, digest: Digest, out: UnbufferedFile) -> None:
    digest.update(lines)
    written = 0
    while written < len(lines):  # a raw file may take a part only
        written += out.write(lines[written:] if written else lines)


class Digest(Protocol):
    """A running digest, as hashlib makes them."""

    def update(self, data: bytes, /) -> None:
        """Take the next bytes."""


class UnbufferedFile(Protocol):
    """A file without a buffer."""

    def write(self, data: bytes, /) -> int:
        """Write some of the bytes; returns how many."""
