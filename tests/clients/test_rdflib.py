"""rdflib, which takes the endpoint for a store of its own."""

from __future__ import annotations

from http.client import IncompleteRead
from urllib.error import HTTPError

import pytest
from pyparsing import ParseException
from rdflib import BNode, Graph, Literal, Namespace, URIRef
from rdflib.namespace import RDFS
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore

from tests.clients.conftest import STRICT_ROWS
from tests.clients.instance import KINDS, LARGE, LONG, MAGNITUDES, PREFIXES, STARS, everything
from tests.query.stores import BASE
from tests.web.instance import Server

STAR = Namespace(STARS)
THING = Namespace(BASE)
BY_MAGNITUDE = sorted(MAGNITUDES, key=lambda name: MAGNITUDES[name])


def graph_of(served: Server, name: str | None = None, **options: str) -> Graph:
    """The default graph of the endpoint, or one of its graphs."""
    store = SPARQLStore(f"{served.url}/sparql", **options)
    return Graph(store, identifier=None if name is None else URIRef(f"{served.url}/graph/{name}"))


def test_statements_are_found_by_pattern(served: Server) -> None:
    """With any part of it given; each pattern becomes a query."""
    graph = graph_of(served)
    assert graph.value(STAR.vega, STAR.magnitude) == Literal(0.03)
    assert set(graph.objects(STAR.vega, RDFS.label)) == {Literal("Vega", "en"), Literal("Wega", "de")}
    assert set(graph.subjects(STAR.magnitude)) == {STAR[name] for name in MAGNITUDES}
    assert (STAR.vega, RDFS.label, Literal("Vega", "en")) in graph
    assert (STAR.vega, RDFS.label, Literal("Vega")) not in graph


def test_every_kind_of_term_arrives_as_it_is(served: Server) -> None:
    """Every kind of term arrives that rdflib can tell from others."""
    found = dict(graph_of(served).predicate_objects(THING.thing))
    assert found.keys() == {THING[step] for step in KINDS}
    assert isinstance(found[THING.blank], BNode)
    assert found[THING.iri] == URIRef(KINDS["iri"].value)
    assert found[THING.language] == Literal("Grüße", "de-at")
    assert found[THING.date] == Literal("2026-11-21", datatype=URIRef(KINDS["date"].datatype.value))
    assert found[THING.integer] == Literal(-7)
    assert str(found[THING.plain]) == KINDS["plain"].value


@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
def test_queries_come_back_as_rows_graphs_and_booleans(served: Server, method: str) -> None:
    """rdflib reads the answers to queries by each method that it sends them with."""
    graph = graph_of(served, method=method)
    rows = graph.query(f"{PREFIXES} SELECT ?s {{ ?s star:magnitude ?m }} ORDER BY ?m")
    assert [row[0] for row in rows] == [STAR[name] for name in BY_MAGNITUDE]
    assert graph.query(f"{PREFIXES} ASK {{ star:vega ?p ?o }}").askAnswer is True
    built = graph.query(f"{PREFIXES} CONSTRUCT WHERE {{ ?s star:magnitude ?m }}").graph
    assert built is not None
    assert len(built) == len(MAGNITUDES)


@pytest.mark.parametrize("form", ["xml", "json", "csv", "tsv"])
def test_rows_come_in_every_format_of_tables(served: Server, form: str) -> None:
    """Each format is read by another parser of rdflib."""
    rows = graph_of(served, returnFormat=form).query(f"{PREFIXES} SELECT ?s {{ ?s star:magnitude ?m }} ORDER BY ?m")
    assert [row[0] for row in rows] == [STAR[name] for name in BY_MAGNITUDE]


