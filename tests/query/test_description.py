"""The description of the endpoint."""

from __future__ import annotations

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat, Store

from sparql.protocol.description import ALL, SD, Graph, describe
from tests.web.records import statistics_of

ASK = f"PREFIX sd: <{SD}> PREFIX void: <http://rdfs.org/ns/void#> ASK "


def described(union: str) -> Store:
    graphs = [Graph("http://a/g", 7), Graph("http://a/h", 0)]
    turtle = pyoxigraph.serialize(describe("http://a/sparql", graphs, union), format=RdfFormat.TURTLE)
    store = Store()
    store.load(turtle, RdfFormat.TURTLE)
    return store


def test_a_client_finds_the_endpoint_and_what_it_can() -> None:
    """Source: SPARQL 1.1 Service Description, section 3."""
    store = described(union=ALL)
    assert store.query(
        ASK + "{ ?s a sd:Service ; sd:endpoint <http://a/sparql> ; sd:supportedLanguage sd:SPARQL11Query ;"
        " sd:feature sd:UnionDefaultGraph ; sd:resultFormat <http://www.w3.org/ns/formats/SPARQL_Results_JSON> ;"
        " sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] }"
    )


def test_named_graphs_come_with_their_size() -> None:
    """Clients choose a graph by it, without counting."""
    store = described(union="")
    assert store.query(ASK + "{ ?d sd:namedGraph [ sd:name <http://a/g> ; sd:graph [ void:triples 7 ] ] }")
    assert store.query(ASK + "{ ?d sd:namedGraph [ sd:name <http://a/h> ; sd:graph [ void:triples 0 ] ] }")


def test_the_union_is_described_only_where_it_is() -> None:
    """A default graph that is the union changes what a query without GRAPH means."""
    assert not list(described(union="").quads_for_pattern(None, None, NamedNode(f"{SD}UnionDefaultGraph"), None))


def test_named_graphs_come_with_what_they_are_made_of() -> None:
    """A client sees which graph knows of what it looks for; what is most frequent is enough for that."""
    properties = [{"property": f"http://a/p{n}", "triples": 500 - n} for n in range(300)]
    statistics = {"subjects": 9, "properties": properties, "classes": [{"class": "http://a/C", "entities": 4}]}
    counted = statistics_of(statistics)
    turtle = pyoxigraph.serialize(
        describe("http://a/sparql", [Graph("http://a/g", 7, counted), Graph("http://a/h", 7, counted)], ""),
        format=RdfFormat.TURTLE,
    )
    store = Store()
    store.load(turtle, RdfFormat.TURTLE)
    assert store.query(
        ASK + "{ ?d sd:namedGraph [ sd:name <http://a/h> ; sd:graph [ void:triples 7 ; void:distinctSubjects 9 ;"
        " void:properties 300 ; void:classes 1 ;"
        " void:propertyPartition [ void:property <http://a/p199> ; void:triples 301 ] ;"
        " void:classPartition [ void:class <http://a/C> ; void:entities 4 ] ] ] }"
    )
    parts = store.quads_for_pattern(None, NamedNode("http://rdfs.org/ns/void#propertyPartition"), None, None)
    assert sum(1 for _ in parts) == 2 * 200
