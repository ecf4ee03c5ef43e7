"""
The description of the endpoint.

Source: SPARQL 1.1 Service Description; VoID, section 2 for the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.query.results import FORMATS
from sparql.rdf import RDF, VOID, XSD

SD: Final = "http://www.w3.org/ns/sparql-service-description#"
PREFIXES: Final = {"sd": SD, "void": VOID, "rdf": RDF}


def describe(endpoint: str, graphs: Iterable[tuple[str, int]], union: bool) -> Iterator[Triple]:
    """
    Yield the triples of the description.

    Args:
        endpoint: IRI of the endpoint.
        graphs: IRI and number of triples of each named graph.
        union: Whether the default graph is the union of all graphs.
    """
    service, dataset, default = BlankNode("service"), BlankNode("dataset"), BlankNode("default")
    yield Triple(service, _rdf("type"), _sd("Service"))
    yield Triple(service, _sd("endpoint"), NamedNode(endpoint))
    yield Triple(service, _sd("supportedLanguage"), _sd("SPARQL11Query"))
    for form in dict.fromkeys(form.writer.iri for form in FORMATS):
        yield Triple(service, _sd("resultFormat"), NamedNode(form))
    if union:
        yield Triple(service, _sd("feature"), _sd("UnionDefaultGraph"))
    yield Triple(service, _sd("defaultDataset"), dataset)
    yield Triple(dataset, _rdf("type"), _sd("Dataset"))
    yield Triple(dataset, _sd("defaultGraph"), default)
    yield Triple(default, _rdf("type"), _sd("Graph"))
    for number, (iri, triples) in enumerate(graphs):
        yield from _named(dataset, number, iri, triples)


def _named(dataset: BlankNode, number: int, iri: str, triples: int) -> Iterator[Triple]:
    named, graph = BlankNode(f"named{number}"), BlankNode(f"graph{number}")
    yield Triple(dataset, _sd("namedGraph"), named)
    yield Triple(named, _rdf("type"), _sd("NamedGraph"))
    yield Triple(named, _sd("name"), NamedNode(iri))
    yield Triple(named, _sd("graph"), graph)
    yield Triple(graph, _rdf("type"), _sd("Graph"))
    count = Literal(str(triples), datatype=NamedNode(f"{XSD}integer"))
    yield Triple(graph, NamedNode(f"{VOID}triples"), count)


def _sd(name: str) -> NamedNode:
    return NamedNode(SD + name)


def _rdf(name: str) -> NamedNode:
    return NamedNode(RDF + name)