def test_values_and_prefixes_are_given_beside_the_query(served: Server) -> None:
    """`initBindings` and `initNs`; rdflib writes them into the text."""
    graph = graph_of(served)
    given = {"star": STAR.vega, "label": Literal("Wega", "de")}
    for query, count in (("SELECT * { ?star rdfs:label ?label }", 1), ("SELECT * { ?star :magnitude ?m }", 1)):
        assert len(graph.query(query, initBindings=given, initNs={"rdfs": RDFS, "": STAR})) == count
    other = given | {"label": Literal("Wega", "en")}
    assert len(graph.query("SELECT * { ?star rdfs:label ?label }", initBindings=other, initNs={"rdfs": RDFS})) == 0
    graph.bind("s", STAR)
    assert ("s", URIRef(STARS)) in set(graph.namespaces())
    assert [float(row[0]) for row in graph.query("SELECT ?m { s:vega s:magnitude ?m }")] == [0.03]


def test_graphs_are_counted_and_listed(served: Server) -> None:
    """The union, one of them, and which there are, of all and of a statement."""
    assert len(graph_of(served)) == len({quad.triple for quad in everything(served.url)})
    assert len(graph_of(served, "names")) == len(MAGNITUDES) + 1
    store = SPARQLStore(f"{served.url}/sparql")
    of_instance = {URIRef(f"{served.url}/graph/{name}") for name in ("stars", "names", "kinds")}
    assert set(store.contexts()) == of_instance | {THING["graph/items"]}
    assert list(store.contexts((STAR.vega, STAR.magnitude, None))) == [URIRef(f"{served.url}/graph/stars")]


def test_a_graph_is_iterated(served: Server) -> None:
    """As if it were held here; it can be written to a file."""
    names = graph_of(served, "names")
    assert {(s, str(o)) for s, _, o in names} == {
        (STAR[name], label) for name in MAGNITUDES for label in (name.title(), "Wega")[: 1 + (name == "vega")]
    }


def test_a_graph_is_parsed_from_its_address(served: Server) -> None:
    """Whole, in the format that rdflib prefers."""
    for address in ("/graph/kinds", f"/graphs?graph={served.url}/graph/kinds"):
        assert len(Graph().parse(f"{served.url}{address}")) == len(KINDS)


def test_an_update_is_refused(served: Server) -> None:
    """Before it is sent by the store for reading, by us when the one for writing sends it."""
    with pytest.raises(TypeError, match="read only"):
        graph_of(served).add((STAR.vega, RDFS.label, Literal("x")))
    store = SPARQLUpdateStore(f"{served.url}/sparql", f"{served.url}/sparql", context_aware=False)
    with pytest.raises(HTTPError) as caught:
        Graph(store).add((STAR.vega, RDFS.label, Literal("x")))
    assert caught.value.code == 403
    assert "updates are refused" in caught.value.read().decode()


def test_a_syntax_error_is_an_error(served: Server) -> None:
    """A query by GET fails without our message, which rdflib drops."""
    with pytest.raises(ValueError, match="your SPARQL query"):
        graph_of(served).query("SELECT * { ?s ?p }")


def test_a_truncated_result_is_an_error(strict: Server) -> None:
    """Of tables and graphs alike, as long as it reads them in XML or JSON; of files in Turtle, which it prefers."""
    for form in ("xml", "json"):
        with pytest.raises(IncompleteRead):
            graph_of(strict, returnFormat=form).query(LONG)
    with pytest.raises(IncompleteRead):
        graph_of(strict).query(LARGE)
    with pytest.raises(IncompleteRead):
        Graph().parse(f"{strict.url}/graphs?default")


def test_the_mark_of_a_truncated_table_is_read_as_a_row(strict: Server) -> None:
    """In CSV, where any text is a value; in TSV it is none that can be parsed."""
    rows = list(graph_of(strict, returnFormat="csv").query(LONG))
    assert len(rows) == STRICT_ROWS + 1
    assert str(rows[-1][0]).startswith("# truncated: ")
    with pytest.raises(ParseException):
        graph_of(strict, returnFormat="tsv").query(LONG)


def test_truncated_triples_end_with_their_mark(strict: Server) -> None:
    """N-Triples have to be asked for; their mark is a comment that it does not see."""
    assert len(Graph().parse(f"{strict.url}/graphs?default&format=nt")) == STRICT_ROWS
