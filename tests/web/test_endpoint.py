"""`/sparql` over HTTP."""

from __future__ import annotations

import json

import pyoxigraph
import pytest
import requests
from pyoxigraph import RdfFormat

from tests.query.stores import BASE
from tests.web.instance import Server

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
JSON = "application/sparql-results+json"
QUERY = {"Content-Type": "application/sparql-query"}
CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


def ask(front: Server, query: str, accept: str = "*/*", **parameters: str) -> requests.Response:
    return requests.get(
        f"{front.url}/sparql", params={"query": query, **parameters}, headers={"Accept": accept}, timeout=240
    )


def test_all_three_ways_to_send_a_query_give_the_same(front: Server) -> None:
    """Source: SPARQL 1.1 Protocol, section 2.1."""
    url = f"{front.url}/sparql"
    answers = [
        ask(front, COUNT),
        requests.post(url, data={"query": COUNT}, timeout=240),
        requests.post(url, data=COUNT.encode(), headers=QUERY, timeout=240),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert [answer.json()["results"]["bindings"][0]["n"]["value"] for answer in answers] == ["6000"] * 3
    assert {answer.headers["Content-Type"] for answer in answers} == {JSON}


@pytest.mark.parametrize(
    ("query", "accept", "content_type"),
    [
        ("ASK {}", JSON, JSON),
        ("ASK {}", "application/sparql-results+xml", "application/sparql-results+xml"),
        (COUNT, "text/csv", "text/csv; charset=utf-8"),
        (COUNT, "text/tab-separated-values", "text/tab-separated-values; charset=utf-8"),
        (f"DESCRIBE <{BASE}item/1>", "*/*", "text/turtle; charset=utf-8"),
        (f"DESCRIBE <{BASE}item/1>", "application/n-triples", "application/n-triples"),
        (f"DESCRIBE <{BASE}item/1>", "application/rdf+xml", "application/rdf+xml"),
        (f"DESCRIBE <{BASE}item/1>", f"{JSON}, application/ld+json;q=0.5", "application/ld+json"),
    ],
)
def test_the_result_comes_as_the_client_accepts_it(front: Server, query: str, accept: str, content_type: str) -> None:
    """The answer names its media type, and has Vary for caches."""
    answer = ask(front, query, accept)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, content_type)
    assert "Accept" in answer.headers["Vary"]
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("query", "accept", "status", "message"),
    [
        ("SELECT", "*/*", 400, "line 1, column 7"),
        ("SELECT * { SERVICE <http://127.0.0.1:1/> {} }", "*/*", 403, "SERVICE"),
        ("INSERT DATA { <a:b> <a:c> <a:d> }", "*/*", 400, "line 1"),
        (COUNT, "image/png", 406, "sparql-results+json"),
        (f"SELECT * {'{' * 10_000}{'}' * 10_000}", "*/*", 400, "nested more than 1,000 deep at line 1, column 1010"),
    ],
)
def test_a_refusal_says_why(front: Server, query: str, accept: str, status: int, message: str) -> None:
    """The reason comes as text, which every client can show."""
    answer = ask(front, query, accept)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "text/plain; charset=utf-8")
    assert message in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_long_row_of_operators_is_answered(front: Server) -> None:
    """Programs write such queries."""
    many = "{ ?s ?p 'a' } UNION " * 2_000
    for query in (f"ASK {{ FILTER({'!' * 10_000}1) }}", f"ASK {{ {many}{{ ?s ?p ?o }} }}"):
        answer = requests.post(f"{front.url}/sparql", data={"query": query}, headers={"Accept": JSON}, timeout=240)
        assert (answer.status_code, answer.json().get("boolean")) == (200, True), answer.text[:300]


def test_a_refusal_is_json_for_those_who_read_json(front: Server) -> None:
    """The JSON has the kind of the error, so that programs can tell errors apart."""
    error = ask(front, "SELECT", JSON).json()
    assert (error["error"], error["retriable"]) == ("RequestError", False)
    assert "line 1, column 7" in error["message"]


