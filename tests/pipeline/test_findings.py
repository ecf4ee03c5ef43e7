"""Findings belong to datasets: what is wrong with one stays reported until mended, whatever becomes of the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from harvest.catalog.providers import provider_report
from harvest.pipeline.metadata import write_run
from harvest.publish.provenance import ProviderFacts
from harvest.publish.receipt import receipt
from sparql import rdf
from sparql.reports import DatasetReport, ProviderReport
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.pipeline.test_semantics import A1, A2, B1, ttl
from tests.provider import VOID, ProviderServer, dataset

START = datetime(2026, 1, 1, tzinfo=UTC)
DumpRecords = Callable[..., None]
Sets = tuple[str, str | None, str]


def describe(provider: ProviderServer, *sets: Sets, partial: bool = False) -> None:
    """Publish a description of datasets, each with fragment, date and dump."""
    listed = (dataset(f"{provider.url}/#{name}", date, [dump], partial=partial) for name, date, dump in sets)
    provider.put("/void.ttl", VOID + "".join(listed))


def day(n: int) -> str:
    return f"2026-01-{n:02d}T00:00:00Z"


def report_of(instance: TemporaryInstance) -> ProviderReport:
    """What is reported of provider p."""
    running = instance.harvester.instance
    found = provider_report(running.ledger, running.settings, "p", running.roster.get("p"), running.clock())
    assert found is not None
    return found


def of(found: ProviderReport, name: str) -> DatasetReport:
    """The dataset of that fragment."""
    [its] = [each for each in found.datasets if each.iri.endswith(f"#{name}")]
    return its


def test_a_dataset_that_fails_stays_visible_while_another_commits(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Failing, with its own finding, since when, how often, when last and when next, on every surface."""
    registered()
    provider.put("/a.ttl", "gone", status=500)
    for n, triple in ((1, A1), (2, A2)):
        provider.put(f"/b{n}.ttl", ttl(triple))
        describe(provider, ("a", day(1), "/a.ttl"), ("b", day(n), f"/b{n}.ttl"))
        instance.tick("p")
        instance.clock.forward(minutes=1)
    found = report_of(instance)
    assert (found.state, found.version) == ("failing", 2)
    assert [(each.kind, (each.dataset or "")[-2:]) for each in found.findings if each.fatal] == [("status", "#a")]
    bad, good = of(found, "a"), of(found, "b")
    assert (bad.state, bad.since, bad.tries, bad.last_try, bad.next_try) == (
        "failing",
        START,
        2,
        START + timedelta(minutes=1),
        START + timedelta(minutes=3),
    )
    assert (bad.committed, bad.commands) == (None, ("harvest run p",))
    assert [each.kind for each in bad.findings] == ["status"]
    assert (good.state, good.findings, good.tries) == ("idle", (), 0)
    assert good.committed == START + timedelta(minutes=1)
    assert (found.trouble and (found.trouble.dataset, found.trouble.tries)) == (bad.iri, 2)
    assert ask(instance, "SELECT ?state { ?g a void:Dataset ; harvest:state ?state }") == [("failing",)]
    assert b'harvest:state "failing"' in receipt("http://h.example", found)
    tracked = """SELECT ?dataset ?state ?tries ?kind { ?g harvest:tracks
        [ harvest:dataset ?dataset ; harvest:datasetState ?state ; harvest:tries ?tries ; harvest:kind ?kind ] }"""
    assert ask(instance, tracked) == [(bad.iri, "failing", "2", "status")]


