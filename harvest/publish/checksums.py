"""
Files with their digest beside: FILE, and FILE.sha256 with the line that `sha256sum --check` reads.

A description is replaced in an order that leaves no digest of another text beside it, wherever a crash comes: the
old digest goes first, and a digest that is missing is written at the next export.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harvest.errors import DamageError

_LINE: Final = re.compile(rb"([0-9a-f]{64})  [^\n]+\n")


def beside(path: Path) -> Path:
    """Where the digest of a file is."""
    return path.with_name(f"{path.name}.sha256")


def put(path: Path, digest: str) -> None:
    """Write the digest of a file beside it, unless it stands there."""
    line = _line(path, digest)
    if _bytes(beside(path)) != line:
        replace(beside(path), line)


def describe(path: Path, data: bytes) -> None:
    """Write a file and its digest, as far as they say anything else."""
    if _bytes(path) != data:
        beside(path).unlink(missing_ok=True)
        replace(path, data)
    put(path, hashlib.sha256(data).hexdigest())


def replace(target: Path, data: bytes) -> None:
    """Write a file beside its place, and rename it when all of it is on the disk."""
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def differs(path: Path) -> bool:
    """Whether the digest beside a file, where there is one, is not that of the file."""
    return beside(path).exists() and any(damages(path))


def damages(path: Path, digest: str | None = None) -> Iterator[DamageError]:
    """
    What is damaged or gone of a file and its digest.

    Where nobody else knows the digest, one that is not that of the file leaves open which of the two is damaged.
    """
    try:
        yield from _damages(path, digest)
    except OSError as error:
        yield DamageError(f"the export {path} cannot be read: {error}", url=str(path))


def _damages(path: Path, digest: str | None) -> Iterator[DamageError]:
    line = _bytes(beside(path))
    if not path.is_file():
        yield DamageError(f"the export {path} is gone", url=str(path))
    elif (expected := digest or _named(line)) and _digest(path) != expected:
        doubt = "" if digest else f", or its digest {beside(path)} is"
        yield DamageError(f"the export {path} is damaged{doubt}", url=str(path))
    if line is None:
        yield DamageError(f"the digest {beside(path)} of an export is gone", url=str(beside(path)))
    elif line != _line(path, digest or _named(line) or ""):
        yield DamageError(f"the digest {beside(path)} of an export is damaged", url=str(beside(path)))


def _named(line: bytes | None) -> str | None:
    found = _LINE.fullmatch(line or b"")
    return found[1].decode() if found else None


def _line(path: Path, digest: str) -> bytes:
    return f"{digest}  {path.name}\n".encode()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
