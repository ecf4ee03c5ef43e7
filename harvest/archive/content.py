"""
Immutable bytes, each under its own SHA-256.

    content/ab/cd/abcd...      64 lower-case hex digits; written once: temp file, fsync, rename

They may be in object storage, too, and then the folder holds copies (`harvest.archive.objects`).

Source: Preston, "blob store" (the layout is the same).
"""

from __future__ import annotations

import json
import re
import shutil
import threading
from pathlib import Path

from harvest.archive.layout import HashName, digest_of, find, place, walk, walk_folder
from harvest.archive.objects import PLACE, at, objects_of
from harvest.archive.syncing import sync_file, sync_folder
from harvest.errors import StorageError, UnknownName

_HASH = re.compile(r"[0-9a-f]{64}")


class ContentStore:
    """
    The filed bytes of an instance.

    Attributes:
        guard: Held while bytes are filed and recorded, and while some are chosen and removed: what is there already
            when it comes again must not be removed before it is recorded.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.incoming = root / "incoming"
        self.guard = threading.RLock()

    def prepare(self) -> None:
        """Make the folders, and remove what a crash left half written."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        for leftover in self.incoming.iterdir():
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()

    def locate(self, url: str) -> None:
        """
        Let the archive be in object storage at a URL, or, where that is empty, in the folder alone.

        What is not where it is to be is copied there first, so this may be begun anew after a crash. A storage that the
        archive is in already is not asked for: while it is away the instance runs without it.

        Raises:
            StorageError: The object storage cannot be used, or the disk is full.
        """
        marker, before = self.root / PLACE, objects_of(self.root)
        if url == (before.url if before else ""):
            if before is not None:
                before.sweep()
            return
        if url:
            at(url).begin(self.root)
        try:
            if before is not None:
                for _ in walk(self.root):  # each is copied here
                    pass
            if not url:
                marker.unlink()
                sync_folder(self.root)
                return
            for name, path in walk_folder(self.root):
                at(url).put(name.digest, path)
            temporary = self.incoming / PLACE
            temporary.write_text(json.dumps({"version": 1, "url": url}) + "\n", "utf-8")
            sync_file(temporary)
            temporary.replace(marker)
            sync_folder(self.root)
        except OSError as error:
            raise StorageError(f"{self.root} cannot be written: {error}", url=str(self.root)) from error

    def path(self, digest: str) -> Path:
        """
        Where the bytes of a digest are.

        Raises:
            UnknownName: They are not filed, or it is no digest.
            StorageError: The object storage does not answer.
        """
        place = self.place(digest)
        if not place.is_file() and find(self.root, HashName(digest)) is None:
            raise UnknownName(f"no content with SHA-256 {digest} is filed")
        return place

    def holds(self, digest: str) -> bool:
        """Whether bytes with this digest are filed."""
        if self.place(digest).is_file():
            return True
        objects = objects_of(self.root)
        return objects is not None and objects.size(digest) is not None

    def file(self, source: Path, digest: str) -> Path:
        """
        Move a finished file, whose digest is known, to its place; durable when this returns.

        A digest that is filed already leaves the file that is there, and `source` is removed; unless that file has
        another size, and so is damaged.

        Raises:
            UnknownName: It is no digest.
            StorageError: The disk is full or cannot be written.
        """
        place = self.place(digest)
        try:
            if source == place:
                return place
            if (objects := objects_of(self.root)) is not None:
                objects.put(digest, source)
            if not place.is_file():
                sync_file(source)  # a large one takes seconds, and others wait for the guard
            with self.guard:
                self._move(source, place)
        except OSError as error:
            raise StorageError(f"{source} cannot be filed as {place}: {error}", url=str(place)) from error
        return place

    def _move(self, source: Path, place: Path) -> None:
        if place.is_file() and place.stat().st_size == source.stat().st_size:
            source.unlink()
            return
        # Only folders that get an entry are synced: filing thousands of small files is waiting for the disk.
        grown = [place.parent]
        while not grown[-1].exists():
            grown.append(grown[-1].parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        sync_file(source)
        source.replace(place)
        for folder in grown:
            sync_folder(folder)

    def verify(self, digest: str) -> bool:
        """
        Whether the filed bytes still have their digest.

        Raises:
            UnknownName: They are not filed, or it is no digest.
        """
        if (objects := objects_of(self.root)) is None:
            return digest_of(self.path(digest))[0] == digest
        found = objects.digest_of(digest)
        if found is None:
            raise UnknownName(f"no content with SHA-256 {digest} is in {objects.url}")
        return found[0] == digest

    def discard(self, digest: str) -> None:
        """
        Remove what is damaged, before it is filed again.

        Raises:
            StorageError: The object storage does not remove it.
        """
        if (objects := objects_of(self.root)) is not None:
            objects.remove(digest)
        self.place(digest).unlink(missing_ok=True)

    def mend(self, digest: str) -> bool:
        """
        Put the copy that is right, here or in object storage, in place of the other; whether there is one.

        Raises:
            StorageError: The object storage does not answer, or the disk cannot be written.
        """
        objects, place = objects_of(self.root), self.place(digest)
        if objects is None:
            return False
        if place.is_file() and digest_of(place)[0] == digest:
            objects.put(digest, place, anew=True)
            return True
        found = objects.digest_of(digest)
        if found is None or found[0] != digest:
            return False
        return objects.fetch(digest, place, self.incoming)

    def remove(self, digest: str) -> int:
        """
        Remove filed bytes for good; returns how many.

        Raises:
            UnknownName: They are not filed, or it is no digest.
            StorageError: They cannot be removed.
        """
        place = self.path(digest)
        try:
            size = place.stat().st_size
            self.discard(digest)
        except OSError as error:
            raise StorageError(f"{place} cannot be removed: {error}", url=str(place)) from error
        return size

    def place(self, digest: str) -> Path:
        """Where the bytes of a digest belong."""
        if not _HASH.fullmatch(digest):
            raise UnknownName(f"{digest!r} is not a SHA-256 in 64 lower-case hex digits")
        return place(self.root, HashName(digest))
