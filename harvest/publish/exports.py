"""
Exports: each provider's graph and all together as N-Quads, compressed with gzip.

    exports/NAME.nq.gz      one gzip member: the snapshot
    exports/all.nq.gz       the members of all providers, one after another (RFC 1952, section 2.2)
    exports/*.sha256        what `sha256sum -c` reads
    exports/index.json      which version each file holds, with sizes and digests
    exports/void.ttl        a VoID description of them

A provider whose version did not change keeps its file, and its member of `all.nq.gz` is copied as it is. Files are
written beside and renamed, so a download that runs reads the whole old one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

from isal import igzip

from harvest.errors import StorageError
from harvest.publish.description import ALL, Entry, Subject, void

_CHUNK = 1 << 20


def export(folder: Path, base_url: str, subjects: Sequence[Subject], now: datetime) -> list[str]:
    """
    Bring the exports to the current versions; returns the names of the data files that were rewritten, often none.

    Raises:
        StorageError: The folder cannot be written; the files that are there stay whole.
    """
    try:
        return _exported(folder, base_url, subjects, now)
    except OSError as error:
        raise StorageError(f"the exports in {folder} cannot be written: {error}", url=str(folder)) from error


def _exported(folder: Path, base_url: str, subjects: Sequence[Subject], now: datetime) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    before = read_index(folder)
    entries = {subject.name: _current(folder, before, subject) or _write(folder, subject, now) for subject in subjects}
    changed = [entry.file for name, entry in entries.items() if entry != before.get(name)]
    gone = before.keys() - entries.keys() - {ALL}
    whole = before.get(ALL)
    if changed or gone or whole is None or not _stands(folder, whole):
        whole = _write_all(folder, list(entries.values()), now)
        changed.append(whole.file)
    entries[ALL] = whole
    _describe(folder / "void.ttl", void(base_url, subjects, entries))
    for name in gone:
        for path in (folder / before[name].file, _digest_file(folder, before[name].file)):
            path.unlink(missing_ok=True)
    if changed:
        # Last: what a crash keeps from standing here is written again.
        _replace(folder / "index.json", json.dumps({n: asdict(e) for n, e in entries.items()}, indent=1).encode())
    return changed


def read_index(folder: Path) -> dict[str, Entry]:
    """The exported files by provider name, `all` for all of them; empty when nothing that can be used is there."""
    try:
        items: Mapping[str, Any] = json.loads((folder / "index.json").read_bytes())
        return {name: Entry(**item) for name, item in items.items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}


def _current(folder: Path, before: Mapping[str, Entry], subject: Subject) -> Entry | None:
    """The entry of a provider whose file holds its version, or None."""
    known = before.get(subject.name)
    if known is None or not _stands(folder, known):
        return None
    # A provider that was forgotten and came back has versions of the same numbers.
    same = (known.version, known.graph, known.triples) == (subject.version, subject.graph, subject.triples)
    return known if same else None


def _stands(folder: Path, entry: Entry) -> bool:
    """Whether the file of an entry is there, in its size."""
    try:
        return (folder / entry.file).stat().st_size == entry.bytes
    except FileNotFoundError:
        return False


def _describe(target: Path, description: bytes) -> None:
    """Write the description if it says anything new: dates move without the data."""
    if not target.exists() or target.read_bytes() != description:
        _replace(target, description)


def _write(folder: Path, subject: Subject, now: datetime) -> Entry:
    """Compress a snapshot into its file."""
    file = f"{subject.name}.nq.gz"
    content = hashlib.sha256()
    with _Replacement(folder / file) as packed, _compressing(packed) as out, subject.snapshot().open("rb") as source:
        while chunk := source.read(_CHUNK):
            content.update(chunk)
            out.write(chunk)
    counts = subject.version, subject.triples, packed.length
    return Entry(file, subject.graph, *counts, packed.digest.hexdigest(), content.hexdigest(), now.isoformat())


def _write_all(folder: Path, entries: Sequence[Entry], now: datetime) -> Entry:
    """Join the members of all providers."""
    file = f"{ALL}.nq.gz"
    with _Replacement(folder / file) as packed:
        for entry in entries:
            with (folder / entry.file).open("rb") as member:
                while chunk := member.read(_CHUNK):
                    packed.write(chunk)
        if not entries:
            packed.write(igzip.compress(b"", mtime=0))
    counts = sum(e.version for e in entries), sum(e.triples for e in entries), packed.length
    return Entry(file, None, *counts, packed.digest.hexdigest(), None, now.isoformat())


def _compressing(target: _Replacement) -> IO[bytes]:
    """A gzip member with no name and no time inside: the same graph gives the same bytes."""
    return cast(IO[bytes], igzip.IGzipFile("", "wb", 1, target, 0))


class _Replacement:
    """
    A file that is digested while it is written, and takes its place with its `.sha256` when all went well.

    Attributes:
        digest: Of what was written so far.
        length: Of what was written so far, in bytes.
    """

    def __init__(self, target: Path) -> None:
        self.digest = hashlib.sha256()
        self.length = 0
        self._target = target
        self._temporary = target.with_name(f".{target.name}.tmp")
        self._raw = self._temporary.open("wb")

    def __enter__(self) -> _Replacement:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            with self._raw:
                if kind is None:
                    self._raw.flush()
                    os.fsync(self._raw.fileno())
            if kind is None:
                self._temporary.replace(self._target)
        finally:
            self._temporary.unlink(missing_ok=True)
        if kind is None:
            line = f"{self.digest.hexdigest()}  {self._target.name}\n"
            _replace(_digest_file(self._target.parent, self._target.name), line.encode())

    def write(self, data: bytes) -> int:
        """Take the next bytes."""
        self.digest.update(data)
        self.length += len(data)
        return self._raw.write(data)

    def flush(self) -> None:
        """Nothing is read before the file takes its place."""


def _digest_file(folder: Path, file: str) -> Path:
    return folder / f"{file}.sha256"


def _replace(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
