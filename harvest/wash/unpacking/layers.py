"""
Compressions around a file, undone as a chain of streams.

Each stream gives all that can be read before it says that the rest is damaged: a download that broke off is worth
its beginning.
"""

from __future__ import annotations

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, Protocol, cast

from isal import igzip_lib

from harvest.errors import WashError
from harvest.wash.unpacking.archives import LibarchiveStream
from harvest.wash.unpacking.entries import Damaged, Where
from harvest.wash.unpacking.magic import compression_of, goes_on
from harvest.wash.unpacking.members import STREAMED
from harvest.wash.unpacking.spool import BUFFER, IN_MEMORY, ByteSource, Spool
from harvest.wash.unpacking.volume import Meter, Tally, TooLarge, is_ours

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class _Decompressor(Protocol):
    """What the standard library calls a decompressor object: one member, bit by bit."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


_DECOMPRESSORS: Final[dict[str, Callable[[], _Decompressor]]] = {
    "gzip": lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ),
    "zstd": zstd.ZstdDecompressor,
}
_DAMAGE = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zstd.ZstdError,
    cast(type[Exception], igzip_lib.error),
    Damaged,
)
"""What the decompressors raise for damaged or cut-off input."""


class Chain:
    """
    A source with its compressions undone.

    Attributes:
        kinds: The compressions, the outermost first.
    """

    def __init__(self, source: ByteSource, where: Where, kinds: Sequence[str], meter: Meter | None = None) -> None:
        self.kinds = tuple(kinds)
        self._source = source
        self._where = where
        self._tallies = [Tally(meter) if meter else None for _ in kinds]

    def metered(self, meter: Meter) -> Chain:
        """The same, counting on a meter what is read."""
        return Chain(self._source, self._where, self.kinds, meter)

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """
        The decompressed bytes, from the first one.

        Raises:
            WashError: While reading: they are damaged or cut off; what was read before is right.
            TooLarge: While reading: they are more than the meter allows.
        """
        with ExitStack() as stack:
            stream = stack.enter_context(self._source.reader())
            for kind, tally in zip(self.kinds, self._tallies, strict=True):
                layer = stack.enter_context(_Layer(kind, stream, self._where, tally))
                stream = stack.enter_context(LenientReader(layer, BUFFER))
            yield stream

    def head(self, size: int) -> bytes:
        """The first decompressed bytes, up to so many; fewer where the rest is damaged."""
        if not self.kinds:
            return self._source.head(size)
        try:
            with self.open() as stream:
                return stream.read(size)
        except WashError:
            return b""


def chain_of(source: ByteSource, where: Where, most: int) -> Chain:
    """A source with its compressions undone, at most `most + 1` of them: one too many shows that there are more."""
    chain = Chain(source, where, ())
    while len(chain.kinds) <= most and (kind := compression_of(chain.head(16))):
        chain = Chain(source, where, (*chain.kinds, kind))
    return chain


@contextmanager
def archive_in(
    chain: Chain, kind: str, meter: Meter, scratch: Path, damaged: Callable[[WashError], object]
) -> Iterator[io.BufferedReader]:
    """
    The bytes of an archive of a kind, from the first one, and seekable where the kind wants that.

    Those are copied, up to where they are damaged, which `damaged` notes; the others report it while they are read.

    Raises:
        TooLarge: They are more than the meter allows; where they are not copied, while reading.
    """
    if not chain.kinds or kind in STREAMED:
        with chain.metered(meter.apart()).open() as stream:
            yield stream
        return
    with closing(Spool(scratch)) as spool, chain.metered(meter).open() as stream:
        try:
            while block := stream.read(IN_MEMORY):
                spool.put(block)
        except TooLarge:
            raise
        except WashError as error:
            damaged(error)
        with spool.reader() as copy:
            yield copy


class LenientReader(io.BufferedReader):
    """A buffered reader that gives what it has when the rest cannot be read. The next call says so."""

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes, or those before the end or the damage; without a size all of them, if none are damaged."""
        if size is None or size < 0:
            return super().read()
        pieces = [self.read1(size)]
        rest = size - len(pieces[0])
        while rest and pieces[-1]:
            try:
                pieces.append(self.read1(rest))
            except WashError:
                break
            rest -= len(pieces[-1])
        return b"".join(pieces) if len(pieces) > 1 else pieces[0]


class _Layer(io.RawIOBase):
    """What a compressed stream holds. Damage is a `WashError`, and so not taken for trouble with our disk."""

    def __init__(self, kind: str, packed: io.BufferedReader, where: Where, tally: Tally | None) -> None:
        self._kind = kind
        self._where = where
        self._tally = tally
        self._place = 0
        self._error: WashError | None = None
        self._pieces = LibarchiveStream(kind, packed) if kind == "lz4" else _Members(kind, packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        if self._error is not None:
            raise self._error
        try:
            piece = self._pieces.read(len(buffer))
            self._place += len(piece)
            if self._tally is not None:
                self._tally.reach(self._place)
        except WashError as error:
            self._error = error
            raise
        except _DAMAGE as error:
            if is_ours(error):
                raise
            message = f"{self._where} is damaged or cut off, says {self._kind}: {error}"
            failure = WashError(message, url=self._where.url)
            self._error = failure
            raise failure from error
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._pieces.close()
        super().close()


class _Members:
    """The content of compressed members one after another."""

    def __init__(self, kind: str, packed: io.BufferedReader) -> None:
        self._kind = kind
        self._packed = packed
        self._member = _DECOMPRESSORS[kind]()
        self._rest = b""

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        while True:
            if self._member.eof:
                if not self._next_member():
                    return b""
            elif self._member.needs_input and not self._rest:
                self._rest = self._packed.read1(BUFFER)
                if not self._rest:
                    raise EOFError("it ends before the end-of-stream marker")
            data, self._rest = self._rest, b""
            if piece := self._member.decompress(data, size):
                return piece

    def close(self) -> None:
        """Nothing to do: the packed stream belongs to the chain."""

    def _next_member(self) -> bool:
        """
        Whether another member follows, after zeros or at once.

        Tapes pad with zeros. Other bytes after bzip2, xz and Zstandard are left out, as their own programs and the
        standard library do; after gzip they may be a member whose head was damaged, and are an error.
        """
        rest = self._member.unused_data.lstrip(b"\x00")
        while len(rest) < 10 and (more := self._packed.read1(BUFFER)):
            rest = (rest + more).lstrip(b"\x00")
        if not rest or (self._kind != "gzip" and not goes_on(self._kind, rest[:16])):
            return False
        self._member, self._rest = _DECOMPRESSORS[self._kind](), rest
        return True
