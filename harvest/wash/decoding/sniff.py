"""
The RDF format of a document, from its content; what is declared decides where the content leaves a choice.

Content goes first because servers lie: RDF/XML under `.nq` and N-Triples under `text/plain` are common. XML, HTML and
JSON show in the first characters. The others are recognised by reading the head as each of them, past what is wrong.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

import pyoxigraph

from harvest.wash.decoding.content import is_binary
from harvest.wash.decoding.markup import in_json, in_xml, is_json, is_page, root
from sparql.rdf import HTML, JSON_LD, N3, N_QUADS, N_TRIPLES, RDF_XML, TRIG, TURTLE, Format, by_extension, by_media_type

BOM: Final = b"\xef\xbb\xbf"
_COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst|zstd)$", re.IGNORECASE)
_EXTENSION = re.compile(r"\.([a-z]+)$")

_LINES = (N_TRIPLES, N_QUADS)
_TEXTUAL = (*_LINES, TURTLE, TRIG, N3)
_UNDECLARED = (N_QUADS, TURTLE, TRIG)
"""What is tried unasked, the narrow ones first."""
_FORMULAS = re.compile(rb"=>|<=|@forAll|@forSome|@keywords")
"""What only N3 has. Without it N3 is not tried: it would let most broken Turtle pass."""
_COMMENTS = re.compile(rb"(?:\s+|#[^\r\n]*(?:[\r\n]|$))*+$")
_DIRECTIVE = rb"@prefix\s|@base\s|prefix\s+[\w.-]*:\s*<|base\s+<"
_STATEMENT = rb"_:\S+\s|<[^<>\s]*>\s|[\w.-]*:[\w.-]+\s+(?:a\s|<|[\w.-]*:\w)"
_DIRECTIVES = re.compile(rb"^[ \t]*(?:" + _DIRECTIVE + rb")", re.MULTILINE | re.IGNORECASE)
_BLOCKS = re.compile(rb"^[ \t]*[{}]", re.MULTILINE)
_STATEMENTS = re.compile(rb"^[ \t]*(?:" + _DIRECTIVE + rb"|" + _STATEMENT + rb")", re.MULTILINE | re.IGNORECASE)
"""How a line begins in one of the textual formats, even where no statement of it can be read."""
_QUERY = re.compile(
    rb"\A\?\w|^[ \t]*(?:select|construct|ask|describe|insert|delete|with|load|clear|drop|create)\b",
    re.MULTILINE | re.IGNORECASE,
)
"""How a line begins in SPARQL, and a table of its results; SPARQL has no @prefix."""
_MOST = 1000
"""Errors after which a trial ends, for the time they take."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """
    What came of reading a text as a format.

    Attributes:
        format: The format.
        read: Statements found.
        errors: What is wrong, each at the cost of a statement or more.
        named: Whether a statement is in a named graph.
    """

    format: Format
    read: int
    errors: int
    named: bool


def sniff(head: bytes, media_type: str | None, url: str, *, whole: bool) -> Format | None:
    """
    The format of a document, or None where it is no RDF: empty, binary, prose, a table, XML or JSON of other kinds.

    Args:
        head: The first `HEAD` characters in UTF-8.
        media_type: The Content-Type header as received, or None.
        url: Where it is from, or the name of an archive entry; its extension is looked at.
        whole: Whether `head` is all of the document.
    """
    text = head.removeprefix(BOM)
    declared = _declared(media_type, url)
    if is_binary(text):
        return None
    if element := root(text.lstrip()):
        return in_xml(element, declared)
    if is_json(text.lstrip()):
        return in_json(text, declared)
    if _COMMENTS.match(text):
        return declared if declared in _TEXTUAL else TURTLE if text.strip() else None
    found = _readable(text, whole, declared)
    if found is None and declared is HTML and is_page(text):
        return HTML
    return RDF_XML if found is None and declared is RDF_XML and b"<rdf:RDF" in text else found


def _declared(media_type: str | None, url: str) -> Format | None:
    """The format that the media type stands for, or else the extension; `.xml` stands for none."""
    bare = (media_type or "").partition(";")[0].strip().lower()
    if found := by_media_type(bare):
        return found
    if bare.endswith("+ld+json"):
        return JSON_LD
    path = _COMPRESSED.sub("", url.split("?")[0].split("#")[0]).lower()
    extension = _EXTENSION.search(path)
    if bare in HTML.media_types or (extension and extension[1] in HTML.extensions):
        return HTML
    return by_extension(path) if not path.endswith(".xml") else None


def _readable(text: bytes, whole: bool, declared: Format | None) -> Format | None:
    """The format that most of the text is in: the declared one where it does about as well as others."""
    trials: dict[Format, _Trial] = {}
    if _DIRECTIVES.search(text) or _BLOCKS.search(text):
        declared = None if declared in _LINES else declared
    tried = (declared, *_UNDECLARED, N3 if _FORMULAS.search(text) else None)
    for format in dict.fromkeys(each for each in tried if each in _TEXTUAL):
        trial = trials[format] = _tried(text, whole, format)
        if not trial.errors and (trial.read or _STATEMENTS.search(text)) and not _slips(trials, trial, declared):
            return N_TRIPLES if format is N_QUADS and declared is not N_QUADS and not trial.named else format
    if declared not in trials and _QUERY.search(text) and b"@prefix" not in text:
        return None
    return _likeliest(trials, declared) or _looks_like(text, declared)


def _slips(trials: Mapping[Format, _Trial], found: _Trial, declared: Format | None) -> bool:
    """
    Whether lines of N-Triples or N-Quads have some slips that another format allows.

    A slip is to be reported where the line format was declared; a relative IRI must not be resolved in silence.
    """
    if declared not in _LINES or found.format in _LINES:
        return False
    lines = [trials[format] for format in _LINES if format in trials]
    return any(each.read > each.errors and 2 * each.read >= found.read for each in lines)


def _likeliest(trials: Mapping[Format, _Trial], declared: Format | None) -> Format | None:
    """The format for a text that has errors in all of them, or None where there is little but errors."""
    best = max(trials.values(), key=lambda trial: (trial.read, -trial.errors))
    lines = trials[N_QUADS]
    if declared and (kept := trials.get(declared)) and 2 * kept.read >= best.read > 0:
        return N_QUADS if declared is N_TRIPLES and lines.read > kept.read else declared
    if not best.read or best.errors > 4 * best.read:
        return None
    if 10 * lines.read >= 9 * best.read:
        return N_QUADS if lines.named else N_TRIPLES
    return best.format


def _looks_like(text: bytes, declared: Format | None) -> Format | None:
    """The format that a text is meant to be in of which next to nothing can be read."""
    if declared in _TEXTUAL and _STATEMENTS.search(text):
        return declared
    return TURTLE if _DIRECTIVES.search(text) else None


def _tried(text: bytes, whole: bool, format: Format) -> _Trial:
    """What a parser makes of the text; that the head ends in mid-statement is no error."""
    tape = _Tape(text)
    read = errors = 0
    named = False
    quads = pyoxigraph.parse(cast(BinaryIO, tape), format=format.parser, base_iri="http://example.invalid/")
    while errors < _MOST:
        try:
            quad = next(quads, None)
        except SyntaxError:
            errors += whole or not tape.ended
            continue
        if quad is None:
            break
        read += 1
        named = named or not isinstance(quad.graph_name, pyoxigraph.DefaultGraph)
    return _Trial(format, read, errors, named)


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
