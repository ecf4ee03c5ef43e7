"""Copying an archive: everything in it, checked on the way, in an order that leaves a whole archive at any moment."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from harvest.archive.index import LENGTH, entry
from harvest.archive.layout import HashName, place, walk
from harvest.archive.syncing import sync_file, sync_folder
from harvest.errors import StorageError

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Copied:
    """
    What became of one file.

    Attributes:
        uri: Its name.
        outcome: `copied`; `there`, for it was copied before; `damaged`, for its bytes do not have its name.
        bytes: How many it has.
    """

    uri: str
    outcome: str
    bytes: int


def copy(root: Path, target: Path) -> Iterator[Copied]:
    """
    Copy the archive in `root` to a folder, bytes before the index entries that lead to them.

    What is there already stays. Damaged bytes are reported, and not copied.

    Raises:
        StorageError: The folder is part of the archive, or cannot be written.
    """
    if target.resolve().is_relative_to(root.resolve()):
        raise StorageError(f"{target} is part of the archive {root}; copy it to a folder elsewhere", url=str(target))
    try:
        target.mkdir(parents=True, exist_ok=True)
        for leftover in target.glob("copying-*"):
            leftover.unlink()
        # An archive may grow meanwhile. What the entries of now lead to is there now; later ones are for the next copy.
        entries = [(name, path) for name, path in walk(root) if _is_entry(path)]
        for name, path in walk(root):
            if not _is_entry(path):
                yield _copied(name, path, target, is_entry=False)
        for name, path in entries:
            yield _copied(name, path, target, is_entry=True)
    except OSError as error:
        raise StorageError(f"{root} cannot be copied to {target}: {error}", url=str(target)) from error


def _is_entry(path: Path) -> bool:
    return path.stat().st_size <= LENGTH and entry(path) is not None


def _copied(name: HashName, path: Path, target: Path, *, is_entry: bool) -> Copied:
    size = path.stat().st_size
    final = place(target, name)
    if final.is_file() and final.stat().st_size == size:
        return Copied(name.uri, "there", size)
    temporary = target / f"copying-{uuid4()}"
    try:
        if _poured(path, temporary, name.algorithm) != name.digest and not is_entry:
            return Copied(name.uri, "damaged", size)
        sync_file(temporary)
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)
    for folder in (final.parent, final.parent.parent, target):
        sync_folder(folder)
    return Copied(name.uri, "copied", size)


def _poured(source: Path, target: Path, algorithm: str) -> str:
    """Copy a file; returns the digest of what was copied."""
    found = hashlib.new(algorithm, usedforsecurity=False)
    with source.open("rb") as stream, target.open("xb") as copied:
        while chunk := stream.read(_CHUNK):
            found.update(chunk)
            copied.write(chunk)
    return found.hexdigest()
