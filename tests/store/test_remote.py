"""A store on an engine, without an instance around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from sparql.store import engine as engine_module
from sparql.store import sending
from sparql.store.address import Dialect, EngineAddress
from sparql.store.base import StoreChange
from sparql.store.engine import Engine
from sparql.store.remote import RemoteStore
from sparql.store.view import EngineView
from tests.engines import ENGINES, serving

BASE = "http://h.example/graph/"
METADATA = f"{BASE}harvest-metadata"


@pytest.fixture(scope="module", params=ENGINES)
def address(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[EngineAddress]:
    with serving(request.param, tmp_path_factory.mktemp("engine")) as server:
        yield replace(server.address, dialect=Engine(server.address).identify())


@pytest.fixture
def engine(address: EngineAddress) -> Engine:
    """The engine with none of the instance's graphs."""
    made = Engine(address)
    for graph in made.graphs():
        if graph.startswith(BASE):
            made.update(f"DROP SILENT GRAPH <{graph}>")
    return made


def lines(name: str, numbers: Iterable[int]) -> list[bytes]:
    return [f'<http://x/{n}> <http://p> "{n}" <{BASE}{name}> .\n'.encode() for n in numbers]


def opened(engine: Engine, tmp_path: Path) -> RemoteStore:
    return RemoteStore(engine, tmp_path / "store", METADATA, BASE)


def published(store: RemoteStore, tmp_path: Path, name: str, removed: list[bytes], added: list[bytes]) -> None:
    """Change a graph as a harvest does."""
    gone, come = tmp_path / "gone.nq", tmp_path / "come.nq"
    gone.write_bytes(b"".join(removed))
    come.write_bytes(b"".join(added))
    store.begin()
    store.apply(f"{BASE}{name}", StoreChange(gone, come, len(removed), len(added)))
    store.publish(tmp_path / f"generation-{name}-{len(removed)}-{len(added)}")
    store.end()


def test_the_graphs_are_those_that_hold_a_triple(engine: Engine, tmp_path: Path) -> None:
    """A graph whose last triple went is none, though some engines remember its name; others' graphs are not ours."""
    store = opened(engine, tmp_path)
    try:
        published(store, tmp_path, "kept", [], lines("kept", range(3)))
        published(store, tmp_path, "emptied", [], lines("emptied", range(3)))
        published(store, tmp_path, "emptied", lines("emptied", range(3)), [])
        engine.update("INSERT DATA { GRAPH <http://somebody.example/else> { <http://x/1> <http://p> 1 } }")
        assert store.graphs() == sorted([METADATA, f"{BASE}kept"])
        assert {METADATA, f"{BASE}kept", "http://somebody.example/else"} <= set(engine.graphs())
        assert f"{BASE}emptied" not in engine.graphs()
    finally:
        engine.update("DROP SILENT GRAPH <http://somebody.example/else>")
        store.close()


