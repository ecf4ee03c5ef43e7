"""
The index: which log comes first, and which one after another. Each answer is written once.

    sha256("hash://sha256/" + sha256(a) + "hash://sha256/" + sha256(b))  ->  hash://sha256/<log>   78 bytes, no newline

The first log answers (`ROOT`, hasVersion), a later one (previousVersion, the log before). The entries stand in the same
tree as the bytes.

Source: Preston, "simplified hexastore"; the order of the second question is that of its programs.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final
from uuid import uuid4

from harvest.archive.layout import ALGORITHMS, HashName, find, named, place
from harvest.archive.objects import objects_of
from harvest.archive.syncing import sync_file, sync_folder
from harvest.errors import StorageError
from sparql.rdf import PAV

ROOT: Final = "0659a54f-b713-4f86-a917-5be166a14110"
"""The concept of all logs of an archive; the same in every archive."""

HAS_VERSION: Final = PAV + "hasVersion"
PREVIOUS_VERSION: Final = PAV + "previousVersion"
LENGTH: Final = 78
"""Bytes of an entry of SHA-256."""


def query_hash(a: str, b: str, algorithm: str = "sha256") -> HashName:
    """The name of the entry that answers a question."""

    def hashed(text: str) -> str:
        return hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()

    return HashName(hashed("".join(HashName(hashed(part)).uri for part in (a, b))))


class Index:
    """The index of the archive in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def first(self) -> HashName | None:
        """The first log, or None."""
        answers = (self.get(ROOT, HAS_VERSION, algorithm) for algorithm in ALGORITHMS.values())
        return next(filter(None, answers), None)

    def after(self, log: HashName) -> HashName | None:
        """The log that comes after another one, or None."""
        return self.get(PREVIOUS_VERSION, log.uri, log.algorithm)

    def path(self, before: HashName | None) -> Path:
        """Where the entry stands that names the log after another one, or the first."""
        question = (ROOT, HAS_VERSION) if before is None else (PREVIOUS_VERSION, before.uri)
        return place(self.root, query_hash(*question))

    def chain(self) -> list[HashName]:
        """All logs that the index leads to, the first one first."""
        found: dict[HashName, None] = {}
        log = self.first()
        while log is not None and log not in found:
            found[log] = None
            log = self.after(log)
        return list(found)

    def get(self, a: str, b: str, algorithm: str = "sha256") -> HashName | None:
        """
        What answers a question, or None.

        Raises:
            StorageError: The entry is damaged.
        """
        path = find(self.root, query_hash(a, b, algorithm))
        if path is None:
            return None
        value = entry(path)
        if value is None:
            raise StorageError(
                f"the index entry {path} is damaged ({path.stat().st_size} bytes, where {LENGTH} name a log);"
                " restore it from a copy of the archive",
                url=str(path),
            )
        return value

    def put(self, a: str, b: str, value: HashName) -> None:
        """
        Write the answer to a question; durable when this returns.

        Raises:
            StorageError: It has another answer already, or the disk cannot be written.
        """
        target = place(self.root, query_hash(a, b))
        if (objects := objects_of(self.root)) is not None:
            there = objects.put_entry(target.name, value.uri.encode())
            if there != value.uri.encode():
                raise StorageError(
                    f"the index entry {target.name} in {objects.url} names another log than {value.uri}: another "
                    "instance writes there; give each a prefix of its own",
                    url=objects.url,
                )
        temporary = self.root / "incoming" / f"index-{uuid4()}"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(value.uri.encode())
            sync_file(temporary)
            # A link, unlike a rename, fails where there is an entry already.
            os.link(temporary, target)
            for folder in (target.parent, target.parent.parent, self.root):
                sync_folder(folder)
        except FileExistsError:
            if entry(target) != value:
                raise StorageError(f"the index entry {target} names another log than {value.uri}") from None
        except OSError as error:
            raise StorageError(f"the index entry {target} cannot be written: {error}", url=str(target)) from error
        finally:
            temporary.unlink(missing_ok=True)


def entry(path: Path) -> HashName | None:
    """What an index entry says; None when the file is none."""
    if path.stat().st_size > LENGTH:
        return None
    text = path.read_bytes().decode("ascii", "replace")
    return named(text) if text.startswith("hash://") else None
