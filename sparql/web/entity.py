"""What a page about an IRI says, asked of the store in a few bounded queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyoxigraph
from pyoxigraph import NamedNode, QuerySolution

from sparql.errors import SparqlError
from sparql.rdf import DCTERMS, FOAF, GENID, RDF, RDFS
from sparql.web.questions import Budget
from sparql.web.terms import LONG, Label, Property, Term, TermLabels, Value, best, literal, valid, value

STATEMENTS: Final = 1000
"""Statements of one page about an IRI, and all that its blank nodes may add."""
LINKS: Final = 50
"""Incoming links of one page."""
USES: Final = 10
"""Statements that show how a predicate is used."""
DEPTH: Final = 3
"""How deep descriptions of blank nodes are shown within each other."""
NAMED: Final = 1000
"""IRIs of one page that are shown by their labels."""
NAME: Final = 200
"""Characters of a label."""

NAMING: Final = (
    f"{RDFS}label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    f"{DCTERMS}title",
    f"{FOAF}name",
)
"""Predicates whose objects name things, the one to be preferred first."""

_TAG: Final = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*")
_TAGS: Final = 5
_OBJECT: Final = (
    f"(IF(isLITERAL(?o), SUBSTR(STR(?o), 1, {LONG}), ?o) AS ?value) (DATATYPE(?o) AS ?datatype) "
    "(LANG(?o) AS ?language) (STRLEN(STR(?o)) AS ?length)"
)
"""An object in so many characters that a page has room for it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement without its graph or without its subject, as the query leaves them out."""

    place: str
    predicate: str
    object: Value


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where an IRI is the object, or the predicate."""

    graph: str
    subject: str
    predicate: str


@dataclass(frozen=True, slots=True)
class Entity:
    """
    A page about an IRI.

    Attributes:
        iri: What it is about.
        graphs: What is said of it, by graph.
        more: Whether there are statements beyond this page.
        links: A page of the statements that have it as object.
        more_links: Whether there are more of them.
        uses: A few statements that have it as predicate.
        is_graph: Whether it names a graph.
    """

    iri: str
    graphs: dict[str, tuple[Property, ...]]
    more: bool
    links: tuple[Occurrence, ...]
    more_links: bool
    uses: tuple[Occurrence, ...]
    is_graph: bool

    @property
    def known(self) -> bool:
        """Whether the store has it at all; statements beyond the last page count for nothing."""
        return bool(self.graphs or self.links or self.uses or self.is_graph)

    def iris(self) -> Iterator[str]:
        """Yield what should be shown by its label, the most important first."""
        yield self.iri
        for properties in self.graphs.values():
            yield from (found.iri for found in properties)
        for link in (*self.links, *self.uses):
            yield from (link.predicate, link.subject)
        for properties in self.graphs.values():
            yield from _mentioned(properties)


def look(iri: NamedNode, page: int, links_page: int, store: Budget) -> Entity:
    """
    What the store says of an IRI.

    Args:
        iri: A valid one.
        page: Of its statements, from 1.
        links_page: Of its incoming links, from 1.
        store: What is asked.

    Raises:
        SparqlError: A query was not answered.
    """
    found = _statements(
        f"SELECT (?g AS ?place) ?p {_OBJECT} WHERE {{ GRAPH ?g {{ {iri} ?p ?o }} }} "
        f"OFFSET {STATEMENTS * (page - 1)} LIMIT {STATEMENTS + 1}",
        store,
    )
    shown = found[:STATEMENTS]
    nodes = _nodes((statement.object for statement in shown), iri.value, store)
    links = _links(
        f"SELECT ?g ?s ?p WHERE {{ GRAPH ?g {{ ?s ?p {iri} }} }} OFFSET {LINKS * (links_page - 1)} LIMIT {LINKS + 1}",
        store,
    )
    uses = _links(f"SELECT ?g ?s ({iri} AS ?p) WHERE {{ GRAPH ?g {{ ?s {iri} ?o }} }} LIMIT {USES}", store)
    graphs: dict[str, list[Statement]] = {}
    for statement in shown:
        graphs.setdefault(statement.place, []).append(statement)
    return Entity(
        iri.value,
        {graph: _properties(graphs[graph], nodes, (iri.value,)) for graph in sorted(graphs)},
        len(found) > STATEMENTS,
        links[:LINKS],
        len(links) > LINKS,
        uses,
        store.holds(f"ASK {{ GRAPH {iri} {{ ?s ?p ?o }} }}"),
    )


def known(iri: NamedNode) -> str:
    """The query whether the store has an IRI anywhere."""
    return (
        f"ASK {{ {{ GRAPH ?g {{ {iri} ?p ?o }} }} UNION {{ GRAPH ?g {{ ?s ?p {iri} }} }} "
        f"UNION {{ GRAPH ?g {{ ?s {iri} ?o }} }} UNION {{ GRAPH {iri} {{ ?s ?p ?o }} }} }}"
    )


def description(iri: NamedNode) -> str:
    """The query for what is said of an IRI, blank nodes to the depth of the page included."""
    parts, path = [f"{{ VALUES ?s {{ {iri} }} GRAPH ?g {{ ?s ?p ?o }} }}"], ""
    blank: list[str] = []
    for depth in range(1, DEPTH + 1):
        steps = f"{path or iri} ?p{depth} ?s . ?s ?p ?o"
        filters = " ".join(f'FILTER(CONTAINS(STR({node}), "{GENID}"))' for node in (*blank, "?s"))
        before = " ".join(f"{iri if n == 1 else f'?n{n - 1}'} ?p{n} ?n{n} ." for n in range(1, depth))
        parts.append(f"{{ GRAPH ?g {{ {before} {steps} }} {filters} }}")
        path = f"?n{depth}"
        blank.append(path)
    return f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {' UNION '.join(parts)} }}"


