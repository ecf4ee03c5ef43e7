"""What is remembered of queries that took long."""

from __future__ import annotations

import pytest

from sparql.query import repute
from sparql.query.repute import Repute

QUERY = "SELECT * { ?s ?p ?o }"


def test_a_query_is_known_by_what_it_asks() -> None:
    """Another remark or another line break makes no other query."""
    known = Repute()
    known.note(QUERY, proved=False)
    assert known.is_long("SELECT *\n{ ?s ?p ?o } # again")
    assert not known.is_long("SELECT * { ?s ?p ?x }")


def test_what_only_seemed_long_may_prove_it() -> None:
    """And is not in doubt again because it was ended early the next time."""
    known = Repute()
    assert not known.only_seems(QUERY)
    known.note(QUERY, proved=False)
    assert known.only_seems(QUERY)
    known.note(QUERY, proved=True)
    known.note(QUERY, proved=False)
    assert known.is_long(QUERY)
    assert not known.only_seems(QUERY)


def test_what_was_quick_is_no_longer_known() -> None:
    """The data may have changed, or the caches were cold."""
    known = Repute()
    known.note(QUERY, proved=True)
    known.clear(QUERY)
    known.clear(QUERY)
    assert not known.is_long(QUERY)


def test_memory_of_queries_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody can send as many different ones as he likes; what was noted last is kept."""
    monkeypatch.setattr(repute, "KNOWN", 3)
    known = Repute()
    queries = [f"ASK {{ <urn:{number}> ?p ?o }}" for number in range(4)]
    for query in queries:
        known.note(query, proved=False)
        known.note(queries[0], proved=False)
    assert [known.is_long(query) for query in queries] == [True, False, True, True]
