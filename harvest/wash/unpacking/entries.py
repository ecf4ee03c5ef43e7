"""An entry of an archive, however it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

NAME: Final = 4096
"""Characters of an entry name that are kept; the longest path of Linux."""


TAR_BLOCK: Final = 512


class Sort(Enum):
    """What an entry is. LINK stands for devices and other things without bytes of their own, too."""

    FILE = auto()
    FOLDER = auto()
    LINK = auto()


@dataclass(frozen=True, slots=True)
class Where:
    """
    A dump or an entry of it, as messages name it.

    Attributes:
        url: The dump.
        names: Names of the archive entries that lead to it, the outermost first.
    """

    url: str
    names: tuple[str, ...] = ()

    def entry(self, name: str) -> Where:
        """An entry of it."""
        return Where(self.url, (*self.names, name))

    def __str__(self) -> str:
        return ", ".join((self.url, *(f"entry {name}" for name in self.names)))


class Damaged(Exception):
    """An archive, or an entry of one, that cannot be read on; the text says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    An entry of an archive that is being read.

    Attributes:
        name: As in the archive, printable.
        sort: What it is.
        encrypted: Whether its bytes need a password.
        blocks: Its bytes, to be asked for once, before the next entry. Raises `Damaged` where they end too early.
    """

    name: str
    sort: Sort
    encrypted: bool
    blocks: Callable[[], Iterator[bytes]]


def printable(name: bytes | str) -> str:
    """
    A name as text that can be shown, filed and compared.

    Bytes that are no UTF-8, and characters that do not print, become escapes, so that different names stay different.
    """
    raw = name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")
    text = raw.decode("utf-8", "backslashreplace")
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text[:NAME]


def ends_tar(last: bytes) -> bool:
    """
    Whether a tar archive is whole that ends with these bytes: a block of zeros.

    One that was cut off between two entries looks whole but for that.

    Source: POSIX.1-2024, pax, "ustar Interchange Format": two blocks of zeros; some programs write one.
    """
    return not last[-TAR_BLOCK:].strip(b"\x00")