def labels(iris: Iterable[str], languages: Sequence[str], store: Budget) -> TermLabels:
    """The names of IRIs in the languages of a reader; without them, and with the reason, if the store fails."""
    wanted = list(dict.fromkeys(iri for iri in iris if GENID not in iri and valid(iri)))[:NAMED]
    if not wanted:
        return TermLabels()
    names = " UNION ".join(f"{{ GRAPH ?g {{ ?i <{name}> ?l }} BIND({n} AS ?n) }}" for n, name in enumerate(NAMING))
    primary = dict.fromkeys((*(tag.partition("-")[0] for tag in languages), "en"))
    read = " || ".join(("LANG(?l) = ''", *(f"LANGMATCHES(LANG(?l), '{tag}')" for tag in primary)))
    query = (
        f"SELECT ?g ?i ?n (SUBSTR(STR(?l), 1, {NAME}) AS ?text) (LANG(?l) AS ?language) "
        f"WHERE {{ VALUES ?i {{ {' '.join(f'<{iri}>' for iri in wanted)} }} {names} "
        f"FILTER(isLITERAL(?l) && ({read})) }} LIMIT {NAMED * 10}"
    )
    try:
        rows = store.rows(query)
    except SparqlError as error:
        return TermLabels(problem=error.message)
    return best(
        ((_text(row, "g"), _text(row, "i"), int(_text(row, "n")), _label(row)) for row in rows),
        languages,
    )


def languages(accepted: Iterable[str]) -> tuple[str, ...]:
    """The first few of the language tags that a reader names, in lower case; what is no tag is left out."""
    tags = (tag.lower() for tag in accepted)
    return tuple(tag for tag in tags if _TAG.fullmatch(tag))[:_TAGS]


def _statements(query: str, store: Budget) -> list[Statement]:
    return [Statement(_text(row, "place"), _text(row, "p"), _object(row)) for row in store.rows(query)]


def _links(query: str, store: Budget) -> tuple[Occurrence, ...]:
    return tuple(Occurrence(_text(row, "g"), _text(row, "s"), _text(row, "p")) for row in store.rows(query))


def _nodes(values: Iterable[Value], iri: str, store: Budget) -> dict[str, list[Statement]]:
    """What blank nodes say, to a depth, as long as there is room; those of which not all is known are left out."""
    nodes: dict[str, list[Statement]] = {}
    waiting = _blank(values, {iri})
    room = STATEMENTS
    for _ in range(DEPTH):
        if not waiting or room <= 0:
            break
        terms = " ".join(f"<{node}>" for node in waiting[:room] if valid(node))
        found = _statements(
            f"SELECT (?s AS ?place) ?p {_OBJECT} WHERE {{ VALUES ?s {{ {terms} }} GRAPH ?g {{ ?s ?p ?o }} }} "
            f"LIMIT {room + 1}",
            store,
        )
        if len(found) > room:
            cut = {statement.place for statement in found[-1:]}
            found = [statement for statement in found if statement.place not in cut]
            room = 0
        room -= len(found)
        for statement in found:
            nodes.setdefault(statement.place, []).append(statement)
        waiting = _blank((statement.object for statement in found), {iri, *nodes})
    return nodes


def _blank(values: Iterable[Value], but: set[str]) -> list[str]:
    return [node for node in dict.fromkeys(v.text for v in values if v.kind == "blank") if node not in but]


def _properties(
    statements: Iterable[Statement], nodes: dict[str, list[Statement]], path: tuple[str, ...]
) -> tuple[Property, ...]:
    """Statements by predicate: types first, then by the IRI of the predicate."""
    groups: dict[str, list[Value]] = {}
    for statement in statements:
        groups.setdefault(statement.predicate, []).append(_inside(statement.object, nodes, path))
    ordered = sorted(groups, key=lambda predicate: (predicate != f"{RDF}type", predicate))
    return tuple(Property(p, tuple(sorted(groups[p], key=_order))) for p in ordered)


def _inside(shown: Value, nodes: dict[str, list[Statement]], path: tuple[str, ...]) -> Value:
    """A blank node with what it says, unless that is not known, or we are in it already, or too deep."""
    if shown.kind != "blank" or shown.text not in nodes or shown.text in path or len(path) > DEPTH:
        return shown
    return Value("blank", shown.text, inside=_properties(nodes[shown.text], nodes, (*path, shown.text)))


def _order(shown: Value) -> tuple[str, str, str]:
    return shown.kind, shown.language, shown.text


def _mentioned(properties: Iterable[Property]) -> Iterator[str]:
    for found in properties:
        for shown in found.values:
            if shown.kind == "iri":
                yield shown.text
            elif shown.inside:
                yield from (inner.iri for inner in shown.inside)
                yield from _mentioned(shown.inside)


def _object(row: QuerySolution) -> Value:
    term = _term(row, "value")
    datatype = row["datatype"]
    if isinstance(term, pyoxigraph.Literal) and isinstance(datatype, NamedNode):
        return literal(term.value, _text(row, "language"), datatype.value, int(_text(row, "length") or 0))
    return value(term)


def _label(row: QuerySolution) -> Label:
    return Label(" ".join(_text(row, "text").split()), _text(row, "language"))


def _term(row: QuerySolution, name: str) -> Term:
    term: Term | None = row[name]
    assert term is not None
    return term


def _text(row: QuerySolution, name: str) -> str:
    term = row[name]
    return term.value if isinstance(term, NamedNode | pyoxigraph.Literal) else "" if term is None else str(term)