def test_the_last_try_is_the_last_though_the_same_bytes_are_reported_once(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A run is filed for the first failure alone; tries go on, and are counted."""
    registered()
    provider.put("/a.ttl", "broken <")
    describe(provider, ("a", day(1), "/a.ttl"))
    for _ in range(3):
        instance.tick("p")
        instance.clock.forward(hours=7)
    assert len(instance.harvester.instance.ledger.runs("p")) == 1
    bad = of(report_of(instance), "a")
    assert (bad.tries, bad.since, bad.last_try) == (3, START, START + timedelta(hours=14))


def test_a_held_dataset_says_what_lets_it_through(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Though another dataset of the provider is harvested after it."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(1), "/b.ttl"))
    instance.guard(0, 0.1)
    instance.tick("p")
    provider.put("/a2.ttl", ttl(A2))
    describe(provider, ("a", day(2), "/a2.ttl"), ("b", day(3), "/b.ttl"))
    instance.tick("p")
    found = report_of(instance)
    held = of(found, "a")
    assert (found.state, held.state, held.commands) == ("held", "held", ("harvest approve p",))
    assert [each.reason for each in held.waiting] == ["the shrink guard holds it until `harvest approve p`"]
    instance.harvester.approve("p")
    assert (report_of(instance).state, of(report_of(instance), "a").findings) == ("idle", ())


def test_what_fails_and_left_the_description_fails_nobody_any_more(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Once nothing of it is announced."""
    registered()
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(1), "/b.ttl"))
    instance.tick("p")
    assert report_of(instance).state == "failing"
    [entry] = of(report_of(instance), "a").waiting
    instance.harvester.instance.ledger.announcements.settle(entry.announcement, "superseded")
    describe(provider, ("b", day(1), "/b.ttl"))
    instance.clock.forward(days=1)
    instance.tick("p")
    found = report_of(instance)
    assert (found.state, found.trouble) == ("idle", None)
    assert not any(each.fatal for each in found.findings)
    provider.put("/b2.ttl", ttl(A1))
    describe(provider, ("b", day(2), "/b2.ttl"))
    instance.tick("p")
    rows = ask(instance, "SELECT ?iri ?state { ?node harvest:datasetState ?state ; harvest:dataset ?iri }")
    assert rows == [(f"{provider.url}/#b", "idle")], "nothing is written of the other one any more"


def test_a_state_written_beside_a_commit_does_not_undo_it(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A download that fails while another thread commits writes what the ledger says after the commit."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    describe(provider, ("a", day(1), "/a.ttl"))
    running = instance.harvester.instance
    writers: list[threading.Thread] = []

    def write_beside(name: str, step: str) -> None:
        if step == "load":
            writers.append(threading.Thread(target=write_run, args=(running, name)))
            writers[0].start()
            writers[0].join(0.3)  # it waits for the commit, or would have read by then

    instance.at_step = write_beside
    instance.tick("p")
    writers[0].join(60)
    now = report_of(instance)
    graph = "SELECT ?version ?state { ?g harvest:version ?version ; harvest:tracks [ harvest:datasetState ?state ] }"
    assert (ask(instance, graph), now.version, of(now, "a").state) == ([("1", "idle")], 1, "idle")


def test_the_metadata_graph_says_what_the_ledger_says_once_a_version_is_committed(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """It is written before the ledger commits, from what the ledger is about to be: with what waits and what fails."""
    registered()
    provider.put("/b.ttl", ttl(B1))
    for n, triple in ((1, A1), (2, A2)):
        provider.put(f"/a{n}.ttl", ttl(triple))
        describe(provider, ("a", day(n), f"/a{n}.ttl"), ("b", day(1), "/b.ttl"), ("none", day(1), "/none.ttl"))
        instance.tick("p")
        now = report_of(instance)
        assert (now.version, now.state, of(now, "a").state, of(now, "a").tries) == (n + 1, "failing", "idle", 0)
        assert of(now, "a").reason == f"its date, 2026-01-0{n} 00:00, was harvested on 2026-01-01 00:00 UTC"
        facts = {(s.value, p, o.value) for s, p, o in ProviderFacts(instance.settings.base_url, now).of_provider()}
        graph = ask(instance, "SELECT ?s ?p ?o { ?s ?p ?o { ?g harvest:tracks ?s } UNION { ?s harvest:tracks ?d } }")
        figures = (f"{rdf.VOID}classPartition", f"{rdf.VOID}propertyPartition")
        assert {row for row in graph if row[1] not in figures} == facts
        instance.clock.forward(seconds=1)
