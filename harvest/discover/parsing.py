"""
Parsing of descriptions: the format by media type, then extension, then content, then whatever else parses.

Descriptions are small, so all formats can be tried; dumps are parsed in `harvest.wash`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit
from xml.parsers import expat

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode

from harvest.discover.text import DescriptionText
from harvest.errors import DescriptionError
from harvest.model import Finding
from sparql.rdf import JSON_LD, N_QUADS, RDF_XML, TRIG, TURTLE, Format, by_extension, by_media_type

Term = NamedNode | BlankNode | Literal
Node = NamedNode | BlankNode

GENERIC: Final = frozenset({"text/plain", "application/octet-stream", "binary/octet-stream", "application/unknown", ""})
"""Media types that say nothing; raw files on code hosts are served so."""

_GENERIC_FOR: Final = {"application/xml": RDF_XML, "text/xml": RDF_XML, "application/json": JSON_LD}
_FALLBACKS: Final = (TURTLE, RDF_XML, JSON_LD, TRIG, N_QUADS)
_XML = re.compile(r"\s*<(?:\?xml\b|!--|!DOCTYPE\b|[\w.-]+:RDF[\s>]|RDF[\s>])")
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*\{|\[\s*\]\s*$)')
_TURTLE = re.compile(r"^\s*@?(?:prefix|base)\s", re.IGNORECASE | re.MULTILINE)
_XML_ENCODING = re.compile(r"""^(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')""")

NESTING: Final = 1000
"""Levels of elements in RDF/XML, and triple terms in the Turtle family: nested 20,000 deep they crash the parser."""


class _TooDeep(Exception):
    """XML nested past the limit."""


@dataclass(frozen=True, slots=True)
class Triple:
    """A statement of a description; the graph it may stand in says nothing there."""

    subject: Node
    predicate: str
    object: Term


@dataclass(frozen=True, slots=True)
class Parsed:
    """
    A description as triples.

    Attributes:
        format: The format that it turned out to be in.
        total: Statements in it.
        triples: Those with a predicate that was asked for, in the order of the file.
        findings: What was odd about its format.
    """

    format: Format
    total: int
    triples: tuple[Triple, ...]
    findings: tuple[Finding, ...] = ()


def parse(text: DescriptionText, wanted: Callable[[str], bool]) -> Parsed:
    """
    The triples of a description whose predicate is `wanted`.

    The first format that gives any statement is taken; a document that has none in any is one in its likely format.

    Raises:
        DescriptionError: It parses in no format. The error is that of the format it most likely is in.
    """
    if not text.body.strip():
        return Parsed(_candidates(text)[0], 0, ())
    outcomes: dict[Format, Parsed | DescriptionError] = {}
    for candidate in _candidates(text):
        outcome = _attempt(text, candidate, wanted)
        if isinstance(outcome, Parsed) and outcome.total:
            return outcome
        outcomes[candidate] = outcome
    outcome = outcomes[_likely(text)]
    if isinstance(outcome, DescriptionError):
        raise outcome
    return outcome


def _candidates(text: DescriptionText) -> list[Format]:
    """The formats to try, most trusted first."""
    declared = (_declared(text), by_extension(urlsplit(text.url).path), _sniffed(text.body))
    return list(dict.fromkeys(f for f in (*declared, *_FALLBACKS) if f))


def _declared(text: DescriptionText) -> Format | None:
    return by_media_type(text.media_type) or _GENERIC_FOR.get(_bare(text.media_type))


def _bare(media_type: str | None) -> str:
    return (media_type or "").split(";")[0].strip().lower()


def _sniffed(body: str) -> Format | None:
    if _XML.match(body):
        return RDF_XML
    if _JSON.match(body):
        return JSON_LD
    return TURTLE if _TURTLE.search(body[:10_000]) else None


def _likely(text: DescriptionText) -> Format:
    """The format whose error message helps most: the first to try, unless the content is plainly another."""
    first, sniffed = _candidates(text)[0], _sniffed(text.body)
    if sniffed in (RDF_XML, JSON_LD) or (sniffed is TURTLE and first in (RDF_XML, JSON_LD)):
        return sniffed
    return first


def _attempt(text: DescriptionText, form: Format, wanted: Callable[[str], bool]) -> Parsed | DescriptionError:
    """The description read in one format, or the error that shows it is in another."""
    if form is RDF_XML and (error := _xml_error(text)):
        return error
    if form not in (RDF_XML, JSON_LD) and text.body.count("<<") > NESTING:
        return _error(text, form, f"it has more than {NESTING} triple terms, which are not read in a description")
    body = _XML_ENCODING.sub(r"\1", text.body, count=1)  # it is text by now, and pyoxigraph refuses all but UTF-8
    total, triples = 0, []
    try:
        for quad in pyoxigraph.parse(body.encode(), form.parser, base_iri=_base(text.url)):
            total += 1
            subject, term = quad.subject, quad.object
            if isinstance(term, pyoxigraph.Triple) or isinstance(subject, pyoxigraph.Triple):
                continue  # RDF 1.2 statements about statements
            if wanted(quad.predicate.value):
                triples.append(Triple(subject, quad.predicate.value, term))
    except (SyntaxError, ValueError) as error:
        return _parser_error(text, form, error)
    return Parsed(form, total, tuple(triples), tuple(_mismatch(text, form)))


def _base(url: str) -> str:
    return quote(url, safe=":/?#[]@!$&'()*+,;=%~")


def _xml_error(text: DescriptionText) -> DescriptionError | None:
    """
    What keeps a text from being harmless, well-formed XML.

    pyoxigraph says no place for what is not well-formed, expands entities without a limit, and takes quadratic time
    over deep nesting (60,000 levels: 20 s). Expat refuses entities that expand to a hundred times the text.
    """
    depth = 0

    def enter(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > NESTING:
            raise _TooDeep

    def leave(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("UTF-8", namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = enter, leave
    try:
        parser.Parse(text.body.encode(), True)
    except _TooDeep:
        return _error(text, RDF_XML, f"it is nested more than {NESTING} levels deep", parser.CurrentLineNumber)
    except expat.ExpatError as error:
        return _error(text, RDF_XML, expat.ErrorString(error.code), error.lineno, error.offset + 1)
    return None


def _parser_error(text: DescriptionText, form: Format, error: SyntaxError | ValueError) -> DescriptionError:
    """The parser's error with its place in the text; RDF/XML errors have none but may quote what they are about."""
    reason = re.sub(r"^Parser error at line .*?: ", "", getattr(error, "msg", None) or str(error))
    if "LoadDocumentCallback" in reason:
        reason = "its @context is another document, which is not loaded; write the context into the description"
    line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
    if line is None and (quoted := re.search(r"'([^']+)'|^(.+) is not a valid", reason)):
        found = text.finding("", "", *(needle for needle in quoted.groups() if needle))
        line, column = found.line, found.column
    return _error(text, form, reason, line, column)


def _error(
    text: DescriptionText, form: Format, reason: str, line: int | None = None, column: int | None = None
) -> DescriptionError:
    at = [f"{name} {number}" for name, number in (("line", line), ("column", column)) if number]
    place = f" at {', '.join(at)}" if at else ""
    excerpt = text.excerpt(line, column or 1) if line else None
    message = f"{text.url} cannot be read as {form.name}{place}: {reason}"
    return DescriptionError(message, url=text.url, line=line, column=column, excerpt=excerpt)


def _mismatch(text: DescriptionText, form: Format) -> list[Finding]:
    """A finding when the server, or else the name, says another format than the one that was found."""
    served, named = _declared(text), by_extension(urlsplit(text.url).path)
    bare = _bare(text.media_type)
    if served is form or (served is None and bare in GENERIC and named in (form, None)):
        return []
    if bare not in GENERIC:
        said = f"is served as {bare}"
    else:
        said = f"has a name that says {named.name}" if named else "has no known name"
    message = f"the description {said} and is {form.name}; serve it as {form.media_types[0]}"
    return [Finding("format-mismatch", message, url=text.url)]
