"""How much a dump may unpack to, and the count that is held against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harvest.errors import WashError

RATIO_FROM: Final = 64 << 20
"""Bytes up to which the ratio is not looked at: a table of one value repeated packs well, and is no attack."""


@dataclass(frozen=True, slots=True)
class Volume:
    """
    Limits of unpacking one dump.

    Attributes:
        max_bytes: Decompressed bytes in all. Each entry counts, and what an entry is unpacked to counts again. The
            default is four times the largest body that is downloaded by default.
        max_ratio: Decompressed bytes for each byte of the dump, looked at beyond `RATIO_FROM`. RDF packs to a
            tenth or a fiftieth; what is made to explode, to a thousandth and less.
        max_entries: Entries of all its archives together, folders and links included.
        max_depth: Archives and compressions within one another; a `.tar.gz` has two.
    """

    max_bytes: int = 256 << 30
    max_ratio: float = 200.0
    max_entries: int = 100_000
    max_depth: int = 8


class TooLarge(WashError):
    """A dump that unpacks to more than its limits allow."""


def is_ours(error: BaseException) -> bool:
    """
    Whether an error is about this machine or our limits, and nothing that the provider can mend.

    What the system says has a number; bzip2 and xz report damage as an OSError without one.
    """
    return isinstance(error, TooLarge) or (isinstance(error, OSError) and error.errno is not None)


class Meter:
    """What one dump was unpacked to so far."""

    def __init__(self, volume: Volume, packed: int, url: str) -> None:
        self._volume = volume
        self._packed = packed
        self._url = url
        self._most = min(volume.max_bytes, max(RATIO_FROM, int(volume.max_ratio * packed)))
        self._bytes = 0
        self._entries = 0

    def charge(self, size: int) -> None:
        """
        Count so many decompressed bytes.

        Raises:
            TooLarge: They are more than the dump may have.
        """
        self._bytes += size
        if self._bytes > self._most:
            raise TooLarge(self._excess(), url=self._url)

    def enter(self) -> None:
        """
        Count an entry of an archive.

        Raises:
            TooLarge: It is one more than the dump may have.
        """
        if self._entries >= self._volume.max_entries:
            message = f"{self._url} holds more entries than the limit of {self._volume.max_entries:,} (max_entries)"
            raise TooLarge(f"{message}; the entries before it were kept", url=self._url)
        self._entries += 1

    def apart(self) -> Meter:
        """A count with the same limits that begins at nothing, for bytes that are counted once more later."""
        return Meter(self._volume, self._packed, self._url)

    def _excess(self) -> str:
        limit = f"the limit of {self._most:,} bytes (max_bytes)"
        if self._most < self._volume.max_bytes:
            ratio = self._bytes / max(1, self._packed)
            limit = f"{self._volume.max_ratio:g} times its size (max_ratio), here {ratio:,.0f} times"
            if self._most == RATIO_FROM:
                limit += f" and more than {RATIO_FROM:,} bytes"
        return f"{self._url}, {self._packed:,} bytes, unpacks to {self._bytes:,} bytes or more: past {limit}"


class Tally:
    """
    How far a stream was read that may be read again, on a meter.

    Only what was not read before counts.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._seen = 0

    def reach(self, place: int) -> None:
        """
        Count the bytes up to a place in the stream.

        Raises:
            TooLarge: They are more than the dump may have.
        """
        if place > self._seen:
            more, self._seen = place - self._seen, place
            self._meter.charge(more)
