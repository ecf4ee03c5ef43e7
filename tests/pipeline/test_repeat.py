"""Dumps that come again or late: what is in the graph afterwards is what the newest of them say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harvest.errors import StorageError
from harvest.pipeline.harvest import harvest as harvesting
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_dates import B1, describe
from tests.pipeline.test_semantics import A1, A2, outcomes, release, ttl
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]

OLD = ("full", "2026-01-01", ["/full.ttl"])


@pytest.fixture
def overlapping(instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords) -> None:
    """A full dataset and a partial one that speak of the same subject; the partial one came last."""
    registered()
    provider.put("/full.ttl", ttl(A1))
    provider.put("/part.ttl", ttl(A2))
    describe(provider, OLD)
    outcomes(instance)
    describe(provider, OLD, ("part", "2026-01-02", ["/part.ttl"]), partial="part")
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2}


@pytest.mark.usefixtures("overlapping")
def test_the_same_full_dump_is_applied_again_after_a_partial_one(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Its bytes are those of its last harvest, and the graph is no longer what they say."""
    newer = ("full", "2026-01-03", ["/full.ttl"])
    describe(provider, newer, ("part", "2026-01-02", ["/part.ttl"]), partial="part")
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1}
    assert instance.proven("p")


@pytest.mark.usefixtures("overlapping")
def test_what_is_newer_comes_over_a_full_dump_that_is_harvested_again(instance: TemporaryInstance) -> None:
    """`harvest run NAME` takes the older full dump, and then again the partial one that came after it."""
    assert outcomes(instance, forced=True) == ["committed", "committed", "unchanged"]
    assert instance.graph("p") == {A2}
    runs = instance.harvester.instance.ledger.runs("p")
    assert [finding.kind for run in runs[:3] for finding in run.findings] == ["applied-again"]
    assert outcomes(instance) == []


@pytest.mark.parametrize("partial", ["part", "full"])
def test_an_older_dump_that_comes_late_puts_nothing_older_over_newer_data(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, partial: str
) -> None:
    """The older one was busy for a while: what is newer of the other dataset is applied again, whichever is partial."""
    registered()
    provider.put("/full.ttl", ttl(B1))
    provider.put("/part.ttl", ttl(B1))
    described = ("part", "2026-01-01", ["/part.ttl"])
    describe(provider, OLD, described, partial=partial)
    outcomes(instance)
    provider.put("/full2.ttl", "busy", status=503)
    late = ("full", "2026-01-02", ["/full2.ttl"])
    describe(provider, late, described, partial=partial)
    assert outcomes(instance) == ["failed"]
    provider.put("/part3.ttl", ttl(A2))
    describe(provider, late, ("part", "2026-01-03", ["/part3.ttl"]), partial=partial)
    assert outcomes(instance) == ["committed"]
    provider.put("/full2.ttl", ttl(A1, '<http://x/c> <http://p> "late"'))
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["committed", "committed"]
    assert instance.graph("p") >= {A2, '<http://x/c> <http://p> "late"'}
    assert A1 not in instance.graph("p")
    assert instance.proven("p")
    assert outcomes(instance) == []


def test_mirroring_that_is_switched_on_later_takes_the_same_bytes_again(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The bytes are the same and what they mean is another graph."""
    registered()
    release(provider, 1, A1, B1)
    outcomes(instance)
    release(provider, 2, A1)
    outcomes(instance)
    assert instance.graph("p") == {A1, B1}
    instance.register(instance.settings.registry.read_text() + "  removals: mirror\n")
    assert outcomes(instance, forced=True) == ["committed"]
    assert instance.graph("p") == {A1}
    release(provider, 3, A1)
    assert outcomes(instance) == ["unchanged"]


def test_an_approval_holds_for_the_bytes_that_were_looked_at(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A harvest that fails after its approval is tried again; what the provider has by then nobody has looked at."""
    instance.guard(2, 0.2)
    registered("removals: mirror")
    full = [f'<http://x/{n}> <http://p> "1"' for n in range(100)]
    provider.put("/d.ttl", ttl(*full))
    describe(provider, ("d", "2026-01-01", ["/d.ttl"]))
    outcomes(instance)
    provider.put("/d.ttl", ttl(*full[:70]))
    describe(provider, ("d", "2026-01-02", ["/d.ttl"]))
    assert outcomes(instance) == ["held"]

    def fail(*values: object) -> None:
        raise StorageError("No space left on device")

    monkeypatch.setattr(harvesting, "_revise", fail)
    assert [result.outcome.value for result in instance.harvester.approve("p")] == ["failed"]
    monkeypatch.undo()
    provider.put("/d.ttl", ttl(full[0]))
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["held"]
    assert len(instance.graph("p")) == 100
    assert [result.outcome.value for result in instance.harvester.approve("p")] == ["committed"]
    assert instance.graph("p") == {full[0]}


def test_an_approval_outlives_a_failure_where_the_bytes_stay(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that was full while it was loaded does not ask the operator again."""
    instance.guard(2, 0.2)
    registered("removals: mirror")
    full = [f'<http://x/{n}> <http://p> "1"' for n in range(100)]
    release(provider, 1, *full)
    outcomes(instance)
    release(provider, 2, *full[:70])
    assert outcomes(instance) == ["held"]

    def fail(*values: object) -> None:
        raise StorageError("No space left on device")

    monkeypatch.setattr(harvesting, "_revise", fail)
    instance.harvester.approve("p")
    monkeypatch.undo()
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["committed"]
