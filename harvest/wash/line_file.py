"""Lines on their way to a file, counted and digested."""

from __future__ import annotations

import hashlib
from pathlib import Path

from harvest.model import Snapshot


class LineFile:
    """A file that takes whole lines while it is entered."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._lines = 0

    def write(self, data: bytes) -> int:
        """Write all of it."""
        self._digest.update(data)
        self._lines += data.count(b"\n")
        return self._file.write(data)

    @property
    def snapshot(self) -> Snapshot:
        """The file."""
        return Snapshot(self._path, self._lines, self._digest.hexdigest())

    def __enter__(self) -> LineFile:
        self._file = self._path.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
