"""What a worker and the instance exchange: the archive's bytes one way, results the other, both named by SHA-256."""

from __future__ import annotations

import shutil
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harvest.archive.content import ContentStore
from harvest.archive.layout import digest_of
from harvest.archive.objects import at, objects_of
from harvest.errors import StorageError, UnknownName
from harvest.model import Document, Snapshot

WASHED: Final = "washed"
"""Folder of the object storage with what workers leave there."""


@dataclass(frozen=True, slots=True)
class FileExchange:
    """
    Where that is.

    A worker that has the folder for results uses folders; one that has not uses the object storage, where there is one.

    Attributes:
        content: The archive's folder.
        results: The folder for what comes out of one task.
        objects: URL of the object storage of the archive; empty where the folder is all of it.
    """

    content: Path
    results: Path
    objects: str

    @property
    def _left(self) -> str:
        """The folder of results in the object storage; that of a task has a name of its own."""
        return f"{WASHED}/{'-'.join(self.results.parts[-3:-1])}"

    def archive(self, folder: Path) -> ContentStore:
        """
        The archive as a worker has it; what comes from the object storage goes to a folder.

        Raises:
            StorageError: The object storage cannot be used.
        """
        if self.results.is_dir() or not self.objects:
            return ContentStore(self.content)
        at(self.objects).check()  # a share that is not mounted here is no place to begin anew
        content = ContentStore(folder / "fetched")
        content.prepare()
        content.locate(self.objects)
        return content

    def put(self, snapshot: Snapshot) -> Path:
        """
        Leave a file of a worker; returns its digest as a path.

        Raises:
            StorageError: The object storage cannot be used.
        """
        if self.results.is_dir() or not self.objects:
            shutil.move(snapshot.path, self.results / snapshot.digest)
        else:
            at(self.objects, self._left).put(snapshot.digest, snapshot.path)
        return Path(snapshot.digest)

    def take(self, snapshot: Snapshot) -> Path:
        """
        Where a file that a worker left is on this machine.

        Raises:
            StorageError: It is not there, or is another one.
        """
        path = self.results / snapshot.digest
        if not path.exists() and self.objects:
            left = at(self.objects, self._left)
            left.fetch(snapshot.digest, path, self.results)
            left.remove(snapshot.digest)
        if not path.exists() or digest_of(path)[0] != snapshot.digest:
            raise StorageError(f"{path}, which a worker wrote, is gone or has another SHA-256 here", url=str(path))
        return path

    def discard(self) -> None:
        """
        Remove what workers left in the object storage for this task.

        Raises:
            StorageError: The object storage cannot be used.
        """
        if self.objects:
            at(self.objects, self._left).clear()


def clear(content: ContentStore) -> None:
    """
    Remove what workers left in the object storage for an instance that ended before it took it.

    Raises:
        StorageError: The object storage cannot be used.
    """
    if (objects := objects_of(content.root)) is not None:
        at(objects.url, WASHED).clear()


def exchange(content: ContentStore, room: Path) -> FileExchange:
    """Where a worker and this instance exchange what belongs to one task, whose temporary folder is `room`."""
    results = room / "results"
    results.mkdir(exist_ok=True)
    objects = objects_of(content.root)
    return FileExchange(content.root, results, objects.url if objects else "")


def files_of(document: Document) -> list[Path]:
    """The files of a document: its own, and those of its contexts."""
    return [document.path, *(path for path in document.contexts.values() if path is not None)]


def named(document: Document) -> Document:
    """A document whose files are named by digest."""
    contexts = {url: Path(path.name) if path else None for url, path in document.contexts.items()}
    return replace(document, path=Path(document.path.name), contexts=contexts)


def found(document: Document, content: ContentStore) -> Document:
    """
    A document whose files are named by digest, with their places on this machine.

    Raises:
        StorageError: They are not there.
    """
    try:
        contexts = {url: content.path(path.name) if path else None for url, path in document.contexts.items()}
        keep = document.keep if document.keep and document.keep.parent.parent.is_dir() else None
        return replace(document, path=content.path(document.path.name), contexts=contexts, keep=keep)
    except UnknownName as error:
        raise StorageError(
            f"a worker on {socket.gethostname()} does not have {document.path.name} in {content.root}: let all workers "
            "share the data directory, under the same path, or set `content`",
            url=document.url,
        ) from error
