"""
Where objects are: a bucket of a storage that speaks S3, or a folder, such as a share that several machines mount.

    s3://bucket/prefix    credentials, region and endpoint are those of the AWS_* variables of the environment
    file:///folder        `incoming/` in it has what is being written; where it is gone, the share is not mounted

Source: obstore, "put", "S3Store" and "LocalStore"; Amazon S3, "conditional writes" (If-None-Match: *).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import unquote
from uuid import uuid4

from harvest.archive.syncing import sync_file, sync_folder
from harvest.errors import StorageError

PIECE: Final = 8 << 20
"""Bytes of one request: a part of a multipart upload, a range that is read."""

INCOMING: Final = "incoming"
_CODE: Final = re.compile(r"<Code>(\w+)</Code>")
_SYSTEM: Final = re.compile(r"\(os error (\d+)\)")
_GIVEN: Final = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
_TRIES: Final[Any] = {"max_retries": 2, "retry_timeout": timedelta(seconds=20)}


class Storage(Protocol):
    """
    One place for objects.

    Attributes:
        url: Where it is, no slash at the end.
        store: The library's store of it.
    """

    url: str

    @property
    def store(self) -> Any:
        """The library's store; for the calls that read and remove."""

    def begin(self, archive: Path) -> None:
        """
        Make ready what has no objects yet, for the archive in a folder.

        Raises:
            StorageError: The place is missing, cannot be used, or is that folder.
        """

    def check(self) -> None:
        """
        Ask whether the place is there.

        Raises:
            StorageError: It is missing, or cannot be used.
        """

    def sweep(self) -> None:
        """Remove what a crash left half written."""

    def put(self, name: str, source: bytes | Path, *, create: bool) -> bool:
        """
        Write one object, durable when this returns; False where `create` is set and there is one of the name.

        Raises:
            StorageError: It cannot be written.
        """

    def remove(self, name: str) -> None:
        """
        Remove one object for good, if it is there.

        Raises:
            StorageError: It cannot be removed.
        """

    def link(self, name: str, seconds: float) -> str | None:
        """
        An address where anyone may read an object for so long; None where the storage gives none.

        Raises:
            StorageError: It cannot be made.
        """

    def is_there(self, error: FileNotFoundError) -> None:
        """
        After an object was not found: make sure that it is not the whole place that is gone.

        Raises:
            StorageError: It is.
        """

    def explained(self) -> Any:
        """A context that makes a StorageError of every error of the library."""


class Bucket:
    """A prefix of a bucket. What the storage writes into an error is in none of ours: it may repeat the key."""

    def __init__(self, url: str) -> None:
        self.url = url
        # Only who has the setting pays for loading the library and its threads.
        import obstore
        from obstore import exceptions
        from obstore.store import S3Store

        self._library, self._errors = obstore, exceptions
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        if not any(name in os.environ for name in _GIVEN):
            raise StorageError(f"no credentials for {url}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        plain = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://")
        options: Any = {"connect_timeout": "10s", "timeout": "300s", "allow_http": plain}
        with self.explained():
            self.store: Any = S3Store(bucket, prefix=prefix or None, client_options=options, retry_config=_TRIES)

    def begin(self, archive: Path) -> None:
        """As `Storage` has it."""
        self.check()

    def check(self) -> None:
        """As `Storage` has it, by asking for the first objects."""
        with self.explained():
            next(iter(self._library.list(self.store, chunk_size=1)), None)

    def sweep(self) -> None:
        """As `Storage` has it: an object is there whole or not at all."""

    def put(self, name: str, source: bytes | Path, *, create: bool) -> bool:
        """As `Storage` has it; a file is sent in parts, and never under the condition that there is no object."""
        with self.explained():
            try:
                if isinstance(source, Path):
                    self._library.put(self.store, name, source, mode="overwrite", chunk_size=PIECE, max_concurrency=2)
                else:
                    self._library.put(self.store, name, source, mode="create" if create else "overwrite")
            except self._errors.AlreadyExistsError:
                return False
        return True

    def remove(self, name: str) -> None:
        """As `Storage` has it."""
        with self.explained():
            self._library.delete(self.store, name)

    def link(self, name: str, seconds: float) -> str | None:
        """As `Storage` has it: signed with the key, without asking the storage."""
        with self.explained():
            return str(self._library.sign(self.store, "GET", name, timedelta(seconds=seconds)))

    def is_there(self, error: FileNotFoundError) -> None:
        """As `Storage` has it: HEAD says of a missing bucket and of a missing object the same."""
        if _CODE.search(str(error)) is None:
            self.check()
        elif "NoSuchBucket" in str(error):
            raise error

    @contextmanager
    def explained(self) -> Iterator[None]:
        """As `Storage` has it."""
        try:
            yield
        except (self._errors.BaseError, FileNotFoundError) as error:
            match = _CODE.search(str(error))
            raise StorageError(f"{self.url} {self._reason(error, match[1] if match else '')}", url=self.url) from None

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


