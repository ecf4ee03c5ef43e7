"""
An archive whose bytes are in object storage; the folder on disk has copies of those that were filed or read here.

    content/objects.json       {"version": 1, "url": "s3://bucket/prefix"}: where the archive of this folder is
    s3://bucket/prefix/ab/cd/abcd...          bytes and index entries, named as in the folder
    s3://bucket/prefix/washed/TASK/ab/cd/...  what a worker without the data directory made, until it is taken

What is filed is put there first and into the folder then, so what the folder has is never all there is.

Source: obstore, "put", "get_range" and "list".
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from harvest.archive.storage import PIECE, connected
from harvest.errors import StorageError

PLACE: Final = "objects.json"
_VERSION: Final = 1


class Objects:
    """
    The objects of one archive, or those below a folder of it.

    Attributes:
        url: Where they are: `s3://bucket/prefix` or `file:///folder`, no slash at the end.
    """

    def __init__(self, url: str, folder: str = "") -> None:
        self.url = f"{url}/{folder}" if folder else url
        import obstore

        self._library: Any = obstore
        self._storage = connected(url)
        self._folder = folder

    def begin(self, archive: Path) -> None:
        """
        Make ready what has no objects yet, for the archive in a folder.

        Raises:
            StorageError: The bucket or folder is missing, the credentials are refused, or the storage does not answer.
        """
        self._storage.begin(archive)

    def check(self) -> None:
        """
        Ask whether the bucket or folder is there.

        Raises:
            StorageError: As `begin`.
        """
        self._storage.check()

    def sweep(self) -> None:
        """
        Remove what a crash left half written.

        Raises:
            StorageError: It cannot be removed.
        """
        self._storage.sweep()

    def clear(self) -> int:
        """
        Remove all objects, whatever their names; returns how many.

        Raises:
            StorageError: The storage does not remove them.
        """
        with self._storage.explained():
            pages = self._library.list(self._storage.store, prefix=self._folder or None)
            found = [str(each["path"]) for page in pages for each in page]
            if found:
                self._library.delete(self._storage.store, found)
        return len(found)

    def size(self, digest: str) -> int | None:
        """
        Bytes of an object, or None where there is none.

        Raises:
            StorageError: The storage does not say.
        """
        with self._storage.explained():
            try:
                return int(self._library.head(self._storage.store, self._key(digest))["size"])
            except FileNotFoundError as error:
                self._storage.is_there(error)
                return None

    def put(self, digest: str, path: Path, *, anew: bool = False) -> None:
        """
        Put a file there unless an object of its name and size is there; durable when this returns.

        Up to `PIECE` bytes are created under the condition that there is no such object; more are sent in parts. An
        object of another size is damaged and is replaced; with `anew`, any is.

        Raises:
            StorageError: It cannot be put there.
        """
        length = path.stat().st_size
        if length <= PIECE and not anew and self._storage.put(self._key(digest), path.read_bytes(), create=True):
            return
        if anew or self.size(digest) != length:
            self._storage.put(self._key(digest), path, create=False)
            if (found := self.size(digest)) != length:
                raise StorageError(f"{self.url} has {found} bytes of {self._key(digest)} after {length} were put there")

    def put_entry(self, digest: str, value: bytes) -> bytes:
        """
        Put an index entry there unless there is one; returns what is there now.

        Raises:
            StorageError: It cannot be put there.
        """
        created = self._storage.put(self._key(digest), value, create=True)
        return value if created else b"".join(self.pieces(digest) or ())

    def fetch(self, digest: str, target: Path, incoming: Path) -> bool:
        """
        Copy an object to a file, by way of a temporary one in `incoming`; False where there is none.

        Raises:
            StorageError: The storage does not give it, or the disk cannot be written.
        """
        pieces = self.pieces(digest)
        if pieces is None:
            return False
        temporary = incoming / f"object-{uuid4()}"
        try:
            incoming.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as stream:
                for piece in pieces:
                    stream.write(piece)
                stream.flush()
                os.fsync(stream.fileno())
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary.replace(target)
        except OSError as error:
            raise StorageError(f"{self.url}/{self._key(digest)} cannot be copied to {target}: {error}") from error
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def digest_of(self, digest: str, algorithm: str = "sha256") -> tuple[str, int] | None:
        """
        Digest and size of the bytes that an object has now, read in ranges; None where there is none.

        Raises:
            StorageError: The storage does not give it.
        """
        pieces = self.pieces(digest)
        if pieces is None:
            return None
        found, size = hashlib.new(algorithm, usedforsecurity=False), 0
        for piece in pieces:
            found.update(piece)
            size += len(piece)
        return found.hexdigest(), size

    def pieces(self, digest: str) -> Iterator[bytes] | None:
        """The bytes of an object in ranges of at most `PIECE`; None where there is none."""
        size = self.size(digest)
        return None if size is None else self._ranges(digest, size)

    def remove(self, digest: str) -> None:
        """
        Remove an object for good, if it is there.

        Raises:
            StorageError: It cannot be removed.
        """
        self._storage.remove(self._key(digest))

    def names(self) -> Iterator[str]:
        """The digests of all objects, in order; objects with other names are passed over."""
        with self._storage.explained():
            for page in self._library.list(self._storage.store, prefix=self._folder or None, chunk_size=1000):
                for found in sorted(str(each["path"]) for each in page):
                    digest = found.rpartition("/")[2]
                    if found == self._key(digest):
                        yield digest

    def _ranges(self, digest: str, size: int) -> Iterator[bytes]:
        for start in range(0, size, PIECE):
            with self._storage.explained():
                length = min(PIECE, size - start)
                piece = self._library.get_range(self._storage.store, self._key(digest), start=start, length=length)
            yield bytes(piece)

    def _key(self, digest: str) -> str:
        return f"{self._folder}/{key(digest)}" if self._folder else key(digest)


def key(digest: str) -> str:
    """The name of an object below the prefix."""
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def objects_of(root: Path) -> Objects | None:
    """
    The object storage of the archive in a folder; None where the folder is all of it.

    Raises:
        StorageError: It is not readable where that is.
    """
    place = root / PLACE
    try:
        found = json.loads(place.read_text("utf-8"))
        if found["version"] != _VERSION:
            raise ValueError("another version")
        return at(str(found["url"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{place} does not say where the archive is: {error}", url=str(place)) from error


def at(url: str, folder: str = "") -> Objects:
    """The objects at a URL, or below a folder there; each process connects once."""
    return Objects(url, folder)
