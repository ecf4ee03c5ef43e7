"""Comunica, which asks endpoints and files at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.conftest import STRICT_ROWS
from tests.clients.instance import DISTANCES, MAGNITUDES, ROWS
from tests.clients.programs import Node
from tests.clients.questions import QUERIES, by_predicate, kinds
from tests.query.stores import BASE
from tests.web.instance import Server

NAMES = sorted([(name.title(), distance) for name, distance in DISTANCES.items()] + [("Wega", DISTANCES["vega"])])


@pytest.fixture(scope="module")
def results(served: Server, strict: Server, node: Node) -> Any:
    """What one process of Comunica found."""
    return node.printed("comunica.mjs", served.url, strict.url, QUERIES)


def test_every_kind_of_term_arrives_as_it_is(results: Any) -> None:
    """Comunica reads them from a source of the type `sparql`."""
    assert by_predicate(results["kinds"]) == kinds()


def test_the_endpoint_is_known_by_its_service_description(results: Any) -> None:
    """A source without a type is looked at first; read as a file it would be the description, without these data."""
    assert by_predicate(results["untyped"]) == kinds()


def test_the_address_of_a_graph_is_a_file_of_rdf(results: Any) -> None:
    """Comunica reads it whole and asks it itself."""
    assert by_predicate(results["file"]) == kinds()


@pytest.mark.parametrize("sources", ["federated", "endpoints"])
def test_two_sources_are_joined(results: Any, sources: str) -> None:
    """An endpoint with the graph of another instance, and with its endpoint."""
    found = [(row["name"]["value"], float(row["distance"]["value"])) for row in results[sources]]
    assert sorted(found) == NAMES


def test_a_long_result_is_complete(results: Any) -> None:
    """Comunica reads a long result as a stream, to its end."""
    assert results["long"] == ROWS


def test_ask_is_a_boolean(results: Any) -> None:
    """Comunica reads both answers of ASK."""
    assert (results["yes"], results["no"]) == (True, False)


def test_construct_and_describe_are_quads(results: Any) -> None:
    """CONSTRUCT makes a statement of each magnitude, DESCRIBE gives those that there are."""
    assert {quad[1]["value"] for quad in results["construct"]} == {f"{BASE}is"}
    assert sorted(float(quad[2]["value"]) for quad in results["construct"]) == sorted(MAGNITUDES.values())
    described = [{"p": predicate, "o": value} for _, predicate, value in results["describe"]]
    assert by_predicate(described) == kinds()


@pytest.mark.parametrize("result", ["truncated", "truncatedGraph"])
def test_a_truncated_result_is_an_error(results: Any, result: str) -> None:
    """It asks for JSON, and for Turtle: never fewer rows or triples that look like all."""
    assert results[result] == {"error": "TypeError: terminated"}


def test_a_truncated_file_ends_with_its_mark(results: Any) -> None:
    """It asks for N-Quads, whose mark is a comment that it does not see."""
    assert results["truncatedFile"] == {"value": STRICT_ROWS}


def test_its_own_time_limit_ends_the_wait(results: Any) -> None:
    """Comunica cannot send `timeout`, but ends a request itself."""
    assert "300 ms" in results["patience"]["error"]


def test_parameters_in_the_address_are_refused_with_a_reason(results: Any) -> None:
    """Comunica writes `?query=` after them, so that the query is lost; a page as the answer would warn nobody."""
    assert "HTTP status 400" in results["parameters"]["error"]
    assert "0 came" in results["parameters"]["error"]


def test_an_update_is_refused(results: Any) -> None:
    """Comunica reports the status; it does not read the reason."""
    assert "HTTP status 403" in results["update"]["error"]
