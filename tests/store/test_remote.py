"""A store on an engine, without an instance around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from sparql.rdf import XSD
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


LONG = '"' + "z" * sending.LONGEST_POSTED + '"'
NOT_POSTED = [
    LONG,
    f'"12345678901"^^<{XSD}integer>',
    f'"1.1234567890123"^^<{XSD}decimal>',
    f'"true"^^<{XSD}boolean>',
    f'"1E0"^^<{XSD}double>',
    f'"PT1H"^^<{XSD}duration>',
    '"<b>x</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML>',
    '"a \\"^^<http://x/date> b"',
]
VALUES = [
    *NOT_POSTED,
    '"plain"', '""', '"x"@en', '"x"@de-at', r'"tab\tline\nquote\"backslash\\ end"', '"é 😀"', '"<a href=\'x\'>&amp;"',
    "<http://x/a#b?c>", "<http://x/%20%7e>", "<http://x/é>", "<urn:x:y>", "<mailto:a@b.example>", "<http://x/a'b(c)>",
    f'"7"^^<{XSD}integer>', f'"-12"^^<{XSD}integer>', f'"007"^^<{XSD}integer>', f'"1.50"^^<{XSD}decimal>',
    f'"-0.000001"^^<{XSD}decimal>', f'"2021-02-28"^^<{XSD}date>', f'"2021-02-30"^^<{XSD}date>', f'"soon"^^<{XSD}date>',
    f'"2021-02-28T10:00:00Z"^^<{XSD}dateTime>', f'"2021-02-28T10:00:00.123456+02:00"^^<{XSD}dateTime>',
    f'"later"^^<{XSD}dateTime>', f'"2021"^^<{XSD}gYear>', f'"-0044"^^<{XSD}gYear>',
]  # fmt: skip


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


def without_graph(found: Iterable[bytes]) -> Iterator[bytes]:
    return (line[: line.rindex(b" <")] for line in found)


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
    by_itself = [] if engine.address.dialect is Dialect.VIRTUOSO else [f"{BASE}large"]
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


def test_what_is_more_than_side_graphs_may_hold_goes_in_parts(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Virtuoso refuses to move a million statements, after half a minute; the receipt says in how many requests."""
    dialect = engine.address.dialect
    monkeypatch.setattr(sending, "SIDES", frozenset({dialect}))
    monkeypatch.setattr(sending, "MOVED", 12)
    monkeypatch.setitem(sending.STATEMENTS, dialect, 5)
    monkeypatch.delitem(sending.AT_ONCE, dialect, raising=False)
    asked: list[str] = []
    updating = Engine.update
    monkeypatch.setattr(Engine, "update", lambda self, text: asked.append(text) or updating(self, text))
    store = opened(engine, tmp_path)
    try:
        published(store, tmp_path, "a", [], lines("a", range(12)))
        assert any("#side-" in text for text in asked)
        assert store.sent().requests == 1
        asked.clear()
        published(store, tmp_path, "a", lines("a", range(6)), lines("a", range(12, 19)))
        assert not any("#side-" in text for text in asked)
        assert store.sent().requests == (3 if dialect is Dialect.VIRTUOSO else 4)  # what comes is one POST there
        assert sorted(store.dump(f"{BASE}a")) == sorted(lines("a", range(6, 19)))
    finally:
        store.close()


def test_what_is_posted_is_kept_as_an_update_is(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Graph Store Protocol of Virtuoso makes 0 of "foo"^^xsd:integer: only what both ways keep alike is posted."""
    if engine.address.dialect is Dialect.VIRTUOSO:
        monkeypatch.setitem(sending.POSTED, Dialect.VIRTUOSO, 20)
    monkeypatch.setitem(sending.STATEMENTS, engine.address.dialect, 4)
    monkeypatch.delitem(sending.AT_ONCE, engine.address.dialect, raising=False)
    posted: list[bytes] = []
    posting = Engine.post
    monkeypatch.setattr(Engine, "post", lambda self, graph, body: posted.append(body) or posting(self, graph, body))
    store = opened(engine, tmp_path)
    come = [f"<http://x/{number}> <http://p> {value} <{BASE}a> .\n".encode() for number, value in enumerate(VALUES)]
    try:
        for number, line in enumerate(come):
            published(store, tmp_path, f"{number}", [], [line])
        assert posted == []
        updated = [line for number in range(len(come)) for line in store.dump(f"{BASE}{number}")]
        published(store, tmp_path, "a", [], come)
        assert sorted(without_graph(store.dump(f"{BASE}a"))) == sorted(without_graph(updated))
        if engine.address.dialect is Dialect.VIRTUOSO:
            assert len(updated) == len(VALUES) - 1  # it refuses durations
            assert {f"{value} ." for value in VALUES if value not in NOT_POSTED} == {
                line.decode().split(" ", 2)[2] for line in b"".join(posted).splitlines()
            }
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
    """Virtuoso refuses a CONSTRUCT of more than a million triples; the part behind the last one is empty."""
    monkeypatch.setitem(engine_module.READ_AT_ONCE, engine.address.dialect, 7)
    asked: list[str] = []
    construct = Engine.construct
    monkeypatch.setattr(Engine, "construct", lambda self, text: asked.append(text) or construct(self, text))
    view = EngineView(engine.address)
    store = opened(engine, tmp_path)
    try:
        for name, size, requests in (("less", 6, 2), ("even", 14, 3), ("more", 50, 9)):
            published(store, tmp_path, name, [], lines(name, range(size)))
            asked.clear()
            assert sorted(store.dump(f"{BASE}{name}")) == sorted(lines(name, range(size)))
            assert len(asked) == requests
            quads = view.quads_for_pattern(None, None, None, NamedNode(f"{BASE}{name}"))
            assert sorted(f"{quad} .\n".encode() for quad in quads) == sorted(lines(name, range(size)))
        assert list(store.dump(f"{BASE}nothing")) == []
    finally:
        store.close()
