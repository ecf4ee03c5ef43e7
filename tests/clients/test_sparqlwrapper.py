"""SPARQLWrapper, as people have it in notebooks."""

from __future__ import annotations

import warnings
from http.client import IncompleteRead
from urllib.error import HTTPError
from xml.dom.minidom import Document

import pytest
import rdflib
from pyoxigraph import RdfFormat, parse
from SPARQLWrapper import (
    CSV,
    GET,
    JSON,
    JSONLD,
    N3,
    POST,
    POSTDIRECTLY,
    RDFXML,
    TSV,
    TURTLE,
    URLENCODED,
    XML,
    SPARQLWrapper,
    SPARQLWrapper2,
)
from SPARQLWrapper.SPARQLExceptions import QueryBadFormed

from tests.clients.conftest import STRICT_ROWS
from tests.clients.instance import ALL_KINDS, COUNT, ENDLESS, KINDS, LARGE, LONG, MAGNITUDES, PREFIXES, ROWS, STARS
from tests.query.stores import BASE
from tests.web.instance import Server

MAGNITUDE = f"{PREFIXES} SELECT ?m {{ star:vega star:magnitude ?m }}"
YES = f"{PREFIXES} ASK {{ star:vega ?p ?o }}"
CONSTRUCT = f"{PREFIXES} CONSTRUCT WHERE {{ :thing ?p ?o }}"
DESCRIBE = f"{PREFIXES} DESCRIBE :thing"
WAYS = [(GET, URLENCODED), (POST, URLENCODED), (POST, POSTDIRECTLY)]


def wrapper(server: Server, query: str, form: str, way: tuple[str, str] = WAYS[0]) -> SPARQLWrapper:
    client = SPARQLWrapper(f"{server.url}/sparql")
    client.setQuery(query)
    client.setReturnFormat(form)
    client.setMethod(way[0])
    client.setRequestMethod(way[1])
    return client


def said(error: HTTPError) -> str:
    """What the server wrote, which SPARQLWrapper leaves in the exception."""
    return error.read().decode()


@pytest.mark.parametrize("way", WAYS)
def test_a_table_comes_in_every_format(served: Server, way: tuple[str, str]) -> None:
    """By each way to send the query; it names the format in Accept and in three parameters."""
    found = wrapper(served, MAGNITUDE, JSON, way).queryAndConvert()
    assert [float(row["m"]["value"]) for row in found["results"]["bindings"]] == [MAGNITUDES["vega"]]
    document = wrapper(served, MAGNITUDE, XML, way).queryAndConvert()
    assert isinstance(document, Document)
    assert document.getElementsByTagName("literal")[0].firstChild.data == "0.03"
    assert wrapper(served, MAGNITUDE, CSV, way).queryAndConvert() == b"m\r\n0.03\r\n"
    assert wrapper(served, MAGNITUDE, TSV, way).queryAndConvert().startswith(b"?m\n")


@pytest.mark.parametrize("way", WAYS)
def test_ask_is_a_boolean(served: Server, way: tuple[str, str]) -> None:
    """SPARQLWrapper reads the answer of ASK in JSON and XML."""
    assert wrapper(served, YES, JSON, way).queryAndConvert()["boolean"] is True
    assert wrapper(served, YES.replace("vega", "none"), JSON, way).queryAndConvert()["boolean"] is False
    assert "<boolean>true</boolean>" in wrapper(served, YES, XML, way).queryAndConvert().toxml()


@pytest.mark.parametrize("query", [CONSTRUCT, DESCRIBE])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")
def test_a_graph_comes_in_every_format(served: Server, query: str, way: tuple[str, str]) -> None:
    """As text, or as a graph of rdflib, with every kind of term in it."""
    expected = {(BASE + step, getattr(term, "value", None)) for step, term in KINDS.items() if step != "blank"}
    for form, parser in ((TURTLE, RdfFormat.TURTLE), (N3, RdfFormat.N3)):
        quads = parse(wrapper(served, query, form, way).queryAndConvert(), parser)
        assert {(q.predicate.value, q.object.value) for q in quads if q.predicate.value != f"{BASE}blank"} == expected
    for form in (XML, RDFXML, JSONLD):
        graph = wrapper(served, query, form, way).queryAndConvert()
        assert isinstance(graph, rdflib.Graph)
        assert {(str(p), str(o)) for _, p, o in graph if str(p) != f"{BASE}blank"} == expected


