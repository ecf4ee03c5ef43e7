"""Queries over an engine are answered as those over the embedded store are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest

from sparql.errors import EngineLost, ForbiddenError, RequestError, UnknownGraph
from sparql.store.address import Dialect
from sparql.store.engine import Engine
from sparql.store.generations import Generations
from sparql.store.remote import RemoteStore
from sparql.worker.limits import QueryLimits
from tests.engines import ENGINES, EngineServer, serving
from tests.query.stores import BASE, PublishedStore, item, items
from tests.query.test_pool import error, request, running, text, ticket

OWN = f"{BASE}graph/own-"
DATA = [*items(40), *items(30, "b", 100), *items(3, "own-notes", 500)]
LIMITS = QueryLimits(workers=1, own_graphs=(OWN,))
QUERIES = {
    "union": "SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p ?o",
    "named": "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g",
    "from": f"SELECT (COUNT(*) AS ?n) FROM <{BASE}graph/b> {{ ?s ?p ?o }}",
    "ask": f"ASK {{ <{BASE}item/1> ?p 1 }}",
    "relative": "SELECT ?x { BIND(<#here> AS ?x) }",
    "aggregate": f"SELECT (SUM(?v) AS ?n) (MIN(?l) AS ?first) {{ ?s <{BASE}value> ?v ; <{BASE}label> ?l }}",
    "construct": f"CONSTRUCT {{ ?s <{BASE}is> ?v }} WHERE {{ ?s <{BASE}value> ?v }} ORDER BY ?v LIMIT 5",
    "describe": f"DESCRIBE <{BASE}item/7>",
    "literal": 'SELECT ("a\\"b\\\\c\\n\\u00e9"@en AS ?x) (1.5 AS ?y) (true AS ?z) {}',
}


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = PublishedStore(tmp_path_factory.mktemp("embedded"))
    store.add(DATA)
    return store.root


def published(server: EngineServer, root: Path) -> Path:
    """A folder of generations that lead to the server, with the data in it."""
    address = replace(server.address, dialect=Engine(server.address).identify())
    store = RemoteStore(Engine(address), root, f"{OWN}edition", BASE)
    try:
        for name in {quad.graph_name for quad in DATA}:
            quads = [quad for quad in DATA if quad.graph_name == name]
            lines = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS)
            assert lines is not None
            store.replace_graph(name.value, lines.splitlines(keepends=True))
        Generations(root).publish(store)
    finally:
        store.close()
    return root


@pytest.fixture(scope="module", params=ENGINES)
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[EngineServer]:
    with serving(request.param, tmp_path_factory.mktemp("engine")) as made:
        yield made


@pytest.fixture(scope="module")
def engine(server: EngineServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(server, tmp_path_factory.mktemp("remote"))


async def answers(root: Path, limits: QueryLimits) -> dict[str, list[str]]:
    """The lines of each answer, sorted, in a format of solutions and in one of graphs, and in several datasets."""
    found: dict[str, list[str]] = {}
    b = f"{BASE}graph/b"
    async with running(root, limits) as pool:
        for name, query in QUERIES.items():
            accept = "application/n-triples" if name in ("construct", "describe") else "text/tab-separated-values"
            accept = "application/sparql-results+xml" if name == "ask" else accept
            for dataset in ({}, {"default-graph-uri": b}, {"named-graph-uri": b}):
                said = await text(pool, request(query, accept, **dataset))
                found[f"{name} {dataset}"] = sorted(said.splitlines())
    return found


def without_edition(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """The instance's own graph of the edition is in an engine alone."""
    return {key: [line for line in lines if f"{OWN}edition" not in line] for key, lines in found.items()}