class Folder:
    """
    A folder, which has to be there: one that is missing may be a share that is not mounted, and is not made.

    The library syncs nothing and leaves what a crash cut short beside the object, so an object is written in
    `incoming/`, synced there and renamed.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        import obstore
        from obstore import exceptions

        self._library, self._errors = obstore, exceptions
        self._root = Path(unquote(url.removeprefix("file://")))
        self._store: Any = None

    @property
    def store(self) -> Any:
        """As `Storage` has it; opened once the folder is there."""
        self.check()
        if self._store is None:
            from obstore.store import LocalStore

            with self.explained():
                self._store = LocalStore(self._root)
        return self._store

    def begin(self, archive: Path) -> None:
        """As `Storage` has it; the folder itself is never made."""
        try:
            ours, theirs = archive.resolve(), self._root.resolve()
            if ours.is_relative_to(theirs) or theirs.is_relative_to(ours):
                raise StorageError(
                    f"{self.url} has to be apart from {archive}, which has the files of this machine",
                    url=self.url,
                )
            if not self._root.is_dir():
                raise StorageError(f"{self.url} is not there: make the folder, or mount it", url=self.url)
            (self._root / INCOMING).mkdir(exist_ok=True)
            sync_folder(self._root)
        except OSError as error:
            raise StorageError(f"{self.url} cannot be written: {error.strerror}", url=self.url) from error

    def check(self) -> None:
        """As `Storage` has it."""
        if not (self._root / INCOMING).is_dir():
            raise StorageError(
                f"{self.url} has no folder {INCOMING}/: the share is not mounted; what waits is tried again",
                url=self.url,
            )

    def sweep(self) -> None:
        """As `Storage` has it."""
        try:
            for path in (self._root / INCOMING).glob("*"):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"{self.url} cannot be written: {error.strerror}", url=self.url) from error

    def put(self, name: str, source: bytes | Path, *, create: bool) -> bool:
        """As `Storage` has it."""
        store, temporary = self.store, f"{INCOMING}/{uuid4()}"
        try:
            with self.explained():
                self._library.put(store, temporary, source, chunk_size=PIECE)
                sync_file(self._root / temporary)
                self._library.rename(store, temporary, name, overwrite=not create)
                for folder in list((self._root / name).parents)[: name.count("/") + 1]:
                    sync_folder(folder)
        except self._errors.AlreadyExistsError:
            return False
        finally:
            (self._root / temporary).unlink(missing_ok=True)
        return True

    def remove(self, name: str) -> None:
        """As `Storage` has it."""
        with self.explained(), suppress(FileNotFoundError):
            self._library.delete(self.store, name)

    def link(self, name: str, seconds: float) -> str | None:
        """As `Storage` has it."""
        return None

    def is_there(self, error: FileNotFoundError) -> None:
        """As `Storage` has it."""
        self.check()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """As `Storage` has it."""
        try:
            yield
        except self._errors.AlreadyExistsError:
            raise
        except (self._errors.BaseError, OSError) as error:
            match = _SYSTEM.search(str(error))
            why = os.strerror(int(match[1])) if match else getattr(error, "strerror", None) or type(error).__name__
            raise StorageError(f"{self.url} cannot be used: {why}; what waits is tried again", url=self.url) from None


@lru_cache(maxsize=8)
def connected(url: str) -> Storage:
    """The storage at a URL; each process connects once."""
    return Folder(url) if url.startswith("file://") else Bucket(url)