def test_every_kind_of_term_arrives_as_it_is(served: Server) -> None:
    """Every kind of term is in the bindings of SPARQLWrapper2."""
    client = SPARQLWrapper2(f"{served.url}/sparql")
    client.setQuery(ALL_KINDS)
    found = {row["p"].value.removeprefix(BASE): row["o"] for row in client.query().bindings}
    assert found.keys() == KINDS.keys()
    assert {step: value.value for step, value in found.items() if step != "blank"} == {
        step: getattr(term, "value", None) for step, term in KINDS.items() if step != "blank"
    }
    assert (found["language"].lang, found["date"].datatype[-5:], found["blank"].type) == ("de-at", "#date", "bnode")


@pytest.mark.parametrize("way", WAYS)
def test_graphs_are_chosen_by_parameters(served: Server, way: tuple[str, str]) -> None:
    """Default and named ones, by each way to send the query."""
    client = wrapper(served, COUNT, CSV, way)
    client.addDefaultGraph(f"{served.url}/graph/kinds")
    assert client.queryAndConvert() == f"n\r\n{len(KINDS)}\r\n".encode()
    client = wrapper(served, "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g", CSV, way)
    for name in ("stars", "names"):
        client.addNamedGraph(f"{served.url}/graph/{name}")
    graphs = client.queryAndConvert().decode().split()
    assert graphs == ["g", f"{served.url}/graph/names", f"{served.url}/graph/stars"]


def test_a_long_result_is_complete(served: Server) -> None:
    """All rows, in a format that is read whole."""
    assert len(wrapper(served, LONG, CSV).queryAndConvert().splitlines()) == ROWS + 1


def test_a_truncated_table_says_so(strict: Server) -> None:
    """By its last line in CSV, by a broken connection in JSON."""
    lines = wrapper(strict, LONG, CSV).queryAndConvert().decode().splitlines()
    assert lines[-1].startswith(f"# truncated: The result has more than {STRICT_ROWS:,} rows")
    with pytest.raises(IncompleteRead):
        wrapper(strict, LONG, JSON).queryAndConvert()


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")
@pytest.mark.parametrize("form", [TURTLE, N3, RDFXML, JSONLD])
def test_a_truncated_graph_is_an_error(strict: Server, form: str) -> None:
    """It knows no format of graphs with one statement a line, so always by a broken connection."""
    with pytest.raises(IncompleteRead):
        wrapper(strict, LARGE, form).queryAndConvert()


@pytest.mark.parametrize("way", WAYS)
def test_a_time_limit_of_the_client_holds(served: Server, way: tuple[str, str]) -> None:
    """It is a parameter of ours; the reason can be read from the exception."""
    client = wrapper(served, ENDLESS, JSON, way)
    client.addParameter("timeout", "0.3")
    with pytest.raises(HTTPError) as caught:
        client.query()
    assert caught.value.code == 503
    assert "longer than 0.3 s" in said(caught.value)


@pytest.mark.parametrize("way", WAYS[1:])
def test_an_update_is_refused(served: Server, way: tuple[str, str]) -> None:
    """With 403 and the reason, in both forms of the protocol."""
    with pytest.raises(HTTPError) as caught:
        wrapper(served, "CLEAR ALL", JSON, way).query()
    assert caught.value.code == 403
    assert "updates are refused" in said(caught.value)


@pytest.mark.parametrize("way", WAYS)
def test_a_syntax_error_reaches_the_user(served: Server, way: tuple[str, str]) -> None:
    """As the exception that is meant for it, with our message."""
    with pytest.raises(QueryBadFormed, match="does not parse near line 1, column 12"):
        wrapper(served, "SELECT * { ?s ?p }", JSON, way).query()


@pytest.mark.filterwarnings("ignore:Sending Accept header:RuntimeWarning")
def test_a_format_that_does_not_fit_is_refused(served: Server) -> None:
    """A table is no Turtle: SPARQLWrapper raises an error with status 406."""
    with pytest.raises(HTTPError) as caught:
        wrapper(served, MAGNITUDE, TURTLE).query()
    assert caught.value.code == 406
    assert "sparql-results+json" in said(caught.value)


def test_a_format_that_it_does_not_know_for_a_graph_still_comes(served: Server) -> None:
    """It warns, and accepts anything; what it gets is what the extra parameters name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = wrapper(served, f"DESCRIBE <{STARS}vega>", JSON).queryAndConvert()
    assert len(graph) == 3