@pytest.mark.parametrize("union", [True, False])
@pytest.mark.parametrize("listed", [32, 1])
def test_answers_are_those_of_the_embedded_store(
    embedded: Path, engine: Path, server: EngineServer, union: bool, listed: int
) -> None:
    """In every dataset that a request can name, and with the union of a list of graphs, or of all."""
    limits = QueryLimits(workers=1, own_graphs=(OWN,), listed_graphs=listed, union_default_graph=union)
    expected, found = asyncio.run(answers(embedded, limits)), without_edition(asyncio.run(answers(engine, limits)))
    own = "union {}" if listed == 1 else None  # the union of all has the edition, too
    for name in (own,) if union else ("describe {}",):  # what describes a resource is for the engine to say
        assert (expected.pop(name, None) is None) is (found.pop(name, None) is None)
    for name in [key for key in expected if engine_differs(server, key)]:
        expected.pop(name), found.pop(name)
    assert found == expected


def engine_differs(server: EngineServer, answer: str) -> bool:
    """
    Whether an answer is the engine's own.

    Virtuoso knows no boolean values, no minimum of words with a language and no sum of nothing, and takes FROM beside
    a dataset that the request names. Virtuoso and RDF4J describe a resource with what refers to it.
    """
    own = {
        Dialect.VIRTUOSO: ("aggregate", "literal", "describe {}", "from {'named"),
        Dialect.RDF4J: ("describe {}",),
    }
    return answer.startswith(own.get(Engine(server.address).identify(), ()))


def test_a_graph_is_given_whole(engine: Path, embedded: Path) -> None:
    """A graph is found by its name; a name that no statement has is no graph."""

    async def run(root: Path) -> list[str]:
        async with running(root, LIMITS) as pool:
            asked = request("ASK {}", "application/n-triples")
            whole = await text(pool, asked._replace(graph_name=f"{BASE}graph/b"))
            missing = pool.ask(asked._replace(graph_name=f"{BASE}graph/none"), ticket())
            assert isinstance(await error(missing), UnknownGraph)
            return sorted(whole.splitlines())

    assert asyncio.run(run(engine)) == asyncio.run(run(embedded))


def test_wrong_queries_are_refused_with_the_same_words(engine: Path, embedded: Path) -> None:
    """A mistake, an update, and SERVICE."""

    async def run(root: Path) -> list[tuple[type, str]]:
        async with running(root, LIMITS) as pool:
            asked = ("SELEC", "DELETE WHERE { ?s ?p ?o }", "SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }")
            errors = [await error(pool.ask(request(query), ticket())) for query in asked]
            return [(type(each), each.message) for each in errors]

    found = asyncio.run(run(engine))
    assert found == asyncio.run(run(embedded))
    assert [kind for kind, _ in found] == [RequestError, RequestError, ForbiddenError]


def test_a_long_result_is_cut(engine: Path) -> None:
    """The bound on rows holds over an engine, too; so many are more than is kept until the first bytes leave."""

    async def run() -> str:
        async with running(engine, QueryLimits(workers=1, max_rows=4000)) as pool:
            return await text(pool, request(f"SELECT * {{ ?s <{BASE}next> ?o . ?a <{BASE}next> ?b }}", "text/csv"))

    lines = asyncio.run(run()).splitlines()
    assert lines[-1].startswith("# truncated")
    assert len(lines) == 4002


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_that_dies_is_named_and_comes_back(tmp_path: Path, name: str) -> None:
    """Queries fail with its address while it is away."""
    with serving(name, tmp_path / "engine") as server:
        root = published(server, tmp_path / "remote")

        async def run() -> None:
            async with running(root, LIMITS) as pool:
                asked = request(f"SELECT ?n {{ <{item(1).value}> <{BASE}value> ?n }}", "text/csv")
                assert await text(pool, asked) == "n\r\n1\r\n"
                server.kill()
                found = await error(pool.ask(asked, ticket()))
                assert isinstance(found, EngineLost)
                assert found.status == 503
                assert server.address.query in found.message
                server.start()
                assert await text(pool, asked) == "n\r\n1\r\n"

        asyncio.run(run())
