"""
Immutable bytes, each under its own SHA-256.

    content/ab/cd/abcd...      64 lower-case hex digits; written once: temp file, fsync, rename

Source: Preston, "blob store" (the layout is the same).
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from harvest.errors import StorageError, UnknownName

_HASH = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


class ContentStore:
    """The filed bytes of an instance."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.incoming = root / "incoming"

    def prepare(self) -> None:
        """Make the folders, and remove what a crash left half written."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        for leftover in self.incoming.iterdir():
            leftover.unlink()

    def path(self, digest: str) -> Path:
        """
        Where the bytes of a digest are.

        Raises:
            UnknownName: They are not filed, or it is no digest.
        """
        place = self._place(digest)
        if not place.is_file():
            raise UnknownName(f"no content with SHA-256 {digest} is filed")
        return place

    def holds(self, digest: str) -> bool:
        """Whether bytes with this digest are filed."""
        return self._place(digest).is_file()

    def file(self, source: Path, digest: str) -> Path:
        """
        Move a finished file, whose digest is known, to its place; durable when this returns.

        A digest that is filed already leaves the file that is there, and `source` is removed; unless that file has
        another size, and so is damaged.

        Raises:
            UnknownName: It is no digest.
            StorageError: The disk is full or cannot be written.
        """
        place = self._place(digest)
        try:
            if place.is_file() and place.stat().st_size == source.stat().st_size:
                source.unlink()
                return place
            place.parent.mkdir(parents=True, exist_ok=True)
            with source.open("rb") as stream:
                os.fsync(stream.fileno())
            source.replace(place)
            for folder in (place.parent, place.parent.parent, self.root):
                _sync_folder(folder)
        except OSError as error:
            raise StorageError(f"{source} cannot be filed as {place}: {error}", url=str(place)) from error
        return place

    def verify(self, digest: str) -> bool:
        """
        Whether the filed bytes still have their digest.

        Raises:
            UnknownName: They are not filed, or it is no digest.
        """
        found = hashlib.sha256()
        with self.path(digest).open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                found.update(chunk)
        return found.hexdigest() == digest

    def _place(self, digest: str) -> Path:
        if not _HASH.fullmatch(digest):
            raise UnknownName(f"{digest!r} is not a SHA-256 in 64 lower-case hex digits")
        return self.root / digest[:2] / digest[2:4] / digest


def _sync_folder(folder: Path) -> None:
    """Make a rename durable. Source: fsync(2), on the entry in the containing directory."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
