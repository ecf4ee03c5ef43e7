"""Records of seeds and documents as statements: whatever was registered or found, they are RDF."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from harvest.model.seeds import is_relative, public, seed_hash, unusable
from harvest.publish.provenance import n_quads
from harvest.publish.seed_facts import Fact, SeedFacts
from sparql.reports import (
    ContentReport,
    DirtyReport,
    DocumentReport,
    ExchangeReport,
    HttpVersion,
    ProblemReport,
    SeedReport,
)

GRAPH = "http://h.example/graph/harvest-metadata"
AT = datetime(2026, 1, 1, tzinfo=UTC)
RECORDS = SeedFacts("http://h.example")


def seed(uri: str) -> SeedReport:
    return SeedReport(
        hash=seed_hash(uri),
        type="seed",
        uri=public(uri),
        relative=is_relative(uri),
        status="added",
        added=AT,
        interval=8640000.0,
        processed=None,
        stale=True,
        listed=True,
        provider=None,
        download=None,
        failures=0,
        retry_at=None,
    )


def download(problems: tuple[ProblemReport, ...] = (), **different: Any) -> DocumentReport:
    origin = DirtyReport(
        parent="e" * 32,
        timestamp=(AT, None),
        name=None,
        http=(),
        content=ContentReport(None, None, None, None),
        media_type=None,
        final_url=None,
        clean=None,
    )
    return DocumentReport(
        hash="d" * 32,
        type="download",
        status="parsed",
        origin=replace(origin, **different),
        seed="e" * 32,
        uri="http://x.example/a",
        sha256=None,
        encoding=None,
        format=None,
        statements=None,
        dropped=None,
        whole=None,
        problems=problems,
        counts={},
    )


def loaded(facts: list[Fact]) -> list[str]:
    """The statements after a way through N-Quads and a store, as `predicate object`, in order."""
    store = pyoxigraph.Store()
    store.load(n_quads(iter(facts), GRAPH), pyoxigraph.RdfFormat.N_QUADS)
    return sorted(f"{quad.predicate.value.rpartition('#')[2].rpartition('/')[2]} {quad.object}" for quad in store)


def test_an_interval_is_a_decimal_number_of_seconds() -> None:
    """Not a double with an exponent."""
    statements = loaded(list(RECORDS.of_seed(seed("http://x.example/a"))))
    assert 'interval "8640000"^^<http://www.w3.org/2001/XMLSchema#decimal>' in statements
    assert 'relative "false"^^<http://www.w3.org/2001/XMLSchema#boolean>' in statements
    assert "source <http://x.example/a>" in statements


def test_what_is_not_known_is_not_written() -> None:
    """No statement stands for None."""
    statements = loaded(list(RECORDS.of_document(download())))
    assert sorted({line.split()[0] for line in statements}) == [
        "began", "identifier", "seed", "status", "type", "wasDerivedFrom",
    ]  # fmt: skip


def test_what_servers_and_documents_say_is_written_as_it_is() -> None:
    """Control characters, quotes and markup in headers, names and excerpts."""
    odd = 'a\x00"\\\r\n\x1b<é>\u2028'
    problem = ProblemReport("syntax", odd, 1, None, odd)
    exchange = ExchangeReport({"x": odd}, 200, "http://x/", HttpVersion(1, 1), 0.5)
    facts = list(RECORDS.of_document(download((problem,), name=odd, http=(exchange,), final_url="a://::")))
    statements = loaded(facts)
    assert len(statements) == len(facts)
    assert {line.split()[0] for line in statements} >= {"title", "comment", "excerpt", "header", "walltime"}
    assert "source <a://%3A%3A>" in statements  # an address that is no IRI is written as one


ODD = st.one_of(
    st.text(max_size=30),
    st.tuples(st.sampled_from(["http://", "x:", "urn:", "a+b://", "ftp:///"]), st.text(max_size=20)).map("".join),
)


@given(ODD.filter(lambda uri: unusable(uri) is None))
def test_every_seed_that_can_be_registered_can_be_described(uri: str) -> None:
    """A seed that could not would fail each time that it is worked on."""
    facts = list(RECORDS.of_seed(seed(uri)))
    assert len(loaded(facts)) == len(facts)
