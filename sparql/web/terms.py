"""RDF terms as pages show them: IRIs by label or shortened, literals with language and datatype."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from typing import Literal as OneOf
from urllib.parse import quote

import pyoxigraph
from pyoxigraph import BlankNode, NamedNode, Triple

from sparql import rdf
from sparql.rdf import GENID, RDF, XSD

LONGEST: Final = 8000
"""Characters of the longest IRI that is looked up."""
LONG: Final = 1000
"""Characters of a literal that a page shows."""

NAMESPACES: Final = {
    **rdf.PREFIXES,
    "bibo": "http://purl.org/ontology/bibo/",
    "crm": "http://www.cidoc-crm.org/cidoc-crm/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dctype": "http://purl.org/dc/dcmitype/",
    "edm": "http://www.europeana.eu/schemas/edm/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "gn": "http://www.geonames.org/ontology#",
    "gvp": "http://vocab.getty.edu/ontology#",
    "ore": "http://www.openarchives.org/ore/terms/",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "pav": rdf.PAV,
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "time": "http://www.w3.org/2006/time#",
    "vann": "http://purl.org/vocab/vann/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "wgs84": "http://www.w3.org/2003/01/geo/wgs84_pos#",
}
"""Prefixes that readers know, with their namespaces."""

PLAIN: Final = frozenset({f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString"})
"""Datatypes that need not be told."""

_PREFIXES: Final = {namespace: prefix for prefix, namespace in NAMESPACES.items()}
_NAME: Final = re.compile(r"(?P<namespace>.*[/#])(?P<local>[^/#?\s]+)", re.DOTALL)
_DIGITS: Final = 8

Kind = OneOf["iri", "blank", "literal", "triple"]


@dataclass(frozen=True, slots=True)
class Property:
    """
    A predicate with what it leads to.

    Attributes:
        iri: Of the predicate.
        values: In the order in which they are shown.
    """

    iri: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """
    A term to be shown.

    Attributes:
        kind: What it is; `blank` is a blank node that has been given an IRI.
        text: The IRI, or the beginning of the lexical form.
        language: Of a literal, or empty.
        datatype: IRI of a datatype that is worth telling, or empty.
        length: Characters of the whole lexical form.
        inside: What a blank node says, to be shown in its place; None to lead to it.
    """

    kind: Kind
    text: str
    language: str = ""
    datatype: str = ""
    length: int = 0
    inside: tuple[Property, ...] | None = None

    @property
    def shortened(self) -> bool:
        """Whether a part of the text is missing."""
        return self.length > len(self.text)


Term = NamedNode | BlankNode | pyoxigraph.Literal | Triple


def value(term: Term, longest: int = LONG) -> Value:
    """How a term is shown."""
    if isinstance(term, NamedNode):
        return Value("blank" if GENID in term.value else "iri", term.value)
    if isinstance(term, pyoxigraph.Literal):
        return literal(term.value[:longest], term.language or "", term.datatype.value, len(term.value))
    return Value("triple", str(term)[:longest], length=len(str(term)))


def literal(text: str, language: str, datatype: str, length: int) -> Value:
    """A literal of which `text` is at least the beginning."""
    return Value("literal", text, language, "" if datatype in PLAIN else datatype, length)


def valid(text: str) -> NamedNode | None:
    """The IRI that a text is, or None."""
    try:
        return NamedNode(text) if len(text) <= LONGEST else None
    except ValueError:
        return None


def shorten(iri: str) -> str:
    """An IRI with a prefix that readers know, if it has one; a blank node by the beginning of its name."""
    if GENID in iri:
        return f"blank node {iri.partition(GENID)[2][:_DIGITS]}"
    found = _NAME.fullmatch(iri)
    prefix = _PREFIXES.get(found["namespace"]) if found else None
    return iri if found is None or prefix is None else f"{prefix}:{found['local']}"


def address(iri: str) -> str:
    """The address of the page about an IRI."""
    return f"/entity?iri={quote(iri, safe=':/')}"


def outside(iri: str) -> bool:
    """Whether a browser can open an IRI itself, and that is worth while."""
    return iri.startswith(("http://", "https://")) and GENID not in iri


@dataclass(frozen=True, slots=True)
class Label:
    """
    What people call something.

    Attributes:
        text: Of one line.
        language: Its tag, or empty.
    """

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Labels:
    """
    The names of IRIs for one reader.

    Attributes:
        known: By IRI.
        problem: Why names are missing, or empty.
    """

    known: Mapping[str, Label] = field(default_factory=dict)
    problem: str = ""

    def of(self, iri: str) -> Label:
        """The label of an IRI, else the IRI, shortened."""
        return self.known.get(iri) or Label(shorten(iri))


def best(found: Iterable[tuple[str, int, Label]], languages: Sequence[str]) -> dict[str, Label]:
    """
    The label of each IRI that its reader likes best.

    Args:
        found: IRI, place of the predicate among those that name things, and label.
        languages: Tags, the preferred one first.
    """
    ranks: dict[str, tuple[int, int, str]] = {}
    chosen: dict[str, Label] = {}
    for iri, place, label in found:
        rank = (_rank(label.language.lower(), languages), place, label.text)
        if label.text and (iri not in ranks or rank < ranks[iri]):
            ranks[iri], chosen[iri] = rank, label
    return chosen


def _rank(tag: str, languages: Sequence[str]) -> int:
    """The place of a language for a reader: the tags asked for, exact or in part, then none, then English."""
    for place, wanted in enumerate(languages):
        if tag == wanted:
            return 2 * place
        if tag.partition("-")[0] == wanted.partition("-")[0]:
            return 2 * place + 1
    last = 2 * len(languages)
    return last if not tag else last + 1 if tag.partition("-")[0] == "en" else last + 2
