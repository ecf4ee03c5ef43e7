"""
Where bytes are in an archive, and what they are called.

    ab/cd/abcd...      the digest in hex digits; bytes and index entries alike
    abcd...            the same without folders, which Preston can read too

Archives of Preston may use MD5 or SHA-1 in place of SHA-256; these are read, never written.

Source: Preston, "blob store" and `KeyTo3LevelPath`, `KeyTo1LevelPath`; hash-archive.org, "hash URI".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvest.archive.objects import objects_of
from harvest.errors import StorageError, UnknownName

ALGORITHMS: Final = {64: "sha256", 32: "md5", 40: "sha1"}
"""By the number of hex digits."""

_NAME: Final = re.compile(r"(?:hash://(sha256|md5|sha1)/)?([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})")
_FOLDER: Final = re.compile(r"[0-9a-f]{2}")
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class HashName:
    """
    A name of bytes.

    Attributes:
        digest: Lower-case hex digits.
    """

    digest: str

    @property
    def algorithm(self) -> str:
        """sha256, md5 or sha1."""
        return ALGORITHMS[len(self.digest)]

    @property
    def uri(self) -> str:
        """As a hash URI."""
        return f"hash://{self.algorithm}/{self.digest}"


def named(text: str) -> HashName | None:
    """The name that a bare digest or a hash URI stands for; None when it is neither."""
    match = _NAME.fullmatch(text)
    if match is None or (match[1] and match[1] != ALGORITHMS[len(match[2])]):
        return None
    return HashName(match[2])


def name_of(text: str) -> HashName:
    """
    The name that a bare digest or a hash URI stands for.

    Raises:
        UnknownName: It is neither.
    """
    name = named(text)
    if name is None:
        raise UnknownName(
            f"{text!r} is no hash: write hash://sha256/ and 64 lower-case hex digits, or the digits alone"
        )
    return name


def place(root: Path, name: HashName) -> Path:
    """Where bytes of this name belong."""
    return root / name.digest[:2] / name.digest[2:4] / name.digest


def find(root: Path, name: HashName) -> Path | None:
    """
    Where bytes of this name are, or None; from object storage they are copied to their place first.

    Raises:
        StorageError: The object storage does not answer.
    """
    found = next((path for path in (place(root, name), root / name.digest) if path.is_file()), None)
    if found is None and (objects := objects_of(root)) is not None:
        target = place(root, name)
        return target if objects.fetch(name.digest, target, root / "incoming") else None
    return found


def walk(root: Path) -> Iterator[tuple[HashName, Path]]:
    """Everything that an archive holds, by folder; files with other names are passed over."""
    if (objects := objects_of(root)) is not None:
        for digest in objects.names():
            if (copied := find(root, HashName(digest))) is not None:
                yield HashName(digest), copied
        return
    yield from walk_folder(root)


def walk_folder(root: Path) -> Iterator[tuple[HashName, Path]]:
    """What a folder has, whatever object storage has."""
    for path in sorted(root.iterdir()):
        name = named(path.name)
        if name is not None and path.is_file():
            yield name, path
        elif _FOLDER.fullmatch(path.name) and path.is_dir():
            yield from _walk_folder(path)


def _walk_folder(folder: Path) -> Iterator[tuple[HashName, Path]]:
    for path in sorted(folder.glob("??/*")):
        name = named(path.name)
        if name is not None and path.name.startswith(folder.name + path.parent.name) and path.is_file():
            yield name, path


def digest_of(path: Path, algorithm: str = "sha256") -> tuple[str, int]:
    """
    Digest and size of a file.

    Raises:
        StorageError: It cannot be read.
    """
    found, size = hashlib.new(algorithm, usedforsecurity=False), 0
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                found.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error}", url=str(path)) from error
    return found.hexdigest(), size
