"""
The writer's folder: one process at a time, and one RocksDB that is replaced as a whole or not at all.

    writer.lock                        locked by the writer; holds its process id
    working -> working-000007          the store in use
    working-000007/                    RocksDB

A store that is to replace another one grows in the next folder. Switching the link makes it the store in use; a crash
before that leaves a folder that the next start removes.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from pathlib import Path
from typing import Final

from sparql.errors import StoreTaken
from sparql.store import files
from sparql.store.layout import StoreLayout

_FOLDER: Final = re.compile(r"working-(\d{6,})")


class WriterLock:
    """The right to write below a folder, held until `release` or the end of the process."""

    def __init__(self, root: Path) -> None:
        """
        Take the right.

        Raises:
            StoreTaken: Another process has it.
            OSError: The lock file cannot be written.
        """
        self._descriptor = os.open(StoreLayout(root).lock, os.O_RDWR | os.O_CREAT, 0o644)
        if not files.locked(self._descriptor, fcntl.LOCK_EX):
            holder = os.read(self._descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise StoreTaken(f"{root} is being written by process {holder}; end that process or wait for it.")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Give the right back; again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class WorkingFolder:
    """Which folder below `root` holds the store in use; only its writer may call this."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._layout = StoreLayout(root)
        self._link = self._layout.working
        self._before: Path | None = None
        self._last = 0

    def open(self) -> Path:
        """The folder in use, made if there is none; what a crash left beside it is removed."""
        name = files.target(self._link)
        if name is None or not _FOLDER.fullmatch(name) or not (self._root / name).is_dir():
            name = self.next().name
            (self._root / name).mkdir()
            files.point(self._link, name)
        for path in self._root.iterdir():
            if _FOLDER.fullmatch(path.name) and path.name != name:
                shutil.rmtree(path)
        return self._root / name

    def next(self) -> Path:
        """
        A folder that does not exist, for the store that is to come.

        A process uses no name twice: RocksDB holds the lock of a removed folder while an iterator is left.
        """
        numbers = [int(match[1]) for path in self._root.iterdir() if (match := _FOLDER.fullmatch(path.name))]
        self._last = max(self._last, *numbers, 0) + 1
        return self._layout.working_folder(self._last)

    def renew(self) -> None:
        """Make an empty folder the one in use, in place of one that cannot be opened."""
        folder = self.next()
        folder.mkdir()
        files.point(self._link, folder.name)

    def switch(self, folder: Path) -> None:
        """
        Make `folder` the one in use.

        The one before stays until the next switch or start: somebody may still read from it.
        """
        before = files.target(self._link)
        files.sync(folder)
        files.sync(self._root)
        files.point(self._link, folder.name)
        if self._before is not None:
            shutil.rmtree(self._before, ignore_errors=True)
        self._before = self._root / before if before else None
