"""RDF terms as pages show them: IRIs by label or shortened, literals with language and datatype."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar
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

_NAMING_THINGS: Final = frozenset({"dbp", "dbr", "wd", "wdt"})
"""Prefixes whose names are numbers or those of things, which labels say better."""

PLAIN: Final = frozenset({f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString"})
"""Datatypes that need not be reported."""

_PREFIXES: Final = {namespace: prefix for prefix, namespace in NAMESPACES.items()}
_NAME: Final = re.compile(r"(?P<namespace>.*[/#])(?P<local>[^/#?\s]+)", re.DOTALL)
_DIGITS: Final = 8

K = TypeVar("K")
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
        datatype: IRI of a datatype that is worth reporting, or empty.
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


def is_shared(iri: str) -> bool:
    """Whether an IRI is a term of a vocabulary that readers know: it is called by its prefix, whoever labels it."""
    found = _NAME.fullmatch(iri)
    prefix = _PREFIXES.get(found["namespace"]) if found else None
    return prefix is not None and prefix not in _NAMING_THINGS


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
class TermLabels:
    """
    The names of IRIs for one reader.

    Attributes:
        known: By IRI, the best that any graph gives.
        own: By graph and IRI, the best that this graph gives.
        graph: The graph whose statements are shown, or empty.
        problem: Why names are missing, or empty.
    """

    known: Mapping[str, Label] = field(default_factory=dict)
    own: Mapping[tuple[str, str], Label] = field(default_factory=dict)
    graph: str = ""
    problem: str = ""

    def within(self, graph: str) -> TermLabels:
        """The names among the statements of one graph."""
        return replace(self, graph=graph)

    def of(self, iri: str, is_term: bool = False) -> Label:
        """
        What an IRI is called: a term of a known vocabulary by its prefix, all else as its graph calls it.

        What the graph does not name, another one may, unless it is a predicate or class: who describes things of
        others gives no new meaning to their words.
        """
        if is_shared(iri):
            return Label(shorten(iri))
        label = self.own.get((self.graph, iri))
        if label is None and not (is_term and self.graph):
            label = self.known.get(iri)
        return label or Label(shorten(iri))


def best(found: Iterable[tuple[str, str, int, Label]], languages: Sequence[str]) -> TermLabels:
    """
    The labels that a reader likes best.

    Args:
        found: Graph, IRI, place of the predicate among those that name things, and label.
        languages: Tags, the preferred one first.
    """
    known, own = _Best[str](), _Best[tuple[str, str]]()
    for graph, iri, place, label in found:
        rank = (_rank(label.language.lower(), languages), place, label.text)
        known.offer(iri, rank, label)
        own.offer((graph, iri), rank, label)
    return TermLabels(known.chosen, own.chosen)


class _Best(Generic[K]):
    """The label of the lowest rank for each key."""

    def __init__(self) -> None:
        self.chosen: dict[K, Label] = {}
        self._ranks: dict[K, tuple[int, int, str]] = {}

    def offer(self, key: K, rank: tuple[int, int, str], label: Label) -> None:
        if label.text and (key not in self._ranks or rank < self._ranks[key]):
            self._ranks[key], self.chosen[key] = rank, label


def _rank(tag: str, languages: Sequence[str]) -> int:
    """The place of a language for a reader: the tags asked for, exact or in part, then none, then English."""
    for place, wanted in enumerate(languages):
        if tag == wanted:
            return 2 * place
        if tag.partition("-")[0] == wanted.partition("-")[0]:
            return 2 * place + 1
    last = 2 * len(languages)
    return last if not tag else last + 1 if tag.partition("-")[0] == "en" else last + 2
