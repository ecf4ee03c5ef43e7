"""Reading graphs over HTTP. Source: SPARQL 1.1 Graph Store HTTP Protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
import requests
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple

from sparql.web.catalog import Site
from sparql.web.graphs import _prefix
from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, LABEL, PublishedStore, item, items
from tests.web.instance import Server, serve
from tests.web.test_breaking import the_worker, workers
from tests.web.test_formats import GRAPHS

A = f"{BASE}graph/a"
LONG = "CONSTRUCT WHERE { ?s ?p ?o }&format=trig"
SEED = f"{BASE}graph/seed-0123456789abcdef"
ODD = f"{BASE}graph/h%C3%A9&b"


@pytest.fixture(scope="module")
def front(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose address is that of its graphs: a large one, small ones and an odd one."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    small = (
        Quad(item(1), LABEL, Literal(name), NamedNode(name)) for name in (SEED, ODD, f"{BASE}graph/harvest-metadata")
    )
    published.add([*items(2000, "a"), *items(10, "b"), *small])
    limits = QueryLimits(workers=1, max_rows=6100, cache_bytes=1 << 30)
    server = serve(folder, published.root, limits, base_url=BASE.rstrip("/"))
    yield server
    server.stop()


def read(front: Server, path: str = "/graphs", **parameters: str) -> requests.Response:
    return requests.get(f"{front.url}{path}", params=parameters, timeout=240)


def triples(answer: requests.Response, form: RdfFormat = RdfFormat.TURTLE) -> set[Triple]:
    return {quad.triple for quad in pyoxigraph.parse(answer.content, form)}


def expected(name: str, count: int) -> set[Triple]:
    return {quad.triple for quad in items(count, name)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("content_type", "name", "form"), GRAPHS)
def test_a_graph_comes_whole_in_every_format(front: Server, content_type: str, name: str, form: RdfFormat) -> None:
    """By Accept and by name, a long one and a short one."""
    for graph, count in (("a", 2000), ("b", 10)):
        by_name = read(front, graph=f"{BASE}graph/{graph}", format=name)
        by_type = requests.get(
            f"{front.url}/graphs",
            params={"graph": f"{BASE}graph/{graph}"},
            headers={"Accept": content_type.split(";")[0]},
            timeout=240,
        )
        for answer in (by_name, by_type):
            assert (answer.status_code, answer.headers["Content-Type"]) == (200, content_type)
            assert "Accept" in answer.headers["Vary"]
            assert triples(answer, form) == expected(graph, count)


@pytest.mark.parametrize("name", ["a", "seed-0123456789abcdef", "harvest-metadata"])
def test_a_graph_is_read_at_its_own_address(front: Server, name: str) -> None:
    """The IRI of a graph leads to the graph, of providers, seeds and the metadata alike."""
    answer = read(front, f"/graph/{name}")
    assert answer.status_code == 200
    assert triples(answer) == triples(read(front, graph=f"{BASE}graph/{name}"))


def test_an_address_with_escapes_is_that_of_its_graph(front: Server) -> None:
    """The name of a graph has its escapes in the store as in its address."""
    assert len(triples(read(front, graph=ODD))) == 1
    assert len(triples(requests.get(f"{front.url}/graph/h%C3%A9&b", timeout=240))) == 1


def test_the_default_graph_is_that_of_queries(folder: Path, tmp_path: Path) -> None:
    """The union of all graphs, or nothing of them, as the setting says."""
    published = PublishedStore(tmp_path)
    published.add([*items(5, "a"), *items(5, "b", 5)])
    for union, count in ((True, 30), (False, 0)):
        server = serve(folder, published.root, QueryLimits(workers=1, union_default_graph=union))
        try:
            answer = requests.get(f"{server.url}/graphs?default&format=nt", timeout=240)
        finally:
            server.stop()
        assert len(triples(answer, RdfFormat.N_TRIPLES)) == count


def test_an_unknown_graph_is_not_found_with_a_message(front: Server) -> None:
    """An unknown graph is not answered as an empty one."""
    for path in ("/graphs?graph=http://x.example/none", "/graph/none"):
        answer = read(front, path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")
        assert "There is no graph <http" in answer.text
        assert requests.head(f"{front.url}{path}", timeout=240).status_code == 404


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("", 400, "/graphs?graph=IRI"),
        ("?graph=a:b&default", 400, "/graphs?graph=IRI"),
        ("?graph=a:b&graph=a:c", 400, "/graphs?graph=IRI"),
        ("?graph=relative", 400, "not an absolute IRI"),
        ("?graph=%ff", 400, "UTF-8"),
        ("?graph=a:b%3E%20%7B%7D", 400, "not an absolute IRI"),
        (f"?graph={A}&format=csv", 406, "ttl, nt, rdf"),
        (f"?graph={A}&format=excel", 400, "nt"),
    ],
)
def test_a_request_that_names_no_graph_is_refused(front: Server, query: str, status: int, message: str) -> None:
    """The refusal says why."""
    answer = read(front, f"/graphs{query}")
    assert answer.status_code == status
    assert message in answer.text


@pytest.mark.parametrize("path", ["/graphs?default", f"/graphs?graph={A}", "/graph/a"])
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_writing_is_refused(front: Server, method: str, path: str) -> None:
    """Graphs change by harvesting and by changes that are POSTed. Source: RFC 9110, section 15.5.6, on Allow."""
    answer = requests.request(method, f"{front.url}{path}", data=b"<a:b> <a:c> <a:d> .", timeout=240)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, POST, OPTIONS")
    assert "POST of an N-Quads" in answer.text


def test_scripts_of_other_sites_may_read(front: Server) -> None:
    """Browsers ask first. Source: the Fetch standard, "CORS protocol"."""
    answer = requests.options(f"{front.url}/graph/a", headers={"Origin": "http://a.example"}, timeout=240)
    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert read(front, "/graph/b").headers["Access-Control-Allow-Origin"] == "*"


def test_who_has_the_graph_is_not_sent_it_again(front: Server) -> None:
    """The ETag of a graph holds at both of its addresses, in the same format."""
    first = read(front, "/graph/a")
    again = requests.get(f"{front.url}/graph/a", headers={"If-None-Match": first.headers["ETag"]}, timeout=240)
    assert (again.status_code, again.content) == (304, b"")
    assert read(front, graph=A).headers["ETag"] == first.headers["ETag"]
    assert read(front, graph=A, format="nt").headers["ETag"] != first.headers["ETag"]


def test_head_of_a_long_graph_costs_no_worker(folder: Path, tmp_path: Path) -> None:
    """It has the headers of GET, and the worker goes on."""
    published = PublishedStore(tmp_path)
    published.add(items(2000))
    server = serve(folder, published.root, QueryLimits(workers=1, spare=0, extra=0, cache_bytes=1 << 30))
    try:
        before = the_worker(server)
        for query in (f"/graphs?graph={A}&format=trig", "/graphs?default&format=trig", f"/sparql?query={LONG}"):
            for _ in range(2):
                answer = requests.head(f"{server.url}{query}", timeout=240)
                assert (answer.status_code, answer.content, answer.headers["X-Cache"]) == (200, b"", "miss")
                assert "Content-Length" not in answer.headers
                assert answer.headers["ETag"]
        assert workers(server) == {before}
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("base_url", "graph_base", "prefix"),
    [
        ("http://h", "http://h/graph/", "/graph/"),
        ("http://h", "http://h/a/b/", "/a/b/"),
        ("http://h", "http://elsewhere/graph/", None),
        ("http://h", "http://h.example/graph/", None),
        ("http://h", "http://h/graph#", None),
        ("http://h", "http://h/", None),
        ("http://h", "http://h/providers/", None),
        ("http://h/base", "http://h/base/graph/", None),
    ],
)
def test_graphs_have_addresses_where_no_page_has(base_url: str, graph_base: str, prefix: str | None) -> None:
    """Elsewhere they are read by name alone."""
    assert _prefix(Site(base_url, graph_base=graph_base), {"", "providers"}) == prefix
