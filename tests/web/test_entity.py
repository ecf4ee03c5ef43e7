"""Pages about IRIs, their data, and the way there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pyoxigraph
import pytest
import requests
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple

from sparql.rdf import FOAF, RDF, RDFS, XSD
from sparql.web.terms import Label, best, shorten
from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, PublishedStore
from tests.web.instance import Server, serve
from tests.web.records import ENDED, file_records, provider, version
from tests.web.test_pages import HTML, Page

A, B = f"{BASE}graph/a", f"{BASE}graph/seed-b"
GENID = f"{A}/.well-known/genid/"
THING, HUB, USED = f"{BASE}thing", f"{BASE}hub", f"{BASE}predicate"
PART, MANY, ODD = f"{BASE}part", f"{BASE}many", f"{BASE}odd?a=1&b=<2>".replace("<2>", "é")
LABEL = f"{RDFS}label"
NODES = [f"{GENID}{digit * 32}" for digit in "0123456"]
FORMATS = [("ttl", RdfFormat.TURTLE), ("jsonld", RdfFormat.JSON_LD), ("nt", RdfFormat.N_TRIPLES)]


def said(subject: str, predicate: str, object_: str | Literal, graph: str = A) -> Quad:
    node = NamedNode(object_) if isinstance(object_, str) else object_
    return Quad(NamedNode(subject), NamedNode(predicate), node, NamedNode(graph))


def statements() -> Iterator[Quad]:
    """Yield a thing in two graphs, a chain and a ring of blank nodes, and what has many links."""
    yield said(THING, f"{RDF}type", USED, B)
    yield said(THING, LABEL, Literal("Ding <b>", language="de"))
    yield said(THING, LABEL, Literal("Thing", language="en"))
    yield said(THING, USED, Literal("7", datatype=NamedNode(f"{XSD}integer")))
    yield said(THING, USED, Literal("long " * 300))
    yield said(THING, USED, ODD)
    yield said(THING, USED, "javascript:alert(1)")
    yield said(USED, LABEL, Literal("Prädikat", language="de"))
    yield said(USED, LABEL, Literal("prédicat", language="fr"))
    yield said(ODD, LABEL, Literal("odd one"))
    for node, inner in zip((THING, *NODES), NODES, strict=False):
        yield said(node, PART, inner)
        yield said(inner, PART, Literal(f"inside {inner[-1]}"))
    yield said(NODES[1], PART, NODES[0])
    for number in range(120):
        yield said(f"{BASE}item/{number}", PART, HUB)
    for number in range(1200):
        yield said(MANY, PART, Literal(number))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog whose provider is the one of the graph."""
    place = tmp_path_factory.mktemp("entities")
    versions = [version(n, at=ENDED) for n in (1, 2)]
    records = {"providers": [provider("a", graph=A)], "versions": {"a": versions}, "runs": {}}
    file_records(place, records)
    return place


