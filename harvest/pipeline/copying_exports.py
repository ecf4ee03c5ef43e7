"""Copying the exports to object storage, after they were written; what failed is done with the next export."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from harvest.archive.storage import Storage, connected
from harvest.catalog.export_copies import COPIES, read_copies
from harvest.errors import StorageError
from harvest.pipeline.instance import Instance
from harvest.publish import checksums
from harvest.publish.exports import trusted_index

_DESCRIPTION: Final = "void.ttl"


def copy_exports(instance: Instance) -> list[str]:
    """
    Bring the copies of the exports to the files of now; returns the names of those that were copied or removed.

    Raises:
        StorageError: The storage is away or refuses, or the exports cannot be read; the files of this machine stay.
    """
    url, folder = instance.settings.exports_storage, instance.settings.exports_dir
    if not url:
        return []
    try:
        with instance.exporting:
            storage, copies = connected(url), read_copies(folder, url)
            if copies is None:
                storage.begin(folder)
                copies = {}
            return _copied(storage, folder, copies)
    except OSError as error:
        raise StorageError(f"the exports in {folder} cannot be copied: {error}", url=str(folder)) from error


def _copied(storage: Storage, folder: Path, copies: dict[str, str]) -> list[str]:
    wanted = {entry.file: entry.sha256 for entry in trusted_index(folder).values()}
    wanted[_DESCRIPTION] = hashlib.sha256((folder / _DESCRIPTION).read_bytes()).hexdigest()
    gone = sorted(copies.keys() - wanted.keys())
    for file in gone:  # first: it may have been forgotten for a reason
        _mark(folder, storage.url, copies, file)
        for name in (file, f"{file}.sha256"):
            storage.remove(name)
        del copies[file]
    due = [file for file, digest in wanted.items() if copies.get(file) != digest]
    for file in due:
        _mark(folder, storage.url, copies, file)
        storage.put(file, folder / file, create=False)
        storage.put(f"{file}.sha256", checksums.beside(folder / file).read_bytes(), create=False)
        copies[file] = wanted[file]
    if gone or due:
        _save(folder, storage.url, copies)
    return [*gone, *due]


def _mark(folder: Path, url: str, copies: dict[str, str], file: str) -> None:
    """Have it known before it is begun that the storage has something of this name."""
    copies[file] = ""
    _save(folder, url, copies)


def _save(folder: Path, url: str, copies: dict[str, str]) -> None:
    checksums.replace(folder / COPIES, json.dumps({"url": url, "files": copies}, indent=1).encode())
