"""Queries that pages ask: bounded in time and number, and of no harm when they fail."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any, cast

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, Store

from harvest.catalog.instance import InstanceCatalog
from harvest.config.settings import Settings
from harvest.model.seeds import seed_hash
from sparql.cache.edition import Editions
from sparql.cache.recall import Recall
from sparql.errors import ClientGone, Overloaded, QueryTimeout, SparqlError, StoreError
from sparql.query.pool import Pool
from sparql.rdf import RDFS
from sparql.web import questions
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.entities import Entities
from sparql.web.graphs import Graphs
from sparql.web.questions import Ask, Budget, Questions
from sparql.web.site import Context
from sparql.web.terms import valid
from sparql.worker.limits import QueryLimits
from tests.ledger.samples import NOW, later, ledger
from tests.query.stores import PublishedStore, items

BASE = "http://h.example"
SEED = "http://data.example/all.ttl"
GRAPH = f"{BASE}/graph/seed-{seed_hash(SEED)}"
THING = "http://x.example/thing"
HTML = {"Accept": "text/html"}


def of(made: Store) -> Ask:
    """What answers from a store in memory."""

    def ask(text: str, timeout_s: float) -> bytes:
        out = io.BytesIO()
        made.query(text).serialize(out, format=QueryResultsFormat.JSON)
        return out.getvalue()

    return ask


def pages(folder: Path, ask: Ask) -> FlaskClient:
    (folder / "registry.yaml").write_text("{}\n")
    settings = Settings(data_dir=folder, registry=folder / "registry.yaml", exports_dir=folder, base_url=BASE)
    return create_pages(Context(InstanceCatalog(settings), Site(BASE), QueryLimits(), lambda: 0, ask)).test_client()


def store(*graphs: str) -> Store:
    """A store with one statement in each of some graphs."""
    made = Store()
    made.extend(quad(graph) for graph in graphs)
    return made


def quad(graph: str) -> Quad:
    return Quad(NamedNode(THING), NamedNode(f"{RDFS}label"), Literal("a thing"), NamedNode(graph))


def test_a_graph_of_a_seed_is_shown_with_its_address_and_when_it_was_downloaded(tmp_path: Path) -> None:
    """Both are the provenance of the graph; one of which nothing is known is shown by its name."""
    made = ledger(tmp_path)
    made.seeds.processed(made.seeds.add(SEED, NOW, 86400)[0], later(1))
    unknown = f"{BASE}/graph/seed-{'0' * 32}"
    text = pages(tmp_path, of(store(GRAPH, unknown))).get(f"/entity?iri={THING}", headers=HTML).text
    assert f'<a class="break" href="/documents/{seed_hash(SEED)}">{SEED}</a>' in text
    assert f'downloaded <time datetime="{later(1).isoformat().replace("+00:00", "Z")}"' in text
    assert f'<a class="break" href="/entity?iri={unknown}">' in text


def test_a_page_is_there_without_labels(tmp_path: Path) -> None:
    """Labels are a comfort; a store too busy to give them is no reason to show nothing."""
    ledger(tmp_path)
    answered = of(store(GRAPH))

    def ask(text: str, timeout_s: float) -> bytes:
        if "VALUES ?i" in text:
            raise QueryTimeout("The query took too long.")
        return answered(text, timeout_s)

    text = pages(tmp_path, ask).get(f"/entity?iri={THING}", headers=HTML).text
    assert "without their labels: The query took too long." in text
    assert ">rdfs:label</a>" in text


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (QueryTimeout("The query was slow."), 503, "5"),
        (Overloaded("Too many."), 429, "5"),
        (ClientGone("It went."), 500, None),
    ],
)
def test_a_query_that_fails_is_answered_with_its_status(
    tmp_path: Path, error: SparqlError, status: int, retry: str | None
) -> None:
    """A program reads the status, a person the reason."""
    ledger(tmp_path)

    def ask(text: str, timeout_s: float) -> bytes:
        raise error

    answer = pages(tmp_path, ask).get(f"/entity?iri={THING}", headers=HTML)
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, retry)
    assert error.message in answer.text


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    folder = tmp_path_factory.mktemp("pages")
    ledger(folder)
    return pages(folder, of(store(GRAPH)))


IRIS = st.one_of(
    st.text(), st.text("<>{}|^`\\\"'%#?/:. \n\0aé", max_size=12).map(lambda rest: f"http://x.example/{rest}")
)


@given(IRIS, st.text(st.characters(exclude_categories=["C"]), max_size=20))
def test_whatever_is_looked_up_has_an_answer(client: FlaskClient, iri: str, language: str) -> None:
    """The IRI and the languages of a reader stand in queries: neither may break out of its place."""
    headers = HTML | {"Accept-Language": language.encode().decode("latin-1")}
    answer = client.get("/entity", query_string={"iri": iri}, headers=headers)
    assert answer.status_code == (400 if valid(iri.strip()) is None else 404)


@pytest.mark.parametrize(
    ("base_url", "graph_base", "path", "covered"),
    [
        ("http://h", "http://h/graph/", "/entity", True),
        ("http://h", "http://h/graph/", "/graph/a/.well-known/genid/1", True),
        ("http://h", "http://h/graph/", "/graph/a", False),
        ("http://h", "http://h/graph/", "/graph/a/", False),
        ("http://h", "http://h/graph/", "/graphs", False),
        ("http://h", "http://h/graph/", "/providers/a", False),
        ("http://h", "http://h/providers/", "/providers/a/versions/1", False),
        ("http://h", "http://elsewhere/graph/", "/graph/a/b", False),
        ("http://h", "", "/graph/a/b", False),
    ],
)
def test_things_below_graphs_are_known_by_their_path(base_url: str, graph_base: str, path: str, covered: bool) -> None:
    """Graphs are read as before, and no page is hidden."""
    site, nothing = Site(base_url, graph_base=graph_base), cast(Any, None)
    entities = Entities(nothing, nothing, nothing, Graphs(nothing, nothing, site, ["", "providers"]), site)
    assert entities.covers(path) is covered


def test_the_queries_of_a_page_share_their_time() -> None:
    """Six queries may not take six times as long as one."""
    given: list[float] = []

    def ask(text: str, timeout_s: float) -> bytes:
        given.append(timeout_s)
        return b'{"head": {}, "boolean": true}'

    budget = Budget(ask, 10)
    assert budget.holds("ASK {}") is True
    assert budget.holds("ASK {}") is True
    assert 10 > given[0] > given[1] > 9
    with pytest.raises(QueryTimeout, match="longer than 0 s"):
        Budget(ask, 0).holds("ASK {}")


def asked(root: Path, limits: QueryLimits, at_once: int = 1, start: bool = True) -> bytes:
    """The answer to a thread that asks a question of a front over a store."""

    async def run() -> bytes:
        pool = Pool(root, limits, BASE)
        one = Questions(Recall(pool, limits, Editions(root), None), limits, at_once)
        if start:
            pool.start()
            one.start()
        try:
            return await asyncio.to_thread(one.ask, "SELECT * { GRAPH ?g { ?s ?p ?o } }", 20)
        finally:
            await pool.close()

    return asyncio.run(run())


def test_a_thread_is_answered_by_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the answer is long; one that is larger than a page can be is refused."""
    published = PublishedStore(tmp_path)
    published.add(items(1000))
    limits = QueryLimits(workers=1)
    assert asked(published.root, limits).count(b'"o":') == 3000
    monkeypatch.setattr(questions, "LARGEST", 1 << 17)
    with pytest.raises(SparqlError, match="take it as data"):
        asked(published.root, limits)


def test_only_so_many_threads_wait_for_the_store(tmp_path: Path) -> None:
    """The others have pages to make that need no query."""
    with pytest.raises(Overloaded, match="0 pages are waiting"):
        asked(tmp_path, QueryLimits(workers=1), at_once=0)
    with pytest.raises(StoreError, match="not started"):
        asked(tmp_path, QueryLimits(workers=1), start=False)
    with pytest.raises(SparqlError):
        asked(tmp_path, QueryLimits(workers=1, wait_s=0.2))
