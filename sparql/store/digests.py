"""
The SHA-256 of the files of a generation, which never change: `sha256sum -c` reads the list.

RocksDB checks a block when it reads it, and an index that no query needs is not read for years.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_CHUNK: Final = 1 << 20
_UNREAD: Final = ("LOG", "LOCK", "IDENTITY", "OPTIONS")
"""Files of a store that hold no data, by the beginnings of their names."""


def write(folder: Path, target: Path, known: Mapping[int, str]) -> None:
    """Write the digests of a store's files to `target`; those that `known` has by inode are not read again."""
    digests = {path.name: known.get(path.stat().st_ino) or _digest(path) for path in _files(folder)}
    target.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())))


def by_inode(folder: Path, listed: Path) -> dict[int, str]:
    """The listed digests of the files of a store that are never written again, by inode; empty without a list."""
    return {
        path.stat().st_ino: digest
        for name, digest in _listed(listed).items()
        if name.endswith(".sst") and (path := folder / name).exists()
    }


def damaged(folder: Path, listed: Path) -> list[Path]:
    """The files of a store that are gone, or do not have their listed digests; none where there is no list."""
    found = _listed(listed).items()
    return [
        folder / name for name, digest in found if not (folder / name).is_file() or _digest(folder / name) != digest
    ]


def _listed(listed: Path) -> dict[str, str]:
    try:
        lines = listed.read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines) if name}


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_file() and not path.name.startswith(_UNREAD))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
