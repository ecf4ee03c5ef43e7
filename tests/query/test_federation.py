"""SERVICE: refused by parsing, but for the endpoints on the list. A real endpoint is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparql.errors import ForbiddenError, SparqlError
from sparql.protocol.syntax import Grammar
from sparql.query.federation import Pools
from sparql.worker.limits import QueryLimits
from tests.elsewhere import Elsewhere, answering
from tests.query.stores import PublishedStore, items
from tests.query.test_pool import BASE_IRI, request, ticket, whole

ALLOWED = "http://example.org/sparql"


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    """Another endpoint on this machine."""
    with answering() as server:
        yield server


def answered(root: Path, service: tuple[str, ...], *queries: str) -> list[str | SparqlError]:
    """What becomes of queries where some endpoints may be asked."""

    async def test() -> list[str | SparqlError]:
        pools = Pools(root, QueryLimits(workers=1, spare=0, timeout_s=20, wait_s=240, service=service), BASE_IRI)
        pools.start()
        results: list[str | SparqlError] = []
        try:
            for query in queries:
                try:
                    results.append((await whole(await pools.ask(request(query, "text/csv"), ticket()))).decode())
                except SparqlError as error:
                    results.append(error)
        finally:
            await pools.close()
        return results

    return asyncio.run(test())


def test_an_endpoint_on_the_list_is_asked_and_no_other(elsewhere: Elsewhere, tmp_path: Path) -> None:
    """Federation is of use between institutions that trust each other, and a hole in the wall for all others."""
    published = PublishedStore(tmp_path)
    published.add(items(10))
    there, other = elsewhere.url, elsewhere.url.replace("/sparql", "/other")
    results = answered(
        published.root,
        (there,),
        f"SELECT ?x {{ SERVICE <{there}> {{ ?s ?p ?x }} }}",
        f"SELECT ?x {{ SERVICE <{other}> {{ ?s ?p ?x }} }}",
        f"SELECT ?x {{ BIND(<{other}> AS ?where) SERVICE ?where {{ ?s ?p ?x }} }}",
        "SELECT (COUNT(*) AS ?service) { ?s ?p ?o }",
    )
    assert results[0] == "x\r\nfrom afar\r\n"
    assert isinstance(results[1], ForbiddenError) and "does not ask that one" in results[1].message
    assert isinstance(results[2], ForbiddenError)
    assert results[3] == "service\r\n30\r\n"
    assert len(elsewhere.asked) == 1


def test_without_a_list_nothing_is_asked(elsewhere: Elsewhere, tmp_path: Path) -> None:
    """The default: whoever may query must not make this machine send requests."""
    published = PublishedStore(tmp_path)
    published.add(items(10))
    (refused,) = answered(published.root, (), f"SELECT ?x {{ SERVICE <{elsewhere.url}> {{ ?s ?p ?x }} }}")
    assert isinstance(refused, ForbiddenError) and "asks no other one" in refused.message
    assert elsewhere.asked == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }",
        "SELECT * { service silent <http://example.org/sparql> { ?s ?p ?o } }",
        "SELECT * { SERVICE<http://example.org/sparql>{ ?s ?p ?o } }",
        "SELECT * { SERVICE <http://example.org/sparql> { SERVICE <http://example.org/sparql> { ?s ?p ?o } } }",
        "SELECT * { ?service ?p 'SERVICE <http://evil.example/>' # SERVICE <http://evil.example/>\n }",
    ],
)
def test_what_is_on_the_list_may_be_asked(query: str) -> None:
    """However it is written, as long as the endpoint is written out."""
    Grammar(BASE_IRI, [ALLOWED]).refuse_service(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://evil.example/> { ?s ?p ?o } }",
        "SELECT * { SERVICE <http://example.org/sparql/> { ?s ?p ?o } }",
        "SELECT * { SERVICE <http://example.org/sparql?x> { ?s ?p ?o } }",
        "PREFIX e: <http://example.org/> SELECT * { SERVICE e:sparql { ?s ?p ?o } }",
        "BASE <http://example.org/> SELECT * { SERVICE <sparql> { ?s ?p ?o } }",
        "SELECT * { SERVICE ?where { ?s ?p ?o } }",
        "SELECT * { SERVICE <http://example.org/sparql> { SERVICE <http://evil.example/> { ?s ?p ?o } } }",
        "SELECT * { SERVICE # SERVICE <http://example.org/sparql>\n <http://evil.example/> { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'SERVICE <http://example.org/sparql>' . SERVICE <http://evil.example/> { ?s ?p ?o } }",
        "PREFIX SERVICE: <http://evil.example/> SELECT * { SERVICE SERVICE:x { ?s ?p ?o } }",
        "SELECT * { SERVICE <http://example.org\\u002Fsparql> { ?s ?p ?o } }",
        "SELECT * { \\u0053ERVICE <http://evil.example/> { ?s ?p ?o } }",
    ],
)
def test_what_is_not_on_the_list_is_refused(query: str) -> None:
    """An address that only looks like one of the list is another one."""
    with pytest.raises(SparqlError):
        Grammar(BASE_IRI, [ALLOWED]).refuse_service(query)
