"""sparql-http-client, in its three flavours."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.conftest import STRICT_ROWS
from tests.clients.instance import KINDS, MAGNITUDES, ROWS, everything
from tests.clients.programs import Node
from tests.clients.questions import QUERIES, by_predicate, kinds
from tests.web.instance import Server

TRIPLES = len({quad.triple for quad in everything("http://x.example")})


@pytest.fixture(scope="module")
def results(served: Server, strict: Server, node: Node) -> Any:
    """What one process of sparql-http-client found."""
    return node.printed("http_client.mjs", served.url, strict.url, QUERIES)


@pytest.mark.parametrize("way", ["get", "postUrlencoded", "postDirect"])
def test_every_way_to_ask_gives_the_same(results: Any, way: str) -> None:
    """Solutions with every kind of term, quads and a boolean."""
    found = results["ways"][way]
    assert by_predicate(found["select"]) == kinds()
    assert found["construct"] == len(MAGNITUDES)
    assert found["ask"] == [True, False]


def test_a_long_result_is_complete(results: Any) -> None:
    """sparql-http-client reads a long result as a stream, to its end."""
    assert results["long"] == ROWS


def test_results_are_parsed_or_left_as_they_are(results: Any) -> None:
    """The parsing client parses a result, the simple one gives its text."""
    assert results["parsed"] == [len(KINDS), len(KINDS)]
    assert results["csv"] == f"n\r\n{TRIPLES}\r\n"


def test_graphs_are_read_from_the_graph_store(results: Any) -> None:
    """By name, and the default graph, which is the union of all."""
    assert results["graph"] == len(KINDS)
    assert results["everything"] == TRIPLES


@pytest.mark.parametrize(
    ("case", "status", "message"),
    [
        ("unknown", 404, "There is no graph <http"),
        ("write", 405, "graphs are read here, and changed by POST"),
        ("syntax", 400, "does not parse near line 1, column 12"),
        ("update", 403, "updates are refused"),
        ("slow", 503, "longer than 0.3 s"),
    ],
)
def test_an_error_has_our_status_and_message(results: Any, case: str, status: int, message: str) -> None:
    """Its user reads what is wrong without looking at the connection."""
    assert results[case]["status"] == status
    assert message in results[case]["error"]


def test_a_truncated_result_never_ends(results: Any) -> None:
    """It does not see that a connection breaks off, and waits; but it never says that some rows were all."""
    assert results["truncated"] == {"value": "waits"}


def test_a_truncated_graph_ends_the_process(results: Any) -> None:
    """Its parser's error is handled nowhere, also not by who reads the stream."""
    assert results["truncatedGraph"] == {"uncaught": "ERR_STREAM_PREMATURE_CLOSE"}


@pytest.mark.parametrize("way", ["truncatedLines", "truncatedStore"])
def test_truncated_triples_end_with_their_mark(results: Any, way: str) -> None:
    """By the graph store it asks for N-Triples, whose mark is a comment that it does not see."""
    assert results[way] == {"value": STRICT_ROWS}


@pytest.mark.parametrize("kind", ["select", "construct"])
def test_a_truncated_text_is_an_error(results: Any, kind: str) -> None:
    """The client that parses nothing is the one whose user sees the break."""
    assert "Premature close" in results["truncatedText"][kind]["error"]
