"""The files of changes as they are given to others: only those that are whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harvest.errors import DamageError
from harvest.ledger import Ledger
from harvest.model import Layout
from harvest.revise import delta as deltas
from sparql.errors import DamagedData
from sparql.reports import PackedFile

KNOWN: Final = 1000
"""Files that are known to be whole, and are not read once more before they are given."""


class ChangeFiles:
    """
    The changes of all providers, and their baselines; several threads may ask at once.

    Raises:
        DamagedData: Any method: the file is damaged or gone.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._layout = layout
        self._ledger = ledger
        self._whole: dict[tuple[Path, int, int], int] = {}

    def change(self, name: str, n: int) -> PackedFile | None:
        """The filed change that made a version, or None."""
        record = self._ledger.provider(name)
        if record is None or not record.baseline < n <= record.version:
            return None
        return self._packed(name, n, self._layout.provider(name).change(n))

    def baseline(self, name: str, n: int) -> PackedFile | None:
        """A version as a change from nothing, where it is the first that is kept, or None."""
        record = self._ledger.provider(name)
        if record is None or not record.baseline or n != record.baseline:
            return None
        return self._packed(name, n, self._layout.provider(name).baseline(n))

    def _packed(self, name: str, n: int, path: Path) -> PackedFile:
        """A file, once it is known to be whole."""
        with damage_raised(name, n):
            if not path.is_file():
                deltas.check(path)
            facts = path.stat()
            seen = path, facts.st_mtime_ns, facts.st_size
            length = self._whole.get(seen)
            if length is None:
                length = deltas.check(path)
                self._whole = {**dict(list(self._whole.items())[-KNOWN:]), seen: length}
        return PackedFile(path, length)


@contextmanager
def damage_raised(name: str, n: int) -> Iterator[None]:
    """Raise damage as the web front does."""
    try:
        yield
    except DamageError as error:
        message = f"Version {n} of {name} cannot be given: {error.message}; `harvest rebuild {name}` mends it."
        raise DamagedData(message) from error
