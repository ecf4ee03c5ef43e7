"""
The character encoding of a document, and the document in UTF-8.

What says most goes first: a byte order mark, an XML declaration, UTF-8 that decodes, the charset of the Content-Type,
a meta element of HTML, a guess. UTF-8 goes before the Content-Type because servers add `charset=ISO-8859-1` to all they
have, every byte decodes in a single-byte character set, and text in another encoding is hardly ever valid UTF-8. An
XML declaration is obeyed even so, as every XML parser does. Text that is UTF-8 but for a few places stays UTF-8.

Source: RFC 3629, section 3; XML 1.0, section 4.3.3 and appendix F; HTML, section 13.2.3.2.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import BinaryIO, Final, NamedTuple

import cchardet  # type: ignore[import-untyped]  # it comes without types

from harvest.errors import WashError
from harvest.model import Content, Problem
from harvest.wash.decoding.codec import WIDE, codec, readings
from harvest.wash.decoding.content import HEAD, Scan, is_binary

LAST_RESORT: Final = "cp1252"
"""What a document is read as when nothing reads all of it; windows-1252, which is in use most after UTF-8."""

_CHUNK = 1 << 18
_START = 1 << 16
"""Bytes in which marks and declarations are looked for, more than `HEAD` characters in all but odd cases."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"\x84\x31\x95\x33": "gb18030",
}
_XML = re.compile(rb"""<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([^"'<>]{1,60})["']""")
_HTML = re.compile(rb"<!doctype\s+html|<html|<head|<meta", re.IGNORECASE)
_META = re.compile(rb"""<meta\s[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,60})""", re.IGNORECASE)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s;"',]+)""", re.IGNORECASE)
_FEW = 12
"""Letters beyond ASCII with which a guess among alphabets of one byte is hardly better than chance."""
_WIDTH = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x7f\ufffd]")


@dataclass(frozen=True, slots=True)
class Examined:
    """
    What a document is as a text, and how that was found out.

    Attributes:
        content: Its size and encoding.
        problems: That it is not in UTF-8 (`recoded`), and what is wrong with its encoding (`encoding`).
        head: The first `HEAD` characters in UTF-8, without a byte order mark; as it is where it is no text.
        size: Bytes of the text in UTF-8, as `recoded` gives it; 0 where it is no text.
        damaged: Whether some bytes do not decode; `recoded` needs to know, for UTF-8.
    """

    content: Content
    problems: tuple[Problem, ...]
    head: bytes
    size: int = 0
    damaged: bool = False

    @property
    def whole(self) -> bool:
        """Whether `head` is all there is."""
        chars = self.content.chars
        return self.content.bytes < HEAD if chars is None else chars <= HEAD


class _Claim(NamedTuple):
    """An encoding that a document may be in, and what says so."""

    encoding: str
    how: str


@dataclass(slots=True)
class _Document:
    """
    A document whose encoding is looked for.

    Attributes:
        open: Opens it from its first byte.
        title: What to call it in messages.
        start: Its first bytes.
        size: Its bytes, once it was read to its end.
        problems: What was found wrong with what it says about itself.
    """

    open: Callable[[], AbstractContextManager[BinaryIO]]
    title: str
    start: bytes
    size: int
    problems: list[Problem]

    def read(self, scan: Scan, hasty: bool = False) -> Scan:
        """
        The scan after it took all of the document, or, hasty, when it became hopeless.

        Raises:
            UnicodeDecodeError: The scan is a strict one, and the document does not decode.
        """
        size = 0
        for data in _chunks(self.open, _CHUNK):
            size += len(data)
            scan.feed(data)
            if hasty and scan.hopeless:
                return scan
        scan.feed(b"")
        self.size = size
        return scan

    def fitting(self, claims: Iterable[_Claim]) -> tuple[Scan, str] | None:
        """The first claim in whose encoding all of the document decodes, and what says so."""
        for claim in claims:
            for encoding in readings(claim.encoding):
                with suppress(UnicodeDecodeError):
                    scan = self.read(Scan(encoding, strict=True))
                    # All encodings have ASCII, so UTF-8 is as true as what was claimed.
                    scan.encoding = "utf-8" if scan.ascii else encoding
                    return scan, claim.how
        return None

    def complain(self, message: str) -> None:
        """Note that what is said about the encoding is of no use."""
        self.problems.append(Problem("encoding", f"{self.title} {message}"))


def examine(open: Callable[[], AbstractContextManager[BinaryIO]], media_type: str | None, title: str) -> Examined:
    """
    What a document is as a text, read once from one end to the other, or a few times where it is not in UTF-8.

    A document that breaks off because it is damaged counts as far as it can be read: whoever parses it meets the same
    `WashError`, and reports it.

    Args:
        open: Opens the document from its first byte; called again for each reading.
        media_type: The Content-Type header as received, or None.
        title: What to call the document in messages.
    """
    start = next(_chunks(open, _START), b"")
    document = _Document(open, title, start, 0, [])
    marked = _marked(start)
    if marked is None and is_binary(start):
        size = sum(map(len, _chunks(open, _CHUNK)))
        return Examined(Content(size, None, None, None, None), (), start[:HEAD])
    if marked:
        scan, how = document.read(Scan(marked.encoding, strict=False)), marked.how
    else:
        scan, how = _decided(document, media_type)
    problems = (*document.problems, *_problems(document, scan, how))
    return Examined(scan.content(document.size), problems, scan.head, scan.size, scan.bad > 0)


