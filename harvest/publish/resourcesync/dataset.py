"""The dataset of a feed as a file: a provider's graph, plain, and compressed once it is exported."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvest.errors import DamageError

DATASET: Final = "dataset.nq"
PACKED: Final = f"{DATASET}.gz"


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """
    The file of a dataset.

    Attributes:
        sha256: Of its bytes.
        bytes: Its size.
    """

    sha256: str
    bytes: int


def put_dataset(folder: Path, snapshot: Path, sha256: str | None) -> DatasetFile:
    """
    Make a snapshot the dataset of the feed in `folder`, by a hard link; what was downloaded meanwhile stays whole.

    Raises:
        DamageError: The snapshot has another digest than `sha256`, where that is known.
    """
    found = digest(snapshot)
    if sha256 not in (None, found):
        raise DamageError(f"{snapshot} is damaged: it has SHA-256 {found} and should have {sha256}", url=str(snapshot))
    (folder / PACKED).unlink(missing_ok=True)
    _replace(folder / DATASET, snapshot)
    return DatasetFile(found, snapshot.stat().st_size)


def put_packed(folder: Path, export: Path) -> None:
    """Let the compressed dataset of a feed be an export, which holds the same N-Quads."""
    target = folder / PACKED
    if not target.is_file() or target.stat().st_size != export.stat().st_size:
        _replace(target, export)


def digest(path: Path) -> str:
    """The SHA-256 of a file, as hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replace(target: Path, source: Path) -> None:
    """Put a link to a file in the place of another one, or a copy where it is on another disk."""
    temporary = target.with_name(f".{target.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        os.link(source, temporary)
    except OSError:
        shutil.copyfile(source, temporary)
    os.replace(temporary, target)
    temporary.unlink(missing_ok=True)  # of the same file a rename leaves both names
