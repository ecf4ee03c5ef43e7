"""Which result format a client gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.errors import RequestError
from sparql.protocol.results import CSV, GRAPHS, JSON, SOLUTIONS, TSV, XML, ResultFormat, choose, prefer, quality

FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
JAVA = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/sparql-results+json", JSON),
        ("application/json", JSON),
        ("APPLICATION/SPARQL-RESULTS+XML", XML),
        ("text/xml", XML),
        ("text/*", CSV),
        ("text/tab-separated-values", TSV),
        ("text/csv;q=0.5, text/tab-separated-values", TSV),
        ("text/csv, */*", CSV),
        ("*/*;q=0.1, application/sparql-results+xml;q=0.1", XML),
        ("application/sparql-results+json;q=0, */*", XML),
        ("application/sparql-results+json; charset=utf-8; q=0.3, text/csv; q=0.2", JSON),
        (FIREFOX, XML),
        (JAVA, JSON),
        ("nonsense", JSON),
        (",,;q=1,", JSON),
        ("text/csv;q=high", CSV),
        ("text/csv;q=7", CSV),
        ("text/turtle", None),
        ("*/*;q=0", None),
        ("image/png, text/html", None),
    ],
)
def test_the_preferred_format_is_chosen(accept: str | None, chosen: ResultFormat | None) -> None:
    """Qualities count first, then the exact range, then the order here; what is unreadable counts for nothing."""
    assert prefer(accept, SOLUTIONS) is chosen


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "text/turtle"),
        ("application/n-triples", "application/n-triples"),
        ("text/plain", "application/n-triples"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("application/xml", "application/rdf+xml"),
        ("application/ld+json", "application/ld+json"),
        ("application/n-quads", "application/n-quads"),
        ("application/trig", "application/trig"),
        ("application/x-turtle", "text/turtle"),
    ],
)
def test_graphs_have_formats_of_their_own(accept: str | None, media_type: str) -> None:
    """A CONSTRUCT is written as RDF."""
    chosen = prefer(accept, GRAPHS)
    assert chosen is not None
    assert chosen.media_type == media_type


@pytest.mark.parametrize(
    ("name", "solutions", "graph"),
    [
        ("json", "application/sparql-results+json", "application/ld+json"),
        ("xml", "application/sparql-results+xml", "application/rdf+xml"),
        ("CSV", "text/csv", None),
        ("text/csv", "text/csv", None),
        ("application/json", "application/sparql-results+json", "application/ld+json"),
        ("turtle", None, "text/turtle"),
        ("nt", None, "application/n-triples"),
        ("rdf+xml", None, "application/rdf+xml"),
        ("application/x-json+ld, application/ld+json", None, "application/ld+json"),
    ],
)
def test_a_format_is_called_by_name(name: str, solutions: str | None, graph: str | None) -> None:
    """By the names that clients use, or by media type."""
    choice = choose(None, name)
    assert (choice.solutions.media_type if choice.solutions else None) == solutions
    assert (choice.graph.media_type if choice.graph else None) == graph


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    """Guessing would give people something else than they asked for."""
    with pytest.raises(RequestError, match="json, xml, csv, tsv, ttl"):
        choose(None, "excel")


@given(st.text(st.characters(codec="latin-1"), max_size=60))
def test_no_accept_header_breaks_the_choice(accept: str) -> None:
    """Clients send anything."""
    prefer(accept, SOLUTIONS)
    assert 0 <= quality("text/html", accept) <= 1


def test_browsers_like_pages_best() -> None:
    """So they get the query page where programs get results."""
    assert quality("text/html", FIREFOX) > quality("application/sparql-results+json", FIREFOX)
