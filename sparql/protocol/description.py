"""
The description of the endpoint.

Source: SPARQL 1.1 Service Description; VoID, sections 4.5 and 4.6 for the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.protocol.results import FORMATS
from sparql.rdf import RDF, RDFS, VOID, XSD
from sparql.reports import StatisticsReport

SD: Final = "http://www.w3.org/ns/sparql-service-description#"
PREFIXES: Final = {"sd": SD, "void": VOID, "rdf": RDF}

MOST: Final = 200
"""Properties, and classes, that are listed of each graph: the most frequent ones; their numbers are those of all."""

ALL: Final = "The union of all named graphs."
OTHERS: Final = "The union of the graphs of providers, without the account of the harvests and the graphs of seeds."


@dataclass(frozen=True, slots=True)
class Graph:
    """
    A named graph.

    Attributes:
        iri: Its name.
        triples: In it; None where that is not counted.
        statistics: What it is made of; None where that is not known.
    """

    iri: str
    triples: int | None = None
    statistics: StatisticsReport | None = None


def describe(endpoint: str, graphs: Iterable[Graph], union: str) -> Iterator[Triple]:
    """
    Yield the triples of the description.

    Args:
        endpoint: IRI of the endpoint.
        graphs: The named graphs.
        union: What the default graph is the union of: `ALL`, `OTHERS`, or empty.
    """
    service, dataset, default = BlankNode("service"), BlankNode("dataset"), BlankNode("default")
    yield Triple(service, _rdf("type"), _sd("Service"))
    yield Triple(service, _sd("endpoint"), NamedNode(endpoint))
    yield Triple(service, _sd("supportedLanguage"), _sd("SPARQL11Query"))
    for form in dict.fromkeys(form.writer.iri for form in FORMATS):
        yield Triple(service, _sd("resultFormat"), NamedNode(form))
    if union == ALL:
        yield Triple(service, _sd("feature"), _sd("UnionDefaultGraph"))
    yield Triple(service, _sd("defaultDataset"), dataset)
    yield Triple(dataset, _rdf("type"), _sd("Dataset"))
    yield Triple(dataset, _sd("defaultGraph"), default)
    yield Triple(default, _rdf("type"), _sd("Graph"))
    if union:
        yield Triple(default, NamedNode(f"{RDFS}comment"), Literal(union, language="en"))
    for number, graph in enumerate(graphs):
        yield from _named(dataset, number, graph)


def _named(dataset: BlankNode, number: int, held: Graph) -> Iterator[Triple]:
    named, graph = BlankNode(f"named{number}"), BlankNode(f"graph{number}")
    yield Triple(dataset, _sd("namedGraph"), named)
    yield Triple(named, _rdf("type"), _sd("NamedGraph"))
    yield Triple(named, _sd("name"), NamedNode(held.iri))
    yield Triple(named, _sd("graph"), graph)
    yield Triple(graph, _rdf("type"), _sd("Graph"))
    if held.triples is not None:
        yield Triple(graph, _void("triples"), _count(held.triples))
    if held.statistics is not None:
        yield from _figures(graph, held.statistics)


def _figures(graph: BlankNode, statistics: StatisticsReport) -> Iterator[Triple]:
    properties, classes = statistics.properties, statistics.classes
    yield Triple(graph, _void("distinctSubjects"), _count(statistics.subjects))
    yield Triple(graph, _void("properties"), _count(len(properties)))
    for number, of in enumerate(properties[:MOST]):
        yield from _part(graph, number, ("property", of.property), ("triples", of.triples))
    yield Triple(graph, _void("classes"), _count(len(classes)))
    for number, kind in enumerate(classes[:MOST]):
        yield from _part(graph, number, ("class", kind.class_), ("entities", kind.entities))


def _part(graph: BlankNode, number: int, term: tuple[str, str], counted: tuple[str, int]) -> Iterator[Triple]:
    kind, iri = term
    unit, count = counted
    part = BlankNode(f"{graph.value}{kind}{number}")
    yield Triple(graph, _void(f"{kind}Partition"), part)
    yield Triple(part, _void(kind), NamedNode(iri))
    yield Triple(part, _void(unit), _count(count))


def _count(number: int) -> Literal:
    return Literal(str(number), datatype=NamedNode(f"{XSD}integer"))


def _void(name: str) -> NamedNode:
    return NamedNode(VOID + name)


def _sd(name: str) -> NamedNode:
    return NamedNode(SD + name)


def _rdf(name: str) -> NamedNode:
    return NamedNode(RDF + name)
