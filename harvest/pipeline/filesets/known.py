"""What earlier results of a folder have filed: by fileset, and by checksum of a file."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harvest.archive.content import ContentStore
from harvest.model import EXISTS, Manifest, ManifestFile

_STRONG: Final = ("sha1", "sha256")
"""Checksums by which a file is taken for one that is filed; MD5 is too easily made alike."""


class KnownFiles:
    """The files of earlier results; any number of threads may ask."""

    def __init__(self, results: Path, content: ContentStore) -> None:
        """
        Read a file of results.

        Args:
            results: One result a line; it need not be there.
            content: Where their bytes are filed.
        """
        self._content = content
        self._guard = threading.Lock()
        self._filesets: dict[tuple[Any, ...], list[tuple[ManifestFile, ...]]] = {}
        self._files: dict[tuple[str, str], ManifestFile] = {}
        self._bundles: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        if results.is_file():
            with results.open(encoding="utf-8") as lines:
                self.add(json.loads(line) for line in lines)

    def add(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Take in the files of results."""
        with self._guard:
            for result in results:
                files = tuple(ManifestFile(**item) for item in result.get("manifest") or ())
                named = tuple(result.get(f"platform_{name}") for name in ("name", "domain", "id"))
                if files:
                    self._filesets.setdefault(named, []).append(files)
                if result.get("fileset_bundle"):
                    self._bundles[named] = result["fileset_bundle"]["file_meta"]
                for file in files:
                    if file.status == EXISTS and file.sha256 and file.terminal_url and file.terminal_dt:
                        self._files.update((known, file) for known in _checksums(file))

    def find(self, file: ManifestFile) -> ManifestFile | None:
        """The earlier file with these bytes, by a checksum that the platform gives; None where none is filed."""
        with self._guard:
            found = next((self._files[known] for known in _checksums(file) if known in self._files), None)
        if found is None or not found.sha256 or not self._content.holds(found.sha256):
            return None
        return found if file.size in (None, found.size) else None

    def fileset(self, manifest: Manifest) -> tuple[ManifestFile, ...] | None:
        """The files of an earlier result, where it had the very same, with checksums, and all are still there."""
        if not all(file.hashes for file in manifest.files):
            return None
        wanted = [(file.path, file.size, file.hashes[0]) for file in manifest.files]
        named = manifest.platform_name, manifest.platform_domain, manifest.platform_id
        with self._guard:
            before = list(self._filesets.get(named, ()))
        for files in before:
            same = [(f.path, f.size, h) for f in files for h in f.hashes if (f.path, f.size, h) in wanted]
            there = all(f.status == EXISTS and f.sha256 and self._content.holds(f.sha256) for f in files)
            if there and len(files) == len(wanted) == len(same):
                return files
        return None

    def bundle(self, manifest: Manifest) -> Mapping[str, Any] | None:
        """Size and checksums (`size_bytes`, `sha256hex`, ...) of the bundle of an earlier result, which is filed."""
        with self._guard:
            found = self._bundles.get((manifest.platform_name, manifest.platform_domain, manifest.platform_id))
        return found if found and self._content.holds(found["sha256hex"]) else None


def _checksums(file: ManifestFile) -> Iterator[tuple[str, str]]:
    return (known for known in file.hashes if known[0] in _STRONG)
