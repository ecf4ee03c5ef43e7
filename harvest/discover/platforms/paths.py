"""Paths of the files of a fileset: each once, and none that leads out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from harvest.model import ManifestFile

UNSAFE: Final = "unsafe-path"
"""The status of a file whose path leads out of its fileset, or that no file system can have."""

_PART_BYTES: Final = 255
_PATH_BYTES: Final = 4096
_NEVER: Final = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:|^/")


def is_safe(path: str) -> bool:
    """Whether a path stays within the folder that it is put into, on any file system."""
    parts = path.split("/")
    if _NEVER.search(path) or any(part in ("", ".", "..") for part in parts):
        return False
    encoded = path.encode("utf-8", "surrogatepass")
    return len(encoded) <= _PATH_BYTES and all(len(part) <= _PART_BYTES for part in encoded.split(b"/"))


def settled(files: Sequence[ManifestFile]) -> tuple[ManifestFile, ...]:
    """
    The files, those with unsafe paths marked, and of several with one path the later ones under names of their own.

    `extra.platform_path` has the path of those as the platform gives it.
    """
    return tuple(_settled(files))


def _settled(files: Sequence[ManifestFile]) -> Iterator[ManifestFile]:
    taken, given = set[str](), {file.path for file in files}
    for file in files:
        if not is_safe(file.path):
            yield replace(file, status=UNSAFE)
            continue
        path, number = file.path, 1
        while path in taken or (number > 1 and path in given):
            number += 1
            path = _numbered(file.path, number)
        taken.add(path)
        yield file if path == file.path else replace(file, path=path, extra={**file.extra, "platform_path": file.path})


def _numbered(path: str, number: int) -> str:
    """`a/b.nt.gz` as `a/b-2.nt.gz`."""
    folder, slash, name = path.rpartition("/")
    stem, dot, rest = name.partition(".") if not name.startswith(".") else (name, "", "")
    return f"{folder}{slash}{stem}-{number}{dot}{rest}"
