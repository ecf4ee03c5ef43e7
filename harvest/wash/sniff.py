"""
The RDF format of a document, from its content; what is declared decides where the content leaves a choice.

Content goes first because servers lie: RDF/XML under `.nq` and N-Triples under `text/plain` are common. XML, HTML and
JSON show in the first characters. The others are told by reading the head as each of them.
"""

from __future__ import annotations

import io
import re
from typing import BinaryIO, Final, cast

import pyoxigraph

from harvest.errors import WashError
from sparql.rdf import JSON_LD, N3, N_QUADS, N_TRIPLES, RDF_XML, TRIG, TURTLE, Format, by_extension, by_media_type

HEAD: Final = 10_000
"""Bytes looked at. Source: LOD Laundromat, which sniffs the first 10,000 characters."""

BOM: Final = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst|zstd)$", re.IGNORECASE)
_PROLOG = re.compile(rb"\s+|<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_START_TAG = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)(\s+[\w.:-]+\s*=\s*[\"'])?")
_HTML = re.compile(rb"<!DOCTYPE\s+html\b", re.IGNORECASE)
_JSON = re.compile(rb'\{\s*(?:"|\}|$)|\[\s*(?:\{|\]\s*$)')

_TEXTUAL = (N_TRIPLES, N_QUADS, TURTLE, TRIG, N3)
_UNDECLARED = (N_QUADS, TURTLE, TRIG)
"""What is tried unasked: not N3, which would let most broken Turtle pass."""
_LINES = (N_TRIPLES, N_QUADS)


def sniff(head: bytes, media_type: str | None, url: str) -> Format:
    """
    The format of the document that begins with `head` (up to `HEAD` bytes, decompressed).

    Raises:
        WashError: The document is an HTML page, or in UTF-16.
    """
    if head.startswith(_UTF_16):
        raise WashError(f"{url} is in UTF-16; publish it in UTF-8", url=url, line=1)
    declared = by_media_type(media_type) or by_extension(_COMPRESSED.sub("", url.split("?")[0].split("#")[0]))
    text = head.removeprefix(BOM)
    root = _root(text.lstrip())
    if root == "html":
        raise WashError(f"{url} is an HTML page, not RDF; name the data file itself", url=url, line=1)
    if root is not None:
        return RDF_XML
    if _JSON.match(text.lstrip()):
        return JSON_LD
    return _readable(text, len(head) < HEAD, declared)


def _root(text: bytes) -> str | None:
    """The local name of an XML document's root element in lower case, empty where it is not in sight; else None."""
    place = 0
    while match := _PROLOG.match(text, place):
        place = match.end()
    if _HTML.search(text[:place]):
        return "html"
    if tag := _START_TAG.match(text, place):
        name = tag[1].decode().lower()
        # An IRI holds no space, so an attribute tells a tag from `<a:b>` in Turtle.
        if tag[2] or name in ("rdf", "html"):
            return name
    return "" if text[:5].lower() in (b"<?xml", b"<!doc") or text.startswith(b"<!--") else None


def _readable(text: bytes, whole: bool, declared: Format | None) -> Format:
    """
    The declared format if it can read the text, else one that can; if none can, the one that reads on for longest.

    Where N-Triples or N-Quads are declared and anything can be read as such, they are kept: a slip there is to be
    told, not to be read as Turtle.
    """
    read: dict[Format, int] = {}
    for format in (declared, *_UNDECLARED):
        if format is None or format not in _TEXTUAL or format in read:
            continue
        if declared in _LINES and read.get(declared) and format not in _LINES:
            continue
        read[format], to_the_end = _tried(text, whole, format)
        # Comments alone are in any format, and then N-Quads is too narrow a guess.
        if to_the_end and (read[format] or format in (declared, TURTLE, TRIG)):
            return format
    best = max(read, key=read.__getitem__)
    if declared and read.get(declared):
        return declared
    return best if read[best] else declared or TURTLE


def _tried(text: bytes, whole: bool, format: Format) -> tuple[int, bool]:
    """How many statements a parser finds in the text, and whether it comes to its end, be it in mid-statement."""
    tape = _Tape(text)
    count = 0
    try:
        quads = pyoxigraph.parse(cast(BinaryIO, tape), format=format.parser, base_iri="http://example.invalid/")
        for count, _ in enumerate(quads, 1):  # noqa: B007  # the count is wanted when the loop breaks off
            pass
    except SyntaxError:
        return count, tape.ended and not whole
    return count, True


class _Tape(io.BytesIO):
    """
    Bytes that know whether a reader wanted more of them.

    Attributes:
        ended: A read came back empty. What a parser says before is about the bytes, what it says after may be about
            their end.
    """

    ended = False

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.ended = self.ended or not data
        return data
