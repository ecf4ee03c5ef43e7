"""Entries of an archive, one level deep: their names, and the bytes of some, as they lie in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harvest.errors import WashError
from harvest.wash.process import report
from harvest.wash.unpacking import archives, ziptar
from harvest.wash.unpacking.entries import Damaged, Entry, Sort, Where
from harvest.wash.unpacking.layers import archive_in, chain_of
from harvest.wash.unpacking.magic import HEAD, archive_of
from harvest.wash.unpacking.spool import Filed
from harvest.wash.unpacking.volume import Meter, Volume


@dataclass(frozen=True, slots=True)
class WantedEntries:
    """
    Entries that are wanted.

    Attributes:
        path: The archive.
        url: Its URL, for messages.
        layers: What it is taken for, as `layers` gives it.
        names: Of the entries.
    """

    path: Path
    url: str
    layers: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """
    One entry that was asked for.

    Attributes:
        name: As in the archive.
        path: A file with its bytes; None when there are none.
        digest: Their SHA-256, 64 lower-case hex digits; empty when there are none.
        size: How many.
        reason: Why there are none, or None.
    """

    name: str
    path: Path | None
    digest: str = ""
    size: int = 0
    reason: str | None = None


def layers(path: Path, url: str, depth: int) -> tuple[str, ...]:
    """The compressions around an archive, the outermost first, and its kind; empty where there is no archive."""
    chain = chain_of(Filed(path), Where(url), depth)
    kind = archive_of(chain.head(HEAD))
    return (*chain.kinds, kind) if kind and len(chain.kinds) < depth else ()


def names(path: Path, url: str, volume: Volume, scratch: Path) -> Iterator[str]:
    """
    The names of the files in an archive, in their order; none where this is no archive.

    Raises:
        WashError: After those that could be read: it is damaged, or unpacks to more than the volume.
    """
    meter = Meter(volume, path.stat().st_size, url)
    for entry in _files(path, Where(url), meter, volume.max_depth, scratch):
        yield entry.name


def pick(wanted: WantedEntries, volume: Volume, room: Path) -> None:
    """
    Report (`process.report`) each wanted entry as `Picked`, its bytes in a file in `room`; of one name the first.

    Entries that are not there are not reported.

    Raises:
        WashError: It is another kind of archive, is damaged, or unpacks to more than the volume; what was reported
            before is good.
    """
    found = layers(wanted.path, wanted.url, volume.max_depth)
    if found != wanted.layers:
        are = f"it is {' in '.join(reversed(found))}" if found else "it is no archive"
        message = f"{wanted.url} cannot be read as {' in '.join(reversed(wanted.layers))}: {are}"
        raise WashError(message, url=wanted.url)
    meter = Meter(volume, wanted.path.stat().st_size, wanted.url)
    missing = set(wanted.names)
    for number, entry in enumerate(_files(wanted.path, Where(wanted.url), meter, volume.max_depth, room)):
        if entry.name in missing:
            missing.remove(entry.name)
            report(_picked(entry, meter, room / f"entry-{number}"))
        if not missing:
            return


def _picked(entry: Entry, meter: Meter, target: Path) -> Picked:
    if entry.encrypted:
        return Picked(entry.name, None, reason="it is encrypted; publish it without a password")
    found, size = hashlib.sha256(), 0
    try:
        with target.open("xb") as out:
            for block in entry.blocks():
                meter.charge(len(block))
                found.update(block)
                size += len(block)
                out.write(block)
    except Damaged as error:
        target.unlink()
        return Picked(entry.name, None, reason=f"it is damaged or cut off after {size:,} bytes: {error}")
    return Picked(entry.name, target, found.hexdigest(), size)


def _files(path: Path, where: Where, meter: Meter, depth: int, scratch: Path) -> Iterator[Entry]:
    """The files of an archive."""
    chain = chain_of(Filed(path), where, depth)
    kind = archive_of(chain.head(HEAD))
    if kind is None or len(chain.kinds) >= depth:
        return
    if not archives.is_installed() and kind not in ziptar.KINDS:
        message = f"{where} is a {kind} archive, which is read with libarchive; install it (Debian: {archives.PACKAGE})"
        raise WashError(message, url=where.url)
    read = archives.LibarchiveReader if archives.is_installed() else ziptar.ZipTarReader
    count, damage = 0, list[WashError]()
    try:
        with archive_in(chain, kind, meter, scratch, damage.append) as stream, read(kind, stream) as reader:
            for entry in reader:
                meter.enter()
                count += 1
                if entry.sort is Sort.FILE:
                    yield entry
    except Damaged as error:
        message = f"{where} cannot be read as {kind} after {count:,} entries: {error}"
        raise (damage[0] if damage else WashError(message, url=where.url)) from error
    if damage:
        raise damage[0]
