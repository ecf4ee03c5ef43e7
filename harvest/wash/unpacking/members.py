"""What is found in a dump: files, and the archives they lie in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from harvest.model import Problem
from harvest.wash.unpacking.entries import Where
from harvest.wash.unpacking.volume import TooLarge

REPORTED: Final = 100
"""Problems of one archive that are reported one by one; of the others there is only the number."""

STREAMED: Final = frozenset({"tar", "cpio", "ar"})
"""Archives that are read from front to back. The others need seeking, and so a copy where they are compressed."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """
    One file that is no archive.

    Attributes:
        names: Entry names from the outermost archive inward; empty for the dump itself.
        open: Its decompressed bytes, from the first one. It may be called several times, until the next item is asked
            for. Reading raises `WashError` where a compression is damaged, and `TooLarge` past the limits.
        problems: What is wrong with it; "cut-off" where an entry was not read to its end.
    """

    names: tuple[str, ...]
    open: Callable[[], AbstractContextManager[BinaryIO]]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class UnpackedArchive:
    """
    An archive, reported after its children.

    Attributes:
        names: Entry names from the outermost archive inward; empty for the dump itself.
        kind: What it is: zip, tar, 7z, ...; or a compression, where that could not be undone.
        entries: Entries seen in it, folders and links included.
        problems: What is wrong with it, as "archive", "links", "too-large" or "cut-off".
    """

    names: tuple[str, ...]
    kind: str
    entries: int
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """
    Where a file lies.

    Attributes:
        where: Its name in messages.
        depth: Archives and compressions around it.
        problems: What came up on the way to it.
    """

    where: Where
    depth: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Record:
    """What is known of an archive while it is read."""

    place: Location
    kind: str
    entries: int = 0
    links: int = 0
    broken: bool = False
    unreported: int = 0
    problems: list[Problem] = field(default_factory=list)

    def add(self, message: str) -> None:
        """Report what is wrong, unless enough was reported."""
        if len(self.problems) < REPORTED:
            self.problems.append(Problem("archive", message))
        else:
            self.unreported += 1

    def fail(self, reason: str) -> None:
        """Report that the rest cannot be read; where nothing could be, there is no rest."""
        message = f"{self.place.where} cannot be read as {self.kind} after {self.entries:,} entries: {reason}"
        self.problems.append(Problem("cut-off" if self.entries else "archive", message))

    def end(self, complete: bool) -> None:
        """Report whether the archive was read to its end, or only to where its bytes end."""
        if not complete or (self.broken and self.kind in STREAMED):
            how = "within its last entry" if self.broken else f"without the mark that ends a {self.kind} archive"
            message = f"{self.place.where} ends {how}, after {self.entries:,} entries; what followed is lost"
            self.problems.append(Problem("cut-off", message))

    def archive(self, stopped: TooLarge | None) -> UnpackedArchive:
        """What is yielded of it."""
        where = self.place.where
        problems = [*self.place.problems, *self.problems]
        if self.unreported:
            problems.append(Problem("archive", f"{where}: {self.unreported:,} further problems are not reported"))
        if self.links:
            message = f"{where}: {self.links:,} links or devices were left out; they have no bytes of their own"
            problems.append(Problem("links", message))
        if stopped is not None:
            problems.append(Problem("too-large", stopped.message))
        return UnpackedArchive(where.names, self.kind, self.entries, tuple(problems))
