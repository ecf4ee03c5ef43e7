"""
Exports: each provider's graph and all together as N-Quads, compressed with gzip.

    exports/NAME.nq.gz      one gzip member: the snapshot
    exports/all.nq.gz       the members of all providers, one after another (RFC 1952, section 2.2)
    exports/index.json      which version each file holds, with sizes and digests
    exports/void.ttl        a VoID description of them
    exports/*.sha256        of each of these what `sha256sum --check` reads

A provider whose version did not change keeps its file, and its member of `all.nq.gz` is copied as it is. Files are
written beside and renamed, so a download that runs reads the whole old one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, cast

from isal import igzip

from harvest.errors import DamageError, StorageError
from harvest.publish import checksums
from harvest.publish.description import ALL, ExportedGraph, ExportEntry, void

INDEX: Final = "index.json"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Exported:
    """
    What an export did.

    Attributes:
        files: The names of the data files that were rewritten, often none.
        damaged: Why a provider's file stays as it was, by name: a filed file of it is damaged.
    """

    files: list[str]
    damaged: dict[str, DamageError]


def export(folder: Path, base_url: str, subjects: Sequence[ExportedGraph], now: datetime) -> Exported:
    """
    Bring the exports to the current versions, as far as the providers' files are whole.

    Raises:
        StorageError: The folder cannot be written; the files that are there stay whole.
    """
    try:
        return _exported(folder, base_url, subjects, now)
    except OSError as error:
        raise StorageError(f"the exports in {folder} cannot be written: {error}", url=str(folder)) from error


def _exported(folder: Path, base_url: str, subjects: Sequence[ExportedGraph], now: datetime) -> Exported:
    folder.mkdir(parents=True, exist_ok=True)
    before = trusted_index(folder)
    entries: dict[str, ExportEntry] = {}
    damaged: dict[str, DamageError] = {}
    for subject in subjects:
        try:
            entries[subject.name] = _current(folder, before, subject) or _write(folder, subject, now)
        except DamageError as error:
            damaged[subject.name] = error
            last = before.get(subject.name)
            if last is not None and _stands(folder, last):
                entries[subject.name] = last
    changed = [entry.file for name, entry in entries.items() if entry != before.get(name)]
    gone = before.keys() - entries.keys() - {ALL}
    whole = before.get(ALL)
    if changed or gone or whole is None or not _stands(folder, whole):
        whole = _write_all(folder, list(entries.values()), now)
        changed.append(whole.file)
    entries[ALL] = whole
    for entry in entries.values():
        checksums.put(folder / entry.file, entry.sha256)
    checksums.describe(folder / "void.ttl", void(base_url, subjects, entries))  # dates move without the data
    for name in gone:
        for path in (folder / before[name].file, checksums.beside(folder / before[name].file)):
            path.unlink(missing_ok=True)
    # Last: what a crash keeps from standing here is written again.
    index = json.dumps({name: asdict(entry) for name, entry in entries.items()}, indent=1)
    checksums.describe(folder / INDEX, index.encode())
    return Exported(changed, damaged)


def trusted_index(folder: Path) -> dict[str, ExportEntry]:
    """The exported files by provider name; empty where the list is damaged, so that all are written again."""
    return {} if checksums.differs(folder / INDEX) else read_index(folder)


def read_index(folder: Path) -> dict[str, ExportEntry]:
    """The exported files by provider name, `all` for all of them; empty when nothing that can be used is there."""
    try:
        items: Mapping[str, Any] = json.loads((folder / INDEX).read_bytes())
        return {name: ExportEntry(**item) for name, item in items.items()}
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, AttributeError):
        return {}


def _current(folder: Path, before: Mapping[str, ExportEntry], subject: ExportedGraph) -> ExportEntry | None:
    """The entry of a provider whose file holds its version, or None."""
    known = before.get(subject.name)
    if known is None or not _stands(folder, known):
        return None
    # Not by its number: a provider that was forgotten and came back has versions of the same numbers.
    same = (known.version, known.graph, known.content_sha256) == (subject.version, subject.graph, subject.digest)
    return known if same else None


def _stands(folder: Path, entry: ExportEntry) -> bool:
    """Whether the file of an entry is there, in its size."""
    try:
        return (folder / entry.file).stat().st_size == entry.bytes
    except FileNotFoundError:
        return False


def _write(folder: Path, subject: ExportedGraph, now: datetime) -> ExportEntry:
    """Compress a snapshot into its file."""
    file = f"{subject.name}.nq.gz"
    content = hashlib.sha256()
    with _Replacement(folder / file) as packed, _compressing(packed) as out, subject.snapshot().open("rb") as source:
        while chunk := source.read(_CHUNK):
            content.update(chunk)
            out.write(chunk)
        if subject.digest not in (None, content.hexdigest()):
            said = f"it has SHA-256 {content.hexdigest()}, where the ledger says {subject.digest}"
            raise DamageError(f"the snapshot of version {subject.version} of {subject.name} is damaged: {said}")
    counts = subject.version, subject.triples, packed.length
    return ExportEntry(file, subject.graph, *counts, packed.digest.hexdigest(), content.hexdigest(), now.isoformat())


def _write_all(folder: Path, entries: Sequence[ExportEntry], now: datetime) -> ExportEntry:
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
    return ExportEntry(file, None, *counts, packed.digest.hexdigest(), None, now.isoformat())


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
            checksums.put(self._target, self.digest.hexdigest())

    def write(self, data: bytes) -> int:
        """Take the next bytes."""
        self.digest.update(data)
        self.length += len(data)
        return self._raw.write(data)

    def flush(self) -> None:
        """Nothing is read before the file takes its place."""
