"""Results that meet a limit after the first bytes: marked, or broken off."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
import requests
from pyoxigraph import RdfFormat

from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.web.instance import Server, serve

ROWS = 20_000
BYTES = 3_000_000
PAIRS = "{ ?a <http://example.org/label> ?x . ?b <http://example.org/label> ?y }"
SELECT = f"SELECT * {PAIRS}"
WIDE = f"SELECT ?x ?y (CONCAT(?x, ?x, ?x, ?x, ?x, ?x, ?x, ?x, ?x, ?x, ?x, ?x) AS ?z) {PAIRS}"
CONSTRUCT = f"CONSTRUCT {{ ?a ?x ?b . ?a <http://example.org/with> ?y , ?b }} {PAIRS}"
SMALL = "SELECT ?a { ?a ?p ?o . ?b ?q ?r } LIMIT 20001"
FAST = "{ ?a ?b ?c . VALUES ?x { 1 2 3 4 5 } }"
SLOW = f"SELECT * {{ {FAST} UNION {{ ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER(?f < ?h) }} }}"
LINES = {"nt": RdfFormat.N_TRIPLES, "nq": RdfFormat.N_QUADS}
STATEMENTS = ["ttl", "trig", "n3", "rdf", "jsonld"]
"""Formats whose readers do not see comments, or that have none."""


@pytest.fixture(scope="module")
def front(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with tight limits, and a cache that must not hold what it cuts."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(1000))
    limits = QueryLimits(workers=1, timeout_s=2, wait_s=120, max_rows=ROWS, max_bytes=BYTES, cache_bytes=1 << 30)
    server = serve(folder, published.root, limits)
    yield server
    server.stop()


def get(front: Server, query: str, form: str) -> requests.Response:
    return requests.get(f"{front.url}/sparql", params={"query": query, "format": form}, timeout=240)


def cut(text: str) -> str:
    """What stands before the comment that ends a text, which is checked."""
    body, newline, comment = text.removesuffix("\n").rpartition("\n")
    assert comment.startswith("# truncated: The result has more than "), comment
    return body + newline


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_table_ends_after_the_last_row_that_fits(front: Server, form: str, delimiter: str) -> None:
    """Whole rows, also where a value has line breaks, then the comment."""
    for _ in range(2):
        answer = get(front, SELECT, form)
        body = cut(answer.text)
        rows = list(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter))
        assert len(rows) == ROWS + 1
        assert {len(row) for row in rows} == {4}
        assert answer.headers["X-Cache"] == "miss"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_table_ends_before_it_has_too_many_bytes(front: Server, form: str, delimiter: str) -> None:
    """Also between rows."""
    body = cut(get(front, WIDE, form).text)
    assert BYTES - 2000 < len(body.encode()) <= BYTES
    assert {len(row) for row in csv.reader(io.StringIO(body, newline=""), delimiter=delimiter)} == {3}


@pytest.mark.parametrize("form", LINES)
def test_a_graph_that_ends_in_a_comment_can_be_parsed(front: Server, form: str) -> None:
    """The comment is one of the format, and the triples before it are as many as fit."""
    query = CONSTRUCT.replace("?a ?x ?b . ", "")
    text = get(front, query, form).text
    comment = text.rstrip("\n").rsplit("\n", 1)[1]
    assert comment == f"# truncated: The result has more than {ROWS:,} rows or triples, the limit here; " + (
        "narrow the query, or page with LIMIT."
    )
    kind = LINES[form]
    assert sum(1 for _ in pyoxigraph.parse(text.encode(), kind)) == ROWS


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", LINES)
def test_a_graph_that_is_read_is_cut_by_bytes_alone(folder: Path, tmp_path: Path, form: str) -> None:
    """However many triples it has."""
    published = PublishedStore(tmp_path)
    published.add(items(4000))
    server = serve(folder, published.root, QueryLimits(workers=1, max_rows=10, max_bytes=200_000))
    try:
        url = f"{server.url}/graphs"
        text = requests.get(url, params={"graph": "http://example.org/graph/a", "format": form}, timeout=240).text
    finally:
        server.stop()
    kind = LINES[form]
    assert 1000 < sum(1 for _ in pyoxigraph.parse(cut(text).encode(), kind)) < 12_000
    assert len(text) < 220_000


@pytest.mark.parametrize(("query", "form"), [(SELECT, "json"), (SELECT, "xml"), (WIDE, "json")])
def test_a_format_without_comments_is_broken_off(front: Server, query: str, form: str) -> None:
    """Every client sees an error."""
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        get(front, query, form)


@pytest.mark.parametrize("form", STATEMENTS)
def test_a_graph_whose_readers_see_no_comment_is_broken_off(front: Server, form: str) -> None:
    """A short answer must not look complete to a program, and programs skip comments."""
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        get(front, CONSTRUCT.replace("?a ?x ?b . ", ""), form)


@pytest.mark.sampled(1)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", STATEMENTS)
def test_a_graph_that_is_read_is_broken_off_too(folder: Path, tmp_path: Path, form: str) -> None:
    """It is the same writer, but not the same way to it."""
    published = PublishedStore(tmp_path)
    published.add(items(4000))
    server = serve(folder, published.root, QueryLimits(workers=1, max_rows=10, max_bytes=200_000))
    try:
        parameters = {"graph": "http://example.org/graph/a", "format": form}
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            requests.get(f"{server.url}/graphs", params=parameters, timeout=240)
    finally:
        server.stop()


def test_a_result_that_takes_too_long_says_so_and_is_broken_off(front: Server) -> None:
    """It has whole rows and the reason for people, and the error for programs, that they may ask again."""
    answer = requests.get(f"{front.url}/sparql", params={"query": SLOW, "format": "csv"}, stream=True, timeout=240)
    received = b""
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        for piece in answer.iter_content(1 << 16):
            received += piece
    body, _, comment = received.decode().rstrip("\n").rpartition("\n")
    # 2 s of processor time; where others take all of it, the limit of wall time comes first
    assert comment.startswith("# truncated: The query took longer than ") and comment.endswith(" and was ended.")
    assert {len(row) for row in csv.reader(io.StringIO(f"{body}\n", newline=""))} == {13}


@pytest.mark.parametrize("form", ["csv", "json", "tsv"])
def test_what_is_too_long_before_the_first_byte_has_a_status(folder: Path, tmp_path: Path, form: str) -> None:
    """Nothing is sent of it."""
    published = PublishedStore(tmp_path)
    published.add(items(100))
    server = serve(folder, published.root, QueryLimits(workers=1, max_rows=100))
    try:
        assert get(server, "SELECT ?s { ?s ?p ?o }", form).status_code == 413
        assert get(server, "SELECT ?s { ?s ?p ?o } LIMIT 100", form).status_code == 200
    finally:
        server.stop()
