"""The description of the endpoint."""

from __future__ import annotations

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat, Store

from sparql.query.description import SD, describe

ASK = f"PREFIX sd: <{SD}> PREFIX void: <http://rdfs.org/ns/void#> ASK "


def described(union: bool) -> Store:
    graphs = [("http://a/g", 7), ("http://a/h", 0)]
    turtle = pyoxigraph.serialize(describe("http://a/sparql", graphs, union), format=RdfFormat.TURTLE)
    store = Store()
    store.load(turtle, RdfFormat.TURTLE)
    return store


def test_a_client_finds_the_endpoint_and_what_it_can() -> None:
    """Source: SPARQL 1.1 Service Description, section 3."""
    store = described(union=True)
    assert store.query(
        ASK + "{ ?s a sd:Service ; sd:endpoint <http://a/sparql> ; sd:supportedLanguage sd:SPARQL11Query ;"
        " sd:feature sd:UnionDefaultGraph ; sd:resultFormat <http://www.w3.org/ns/formats/SPARQL_Results_JSON> ;"
        " sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] }"
    )


def test_named_graphs_come_with_their_size() -> None:
    """Clients choose a graph by it, without counting."""
    store = described(union=False)
    assert store.query(ASK + "{ ?d sd:namedGraph [ sd:name <http://a/g> ; sd:graph [ void:triples 7 ] ] }")
    assert store.query(ASK + "{ ?d sd:namedGraph [ sd:name <http://a/h> ; sd:graph [ void:triples 0 ] ] }")


def test_the_union_is_told_only_where_it_is() -> None:
    """It changes what a query without GRAPH means."""
    assert not list(described(union=False).quads_for_pattern(None, None, NamedNode(f"{SD}UnionDefaultGraph"), None))
