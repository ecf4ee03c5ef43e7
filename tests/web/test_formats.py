"""Every format of every kind of result, however it is asked for."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

import pyoxigraph
import pytest
import requests
from pyoxigraph import RdfFormat

from tests.query.stores import BASE
from tests.web.instance import Server

SELECT = f"SELECT ?v {{ <{BASE}item/1> <{BASE}value> ?v }}"
ASK = f"ASK {{ <{BASE}item/1> <{BASE}value> ?v }}"
CONSTRUCT = f"CONSTRUCT {{ <{BASE}item/1> <{BASE}v> ?v }} WHERE {{ <{BASE}item/1> <{BASE}value> ?v }}"
DESCRIBE = f"DESCRIBE <{BASE}item/1>"

SOLUTIONS = [
    ("application/sparql-results+json", "json"),
    ("application/sparql-results+xml", "xml"),
    ("text/csv; charset=utf-8", "csv"),
    ("text/tab-separated-values; charset=utf-8", "tsv"),
]
GRAPHS = [
    ("text/turtle; charset=utf-8", "ttl", RdfFormat.TURTLE),
    ("application/n-triples", "nt", RdfFormat.N_TRIPLES),
    ("application/rdf+xml", "rdf", RdfFormat.RDF_XML),
    ("application/ld+json", "jsonld", RdfFormat.JSON_LD),
    ("application/n-quads", "nq", RdfFormat.N_QUADS),
    ("application/trig", "trig", RdfFormat.TRIG),
    ("text/n3; charset=utf-8", "n3", RdfFormat.N3),
]
ODD = [
    (SELECT, "", 200, "application/sparql-results+json"),
    (SELECT, "*/*;q=0", 406, "text/plain"),
    (SELECT, "*/*;q=0, text/csv", 200, "text/csv"),
    (SELECT, "text/csv;q=0, */*", 200, "application/sparql-results+json"),
    (SELECT, "text/csv;q=0", 406, "text/plain"),
    (SELECT, "text/html, */*", 200, "application/sparql-results+json"),
    (SELECT, "text/html;q=0.9, */*;q=0.1", 200, "text/html"),
    (SELECT, "text/csv;q=none, text/tab-separated-values;q=0.9", 200, "text/csv"),
    (SELECT, "text/csv;q=7, text/tab-separated-values;q=-1", 200, "text/csv"),
    (SELECT, "text/csv;q=nan, text/tab-separated-values;q=inf", 200, "text/tab-separated-values"),
    (SELECT, "text/csv;;q=0.1;, text/tab-separated-values; q = 0.5", 200, "text/tab-separated-values"),
    (SELECT, "text/csv;q=0.1, text/csv;q=0.9, text/tab-separated-values;q=0.5", 200, "text/csv"),
    (SELECT, 'text/csv;header="a,b;q=0\\"";q=0.2, text/tab-separated-values;q=0.1', 200, "text/csv"),
    (SELECT, 'text/csv;header="never closed, text/tab-separated-values', 200, "text/csv"),
    (SELECT, "TEXT/CSV", 200, "text/csv"),
    (SELECT, "*", 200, "application/sparql-results+json"),
    (SELECT, "text/*", 200, "text/csv"),
    (SELECT, ",;,/,;;q=,", 200, "application/sparql-results+json"),
    (SELECT, "json", 200, "application/sparql-results+json"),
    (SELECT, "image/png, application/x-unheard-of+thing", 406, "text/plain"),
    (SELECT, "application/json", 200, "application/sparql-results+json"),
    (SELECT, "application/xml", 200, "application/sparql-results+xml"),
    (SELECT, "text/turtle", 406, "text/plain"),
    (SELECT, "text/csv;q=0.001," + "a/b," * 5000, 200, "text/csv"),
    (SELECT, '"' + '\\"' * 5000, 200, "application/sparql-results+json"),
    (SELECT, "text/\xe9\xff", 406, "text/plain"),
    (CONSTRUCT, "application/sparql-results+json", 406, "application/json"),
    (CONSTRUCT, "application/sparql-results+json, */*;q=0.1", 200, "text/turtle"),
    (CONSTRUCT, "application/json", 200, "application/ld+json"),
    (CONSTRUCT, "text/plain", 200, "application/n-triples"),
    (CONSTRUCT, 'application/ld+json;profile="http://www.w3.org/ns/json-ld#flattened"', 200, "application/ld+json"),
    (CONSTRUCT, "application/rdf+xml;q=0.9, text/turtle;q=0.8", 200, "application/rdf+xml"),
]


def get(front: Server, query: str, accept: str | None = None, **parameters: str) -> requests.Response:
    headers = {} if accept is None else {"Accept": accept}
    return requests.get(f"{front.url}/sparql", params={"query": query, **parameters}, headers=headers, timeout=240)


def table(text: str, name: str) -> str:
    """The only value of a result in one of the formats, or what an ASK says."""
    if name == "json":
        result = json.loads(text)
        return (
            str(result["boolean"]).lower()
            if "boolean" in result
            else str(result["results"]["bindings"][0]["v"]["value"])
        )
    if name == "xml":
        (value,) = (
            e.text for e in ElementTree.fromstring(text).iter() if e.tag.split("}")[1] in ("boolean", "literal")
        )
        return value or ""
    return list(csv.reader(io.StringIO(text), delimiter="," if name == "csv" else "\t"))[-1][0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("content_type", "name"), SOLUTIONS)
@pytest.mark.parametrize(("query", "value"), [(SELECT, "1"), (ASK, "true")])
def test_a_table_comes_in_every_format(front: Server, query: str, value: str, content_type: str, name: str) -> None:
    """By its media type and by its short name, which wins; the two are the same to the byte."""
    named = get(front, query, "text/html", format=name)
    accepted = get(front, query, content_type.split(";")[0])
    assert [a.headers["Content-Type"] for a in (named, accepted)] == [content_type] * 2
    assert named.content == accepted.content
    assert table(named.text, name) == value


@pytest.mark.parametrize("form", GRAPHS)
@pytest.mark.parametrize(("query", "triples"), [(CONSTRUCT, 1), (DESCRIBE, 3)])
def test_a_graph_comes_in_every_format(
    front: Server, query: str, triples: int, form: tuple[str, str, RdfFormat]
) -> None:
    """By its media type and by its short name; a parser reads the same triples."""
    content_type, name, parser = form
    for answer in (get(front, query, "text/csv", format=name), get(front, query, content_type.split(";")[0])):
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, content_type)
        assert len({quad.triple for quad in pyoxigraph.parse(answer.content, parser)}) == triples


@pytest.mark.parametrize(("query", "accept", "status", "media_type"), ODD)
def test_an_odd_accept_header_survives(front: Server, query: str, accept: str, status: int, media_type: str) -> None:
    """What cannot be read is passed over; refusing all is refused."""
    answer = get(front, query, accept)
    assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (status, media_type)
    assert "Accept" in answer.headers["Vary"]


def test_a_format_that_nobody_knows_is_refused_with_the_list(front: Server) -> None:
    """People guess names."""
    answer = get(front, SELECT, format="excel")
    assert answer.status_code == 400
    assert "json, xml, csv, tsv, ttl, nt, rdf" in answer.text


@pytest.mark.parametrize("query", [SELECT, CONSTRUCT, "SELECT * { ?s ?p ?o }"])
def test_head_has_the_headers_of_get(front: Server, query: str) -> None:
    """HEAD gets the headers of GET and no body. Source: RFC 9110, section 9.3.2."""
    got = get(front, query)
    head = requests.head(f"{front.url}/sparql", params={"query": query}, timeout=240)
    headers = ("Content-Type", "ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin")
    assert {name: head.headers.get(name) for name in headers} == {name: got.headers.get(name) for name in headers}
    assert (head.status_code, head.content) == (200, b"")
    if "Content-Length" in got.headers:
        assert head.headers["Content-Length"] == got.headers["Content-Length"]


def test_a_proxy_may_keep_what_is_the_same_for_all(front: Server) -> None:
    """For a while, then it has to ask; what is another one each time it may not keep."""
    assert get(front, SELECT).headers["Cache-Control"] == "public, max-age=10, must-revalidate"
    assert get(front, "SELECT (BNODE() AS ?v) {}").headers["Cache-Control"] == "no-store"
    kept = get(front, 'SELECT ("now() RAND()" AS ?uuid) { BIND("bnode()" AS ?now) }')
    assert kept.headers["ETag"]


@pytest.mark.parametrize("call", ["R\\u0041ND()", "\\u004eOW()", "<http://a/#>(1), RAND()"])
def test_a_call_in_disguise_is_not_kept(front: Server, call: str) -> None:
    """Escapes spell keywords too. Source: SPARQL 1.1 Query Language, section 19.2."""
    answer = get(front, f"SELECT ({call} AS ?v) {{}}")
    assert answer.status_code == 400 or "ETag" not in answer.headers
