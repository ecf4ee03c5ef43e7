"""
An archive whose bytes are in object storage; the folder on disk has copies of those that were filed or read here.

    content/objects.json       {"version": 1, "url": "s3://bucket/prefix"}: where the archive of this folder is
    s3://bucket/prefix/ab/cd/abcd...   bytes and index entries, named as in the folder

What is filed is put there first and into the folder then, so what the folder has is never all there is. Credentials,
region and endpoint are those of the AWS_* variables of the environment, and are in no file, error or line of the log.

Source: obstore, "put" and "S3Store"; Amazon S3, "conditional writes" (If-None-Match: *).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from harvest.errors import StorageError

PLACE: Final = "objects.json"
PIECE: Final = 8 << 20
"""Bytes of one request: a part of a multipart upload, a range that is read."""

_VERSION: Final = 1
_CODE: Final = re.compile(r"<Code>(\w+)</Code>")
_GIVEN: Final = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
_TRIES: Final[Any] = {"max_retries": 2, "retry_timeout": timedelta(seconds=20)}


class Objects:
    """
    The objects of one archive.

    Attributes:
        url: Where they are: `s3://bucket/prefix`, no slash at the end.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        # Only who has the setting pays for loading the library and its threads.
        import obstore
        from obstore import exceptions

        self._library: Any = obstore
        self._errors: Any = exceptions
        self._store = self._connected()

    def check(self) -> None:
        """
        Ask for the first objects.

        Raises:
            StorageError: The bucket is missing, the credentials are refused, or the storage does not answer.
        """
        with self._explained():
            next(iter(self._library.list(self._store, chunk_size=1)), None)

    def size(self, digest: str) -> int | None:
        """
        Bytes of an object, or None where there is none.

        Raises:
            StorageError: The storage does not say.
        """
        with self._explained():
            try:
                return int(self._library.head(self._store, key(digest))["size"])
            except FileNotFoundError as error:
                self._bucket_is_there(error)
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
        if length <= PIECE and not anew and self._created(digest, path.read_bytes()):
            return
        if anew or self.size(digest) != length:
            with self._explained():
                self._library.put(self._store, key(digest), path, mode="overwrite", chunk_size=PIECE, max_concurrency=2)
            if (found := self.size(digest)) != length:
                raise StorageError(f"{self.url} has {found} bytes of {key(digest)} after {length} were put there")

    def put_entry(self, digest: str, value: bytes) -> bytes:
        """
        Put an index entry there unless there is one; returns what is there now.

        Raises:
            StorageError: It cannot be put there.
        """
        return value if self._created(digest, value) else b"".join(self.pieces(digest) or ())

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
            raise StorageError(f"{self.url}/{key(digest)} cannot be copied to {target}: {error}") from error
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
        with self._explained():
            try:
                self._library.delete(self._store, key(digest))
            except FileNotFoundError as error:
                self._bucket_is_there(error)

    def names(self) -> Iterator[str]:
        """The digests of all objects, in order; objects with other names are passed over."""
        with self._explained():
            for page in self._library.list(self._store, chunk_size=1000):
                for found in sorted(str(each["path"]) for each in page):
                    digest = found.rpartition("/")[2]
                    if found == key(digest):
                        yield digest

    def _ranges(self, digest: str, size: int) -> Iterator[bytes]:
        for start in range(0, size, PIECE):
            with self._explained():
                piece = self._library.get_range(self._store, key(digest), start=start, length=min(PIECE, size - start))
            yield bytes(piece)

    def _created(self, digest: str, data: bytes) -> bool:
        with self._explained():
            try:
                self._library.put(self._store, key(digest), data, mode="create")
            except self._errors.AlreadyExistsError:
                return False
        return True

    def _connected(self) -> Any:
        from obstore.store import S3Store

        bucket, _, prefix = self.url.removeprefix("s3://").partition("/")
        if not any(name in os.environ for name in _GIVEN):
            raise StorageError(f"no credentials for {self.url}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        plain = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://")
        options: Any = {"connect_timeout": "10s", "timeout": "300s", "allow_http": plain}
        with self._explained():
            return S3Store(bucket, prefix=prefix or None, client_options=options, retry_config=_TRIES)

    def _bucket_is_there(self, error: FileNotFoundError) -> None:
        """HEAD says of a missing bucket and of a missing object the same, so the bucket is asked for."""
        if _CODE.search(str(error)) is None:
            self.check()
        elif "NoSuchBucket" in str(error):
            raise error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Every error of the library as a StorageError, without what the storage wrote: it may repeat the key."""
        try:
            yield
        except (self._errors.BaseError, FileNotFoundError) as error:
            match = _CODE.search(str(error))
            code = match[1] if match else ""
            raise StorageError(f"{self.url} {self._reason(error, code)}", url=self.url) from None

    def _reason(self, error: Exception, code: str) -> str:
        refused = (self._errors.PermissionDeniedError, self._errors.UnauthenticatedError)
        if isinstance(error, refused) or code in ("InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied"):
            return (
                f"refuses the credentials ({code or type(error).__name__}); see to AWS_ACCESS_KEY_ID, "
                "AWS_SECRET_ACCESS_KEY and what they may do"
            )
        if code == "NoSuchBucket" or isinstance(error, FileNotFoundError):
            return "is in a bucket that does not exist; make it, or see to the setting `content`"
        why = code or type(error).__name__
        return f"cannot be used ({why}): the storage is away or failed; what waits is tried again"


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


@lru_cache(maxsize=8)
def at(url: str) -> Objects:
    """The objects at a URL; each process connects once."""
    return Objects(url)
