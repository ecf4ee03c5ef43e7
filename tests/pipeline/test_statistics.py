"""Statistics of graphs: they come with each version, equal what SPARQL counts, and survive what versions survive."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pyoxigraph
import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.model import Outcome, Statistics
from harvest.pipeline.harvest import counting
from harvest.revise import statistics
from sparql.rdf import VOID
from sparql.reports import to_json
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import ProviderServer
from tests.realdata import realdata
from tests.selection import mostly_long

DumpRecords = Callable[..., None]
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
A, B, C = (f"<http://x/{name}> {TYPE} <http://x/Thing>" for name in "abc")
NESTED = '<http://x/n> <http://q> [ a <http://x/Part> ; <http://p> "1" ]'
FIGURES = "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { GRAPH <http://h.example/graph/p> { ?s ?p ?o } }"
PROPERTIES = "SELECT ?p (COUNT(*) AS ?n) { GRAPH <http://h.example/graph/p> { ?s ?p ?o } } GROUP BY ?p"
CLASSES = "SELECT ?c (COUNT(DISTINCT ?s) AS ?n) { GRAPH <http://h.example/graph/p> { ?s a ?c } } GROUP BY ?c"


def kept(instance: TemporaryInstance) -> Statistics | None:
    """The statistics of the current version."""
    ledger = instance.harvester.instance.ledger
    record = ledger.provider("p")
    assert record is not None
    return ledger.figures.get("p", record.version)


def asked(instance: TemporaryInstance) -> Statistics:
    """The same, counted by SPARQL in the published store."""
    [(triples, subjects)] = ask(instance, FIGURES)
    properties = {iri: int(count) for iri, count in ask(instance, PROPERTIES)}
    return Statistics(
        int(triples), int(subjects), properties, {iri: int(count) for iri, count in ask(instance, CLASSES)}
    )


def test_every_kind_of_version_has_the_figures_that_sparql_counts(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """First, partial over a snapshot, partial over a partial, full that keeps, with blank nodes that come and go."""
    registered()
    releases = [
        ((A, A1, B, B1, NESTED), False),
        ((A, A2, C), True),
        ((B1, '<http://x/n> <http://q> "no blank node any more"'), True),
        ((A1, NESTED), True),
        ((B, B1), False),
        ((B1, "<http://x/d> <http://r> <http://x/a>"), False),
    ]
    for day, (triples, partial) in enumerate(releases, 1):
        release(provider, day, *triples, partial=partial)
        instance.tick("p")
        assert kept(instance) == asked(instance), f"version {day}"
    assert len(instance.harvester.instance.ledger.versions("p")) == len(releases)
    assert instance.harvester.instance.ledger.figures.get("p", len(releases) - 1) is None


def test_a_mirrored_graph_has_the_figures_that_sparql_counts(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """What goes with a mirrored dump goes from the figures."""
    registered("removals: mirror")
    for day, triples in enumerate([(A, A1, B, B1, NESTED), (A, A2), (A, A2, C, NESTED), (C,)], 1):
        release(provider, day, *triples)
        instance.tick("p")
        assert kept(instance) == asked(instance), f"version {day}"


@pytest.mark.parametrize("beside", [0, 50_000])
def test_large_versions_are_counted_in_another_process(
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    monkeypatch: pytest.MonkeyPatch,
    beside: int,
) -> None:
    """The figures are the same wherever they are counted: whole, and from a large delta."""
    monkeypatch.setattr(counting, "BESIDE", beside)
    registered()
    many = [f"<http://x/{i}> {TYPE} <http://x/C{i % 7}>" for i in range(300)]
    for day, triples in enumerate([many, [f"<http://x/{i}> <http://p> 1" for i in range(90)]], 1):
        release(provider, day, *triples, partial=day == 2)
        instance.tick("p")
        assert kept(instance) == asked(instance)


@pytest.mark.parametrize("share", [1, 64])
def test_real_releases_have_the_figures_of_their_snapshots(
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    monkeypatch: pytest.MonkeyPatch,
    share: int,
) -> None:
    """Updated from every delta, and counted whole where it is large, over real edits with blank nodes."""
    monkeypatch.setattr(counting, "SHARE", share)
    instance.guard(1_000_000, 1)
    registered()
    releases = sorted((realdata() / "series" / "yourselftoscience").glob("resources_*.ttl"))[2:6]
    assert len(releases) == 4
    for day, path in enumerate(releases, 1):
        provider.put(f"/{day}.ttl", path.read_bytes())
        provider.describe("/void.ttl", f"2026-01-{day:02d}T00:00:00Z", [f"/{day}.ttl"])
        assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
        running = instance.harvester.instance
        record = running.ledger.provider("p")
        assert record is not None
        with running.room() as room:
            assert kept(instance) == statistics.whole(running.whole(record, room))


def test_figures_that_are_missing_come_with_the_next_export(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A partial harvest over a graph without figures does not read it whole; the export has to, and counts it."""
    registered()
    release(provider, 1, A, A1, B)
    instance.tick("p")
    instance.harvester.instance.ledger.database.write("DELETE FROM statistics")
    release(provider, 2, A, A2, C, partial=True)
    instance.tick("p")
    assert kept(instance) is None
    instance.harvester.export()
    assert kept(instance) == asked(instance)
    release(provider, 3, B1, partial=True)
    instance.tick("p")
    assert kept(instance) == asked(instance)


