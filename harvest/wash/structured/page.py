"""A page of HTML as a tree, with what RDFa and JSON-LD in it start from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from html.entities import html5
from typing import Final, cast
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from html5lib import HTMLParser, treebuilders  # type: ignore[import-untyped]  # it ships no types
from pyRdfa.host import HostLanguage, adjust_xhtml_and_version  # type: ignore[import-untyped]  # it ships no types

from harvest.wash.structured.lexical import language
from harvest.wash.structured.strict import DocumentTooLarge
from harvest.wash.structured.terms import NoTerm, iri, resolved

DEPTH: Final = 2_000
"""Elements within each other that are read: making the tree takes time with the square of it, here a second."""

_XHTML: Final = re.compile(r"\s*(?:<\?xml\s|<!DOCTYPE[^>]*XHTML)", re.IGNORECASE)
_NAMED: Final = re.compile(r"&(\w+);")
_OF_XML: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_OPENING: Final = re.compile(r"\A(?:\s*+(?:(?://|/\*)\s*+)?(?:<!--|<!\[CDATA\[)\s*+(?:\*/)?)+")
_CLOSING: Final = re.compile(r"(?:(?:(?://|/\*)\s*+)?(?:-->|\]\]>)\s*+(?:\*/)?\s*+){1,3}\Z")
"""What hides a script from browsers of the last century, before and behind it."""


@dataclass(frozen=True, slots=True)
class Script:
    """
    A block of JSON-LD.

    Attributes:
        content: Its text.
        line: Where it begins in the page.
        column: In characters, from 1.
    """

    content: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Page:
    """
    A page.

    Attributes:
        tree: Its elements.
        host: The language it is in, as pyRdfa names them.
        version: Of RDFa, or None where it does not say.
        base: What relative references in it are relative to.
        scripts: The JSON-LD in it.
    """

    tree: minidom.Document
    host: str
    version: str | None
    base: str
    scripts: tuple[Script, ...]


def page(content: str, base: str) -> Page:
    """
    The page with that text, which is no XML where it only looks like it.

    Raises:
        DocumentTooLarge: Its elements are nested too deeply.
    """
    content = content.replace("\r\n", "\n").replace("\r", "\n")
    tree, host, version = _xhtml(content) or (_html(content), HostLanguage.html5, None)
    found: list[minidom.Element] = []
    for element in _elements(tree):
        for name in ("lang", "xml:lang"):
            if element.hasAttribute(name):
                element.setAttribute(name, language(element.getAttribute(name)))
        if element.tagName == "base" and element.hasAttribute("href") and not found:
            found.append(element)
    if found:
        base = _base(found[0].getAttribute("href").strip(), base)
        found[0].setAttribute("href", base)
    return Page(tree, host, version, base, tuple(_scripts(tree, content)))


def _base(reference: str, base: str) -> str:
    """
    The base IRI that a `<base href>` makes, or the one before where it makes none.

    Source: HTML, section 4.2.3 (frozen base URL).
    """
    candidate = resolved(reference, base)
    try:
        iri(candidate)
    except NoTerm:
        return base
    return candidate


class _Builder(treebuilders.getTreeBuilder("dom")):  # type: ignore[misc]  # html5lib ships no types
    """Makes trees that are not too deep."""

    def insertElementNormal(self, token: dict[str, object]) -> minidom.Element:
        if len(self.openElements) > DEPTH:
            raise DocumentTooLarge(f"has more than {DEPTH:,} elements within each other")
        return cast(minidom.Element, super().insertElementNormal(token))


def _html(content: str) -> minidom.Document:
    """The tree of HTML. A `<meta charset>` says nothing about characters that are decoded already."""
    with warnings.catch_warnings(action="ignore"):
        return cast(minidom.Document, HTMLParser(tree=_Builder).parse(content))


def _xhtml(content: str) -> tuple[minidom.Document, str, str | None] | None:
    """Tree, language and version of XHTML; None where it is none, or none that is well-formed."""
    if not _XHTML.match(content):
        return None
    try:
        tree = minidom.parseString(_NAMED.sub(_character, content))
    except (ExpatError, ValueError):
        return None
    if tree.documentElement is None or tree.documentElement.tagName != "html":
        return None
    _, version = adjust_xhtml_and_version(tree, HostLanguage.xhtml, None)
    public = tree.doctype.publicId if tree.doctype is not None else None
    # The terms of XHTML+RDFa (`rel="stylesheet"`) are only for pages that say that they are that.
    host = HostLanguage.xhtml if public and "RDFa" in public else HostLanguage.xhtml5
    return tree, host, version


def _character(found: re.Match[str]) -> str:
    """The character that a name of HTML stands for: no XML parser knows it without loading a file."""
    name = found[1]
    return found[0] if name in _OF_XML else html5.get(f"{name};", found[0])


def _elements(tree: minidom.Document) -> Iterator[minidom.Element]:
    """All elements in document order; minidom's own way is recursive, and pages are deep."""
    waiting: list[minidom.Node] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, minidom.Element):
            yield node
        waiting.extend(reversed(node.childNodes))


def _scripts(tree: minidom.Document, content: str) -> Iterator[Script]:
    """The blocks of JSON-LD, with their places as far as their texts are found again."""
    place = 0
    for element in _elements(tree):
        kind = element.getAttribute("type").partition(";")[0].strip().lower()
        if element.tagName != "script" or kind != "application/ld+json":
            continue
        text = "".join(node.data for node in element.childNodes if isinstance(node, minidom.Text))
        found = content.find(text, place)
        line = column = 1
        if found >= 0:
            line, column = content.count("\n", 0, found) + 1, found - content.rfind("\n", 0, found)
            place = found + len(text)
        yield Script(_CLOSING.sub(_blank, _OPENING.sub(_blank, text)), line, column)


def _blank(found: re.Match[str]) -> str:
    """As many blanks, so that places stay."""
    return re.sub(r"\S", " ", found[0])
