"""A mirrored graph is the union of what the description names now: what left it leaves the graph, however it left."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_findings import day, describe, of, report_of
from tests.pipeline.test_semantics import A1, A2, B1, C1, ttl
from tests.provider import VOID, ProviderServer, dataset

DumpRecords = Callable[..., None]


@pytest.fixture
def two(instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords) -> TemporaryInstance:
    """A mirrored provider with two datasets, both harvested."""
    registered("removals: mirror")
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(1), "/b.ttl"))
    instance.tick("p")
    assert instance.graph("p") == {A1, B1}
    return instance


def tick(instance: TemporaryInstance) -> list[Outcome]:
    instance.clock.forward(minutes=1)
    return [result.outcome for result in instance.tick("p")]


def departures(instance: TemporaryInstance) -> list[str]:
    return [each.message for each in report_of(instance).findings if each.kind == "dataset-departed"]


def rebuilt(instance: TemporaryInstance) -> bool:
    return all(version.same for version in instance.harvester.rebuild("p", check=True))


def test_what_left_goes_with_the_next_release(two: TemporaryInstance, provider: ProviderServer) -> None:
    """The union is over the datasets that the description names now."""
    provider.put("/a2.ttl", ttl(A2))
    describe(provider, ("a", day(2), "/a2.ttl"))
    assert tick(two) == [Outcome.COMMITTED]
    assert two.graph("p") == {A2}
    assert (departures(two), [each.iri[-2:] for each in report_of(two).datasets]) == ([], ["#a"])
    assert two.proven("p")
    assert rebuilt(two)


def test_what_left_goes_though_nothing_else_changed(two: TemporaryInstance, provider: ProviderServer) -> None:
    """A dataset that stays is harvested again from its filed dumps; nothing is downloaded, and it is done once."""
    describe(provider, ("a", day(1), "/a.ttl"))
    del provider.pages["/a.ttl"]
    assert tick(two) == [Outcome.COMMITTED]
    assert two.graph("p") == {A1}
    assert tick(two) == []
    assert provider.asked("/a.ttl") == [200]
    assert two.proven("p")
    assert rebuilt(two)


def test_a_departure_is_guarded_as_any_other_loss(two: TemporaryInstance, provider: ProviderServer) -> None:
    """Held once, not at each look; what is approved goes."""
    two.close()
    two.guard(0, 0.1)
    describe(provider, ("a", day(1), "/a.ttl"))
    assert tick(two) == [Outcome.HELD]
    assert tick(two) == []
    assert two.graph("p") == {A1, B1}
    assert "leave the graph with the next harvest" in departures(two)[0]
    assert [result.outcome for result in two.harvester.approve("p")] == [Outcome.COMMITTED]
    assert (two.graph("p"), departures(two)) == ({A1}, [])


def test_a_departure_that_somebody_skips_is_not_announced_again(
    two: TemporaryInstance, provider: ProviderServer
) -> None:
    """Who looked at it and wants the graph as it is is not asked every minute."""
    two.close()
    two.guard(0, 0.1)
    describe(provider, ("a", day(1), "/a.ttl"))
    assert tick(two) == [Outcome.HELD]
    two.harvester.skip("p")
    assert tick(two) == []
    assert (two.graph("p"), report_of(two).state) == ({A1, B1}, "idle")


def test_a_dataset_that_is_renamed_between_releases_is_not_there_twice(
    two: TemporaryInstance, provider: ProviderServer
) -> None:
    """#a of the first year, #a2 of the second: the graph holds the second alone."""
    provider.put("/a2.ttl", ttl(A2))
    describe(provider, ("a2", day(2), "/a2.ttl"), ("b", day(1), "/b.ttl"))
    assert tick(two) == [Outcome.COMMITTED]
    assert two.graph("p") == {A2, B1}


def relative(provider: ProviderServer, path: str, dump: str) -> None:
    """A description whose dataset is named by a relative IRI."""
    provider.put(path, VOID + dataset("#ds", day(1), [provider.url + dump]))