def test_updates_and_other_methods_are_refused(front: Server) -> None:
    """Each refusal has the status that says what was wrong."""
    url = f"{front.url}/sparql"
    update = requests.post(url, data="CLEAR ALL", headers={"Content-Type": "application/sparql-update"}, timeout=240)
    assert update.status_code == 403
    assert requests.post(url, data={"update": "CLEAR ALL"}, timeout=240).status_code == 403
    assert requests.post(url, data="x", headers={"Content-Type": "text/plain"}, timeout=240).status_code == 415
    put = requests.put(url, data="x", timeout=240)
    assert (put.status_code, put.headers["Allow"]) == (405, "GET, HEAD, POST, OPTIONS")


def test_a_body_that_is_too_large_is_refused(front: Server) -> None:
    """Before it fills the memory."""
    answer = requests.post(f"{front.url}/sparql", data=b"#" * (9 << 20), headers=QUERY, timeout=240)
    assert answer.status_code == 413


def test_the_time_limit_is_a_503_that_says_so(front: Server) -> None:
    """The client may try again with less."""
    answer = ask(front, "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", timeout="0.3")
    assert answer.status_code == 503
    assert "0.3 s" in answer.text
    assert int(answer.headers["Retry-After"]) > 0


def test_an_answer_that_the_client_has_is_not_sent_again(front: Server) -> None:
    """The ETag of an answer holds as long as the data are the same."""
    first = ask(front, COUNT)
    again = requests.get(
        f"{front.url}/sparql", params={"query": COUNT}, headers={"If-None-Match": first.headers["ETag"]}, timeout=240
    )
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert ask(front, COUNT, "text/csv").headers["ETag"] != first.headers["ETag"]
    assert ask(front, COUNT + " ").headers["ETag"] != first.headers["ETag"]


@pytest.mark.parametrize("call", ["NOW()", "RAND()", "uuid ()", "StrUUID#\n()"])
def test_an_answer_that_changes_by_itself_has_no_etag(front: Server, call: str) -> None:
    """Asking again gives another one."""
    answer = ask(front, f"SELECT ({call} AS ?x) {{}}")
    assert answer.status_code == 200
    assert "ETag" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"


def test_head_says_what_get_would(front: Server) -> None:
    """HEAD has the status and headers of GET, without the body."""
    url = f"{front.url}/sparql"
    head = requests.head(url, params={"query": COUNT}, headers={"Accept": "text/csv"}, timeout=240)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert requests.head(url, params={"query": "SELECT"}, timeout=240).status_code == 400


def test_scripts_of_other_sites_may_ask(front: Server) -> None:
    """The data are open; browsers ask first. Source: the Fetch standard, "CORS protocol"."""
    answer = requests.options(
        f"{front.url}/sparql",
        headers={"Origin": "http://a.example", "Access-Control-Request-Method": "POST"},
        timeout=240,
    )
    assert answer.status_code in (200, 204)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in answer.headers["Access-Control-Allow-Headers"]


def test_without_a_query_programs_get_the_description(front: Server) -> None:
    """Source: SPARQL 1.1 Service Description, section 2."""
    for accept, form in (("*/*", RdfFormat.TURTLE), ("application/rdf+xml", RdfFormat.RDF_XML)):
        answer = requests.get(f"{front.url}/sparql", headers={"Accept": accept}, timeout=240)
        assert answer.headers["Content-Type"].startswith(form.media_type)
        graph = {str(quad.object) for quad in pyoxigraph.parse(answer.content, form)}
        assert f"<{front.url}/sparql>" in graph
        assert f"<{BASE}graph/a>" in graph


def test_a_browser_gets_the_page_and_its_query_back(front: Server) -> None:
    """Also where the address has a query: people pass such links on."""
    page = ask(front, 'ASK { ?s ?p "<b>" }', CHROME)
    assert page.headers["Content-Type"].startswith("text/html")
    assert "ASK { ?s ?p &#34;&lt;b&gt;&#34; }" in page.text


def test_a_browser_that_names_a_format_gets_the_result(front: Server) -> None:
    """The form without its script sends one."""
    answer = ask(front, "ASK {}", CHROME, format="json")
    assert json.loads(answer.text)["boolean"] is True
