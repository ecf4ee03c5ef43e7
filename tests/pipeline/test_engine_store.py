"""The store on an engine: harvests end as with the embedded store, whatever dies on the way."""

from __future__ import annotations

import json
import signal
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.errors import StorageError
from sparql.errors import EngineLost, EngineRefused
from sparql.reports import RunReport
from sparql.store import remote, sending
from sparql.store.engine import Engine
from sparql.store.spelling import stored
from tests.engines import ENGINES, EngineServer, Virtuoso, serving
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import NEW, OLD, run_and_die
from tests.pipeline.test_semantics import outcomes, release
from tests.provider import ProviderServer


@pytest.fixture(params=ENGINES)
def engine(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[EngineServer]:
    with serving(request.param, tmp_path / "engine") as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path, engine: EngineServer) -> Iterator[TemporaryInstance]:
    """An instance whose store is the engine, with provider `p` registered."""
    folder = tmp_path / "instance"
    folder.mkdir()
    address = engine.address
    (folder / "engine").write_text(f"{address.query}\n{address.update}\n{address.graph_store}\n")
    made = TemporaryInstance(folder)
    made.guard(1_000_000, 1)
    yield made
    made.close()


def registered(instance: TemporaryInstance, provider: ProviderServer) -> None:
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")


def test_releases_end_as_in_the_embedded_store(
    tmp_path: Path, instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """First load, removals, a partial dump, spellings of one value, and a graph that is forgotten."""
    (tmp_path / "embedded").mkdir()
    embedded = TemporaryInstance(tmp_path / "embedded")
    embedded.guard(1_000_000, 1)
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    releases = [
        (OLD, False),
        (NEW, False),
        ({f"<http://x/1> <http://p> {number.format(text)}" for text in ("01", "1", "2")}, True),
        ({f"<http://x/1> <http://p> {number.format(text)}" for text in ("1", "3")}, True),
    ]
    try:
        for made in (instance, embedded):
            registered(made, provider)
        for date, (lines, partial) in enumerate(releases, 1):
            release(provider, date, *lines, partial=partial)
            for made in (instance, embedded):
                assert outcomes(made) == ["committed"]
            assert spelled(instance.graph("p")) == embedded.graph("p")
            assert instance.proven("p")
        for made in (instance, embedded):
            made.register("{}")
            made.harvester.forget("p")
        assert instance.graph("p") == embedded.graph("p") == set()
    finally:
        embedded.close()


def test_a_decimal_goes_with_its_subject(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Jena's TDB2 gives 1.50 back as 1.5, which it then cannot delete."""
    instance.settings = replace(instance.settings, write="subjects")
    registered(instance, provider)
    decimal = '<http://x/1> <http://p> "{}"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    for date, value in enumerate(("1.50", "2.50", "3.0"), 1):
        release(provider, date, decimal.format(value))
        assert outcomes(instance) == ["committed"]
        assert spelled(instance.graph("p")) == spelled({decimal.format(value)})
        assert instance.proven("p")


def spelled(triples: set[str]) -> set[str]:
    """Triples as the embedded store would give them back; RDF4J keeps `01` beside `1`."""
    lines = stored(f"{triple} .\n".encode() for triple in triples)
    return {line.decode().removesuffix(" .\n") for line in lines}


def runs_of(instance: TemporaryInstance) -> list[RunReport]:
    return instance.harvester.instance.ledger.runs("p")


def readers_see(engine: EngineServer) -> set[str]:
    """The provider's graph as the engine gives it to whoever asks."""
    query = "SELECT * { GRAPH <http://h.example/graph/p> { ?s ?p ?o } }"
    asked = urllib.request.Request(
        engine.address.query,
        urlencode({"query": query}).encode(),
        {"Accept": "application/sparql-results+json"},
    )
    with urllib.request.urlopen(asked, timeout=240) as answer:
        rows = json.load(answer)["results"]["bindings"]
    return {f'<{row["s"]["value"]}> <{row["p"]["value"]}> "{row["o"]["value"]}"' for row in rows}


@pytest.mark.parametrize("step", ["load", "describe", "publish", "commit", "adopt"])
def test_a_harvester_that_is_killed_ends_where_it_would_have(
    step: str, instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer
) -> None:
    """Readers of the engine see the old version or the new one; the next start goes on."""
    registered(instance, provider)
    release(provider, 1, *OLD)
    assert outcomes(instance) == ["committed"]
    instance.close()
    release(provider, 2, *NEW)
    assert run_and_die(instance, step) == -signal.SIGKILL
    assert readers_see(engine) in (OLD, NEW)
    instance.clock.forward(days=20)
    instance.tick("p")
    assert instance.graph("p") == readers_see(engine) == NEW
    assert instance.proven("p")
    assert [version.n for version in instance.harvester.instance.ledger.versions("p")] == [1, 2]


@pytest.mark.parametrize("step", ["load", "publish"])
def test_an_engine_that_is_killed_is_waited_for(
    step: str, instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer
) -> None:
    """The harvest fails and says why; once the engine is back the version is there."""
    registered(instance, provider)
    release(provider, 1, *OLD)
    assert outcomes(instance) == ["committed"]
    release(provider, 2, *NEW)
    instance.at_step = lambda name, at: engine.kill() if at == step else None
    [failed] = instance.tick("p")
    assert failed.outcome.value == "failed"
    assert "gave no answer" in str(failed)
    instance.at_step = lambda name, at: None
    engine.start()
    assert readers_see(engine) == OLD
    instance.clock.forward(days=20)
    instance.tick("p")
    assert instance.graph("p") == readers_see(engine) == NEW
    assert instance.proven("p")


def test_an_answer_that_is_lost_is_asked_for(
    instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine did the update, and the connection broke: its edition says so."""
    registered(instance, provider)
    release(provider, 1, *OLD)
    update = Engine.update

    def lost(self: Engine, text: str) -> None:
        update(self, text)
        if remote.EDITION in text:
            raise EngineLost("the connection broke")

    assert outcomes(instance) == ["committed"]
    release(provider, 2, *NEW)
    monkeypatch.setattr(Engine, "update", lost)
    assert outcomes(instance) == ["committed"]
    assert readers_see(engine) == NEW


@pytest.mark.parametrize("sent", [1, 4, 9])
def test_a_change_that_is_sent_in_parts_is_put_right(
    sent: int,
    instance: TemporaryInstance,
    engine: EngineServer,
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is larger than the engine takes at once, and breaks off after some of the requests."""
    dialect = Engine(engine.address).identify()
    monkeypatch.setitem(sending.STATEMENTS, dialect, 5)
    monkeypatch.setitem(sending.AT_ONCE, dialect, 5)
    registered(instance, provider)
    release(provider, 1, *OLD)
    assert outcomes(instance) == ["committed"]
    release(provider, 2, *NEW)
    calls = iter(range(sent))

    def breaking(method: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            if next(calls, None) is None:
                raise EngineLost("the connection broke")
            method(*arguments)

        return call

    [publishing] = [step for step in runs_of(instance)[0].steps if step.name == "publish"]
    # Virtuoso has all of it in side graphs first.
    assert (int(publishing.figures["requests"]) > 1) is not isinstance(engine, Virtuoso)
    receipt = (InstanceCatalog(instance.settings).receipt("p") or b"").decode()
    assert f"harvest:requests {publishing.figures['requests']}" in receipt
    with monkeypatch.context() as patched:
        patched.setattr(Engine, "update", breaking(Engine.update))
        patched.setattr(Engine, "post", breaking(Engine.post))
        [failed] = instance.tick("p")
        assert failed.outcome.value == "failed"
    instance.close()
    assert instance.graph("p") in (OLD, NEW)
    instance.clock.forward(days=20)
    instance.tick("p")
    assert instance.graph("p") == readers_see(engine) == NEW
    assert instance.proven("p")


def test_an_instance_moves_to_an_engine_and_back(
    instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer
) -> None:
    """Its graphs come along; the graphs of others in the engine stay as they are."""
    other = "INSERT DATA { GRAPH <http://other.example/g> { <http://s> <http://p> <http://o> } }"
    Engine(engine.address).update(other)
    named = instance.settings.store
    instance.settings = replace(instance.settings, store=None)
    registered(instance, provider)
    release(provider, 1, *OLD)
    assert outcomes(instance) == ["committed"]
    instance.close()
    instance.settings = replace(instance.settings, store=named)
    assert instance.graph("p") == OLD
    assert readers_see(engine) == OLD
    release(provider, 2, *NEW)
    instance.clock.forward(days=20)
    assert outcomes(instance) == ["committed"]
    assert readers_see(engine) == NEW
    instance.close()
    instance.settings = replace(instance.settings, store=None)
    assert instance.graph("p") == NEW
    assert instance.proven("p")
    assert Engine(engine.address).ask("ASK { GRAPH <http://other.example/g> { ?s ?p ?o } }")


def test_an_engine_that_is_away_is_named(instance: TemporaryInstance, engine: EngineServer) -> None:
    """The address and the reason, and no stack trace."""
    instance.register("{}")
    engine.kill()
    with pytest.raises(StorageError, match=f"{engine.address.query} gave no answer: Connection refused"):
        _ = instance.harvester


def test_a_graph_that_was_changed_in_the_engine_is_found_and_mended(
    instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer
) -> None:
    """`harvest verify` compares each graph with its version, `harvest rebuild` writes what differs alone."""
    registered(instance, provider)
    release(provider, 1, *OLD)
    assert outcomes(instance) == ["committed"]
    drop = "DELETE DATA { GRAPH <http://h.example/graph/p> { <http://x/1> <http://p> '1' } }"
    Engine(engine.address).update(drop)
    instance.harvester.export()
    maintenance = instance.harvester.maintenance
    assert [(proof.provider, proof.what) for proof in maintenance.prove_all() if not proof.holds] == [("p", "store")]
    maintenance.mend()
    assert readers_see(engine) == OLD


def test_spellings_that_an_engine_folds_are_no_damage(
    instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer
) -> None:
    """Numbers, booleans, dates and language tags come back in other words, and a value of two spellings as one."""
    registered(instance, provider)
    xsd = "http://www.w3.org/2001/XMLSchema#"
    values = [("integer", "01"), ("integer", "1"), ("decimal", "1.0"), ("decimal", "1.00"), ("boolean", "1")]
    values += [("boolean", "true"), ("double", "1E0"), ("dateTime", "2020-01-01T00:00:00.0+00:00"), ("int", "007")]
    lines = {f'<http://x/{n}> <http://p> "{text}"^^<{xsd}{kind}>' for n, (kind, text) in enumerate(values)}
    together = {f'<http://x/all> <http://p> "{text}"^^<{xsd}{kind}>' for kind, text in values}
    release(provider, 1, *lines, *together, '<http://x/tag> <http://p> "a"@EN-us')
    assert outcomes(instance) == ["committed"]
    if isinstance(engine, Virtuoso):  # it has another value for true
        [finding] = instance.harvester.instance.ledger.damages.of("p")
        assert finding.kind == "engine-differs" and "<http://x/all>" in finding.message
        return
    assert instance.proven("p")
    release(provider, 2, *lines, '<http://x/all> <http://p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    assert outcomes(instance) == ["committed"]
    assert instance.proven("p")
    assert not instance.harvester.instance.ledger.damages.of("p")


UPDATE = Engine.update


def losing(statement: str, broken: Callable[[str], bool]) -> Callable[[Engine, str], None]:
    """An update of an engine that loses a statement, where a request is broken."""

    def spoiled(self: Engine, text: str) -> None:
        kept = [line for line in text.split("\n") if not line.startswith(statement)] if broken(text) else [text]
        UPDATE(self, "\n".join(kept))

    return spoiled


def test_what_an_engine_loses_is_sent_again_and_named(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First it loses a statement once, then it never takes it."""
    registered(instance, provider)
    release(provider, 1, *OLD)
    once, kept, lost = iter([True]), '<http://x/7> <http://p> "7"', '<http://x/7> <http://p> "8"'
    monkeypatch.setattr(Engine, "update", losing(kept, lambda text: remote.EDITION in text and next(once, False)))
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == OLD
    assert not instance.harvester.instance.ledger.damages.of("p")
    monkeypatch.setattr(Engine, "update", losing(lost, lambda text: True))
    release(provider, 2, *(line.replace('"7"', '"8"') for line in OLD))
    assert outcomes(instance) == ["committed"]
    [found] = instance.harvester.instance.ledger.damages.of("p")
    assert found.kind == "engine-differs"
    assert "of 1 subject than version 2 has: <http://x/7>" in found.message


@pytest.mark.parametrize("most", [None, 300], ids=["usual", "larger-than-a-part"])
def test_readers_see_whole_versions(
    most: int | None,
    instance: TemporaryInstance,
    engine: EngineServer,
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reader that asks the engine in a loop sees each version or the one before, and nothing between."""
    if most is not None:
        monkeypatch.setitem(sending.STATEMENTS, Engine(engine.address).identify(), most)
    registered(instance, provider)
    sizes = [2_000, 3_000, 1_000, 2_500]
    seen: set[int] = set()
    stop = threading.Event()

    def read() -> None:
        query = "SELECT (COUNT(*) AS ?n) { GRAPH <http://h.example/graph/p> { ?s ?p ?o } }"
        while not stop.is_set():
            [row] = Engine(engine.address).select(query)
            seen.add(int(row["n"].value))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for day, size in enumerate(sizes, 1):
            release(provider, day, *(f'<http://x/{i}> <http://p> "{i}-{day if i % 3 else 0}"' for i in range(size)))
            assert outcomes(instance) == ["committed"]
    finally:
        stop.set()
        reader.join()
    assert seen <= {0, *sizes}
    sides = "SELECT ?g { GRAPH ?g { ?s ?p ?o } FILTER CONTAINS(STR(?g), '#side-') } LIMIT 1"
    assert list(Engine(engine.address).select(sides)) == []


@pytest.mark.parametrize("most", [100, 5])
def test_what_an_engine_refuses_is_left_out_and_named(
    most: int,
    instance: TemporaryInstance,
    engine: EngineServer,
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All other statements get there, in one request or several, then and later."""
    monkeypatch.setitem(sending.STATEMENTS, Engine(engine.address).identify(), most)
    update, put, post, odd = Engine.update, Engine.put, Engine.post, '<http://x/odd> <http://p> "odd"'

    def refusing(self: Engine, text: str) -> None:
        if '"odd"' in text:
            raise EngineRefused("HTTP 400: there is something odd in it")
        update(self, text)

    def refusing_graph(self: Engine, graph: str, triples: Iterable[bytes]) -> None:
        body = b"".join(triples)
        if b'"odd"' in body:
            raise EngineRefused("HTTP 400: there is something odd in it")
        put(self, graph, [body])

    def refusing_part(self: Engine, graph: str, triples: bytes) -> None:
        if b'"odd"' in triples:
            raise EngineRefused("HTTP 400: there is something odd in it")
        post(self, graph, triples)

    monkeypatch.setattr(Engine, "update", refusing)
    monkeypatch.setattr(Engine, "put", refusing_graph)
    monkeypatch.setattr(Engine, "post", refusing_part)
    registered(instance, provider)
    for day, lines in enumerate((OLD, NEW), 1):
        release(provider, day, *lines, odd)
        assert outcomes(instance) == ["committed"]
        assert readers_see(engine) == instance.graph("p") == lines
    assert instance.harvester.instance.ledger.versions("p")[-1].triples == len(NEW) + 1
    [finding] = instance.harvester.instance.ledger.damages.of("p")
    assert finding.kind == "engine-differs" and "1 subject than version 2 has: <http://x/odd>" in finding.message
    assert 'it refused <http://x/odd> <http://p> "odd"' in finding.message
    assert "HTTP 400: there is something odd in it" in finding.message
    release(provider, 3, *NEW)
    assert outcomes(instance) == ["committed"]
    assert readers_see(engine) == NEW and not instance.harvester.instance.ledger.damages.of("p")
    assert instance.proven("p")


def test_an_engine_that_refuses_everything_is_tried_again(
    instance: TemporaryInstance, engine: EngineServer, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left out of what a full disk or a read-only engine refuses."""
    registered(instance, provider)
    release(provider, 1, *OLD)
    assert outcomes(instance) == ["committed"]
    release(provider, 2, *(f'<http://x/{n}> <http://p> "new"' for n in range(150)))
    update = Engine.update

    def refusing(self: Engine, text: str) -> None:
        if '"new"' in text:
            raise EngineRefused("HTTP 500: No space left on device")
        update(self, text)

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "update", refusing)
        [failed] = instance.tick("p")
        assert failed.finding is not None and "No space left on device" in failed.finding.message
    instance.clock.forward(days=20)
    instance.tick("p")
    assert len(readers_see(engine)) == 150
    assert instance.proven("p")


HARMED = {"fuseki": "http://x/a/../b", "virtuoso": f"http://x/{'a' * 1900}"}


@pytest.mark.parametrize("most", [1, 1000])
def test_what_an_engine_would_damage_is_held_back(
    most: int,
    instance: TemporaryInstance,
    engine: EngineServer,
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A false statement is worse than a missing one; letters of any script come back as they are."""
    dialect = Engine(engine.address).identify()
    monkeypatch.setitem(sending.STATEMENTS, dialect, most)
    iri = HARMED.get(dialect.value, "http://x/odd")
    if dialect.value not in HARMED:
        odd = sending.Harm(lambda line: b"/odd>" in line, lambda iri: iri.endswith(b"/odd"), "it would be another")
        monkeypatch.setitem(sending._HARMS, dialect, odd)
    letters = '<http://x/\u00e9> <http://p> "\u00fc\u20ac\U0001f600"'
    harmed = {f'<{iri}> <http://p> "subject"', f"<http://x/o> <http://p> <{iri}>"}
    literal = f'<http://x/l> <http://p> "a literal with <{iri}> in it"'
    registered(instance, provider)
    for day, lines in enumerate(({*OLD, letters}, {*NEW, letters, literal}), 1):
        release(provider, day, *lines, *harmed)
        assert outcomes(instance) == ["committed"]
        assert readers_see(engine) == instance.graph("p") == lines
    [finding] = instance.harvester.instance.ledger.damages.of("p")
    assert finding.kind == "engine-differs" and "2 subjects" in finding.message
    assert "it was not sent, because" in finding.message
