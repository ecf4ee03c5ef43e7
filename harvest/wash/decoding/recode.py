"""A document as a stream of UTF-8, whatever encoding it is in."""

from __future__ import annotations

import codecs
import io
import re
from contextlib import suppress
from typing import BinaryIO

from harvest.errors import WashError

_PEEK = 512
"""Bytes in which an XML declaration ends."""
_CHUNK = 1 << 16
_BUFFER = 1 << 18
_ENCODING = re.compile(r"""\A<\?xml\b[^>]*?(\s+encoding\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))""")
_VISIBLE = re.compile(r"\S")
_UTF_8 = re.compile(r"""["']utf-8["']\Z""", re.IGNORECASE)


def recoded(stream: BinaryIO, encoding: str, *, damaged: bool = False) -> BinaryIO:
    """
    A document in UTF-8, without a byte order mark and without another encoding in its XML declaration.

    Lines and columns stay what they are: a declared encoding is overwritten with spaces. Bytes that do not decode
    become U+FFFD. A document that is in UTF-8 already comes back as the same stream.

    Args:
        stream: The document from its first byte; closing it stays with the caller.
        encoding: A Python codec name.
        damaged: Whether bytes of a document in UTF-8 may not decode. pyoxigraph gives the whole rest of a document up
            where they do not.
    """
    if encoding == "utf-8" and not damaged and isinstance(stream, io.BufferedReader):
        start = b""
        # Damage that early is met again, and reported, by whoever reads.
        with suppress(WashError):
            start = stream.peek(_PEEK)
        text = start.removeprefix(codecs.BOM_UTF8)[:_PEEK].decode("utf-8", "replace")
        # Where the stream came up with less, a mark or a declaration may be cut.
        if len(start) >= _PEEK and not _foreign(text):
            stream.read(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)
            return stream
    return io.BufferedReader(_Recoder(stream, encoding), _BUFFER)


def _foreign(start: str) -> re.Match[str] | None:
    """An encoding in an XML declaration that is not UTF-8."""
    match = _ENCODING.match(start)
    return match if match and not _UTF_8.search(match[1]) else None


class _Recoder(io.RawIOBase):
    """The characters of a stream in UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._read = getattr(stream, "read1", stream.read)
        self._decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder(encoding)("replace")
        self._begun = False
        self._waiting = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        while not self._waiting and self._decoder:
            self._waiting = memoryview(self._next().encode())
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size

    def _next(self) -> str:
        """The next characters; the first ones come together, with what XML declares made true."""
        text = self._piece()
        if self._begun:
            return text
        while self._decoder and len(text) < _PEEK:
            text += self._piece()
        self._begun = True
        text = text.removeprefix("\ufeff")
        if match := _foreign(text[:_PEEK]):
            return text[: match.start(1)] + _VISIBLE.sub(" ", match[1]) + text[match.end(1) :]
        return text

    def _piece(self) -> str:
        assert self._decoder is not None, "nothing is asked for after the end"
        data = self._read(_CHUNK)
        text = self._decoder.decode(data, not data)
        if not data:
            self._decoder = None
        return text
