"""Records of seeds and documents as statements: whatever was registered or found, they are RDF."""

from __future__ import annotations

from typing import Any

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from harvest.publish.documents import Fact, Records
from harvest.publish.provenance import n_quads
from harvest.seeds import is_relative, public, seed_hash, unusable

GRAPH = "http://h.example/graph/harvest-metadata"
AT = "2026-01-01T00:00:00Z"
RECORDS = Records("http://h.example")


def seed(uri: str) -> dict[str, Any]:
    return {
        "hash": seed_hash(uri), "uri": public(uri), "status": "added", "relative": is_relative(uri), "listed": True,
        "interval": 8640000.0, "added": AT, "processed": None, "provider": None, "download": None,
    }  # fmt: skip


def download(**different: Any) -> dict[str, Any]:
    return {
        "hash": "d" * 32, "type": "download", "status": "parsed", "parent": "e" * 32, "seed": "e" * 32,
        "timestamp": [AT, None], "http": [], "newline": None, "number_of_bytes": None, "number_of_chars": None,
        "number_of_lines": None, "encoding": None, "format": None, "statements": None, "dropped": None, "whole": None,
        "sha256": None, "problems": [], "counts": {}, **different,
    }  # fmt: skip


def loaded(facts: list[Fact]) -> list[str]:
    """The statements after a way through N-Quads and a store, as `predicate object`, in order."""
    store = pyoxigraph.Store()
    store.load(n_quads(iter(facts), GRAPH), pyoxigraph.RdfFormat.N_QUADS)
    return sorted(f"{quad.predicate.value.rpartition('#')[2].rpartition('/')[2]} {quad.object}" for quad in store)


def test_an_interval_is_a_decimal_number_of_seconds() -> None:
    """Not a double with an exponent."""
    told = loaded(list(RECORDS.of_seed(seed("http://x.example/a"))))
    assert 'interval "8640000"^^<http://www.w3.org/2001/XMLSchema#decimal>' in told
    assert 'relative "false"^^<http://www.w3.org/2001/XMLSchema#boolean>' in told
    assert "source <http://x.example/a>" in told


def test_what_is_not_known_is_not_told() -> None:
    """No statement stands for None."""
    told = loaded(list(RECORDS.of_document(download())))
    assert sorted({line.split()[0] for line in told}) == [
        "began", "identifier", "seed", "status", "type", "wasDerivedFrom",
    ]  # fmt: skip


def test_what_servers_and_documents_say_is_told_as_it_is() -> None:
    """Control characters, quotes and markup in headers, names and excerpts."""
    odd = 'a\x00"\\\r\n\x1b<é>\u2028'
    problem = {"kind": "syntax", "message": odd, "line": 1, "column": None, "excerpt": odd}
    exchange = {
        "uri": "http://x/", "status": 200, "version": {"major": 1, "minor": 1}, "headers": {"x": odd}, "walltime": 0.5,
    }  # fmt: skip
    facts = list(RECORDS.of_document(download(name=odd, problems=[problem], http=[exchange], final_url="a://::")))
    told = loaded(facts)
    assert len(told) == len(facts)
    assert {line.split()[0] for line in told} >= {"title", "comment", "excerpt", "header", "walltime"}
    assert not any(line.startswith("source") for line in told)


ODD = st.one_of(
    st.text(max_size=30),
    st.tuples(st.sampled_from(["http://", "x:", "urn:", "a+b://", "ftp:///"]), st.text(max_size=20)).map("".join),
)


@given(ODD.filter(lambda uri: unusable(uri) is None))
def test_every_seed_that_can_be_registered_can_be_told(uri: str) -> None:
    """One that could not would fail each time that it is worked on."""
    facts = list(RECORDS.of_seed(seed(uri)))
    assert len(loaded(facts)) == len(facts)
