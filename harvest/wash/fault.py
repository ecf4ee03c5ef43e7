"""
Reading with pyoxigraph, and what it finds wrong: an error that names the place and shows the text there.

For RDF/XML, and now and then for others, pyoxigraph does not say where. Then the document is read once more in
pieces that end where a tag does: the place is that of the last piece it asked for.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

import pyoxigraph

from harvest.errors import WashError
from harvest.model import Document
from harvest.wash.sniff import BOM
from harvest.wash.unpack import opened
from sparql.rdf import JSON_LD, N3, N_QUADS, N_TRIPLES, Format, as_iri

EXCERPT: Final = 200
"""Characters of the offending line that a finding shows."""

_PIECE = 1 << 16
_TAG_OR_TEXT = re.compile(rb"<[^<>]*>?|[^<]+")
_PLACE = re.compile(r"^Parser error [^:]*: ")
_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes that begin no character in UTF-8."""


def quads_of(stream: BinaryIO, source: Format, url: str) -> Iterator[pyoxigraph.Quad]:
    """
    The statements of a document.

    Raises:
        SyntaxError: It is not of that format. Formulas of N3 are refused, for what they hold is not asserted.
    """
    base = None if source in (N_TRIPLES, N_QUADS) else as_iri(url)
    return pyoxigraph.parse(stream, format=source.parser, base_iri=base, without_named_graphs=source is N3)


def fault(error: SyntaxError, document: Document, source: Format) -> WashError:
    """What a parser found wrong with a document, with line, column and the text around."""
    reason = _PLACE.sub("", error.msg or str(error))
    message = f"{document.url} cannot be parsed as {source.name}: {reason}"
    place = _told(error) or _sought(document, source)
    if place is None:
        return WashError(f"{message}; nothing of it was harvested", url=document.url)
    line, column = place
    if source is JSON_LD:
        column = _in_characters(document, line, column)
    message += f" (line {line}, column {column}); nothing of it was harvested"
    return WashError(message, url=document.url, line=line, column=column, excerpt=_excerpt(document, line, column))


def _told(error: SyntaxError) -> tuple[int, int] | None:
    """Line and column as the parser gives them."""
    return (error.lineno, error.offset or 1) if error.lineno else None


def _sought(document: Document, source: Format) -> tuple[int, int] | None:
    """Line and column of what the parser read last before it gave up, or None if it does not give up any more."""
    with opened(document.path, document.url) as stream:
        crumbs = _Crumbs(stream)
        try:
            for _ in quads_of(cast(BinaryIO, crumbs), source, document.url):
                pass
        except SyntaxError as error:
            return _told(error) or (crumbs.line, crumbs.column)
    return None


class _Crumbs:
    """
    A document that is read in tags and texts.

    Attributes:
        line: Where the piece that was read last begins, from 1.
        column: Where it begins in that line, in characters, from 1.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.line = self.column = 1
        self._after = (1, 1)
        self._stream = stream
        self._pieces: list[bytes] = []

    def read(self, size: int = -1) -> bytes:
        """The next piece, or as much of it as was asked for."""
        while not self._pieces:
            line = self._stream.readline(_PIECE)
            if not line:
                return b""
            start = BOM if self._after == (1, 1) else b""
            self._pieces = _TAG_OR_TEXT.findall(line.removeprefix(start))[::-1]
        piece = self._pieces.pop()
        if 0 < size < len(piece):
            self._pieces.append(piece[size:])
            piece = piece[:size]
        self._pass(piece)
        return piece

    def _pass(self, piece: bytes) -> None:
        self.line, self.column = self._after
        newline = piece.rfind(b"\n") + 1
        characters = len(piece[newline:].translate(None, _CONTINUATION))
        self._after = (self.line + 1, 1 + characters) if newline else (self.line, self.column + characters)


@contextmanager
def _at_line(document: Document, line: int) -> Iterator[BinaryIO]:
    """A document from the beginning of a line, or at its end where it has no such line."""
    with opened(document.path, document.url) as stream:
        if cast(io.BufferedReader, stream).peek(len(BOM)).startswith(BOM):
            stream.read(len(BOM))
        while line > 1 and (piece := stream.readline(_PIECE)):
            line -= piece.endswith(b"\n")
        yield stream


def _in_characters(document: Document, line: int, column: int) -> int:
    """A column that counts bytes, as the parser of JSON has it, in characters."""
    found = 1
    with _at_line(document, line) as stream:
        while column > 1 and (piece := stream.read(min(column - 1, _PIECE))):
            column -= len(piece)
            found += len(piece.translate(None, _CONTINUATION))
    return found


def _excerpt(document: Document, line: int, column: int) -> str:
    """The text around a place, from its own line, which may be the whole document."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = ""
    passed = 0
    with _at_line(document, line) as stream:
        while piece := stream.readline(_PIECE):
            text += decoder.decode(piece)
            if piece.endswith(b"\n") or passed + len(text) > column + EXCERPT:
                break
            far = max(0, len(text) - 2 * EXCERPT)
            text, passed = text[far:], passed + far
    text = text.rstrip("\r\n")
    start = max(0, min(column - 1 - passed - EXCERPT // 2, len(text) - EXCERPT))
    return text[start : start + EXCERPT]