def test_a_description_that_moves_takes_its_datasets_along(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Its relative IRIs mean other datasets at the new address, with the same or other bytes."""
    for n, triple in enumerate((A1, A2), start=1):
        provider.put(f"/{n}.ttl", ttl(triple))
        relative(provider, f"/void{n}.ttl", f"/{n}.ttl")
        instance.register(f"p:\n  void: {provider.url}/void{n}.ttl\n  removals: mirror\n")
        assert tick(instance) == [Outcome.COMMITTED]
        assert instance.graph("p") == {triple}
    assert departures(instance) == []


def test_a_description_that_is_redirected_takes_its_datasets_along(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address in the registry stays; where it leads to does not, and `<#ds>` is another IRI there."""
    handler: Any = provider.RequestHandlerClass
    original, target = handler.do_GET, "/2025/void.ttl"

    def redirect(self: BaseHTTPRequestHandler) -> None:
        if self.path != "/void.ttl":
            return original(self)
        self.send_response(302)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    monkeypatch.setattr(handler, "do_GET", redirect)
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
    for year, triple in ((2025, A1), (2026, A2)):
        provider.put(f"/{year}.ttl", ttl(triple))
        target = f"/{year}/void.ttl"
        relative(provider, target, f"/{year}.ttl")
        assert tick(instance) == [Outcome.COMMITTED]
        assert instance.graph("p") == {triple}


def test_a_dump_that_left_the_description_goes(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Of the same dataset, under the same date."""
    registered("removals: mirror")
    provider.put("/a.ttl", ttl(A1))
    provider.put("/c.ttl", ttl(C1))
    iri = f"{provider.url}/#a"
    provider.put("/void.ttl", VOID + dataset(iri, day(1), ["/a.ttl", "/c.ttl"]))
    instance.tick("p")
    assert instance.graph("p") == {A1, C1}
    provider.put("/void.ttl", VOID + dataset(iri, day(1), ["/a.ttl"]))
    assert tick(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A1}
    assert tick(instance) == []


def test_once_the_partial_dataset_left_the_others_are_mirrored(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A partial one keeps the graph from being mirrored while the description names it, and no longer."""
    registered("removals: mirror")
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    full = dataset(f"{provider.url}/#a", day(1), ["/a.ttl"])
    provider.put("/void.ttl", VOID + full + dataset(f"{provider.url}/#b", day(1), ["/b.ttl"], partial=True))
    instance.tick("p")
    assert instance.graph("p") == {A1, B1}
    provider.put("/void.ttl", VOID + full)
    assert tick(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A1}


def test_without_mirroring_a_departure_is_reported_and_takes_nothing_away(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The finding says what takes its statements out, and doing so does."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(1), "/b.ttl"))
    instance.tick("p")
    describe(provider, ("a", day(1), "/a.ttl"))
    assert tick(instance) == []
    assert instance.graph("p") == {A1, B1}
    [message] = departures(instance)
    assert "#b no more, which was harvested on 2026-01-01" in message
    assert "`removals: mirror` in the registry entry of p takes them out" in message
    assert (report_of(instance).state, of(report_of(instance), "b").described) == ("idle", False)
    registered("removals: mirror")
    assert tick(instance) == [Outcome.COMMITTED]
    assert (instance.graph("p"), departures(instance)) == ({A1}, [])


def test_a_held_full_dump_of_what_left_is_dropped(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """It would come over newer data; nobody is asked to approve it any more."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    instance.guard(0, 0.1)
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(1), "/b.ttl"))
    instance.tick("p")
    provider.put("/a.ttl", ttl(A2))
    describe(provider, ("a", day(2), "/a.ttl"), ("b", day(1), "/b.ttl"))
    assert tick(instance) == [Outcome.HELD]
    describe(provider, ("b", day(1), "/b.ttl"))
    assert tick(instance) == []
    assert report_of(instance).state == "idle"
    assert instance.harvester.instance.ledger.announcements.held("p") == []