def test_figures_that_contradict_the_version_are_not_built_on(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A damaged row ends with the next version, instead of living on in all later ones."""
    registered()
    release(provider, 1, A, A1, B)
    instance.tick("p")
    instance.harvester.instance.ledger.figures.put("p", 1, Statistics(99, 9, {"http://x/no": 99}, {}))
    release(provider, 2, A, A2, C, partial=True)
    instance.tick("p")
    assert kept(instance) is None
    instance.harvester.export()
    assert kept(instance) == asked(instance)


@pytest.mark.parametrize("step", mostly_long(["file-version", "load", "describe", "commit"], ("load", "commit")))
def test_a_crash_leaves_figures_of_the_version_that_is_there(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, step: str
) -> None:
    """Whatever version is finished after the crash has its own figures, and never those of another."""
    registered()
    release(provider, 1, A, A1, B)
    instance.tick("p")
    instance.close()
    release(provider, 2, A, A2, C, partial=True)
    command = [sys.executable, "-m", "tests.pipeline.crash", str(instance.folder), step]
    assert subprocess.run(command, check=False).returncode == -9
    assert kept(instance) == asked(instance)
    instance.tick("p")
    assert kept(instance) == asked(instance)
    assert len(instance.harvester.instance.ledger.versions("p")) == 2


def test_a_rebuilt_provider_has_its_figures(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Rows that were lost come back with the versions."""
    registered()
    release(provider, 1, A, A1, B)
    instance.tick("p")
    instance.harvester.instance.ledger.database.write("DELETE FROM statistics")
    instance.harvester.rebuild("p")
    assert kept(instance) == asked(instance)


def test_a_forgotten_provider_leaves_no_figures(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One that comes back under its name begins anew."""
    registered()
    release(provider, 1, A, A1, B)
    instance.tick("p")
    instance.register("{}\n")
    instance.harvester.forget("p")
    assert instance.harvester.instance.ledger.database.rows("SELECT * FROM statistics") == []


def test_figures_are_written_where_graphs_are_described(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The metadata graph, the description of the exports, and the web front's catalog say the same."""
    registered()
    release(provider, 1, A, A1, B, B1, NESTED)
    instance.tick("p")
    figures = "SELECT ?n ?s ?p ?c { ?g void:triples ?n; void:distinctSubjects ?s; void:properties ?p; void:classes ?c }"
    assert ask(instance, figures) == [("7", "4", "3", "2")]
    instance.harvester.export()
    store = pyoxigraph.Store()
    store.load(path=str(instance.settings.exports_dir / "void.ttl"))
    parts = store.query(
        f"PREFIX void: <{VOID}> SELECT ?what ?n {{ <http://h.example/graph/p> void:distinctSubjects 4 ;"
        " void:propertyPartition|void:classPartition ?part ."
        " ?part void:property|void:class ?what ; void:triples|void:entities ?n }"
    )
    assert isinstance(parts, pyoxigraph.QuerySolutions)
    partitions = {row["what"].value: int(row["n"].value) for row in parts}
    reading = InstanceCatalog(instance.settings).statistics("p")
    assert reading is not None
    assert (reading.version, reading.triples, reading.subjects) == (1, 7, 4)
    same = {p.property: p.triples for p in reading.properties} | {c.class_: c.entities for c in reading.classes}
    assert partitions == same == {"http://p": 3, "http://q": 1, TYPE[1:-1]: 3, "http://x/Thing": 2, "http://x/Part": 1}
    assert to_json(reading.classes[0]) == {"class": "http://x/Thing", "entities": 2}
