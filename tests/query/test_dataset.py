"""What the default graph is made of."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store

from harvest.config.settings import QuerySettings
from sparql.protocol.dataset import listed_graphs
from sparql.protocol.request import QueryRequest
from sparql.protocol.results import choose
from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, LABEL, PublishedStore, graph, items
from tests.query.test_pool import running, text

OWN = (f"{BASE}graph/harvest-metadata", f"{BASE}graph/seed-")
COUNT = "SELECT (COUNT(*) AS ?n) {dataset}{{ ?s ?p ?o }}"


def about(name: str) -> Quad:
    return Quad(NamedNode(f"{BASE}said-in-{name}"), LABEL, Literal("x"), graph(name))


@pytest.mark.parametrize("listed", [0, 2])
def test_own_graphs_are_out_of_the_default_graph_and_can_be_asked_for(tmp_path: Path, listed: int) -> None:
    """Analysts who count what there is do not want the account of the harvests; whoever names it gets it."""
    published = PublishedStore(tmp_path)
    own = [about("harvest-metadata"), about("seed-0f"), about("seed-1f")]
    published.add([*items(5, "a"), *items(5, "b", 5), *own])
    account = f"<{OWN[0]}>"
    asked = {
        COUNT.format(dataset=""): 30 if listed else 33,
        "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }": 33,
        f"SELECT (COUNT(*) AS ?n) {{ GRAPH {account} {{ ?s ?p ?o }} }}": 1,
        COUNT.format(dataset=f"FROM {account} "): 1,
        f"SELECT (COUNT(*) AS ?n) FROM NAMED {account} {{ GRAPH ?g {{ ?s ?p ?o }} }}": 1,
    }

    async def test() -> None:
        async with running(published.root, QueryLimits(workers=1, own_graphs=OWN, listed_graphs=listed)) as pool:
            for query, count in asked.items():
                assert await text(pool, QueryRequest(query, choose("text/csv", None))) == f"n\r\n{count}\r\n", query
            picked = QueryRequest(COUNT.format(dataset=""), choose("text/csv", None), default_graphs=(OWN[0],))
            assert await text(pool, picked) == "n\r\n1\r\n"
            # The third graph of a provider is one too many, as of the next generation.
            published.add(items(5, "c", 10))
            after = await text(pool, QueryRequest(COUNT.format(dataset=""), choose("text/csv", None)))
            assert after == "n\r\n48\r\n"

    asyncio.run(test())


def test_as_many_graphs_are_listed_as_the_setting_says() -> None:
    """An instance of a few dozen providers keeps housekeeping out of its default graph; more cost too much."""
    most = QueryLimits().listed_graphs
    assert most == QuerySettings().listed_graphs == 32
    store = Store()
    store.extend([about("harvest-metadata"), *(about(f"p{n}") for n in range(most))])
    assert set(listed_graphs(store, OWN, most) or []) == {graph(f"p{n}") for n in range(most)}
    store.add(about("one-more"))
    assert listed_graphs(store, OWN, most) is None


def test_where_nothing_is_to_be_left_out_nothing_is_listed() -> None:
    """The union of all is as right then, and quicker; with seeds alone there would be nothing else."""
    store = Store()
    assert listed_graphs(store, OWN, 8) is None
    store.add(about("seed-0f"))
    assert listed_graphs(store, OWN, 8) is None
    store.add(about("a"))
    assert listed_graphs(store, OWN, 8) == [graph("a")]
    assert listed_graphs(store, OWN, 0) is None
    assert listed_graphs(store, (), 8) is None
    store.remove(about("seed-0f"))
    store.remove_graph(graph("seed-0f"))
    assert listed_graphs(store, OWN, 8) is None
