"""Clients that people use, against the real server."""

from __future__ import annotations

import pytest
from rdflib import Graph, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import CSV, JSON, POST, POSTDIRECTLY, RDFXML, TURTLE, XML, SPARQLWrapper

from tests.query.stores import BASE
from tests.web.instance import Server


def wrapper(front: Server, query: str, form: str) -> SPARQLWrapper:
    client = SPARQLWrapper(f"{front.url}/sparql")
    client.setQuery(query)
    client.setReturnFormat(form)
    return client


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")
def test_sparqlwrapper_reads_every_format(front: Server) -> None:
    """It names the format in Accept and in three parameters, by names of its own."""
    select = f"SELECT ?v {{ <{BASE}item/7> <{BASE}value> ?v }} LIMIT 1"
    solutions = wrapper(front, select, JSON).queryAndConvert()
    assert solutions["results"]["bindings"][0]["v"]["value"] == "7"
    assert wrapper(front, select, CSV).queryAndConvert() == b"v\r\n7\r\n"
    assert "<literal" in wrapper(front, select, XML).queryAndConvert().toxml()
    construct = f"CONSTRUCT WHERE {{ <{BASE}item/7> ?p ?o }}"
    assert len(wrapper(front, construct, RDFXML).queryAndConvert()) == 3
    assert b"item/7" in wrapper(front, construct, TURTLE).queryAndConvert()


def test_sparqlwrapper_sends_by_both_posts(front: Server) -> None:
    """As a form and as the body."""
    client = wrapper(front, "ASK { ?s ?p ?o }", JSON)
    client.setMethod(POST)
    assert client.queryAndConvert()["boolean"] is True
    client.setRequestMethod(POSTDIRECTLY)
    assert client.queryAndConvert()["boolean"] is True


def test_sparqlwrapper_names_graphs(front: Server) -> None:
    """By default-graph-uri."""
    client = wrapper(front, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", JSON)
    client.addDefaultGraph(f"{BASE}graph/a")
    assert client.queryAndConvert()["results"]["bindings"][0]["n"]["value"] == "3000"


def test_rdflib_reads_the_endpoint_as_a_store(front: Server) -> None:
    """Its triple patterns become queries."""
    graph = Graph(SPARQLStore(f"{front.url}/sparql"))
    values = [int(value) for value in graph.objects(URIRef(f"{BASE}item/7"), URIRef(f"{BASE}value"))]
    assert values == [7]
    rows = list(graph.query(f"SELECT ?s {{ ?s <{BASE}value> 7 }}"))
    assert [str(row[0]) for row in rows] == [f"{BASE}item/7"]
