"""A document as the parsers read it: whole terms to its end, however it ends."""

from __future__ import annotations

import io
import re
from typing import BinaryIO, Final

from harvest.errors import WashError

BLOCK: Final = 1 << 18
"""Bytes that are read at a time."""

DEPTH: Final = 200
"""Triple terms inside each other; the parser recurses into them, and the stack ends after some thousands."""

_NESTING = re.compile(rb"<<\(|\)>>|\.[ \t]*\r?\n")
_CLOSED = (b".", b"}", b">", b"]", b")", b"|", b";", b",")
"""What a document can end with that was not cut off inside a term."""


class Intake(io.RawIOBase):
    """
    The bytes of a document.

    A damaged document ends where the damage begins. What may be half a term at the end is left out: the beginning of
    a name or number is another name or number.

    Attributes:
        damage: Why it ends before its end, or None.
        deep: Where triple terms are too deep inside each other, in bytes, or None; it ends there.
        passed: Bytes that were read from here.
    """

    def __init__(self, stream: BinaryIO, guarded: bool = True) -> None:
        self.damage: WashError | None = None
        self.deep: int | None = None
        self.passed = 0
        self._stream = stream
        self._guarded = guarded
        self._block = self._held = b""
        self._at = self._depth = 0
        self._ended = False

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        """The next bytes; 0 at the end."""
        while self._at == len(self._block):
            if self._ended:
                return 0
            self._at, self._block = 0, self._filled()
        piece = self._block[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        self.passed += len(piece)
        return len(piece)

    def buffered(self) -> io.BufferedReader:
        """The document for parsers that ask for small pieces."""
        return io.BufferedReader(self, BLOCK)

    def _filled(self) -> bytes:
        try:
            block = self._stream.read(BLOCK)
        except WashError as error:
            self.damage = error
            block = b""
        held, self._held = self._held, b""
        if not block:
            self._ended = True
            return held if self.damage is None and held.endswith(_CLOSED) else b""
        block = held + block
        cut = max(block.rfind(b" "), block.rfind(b"\n")) + 1
        if cut:
            self._held, block = block[cut:], block[:cut]
        # A bracket is looked for first because that is ten times as fast.
        if self._guarded and (self._depth or (b"(" in block and b"<<(" in block)):
            block = self._shallow(block)
        return block

    def _shallow(self, block: bytes) -> bytes:
        """The block up to where triple terms are too deep."""
        for mark in _NESTING.finditer(block):
            step = {b"<<(": 1, b")>>": -1}.get(mark[0])
            self._depth = 0 if step is None else max(0, self._depth + step)
            if self._depth > DEPTH:
                self.deep, self._ended = self.passed + mark.start(), True
                return block[: mark.start()]
        return block
