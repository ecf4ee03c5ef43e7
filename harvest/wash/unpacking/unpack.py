"""
The files that a dump holds: itself, what it is compressed from, or the entries of an archive, to any depth.

A file that is only compressed is a chain of streams, read from the dump at each opening. The entries of an archive
come one by one: each is held until the next one is asked for, and its name is nothing but text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from harvest.errors import WashError
from harvest.model import Document, Problem
from harvest.wash.unpacking import archives, ziptar
from harvest.wash.unpacking.entries import Damaged, Entry, Sort, Where
from harvest.wash.unpacking.layers import Chain, archive_in, chain_of
from harvest.wash.unpacking.magic import HEAD, archive_of
from harvest.wash.unpacking.members import STREAMED, Leaf, Location, Record, UnpackedArchive
from harvest.wash.unpacking.once import once
from harvest.wash.unpacking.spool import IN_MEMORY, ByteSource, Filed, Spool
from harvest.wash.unpacking.volume import Meter, TooLarge, Volume

LAYERS: Final = 4
"""Compressions within compressions that `opened` undoes; a deeper one is refused."""

_SLOW = frozenset({"bzip2", "xz"})
"""Compressions that take longer to undo than to write what they hold to disk."""

_LOCK = re.compile("encrypt|passphrase", re.IGNORECASE)
"""What libarchive says where a password is missing that the entry did not announce."""


def unpack(document: Document, volume: Volume, scratch: Path) -> Iterator[Leaf | UnpackedArchive]:
    """
    The files in a dump, in their order, and each archive after what it holds.

    Damage, passwords and limits are problems of what is yielded; what could be read is kept.

    Args:
        document: The dump.
        volume: Limits of unpacking it.
        scratch: A folder for large entries, which get no name there.

    Raises:
        OSError: The dump cannot be read, or `scratch` not written.
    """
    meter = Meter(volume, document.path.stat().st_size, document.url)
    unpacking = _Unpacking(meter, scratch, volume.max_depth)
    yield from unpacking.files(Filed(document.path), Location(Where(document.url)))


@contextmanager
def opened(path: Path, url: str) -> Iterator[BinaryIO]:
    """
    The content of a file with every compression undone, from its first byte.

    Raises:
        WashError: It is an archive of several files, or compressed more than `LAYERS` times. While reading: it is
            damaged or cut off.
    """
    chain = chain_of(Filed(path), Where(url), LAYERS)
    if len(chain.kinds) > LAYERS:
        raise WashError(f"{url} is compressed more than {LAYERS} times; publish it compressed once", url=url)
    if kind := archive_of(chain.head(HEAD)):
        raise WashError(
            f"{url} is a {kind} archive; list the RDF files one by one, plain or compressed with gzip, bzip2, "
            "xz or zstd",
            url=url,
        )
    with chain.open() as stream:
        yield cast(BinaryIO, stream)


class _Unpacking:
    """
    One dump on its way.

    What stops it stops all archives around the place, and each of them says so.
    """

    def __init__(self, meter: Meter, scratch: Path, depth: int) -> None:
        self._meter = meter
        self._scratch = scratch
        self._depth = depth
        self._stopped: TooLarge | None = None

    def files(self, source: ByteSource, place: Location) -> Iterator[Leaf | UnpackedArchive]:
        """The files in a source: itself, or what is in it."""
        where = place.where
        chain = chain_of(source, where, self._depth - place.depth)
        depth = place.depth + len(chain.kinds)
        kind = archive_of(chain.head(HEAD))
        if depth > self._depth or (kind and depth == self._depth):
            message = f"{where} lies in {depth} archives and compressions, and is {kind or chain.kinds[-1]} again; "
            message += f"the limit is {self._depth} (max_depth)"
            yield _closed(place, kind or chain.kinds[-1], Problem("too-large", message))
        elif missing := _missing(kind, chain.kinds):
            message = f"{where} is packed with {missing}, which is read with libarchive, and that is not installed; "
            message += f"install it (Debian: {archives.PACKAGE}) and harvest again"
            yield _closed(place, missing, Problem("archive", message))
        elif kind is None:
            opener = chain.metered(self._meter).open
            if _SLOW.isdisjoint(chain.kinds):
                yield Leaf(where.names, opener, place.problems)
            else:
                with once(opener, self._scratch) as kept:
                    yield Leaf(where.names, kept, place.problems)
        else:
            yield from self._entries(kind, chain, replace(place, depth=depth + 1))

    def _entries(self, kind: str, chain: Chain, place: Location) -> Iterator[Leaf | UnpackedArchive]:
        """The files in an archive, and then the archive."""
        record = Record(place, kind)
        read = archives.LibarchiveReader if archives.is_installed() else ziptar.ZipTarReader
        try:
            opened = archive_in(chain, kind, self._meter, self._scratch, lambda error: record.add(error.message))
            with opened as stream, read(kind, stream) as reader:
                try:
                    yield from self._each(reader, record)
                finally:
                    for note in reader.notes:
                        record.add(f"{place.where}: {note}")
                # The checksum of a compression stands behind the end of the archive.
                while kind in STREAMED and self._stopped is None and stream.read(IN_MEMORY):
                    pass
        except TooLarge as error:
            self._stopped = error
        except (Damaged, WashError) as error:
            record.fail(str(error))
        yield record.archive(self._stopped)

    def _each(
        self, reader: archives.LibarchiveReader | ziptar.ZipTarReader, record: Record
    ) -> Iterator[Leaf | UnpackedArchive]:
        """The files in the entries of an archive."""
        for entry in reader:
            yield from self._entry(entry, record)
            if self._stopped is not None:
                return
        record.end(reader.complete)

    def _entry(self, entry: Entry, record: Record) -> Iterator[Leaf | UnpackedArchive]:
        """The files in an entry."""
        self._meter.enter()
        record.entries += 1
        record.broken = False
        if entry.sort is Sort.FILE:
            where = record.place.where.entry(entry.name)
            with closing(Spool(self._scratch)) as spool:
                problem = self._fill(spool, entry, where)
                if problem is not None and problem.kind == "archive":
                    record.add(problem.message)
                else:
                    record.broken = problem is not None
                    yield from self.files(spool, Location(where, record.place.depth, (problem,) if problem else ()))
        elif entry.sort is Sort.LINK:
            record.links += 1

    def _fill(self, spool: Spool, entry: Entry, where: Where) -> Problem | None:
        """Put the bytes of an entry into a spool; what was wrong with them, "archive" if it gave none at all."""
        if entry.encrypted:
            return _locked(where)
        try:
            for block in entry.blocks():
                self._meter.charge(len(block))
                spool.put(block)
        except Damaged as error:
            if not spool.size and _LOCK.search(str(error)):
                return _locked(where)
            return Problem("cut-off", f"{where} is damaged or cut off after {spool.size:,} bytes: {error}")
        except TooLarge as error:
            self._stopped = error
            return Problem("cut-off", f"{where} was given up after {spool.size:,} bytes: {error.message}")
        return None


def _locked(where: Where) -> Problem:
    return Problem("archive", f"{where} is encrypted and was left out; publish it without a password")


def _closed(place: Location, kind: str, problem: Problem) -> UnpackedArchive:
    """An archive that was not opened."""
    return UnpackedArchive(place.where.names, kind, 0, (*place.problems, problem))


def _missing(archive: str | None, compressions: tuple[str, ...]) -> str | None:
    """What cannot be undone for want of libarchive, or None."""
    if archive in ziptar.KINDS | {None} and "lz4" not in compressions:
        return None
    if archives.is_installed():
        return None
    return "lz4" if "lz4" in compressions else archive
