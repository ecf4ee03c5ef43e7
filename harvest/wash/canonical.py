"""
The canonical snapshot: one graph as sorted, unique, canonical N-Quads, made in bounded memory.

Lines are sorted by coreutils `sort`, bytewise: it spills to disk, uses both cores, and is four times faster than
sorting in Python. N-Triples lines sort as the N-Quads lines that they become, since what is appended is the same.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from harvest.errors import StorageError, WashError
from harvest.model import Document, Snapshot
from harvest.wash.parse import Parsed, parse
from harvest.wash.skolem import skolemize

_CHUNK = 1 << 20
_PIPE = 1 << 20
"""Bytes that the pipes to and from the sorter hold, so that it and the parser run at the same time."""


@dataclass(frozen=True, slots=True)
class Washed:
    """
    What washing the dumps of a dataset gave.

    Attributes:
        snapshot: The union of all dumps as one canonical file.
        documents: What each dump was, in order.
        blank_nodes: How many blank nodes became Skolem IRIs.
    """

    snapshot: Snapshot
    documents: tuple[Parsed, ...]
    blank_nodes: int


def wash(documents: Sequence[Document], graph: str, target: Path, memory: int) -> Washed:
    """
    Write the union of all documents to `target` as the canonical snapshot of `graph`.

    Temporary files stand beside `target`; about twice the size of the N-Triples is needed. `memory` is the number
    of bytes that sorting and labelling aim to stay under together.

    Raises:
        WashError: A document is not RDF.
        StorageError: The disk is full, or a document cannot be read. Whatever is raised, no file is left.
    """
    scratch = target.parent
    blank = scratch / f"{target.name}.blank"
    skolem = scratch / f"{target.name}.skolem"
    sorter = _sorter(scratch, memory // 4)
    try:
        parsed, nodes = _feed(documents, graph, sorter, (blank, skolem), memory)
        snapshot = _collect(sorter, graph, target)
        return Washed(snapshot, parsed, nodes)
    except OSError as error:
        raise StorageError(f"washing to {target} failed: {error}", url=str(target)) from error
    finally:
        _dismiss(sorter)
        blank.unlink(missing_ok=True)
        skolem.unlink(missing_ok=True)


def _sorter(scratch: Path, memory: int) -> subprocess.Popen[bytes]:
    command = [
        "sort",
        "-u",
        f"--buffer-size={max(memory, 1 << 20)}b",
        "--parallel=2",
        f"--temporary-directory={scratch}",
    ]
    environment = os.environ | {"LC_ALL": "C"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, bufsize=_PIPE, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, pipesize=_PIPE
    )


def _dismiss(sorter: subprocess.Popen[bytes]) -> None:
    """End the sorter, which removes its temporary files, and close what led to it."""
    sorter.terminate()
    for pipe in (sorter.stdin, sorter.stdout, sorter.stderr):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]  # all three were asked for
    sorter.wait()


def _feed(
    documents: Sequence[Document], graph: str, sorter: subprocess.Popen[bytes], files: tuple[Path, Path], memory: int
) -> tuple[tuple[Parsed, ...], int]:
    """Send every line to the sorter; returns what the documents were and how many blank nodes they held."""
    blank, skolem = files
    assert sorter.stdin is not None
    nodes = 0
    try:
        with blank.open("wb") as held:
            parsed = tuple(parse(document, i, sorter.stdin, held) for i, document in enumerate(documents))
        if blank.stat().st_size:
            nodes = skolemize(blank, graph, skolem, skolem.parent, memory)
            _copy(skolem, sorter.stdin)
        sorter.stdin.close()
    except BrokenPipeError as error:
        raise StorageError(_complaint(sorter)) from error
    return parsed, nodes


def _copy(source: Path, target: IO[bytes]) -> None:
    with source.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            target.write(chunk)


def _collect(sorter: subprocess.Popen[bytes], graph: str, target: Path) -> Snapshot:
    """Write what the sorter gives, each line with its graph, and count and digest it on the way."""
    assert sorter.stdout is not None
    ending = b" <" + graph.encode() + b"> .\n"
    digest = hashlib.sha256()
    triples = 0
    rest = b""
    try:
        # Digesting and writing let the interpreter go: they happen beside rewriting the next chunk.
        with target.open("wb", buffering=0) as out, ThreadPoolExecutor(1) as beside:
            pending = beside.submit(_keep, b"", digest, out)
            while chunk := sorter.stdout.read(_CHUNK):
                # " .\n" may be cut by a chunk's end: only whole lines are rewritten.
                whole, newline, rest = (rest + chunk).rpartition(b"\n")
                lines = (whole + newline).replace(b" .\n", ending)
                triples += lines.count(b"\n")
                pending.result()
                pending = beside.submit(_keep, lines, digest, out)
            pending.result()
            if sorter.wait() != 0:
                raise StorageError(_complaint(sorter))
            os.fsync(out.fileno())
        if rest:
            raise WashError(f"sorting gave an unfinished line of {len(rest)} bytes", url=str(target))
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return Snapshot(target, triples, digest.hexdigest())


def _keep(lines: bytes, digest: Digest, out: IO[bytes]) -> None:
    digest.update(lines)
    written = 0
    while written < len(lines):  # a raw file may take a part only
        written += out.write(lines[written:] if written else lines)


class Digest(Protocol):
    """A running digest, as hashlib makes them."""

    def update(self, data: bytes, /) -> None:
        """Take the next bytes."""


def _complaint(sorter: subprocess.Popen[bytes]) -> str:
    sorter.kill()
    said = sorter.stderr.read().decode("utf-8", "replace").strip() if sorter.stderr else ""
    return f"sorting failed, most likely for want of disk space: {said or f'exit status {sorter.wait()}'}"