def _chunks(open: Callable[[], AbstractContextManager[BinaryIO]], size: int) -> Iterator[bytes]:
    """The bytes of a document in pieces of at least `size`, but for the last, as far as it is not damaged."""
    pieces: list[bytes] = []
    length = 0
    with open() as stream, suppress(WashError):
        # `read` would lose what it has when the stream turns out to be damaged farther on.
        read = getattr(stream, "read1", stream.read)
        while data := read(size):
            pieces.append(data)
            length += len(data)
            if length >= size:
                yield b"".join(pieces)
                pieces, length = [], 0
    if pieces:
        yield b"".join(pieces)


def _decided(document: _Document, media_type: str | None) -> tuple[Scan, str]:
    """The document in the encoding that it is in, and what says so."""
    declared = _declared(document)
    if declared and declared.encoding not in ("utf-8", "ascii") and (found := document.fitting([declared])):
        return found
    served = _served(document, media_type)
    if served and served.encoding.startswith(("iso2022", "hz")) and (found := document.fitting([served])):
        return found
    scan = document.read(Scan("utf-8", strict=False), hasty=True)
    if not scan.bad or scan.mostly:
        return scan, "its bytes"
    claims = (served, declared, _in_page(document), _guess(scan.sample))
    others = [claim for claim in claims if claim and claim.encoding != "utf-8"]
    if found := document.fitting(others):
        return found
    return document.read(Scan(LAST_RESORT, strict=False)), "what is likeliest where nothing fits"


def _marked(start: bytes) -> _Claim | None:
    """What a byte order mark says, or the zero bytes of UTF-16 and UTF-32 without one."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return _Claim(encoding, "its byte order mark")
    part = start[: 4096 & -4]
    if b"\0" not in part:
        return None
    for encoding in reversed(_WIDTH):
        text = part[: len(part) // _WIDTH[encoding] * _WIDTH[encoding]].decode(encoding, "replace")
        # Markup is ASCII, and begins a document. A pair of surrogates may be cut at the end.
        if text[:2].isascii() and not _CONTROL.search(text[:-1]):
            return _Claim(encoding, "its zero bytes")
    return None


def _declared(document: _Document) -> _Claim | None:
    """What an XML declaration says."""
    if match := _XML.match(document.start.lstrip()):
        return _labelled(document, match[1].decode("ascii", "replace"), "its XML declaration")
    return None


def _served(document: _Document, media_type: str | None) -> _Claim | None:
    """What the Content-Type says."""
    if match := _CHARSET.search((media_type or "").partition(";")[2]):
        return _labelled(document, match[1], "its Content-Type")
    return None


def _in_page(document: _Document) -> _Claim | None:
    """What a page says in a meta element."""
    start = document.start[:HEAD]
    if _HTML.search(start) and (match := _META.search(start)):
        return _labelled(document, match[1].decode("ascii"), "its meta element")
    return None


def _labelled(document: _Document, label: str, how: str) -> _Claim | None:
    """The claim of a label, unless it is none that can be: then that is noted."""
    encoding = codec(label)
    if encoding is None:
        document.complain(f"has the unknown charset {label!r} in {how}, which was ignored; name a registered one")
    elif encoding in WIDE:
        document.complain(f"is not in {label}, which {how} says; that was ignored")
    else:
        return _Claim(encoding, how)
    return None


def _guess(sample: list[bytes]) -> _Claim | None:
    """What the detector makes of the texts in a sample."""
    texts = b"\n".join(sample)
    label = cchardet.detect(texts)["encoding"]
    encoding = codec(label) if label else None
    if encoding is None or encoding in WIDE:
        return None
    return _Claim(LAST_RESORT if _western(texts, encoding) else encoding, "a guess from its letters")


def _western(texts: bytes, encoding: str) -> bool:
    """Whether windows-1252 is the better guess: it reads the same, or there are too few letters to say."""
    guessed = texts.decode(encoding, "replace")
    usual = texts.decode(LAST_RESORT, "replace")
    if "\ufffd" in usual or len(guessed) < len(usual):
        return False
    high = sum(byte >= 0x80 for byte in texts)
    return guessed == usual or (high < _FEW and 2 * high < len(texts) - high)


def _problems(document: _Document, scan: Scan, how: str) -> Iterator[Problem]:
    """What is to be said about the encoding that was found."""
    if scan.encoding != "utf-8":
        message = f"{document.title} is not in UTF-8; going by {how}, it was read as {scan.encoding}"
        yield Problem("recoded", f"{message}. Publish it in UTF-8")
    if scan.place:
        line, column = scan.place
        message = (
            f"{document.title} has bytes that are not in {scan.encoding} in {scan.bad:,} places, the first in line "
            f"{line}, column {column}; they were replaced by U+FFFD"
        )
        yield Problem("encoding", message, line, column, scan.excerpt)