def test_a_reader_lists_the_graphs_once(
    engine: Engine, address: EngineAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing them takes some engines longer than the query does, and a generation has those of its edition."""
    store = opened(engine, tmp_path)
    try:
        published(store, tmp_path, "a", [], lines("a", range(3)))
        listed = []
        graphs = Engine.graphs
        monkeypatch.setattr(Engine, "graphs", lambda self: listed.append(self) or graphs(self))
        view = EngineView(address)
        for number in range(3):
            asked = f"SELECT ?o {{ <http://x/{number}> ?p ?o }}"
            found = view.query(asked, default_graph=[NamedNode(f"{BASE}a")])
            assert [row[0].value for row in found] == [str(number)]
        assert len(listed) == 1
    finally:
        store.close()


def test_a_new_graph_is_put_by_itself(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Graph Store Protocol takes half the time of an update; a graph that is there is changed by updates."""
    by_itself = [f"{BASE}large"] if engine.address.graph_store else []
    monkeypatch.setattr(sending, "MADE", 10)
    put: list[str] = []
    putting = Engine.put
    monkeypatch.setattr(Engine, "put", lambda self, graph, triples: put.append(graph) or putting(self, graph, triples))
    store = opened(engine, tmp_path)
    try:
        published(store, tmp_path, "small", [], lines("small", range(10)))
        assert put == []
        published(store, tmp_path, "large", [], lines("large", range(11)))
        published(store, tmp_path, "large", [], lines("large", range(11, 40)))
        assert put == by_itself
        assert sorted(store.dump(f"{BASE}large")) == sorted(lines("large", range(40)))
    finally:
        store.close()


def test_side_graphs_go(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a change when it is there, those that a killed process left at the next start."""
    dialect = engine.address.dialect
    monkeypatch.setattr(sending, "SIDES", frozenset({dialect}))
    monkeypatch.setitem(sending.STATEMENTS, dialect, 5)
    monkeypatch.delitem(sending.AT_ONCE, dialect, raising=False)
    left = f"{METADATA}#side-3-insert"
    engine.update(f"INSERT DATA {{ GRAPH <{left}> {{ <http://x/1> <http://p> 1 }} }}")
    store = opened(engine, tmp_path)
    try:
        assert left not in engine.graphs()
        published(store, tmp_path, "a", [], lines("a", range(20)))
        staged: list[str] = []
        updating = Engine.update
        monkeypatch.setattr(Engine, "update", lambda self, text: staged.append(text) or updating(self, text))
        published(store, tmp_path, "a", lines("a", range(8)), lines("a", range(20, 28)))
        assert any("#side-0-delete" in text for text in staged)
        assert any("#side-0-insert" in text for text in staged)
        assert [graph for graph in engine.graphs() if "#side-" in graph] == []
        assert sorted(store.dump(f"{BASE}a")) == sorted(lines("a", range(8, 28)))
    finally:
        store.close()


def test_what_is_on_its_way_is_not_in_the_union(engine: Engine, address: EngineAddress, tmp_path: Path) -> None:
    """A query over all graphs sees none of the side graphs that changes of Virtuoso go by, nor Virtuoso's own."""
    sides = [f"{METADATA}#side-{number}-{kind}" for number in (0, 12) for kind in ("delete", "insert")]
    store = opened(engine, tmp_path)
    try:
        published(store, tmp_path, "a", [], lines("a", range(3)))
        for side in sides:
            engine.update(f"INSERT DATA {{ GRAPH <{side}> {{ <http://x/side> <http://p> 1 }} }}")
        assert set(sides) <= set(engine.graphs())
        view = EngineView(replace(address, dialect=Dialect.VIRTUOSO))
        for pattern in ("?s <http://p> ?o", "GRAPH ?g { ?s <http://p> ?o }"):
            found = view.query(f"SELECT ?s {{ {pattern} }}", use_default_graph_as_union=True)
            assert sorted(row[0].value for row in found) == [f"http://x/{number}" for number in range(3)], pattern
        names = {graph.value for graph in view.named_graphs()}
        assert f"{BASE}a" in names
        assert names.isdisjoint(sides)
        assert not [name for name in names if "openlinksw" in name]
    finally:
        for side in sides:
            engine.update(f"DROP SILENT GRAPH <{side}>")
        store.close()


def test_a_graph_is_read_in_parts(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Virtuoso refuses a CONSTRUCT of more than a million triples; each part begins where the one before ended."""
    monkeypatch.setitem(engine_module.READ_AT_ONCE, engine.address.dialect, 7)
    view = EngineView(engine.address)
    store = opened(engine, tmp_path)
    try:
        for name, size in (("less", 6), ("even", 14), ("more", 50)):
            published(store, tmp_path, name, [], lines(name, range(size)))
            assert sorted(store.dump(f"{BASE}{name}")) == sorted(lines(name, range(size)))
            quads = view.quads_for_pattern(None, None, None, NamedNode(f"{BASE}{name}"))
            assert sorted(f"{quad} .\n".encode() for quad in quads) == sorted(lines(name, range(size)))
        assert list(store.dump(f"{BASE}nothing")) == []
    finally:
        store.close()
