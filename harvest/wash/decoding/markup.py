"""
What a document in XML, HTML or JSON is, from its first tag or its keys.

XML that is no RDF is common among dumps: sitemaps, feeds, drawings, OWL/XML. RDF/XML reads most of it without a word,
as statements that nobody made; so it has to show that it is RDF, or be declared to be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sparql.rdf import HTML, JSON_LD, RDF, RDF_XML, Format

_PROLOG = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_START_TAG = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)(\s+[\w.:-]+\s*=\s*[\"'])?")
_TAG = re.compile(rb"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>")
_DOCTYPE = re.compile(rb"<!DOCTYPE\s+html\b", re.IGNORECASE)
_PAGE_TAG = re.compile(rb"<(?:html|head|body|title|meta|script|div|p|span|table|h[1-6]|br|a)\b", re.IGNORECASE)
_JSON = re.compile(rb'\{\s*(?:"|\}|$)|\[\s*(?:[\[{]|\]\s*$)')
_EMPTY_JSON = re.compile(rb"[\[{]\s*[\]}]\s*$")
_KEYWORD = re.compile(
    rb'"@(?:context|id|graph|type|value|vocab|language|list|set|reverse|index|base|container|included|json|nest|none'
    rb'|prefix|propagate|protected|version|direction|import)"'
)
_NOT_RDF = frozenset({"urlset", "sitemapindex", "rss", "feed", "svg", "sparql", "kml", "gpx", "trix", "error"})
"""Root elements of sitemaps, feeds, drawings, query results, TriX, and errors of object stores."""
_PAGES = frozenset({"html", "head", "body", "script"})
_NAMESPACE = RDF.encode()


@dataclass(frozen=True, slots=True)
class Root:
    """
    The root element of an XML document.

    Attributes:
        name: Its local name in lower case; empty where it is not in sight.
        before: The document up to the end of its start tag, or all that is there.
    """

    name: str
    before: bytes


def root(text: bytes) -> Root | None:
    """The root element of a document, or None where it is no XML and no HTML."""
    place = 0
    while match := _PROLOG.match(text, place):
        place = match.end()
    if _DOCTYPE.search(text[:place]):
        return Root("html", text[:place])
    if tag := _START_TAG.match(text, place):
        name = tag[1].decode("utf-8", "replace").lower()
        # An IRI holds no space, so an attribute distinguishes a tag from `<a:b>` in Turtle.
        if tag[2] or name == "rdf" or name in _PAGES or place:
            whole = _TAG.match(text, place)
            return Root(name, text[: whole.end()] if whole else text)
    return Root("", text) if text[:5].lower() in (b"<?xml", b"<!doc") or text.startswith(b"<!--") else None


def in_xml(element: Root, declared: Format | None) -> Format | None:
    """The format of a document in XML or HTML, or None where it is no RDF."""
    if element.name in _PAGES:
        return HTML
    if element.name == "rdf":
        return RDF_XML
    if not element.name:
        return HTML if declared is HTML else RDF_XML
    if element.name in _NOT_RDF or _owl_xml(element):
        return None
    if _NAMESPACE in element.before or declared is RDF_XML:
        return RDF_XML
    return HTML if declared is HTML else None


def _owl_xml(element: Root) -> bool:
    """Whether this is an ontology in the XML serialisation of OWL, which is another thing than RDF/XML."""
    return element.name == "ontology" and b":about" not in element.before


def is_json(text: bytes) -> bool:
    """Whether a document is in JSON."""
    return _JSON.match(text) is not None


def in_json(text: bytes, declared: Format | None) -> Format | None:
    """JSON-LD, or None where the JSON has no key of it and is not declared to be it."""
    return JSON_LD if declared is JSON_LD or _KEYWORD.search(text) or _EMPTY_JSON.match(text) else None


def is_page(text: bytes) -> bool:
    """Whether a text that is declared to be a page is one: it has tags of HTML."""
    return _PAGE_TAG.search(text) is not None
