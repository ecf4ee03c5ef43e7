"""
Which data a result is of, as a text that no other data ever have.

The number of a generation is not enough: a store that is made again from the archive counts from 1 again. Under a
server that goes on serving it, such a store gets its new name at the next look at the current generation, so that
nothing kept of the data before is found any more. A number alone stands for the store that was looked at last: only an
answer that was on its way in that moment can be taken for one of the new store. An instance holds its folder while it
serves, so that this takes somebody who removes the store under it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from sparql.store.layout import StoreLayout


class _Seen(NamedTuple):
    """A generation that was looked at: its number, the time and inode of its file, and the name made of them."""

    number: int
    written_ns: int
    inode: int
    name: str


class Editions:
    """
    The names of the generations below a folder; a look at the current one costs a few microseconds.

    A name is the generation's number and the time and inode of the file that RocksDB writes first into each copy.
    """

    def __init__(self, root: Path) -> None:
        layout = StoreLayout(root)
        self._link = str(layout.current)
        self._marker = str(layout.current / "CURRENT")
        self._folder = str(layout.generations)
        self._seen = _Seen(0, 0, 0, "")

    def current(self) -> str | None:
        """The name of the current generation, or None while there is none."""
        try:
            facts = os.stat(self._marker)
            seen = self._seen
            if (facts.st_mtime_ns, facts.st_ino) != (seen.written_ns, seen.inode):
                seen = self._seen = self._look(os.path.basename(os.readlink(self._link)))
        except (OSError, ValueError):
            return None
        return seen.name

    def of(self, generation: int) -> str | None:
        """The name of a generation, as `current` last saw it if it is that one; None when it is gone."""
        seen = self._seen
        if seen.number == generation:
            return seen.name
        try:
            return self._look(f"{generation:06d}").name
        except OSError:
            return None

    def _look(self, folder: str) -> _Seen:
        facts = os.stat(f"{self._folder}/{folder}/CURRENT")
        number, written, inode = int(folder), facts.st_mtime_ns, facts.st_ino
        return _Seen(number, written, inode, f"{number}-{written:x}-{inode:x}")
