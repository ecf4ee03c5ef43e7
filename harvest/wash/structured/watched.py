"""A stream that is looked at before a parser gets it, and that ends where it cannot be read on."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO, Final, cast

from harvest.errors import WashError

_BLOCK: Final = 1 << 18


class Watched(io.RawIOBase):
    """
    The bytes of a text, each block shown to a watch first; none at all are the end.

    What it raises goes through the parser. Damage of the file does not: a parser that comes to the end gives
    what it has, where an error would cost all that is waiting in its buffer.

    Attributes:
        damage: Why the text cannot be read to its end, or None.
    """

    def __init__(
        self, stream: BinaryIO, watch: Callable[[bytes], None], edit: Callable[[bytes], bytes] | None = None
    ) -> None:
        """`edit` is applied to the first block, which keeps its length."""
        self.damage: WashError | None = None
        self._edit = edit
        # Not `read`, which would wait for a whole block and lose it to an error.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._watch = watch
        self._ended = False

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        """The next bytes, as many as there are at once."""
        if self._ended:
            return 0
        try:
            data = self._read(len(buffer))
        except WashError as error:
            self.damage, self._ended = error, True
            return 0
        if self._edit is not None:
            data, self._edit = self._edit(data), None
        self._watch(data)
        self._ended = not data
        buffer[: len(data)] = data
        return len(data)

    def blocks(self) -> BinaryIO:
        """The same, to be read piece by piece."""
        return cast(BinaryIO, io.BufferedReader(self, _BLOCK))