@pytest.fixture(scope="module")
def front(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose address is that of its graphs."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(statements())
    limits = QueryLimits(workers=1, cache_bytes=1 << 30)
    server = serve(place, published.root, limits, base_url=BASE.rstrip("/"))
    yield server
    server.stop()


def page(front: Server, iri: str, language: str = "", **parameters: str) -> requests.Response:
    headers = HTML | ({"Accept-Language": language} if language else {})
    return requests.get(f"{front.url}/entity", params={"iri": iri, **parameters}, headers=headers, timeout=240)


def test_a_page_shows_statements_by_graph_and_who_brought_them(front: Server) -> None:
    """A statement is worth as much as its source."""
    text = page(front, THING).text
    assert 'href="/providers/a/versions/2"' in text
    assert "2026-03-01 10:00 UTC" in text
    assert text.index(f"graph {B}".split()[1]) > text.index("Ding &lt;b&gt;")
    assert "xsd:integer" in text
    assert '<span class="break text" lang="de">Ding &lt;b&gt;</span>' in text
    assert text.count("long ") == 200
    assert "1\N{NARROW NO-BREAK SPACE}500 characters" in text


def test_a_page_is_safe_and_leads_on(front: Server) -> None:
    """An IRI of a provider may be a script; every IRI has a page of its own, which is there."""
    answer = page(front, THING)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert {"Accept", "Accept-Language"} <= set(answer.headers["Vary"].replace(" ", "").split(","))
    found = Page(answer.text)
    assert found.inline == []
    assert found.headings.count("h1") == 1
    assert not any(address.startswith("javascript") for address in found.addresses)
    inside = {address for address in found.addresses if address.startswith("/entity?")}
    assert f"/entity?iri={quote(ODD, ':/')}" in inside
    for address in inside:
        assert requests.get(f"{front.url}{address}", headers=HTML, timeout=240).status_code == 200, address


def test_labels_are_in_the_language_of_the_reader(front: Server) -> None:
    """The tags asked for, in their order, else without a language, else English, else the IRI."""
    assert '<h1 class="break" lang="de">Ding &lt;b&gt;</h1>' in page(front, THING, "de-AT, en;q=0.5").text
    english = page(front, THING, "nl").text
    assert '<h1 class="break" lang="en">Thing</h1>' in english
    assert ">odd one</a>" in english
    assert "Prädikat" not in english
    assert ">Prädikat</a>" in page(front, THING, "de").text
    assert ">prédicat</a>" in page(front, THING, "fr").text
    assert "rdf:type" in english
    for strange in ("*", "x' || true || '", "de-", ", ;q=x", "a" * 300):
        assert page(front, THING, strange).status_code == 200


def test_blank_nodes_are_shown_where_they_stand(front: Server) -> None:
    """Blank nodes mean nothing by themselves; beyond a depth, and in a ring, there is a link."""
    text = page(front, THING).text
    assert [f"inside {depth}" in text for depth in range(4)] == [True, True, True, False]
    assert f'href="/entity?iri={NODES[3]}"' in text
    assert "inside 3" in page(front, NODES[1]).text


def test_incoming_links_come_in_pages(front: Server) -> None:
    """Each incoming link comes once, and the links are not counted."""
    seen: list[str] = []
    for number in ("1", "2", "3"):
        text = page(front, HUB, links=number).text
        seen += [a for a in Page(text).addresses if a.startswith(f"/entity?iri={BASE}item/")]
        assert ("Next links" in text, "Previous links" in text) == (number != "3", number != "1")
    assert len(seen) == len(set(seen)) == 120
    assert "No statement has it as subject" in text


def test_many_statements_come_in_pages(front: Server) -> None:
    """A page of millions of statements helps nobody."""
    first, second = page(front, MANY).text, page(front, MANY, page="2").text
    counts = [text.count('<span class="break text">') for text in (first, second)]
    assert counts == [1000, 200]
    assert ("Next statements" in first, "Next statements" in second) == (True, False)


def test_an_iri_may_be_predicate_or_graph_alone(front: Server) -> None:
    """All that stands in the store can be looked at."""
    assert "Used as a predicate" in page(front, PART).text
    graph = page(front, B)
    assert (graph.status_code, "the name of a graph" in graph.text) == (200, True)


def test_what_is_not_there_is_answered_with_a_message(front: Server) -> None:
    """Unknown and invalid IRIs are two things; without an IRI there is a form."""
    unknown = page(front, f"{BASE}none")
    assert (unknown.status_code, "No statement here has" in unknown.text) == (404, True)
    assert requests.get(f"{front.url}/entity", params={"iri": f"{BASE}none"}, timeout=240).status_code == 404
    for text in ("thing", "", "http://a b", "http://x.example/>", f"http://x.example/{'a' * 9000}"):
        for headers in (HTML, {}):
            answer = requests.get(f"{front.url}/entity", params={"iri": text}, headers=headers, timeout=240)
            assert (answer.status_code, "absolute IRI" in answer.text) == (400, True)
    assert page(front, THING, page="0").status_code == 400
    assert "There is no format" in page(front, THING, format="bogus").text
    form = requests.get(f"{front.url}/entity", headers=HTML, timeout=240)
    assert (form.status_code, Page(form.text).fields) == (200, {"iri"})


@pytest.mark.parametrize(("name", "form"), FORMATS)
def test_data_come_by_accept_and_by_format(front: Server, name: str, form: RdfFormat) -> None:
    """All statements of the IRI and those of its blank nodes, whole; equal requests have equal tags."""
    media_type = form.media_type
    url, iri = f"{front.url}/entity", {"iri": THING}
    by_name = requests.get(url, params={**iri, "format": name}, headers=HTML, timeout=240)
    by_type = requests.get(url, params=iri, headers={"Accept": media_type}, timeout=240)
    nodes = {THING, *NODES[:3]}
    expected = {quad.triple for quad in statements() if quad.subject.value in nodes}
    for answer in (by_name, by_type):
        assert answer.headers["Content-Type"].startswith(media_type)
        got = {quad.triple for quad in pyoxigraph.parse(answer.content, form)}
        assert got == {Triple(t.subject, t.predicate, t.object) for t in expected}
    again = requests.get(
        url, params=iri, headers={"Accept": media_type, "If-None-Match": by_type.headers["ETag"]}, timeout=240
    )
    assert again.status_code == 304
    assert requests.head(url, params={**iri, "format": name}, timeout=240).content == b""


def test_a_thing_below_a_graph_leads_to_its_page(front: Server) -> None:
    """A name that can be opened is worth more; the graph itself is read as before."""
    url = NODES[0].replace(BASE.rstrip("/"), front.url)
    answer = requests.get(url, timeout=240, allow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/entity?iri={quote(NODES[0], '')}"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    followed = requests.get(url, headers={"Accept": "application/n-triples"}, timeout=240)
    assert f'<{NODES[0]}> <{PART}> "inside 0" .' in followed.text
    assert "inside 0" in requests.get(url, headers=HTML, timeout=240).text
    assert requests.post(url, timeout=240).status_code == 405
    assert requests.options(url, timeout=240).headers["Allow"] == "GET, HEAD, OPTIONS"
    assert requests.get(f"{front.url}/graph/a", timeout=240).headers["Content-Type"].startswith("text/turtle")
    assert requests.get(f"{url[:-1]}x", timeout=240).status_code == 404


def test_a_store_that_cannot_answer_is_reported(place: Path, tmp_path: Path) -> None:
    """The page has the reason and a status that says to try again; pages that need no query are there."""
    server = serve(place, tmp_path, QueryLimits(workers=1, wait_s=0.2), healthy=False)
    try:
        answer = page(server, THING)
        assert answer.status_code in (429, 503)
        assert answer.headers["Retry-After"] == "5"
        assert "<h1" in answer.text
        assert requests.get(f"{server.url}/entity", headers=HTML, timeout=240).status_code == 200
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("iri", "short"),
    [
        (f"{RDF}type", "rdf:type"),
        ("http://schema.org/name", "schema:name"),
        ("https://schema.org/name", "schemas:name"),
        ("http://schema.org/a/b", "http://schema.org/a/b"),
        ("http://schema.org/", "http://schema.org/"),
        ("urn:x:y", "urn:x:y"),
        (f"{GENID}0123456789abcdef", "blank node 01234567"),
    ],
)
def test_an_iri_is_shortened_where_readers_know_the_prefix(iri: str, short: str) -> None:
    """And stays as it is elsewhere: half an IRI is none."""
    assert shorten(iri) == short


def test_the_best_label_is_the_one_that_its_reader_reads() -> None:
    """Language comes first, then the predicate, then the alphabet, so that every page has the same."""
    found = [
        (A, "i", 1, Label("b", "en")),
        (A, "i", 0, Label("c", "en")),
        (B, "i", 0, Label("d")),
        (A, "i", 3, Label("e", "de-AT")),
    ]
    assert best(found, ["de"]).of("i").text == "e"
    assert best(found, ["de-AT", "en"]).of("i").text == "e"
    assert best(found, []).of("i").text == "d"
    assert best(found[:2], []).of("i").text == "c"
    assert best([(A, "i", 0, Label("")), *found[:1]], []).of("i").text == "b"


def test_a_graph_names_things_for_its_own_statements_and_renames_no_shared_term() -> None:
    """A label that one provider gives to rdf:type, or to somebody else's predicate, is none on another's page."""
    shared, term = f"{FOAF}name", f"{BASE}term"
    found = best([(A, iri, 0, Label("A's")) for iri in (shared, term, "i")] + [(B, "i", 0, Label("B's"))], [])
    assert {found.within(graph).of(shared).text for graph in (A, B, "")} == {"foaf:name"}
    assert found.within(A).of(term, is_term=True).text == "A's"
    assert found.within(B).of(term, is_term=True).text == term
    assert (found.within(A).of("i").text, found.within(B).of("i").text) == ("A's", "B's")
    assert found.within(B).of(term).text == "A's"
