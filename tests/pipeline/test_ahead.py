"""A clock that was years ahead leaves nothing that waits for years; trouble that nobody foresaw is reported."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from harvest.model import Outcome
from harvest.pipeline import harvester as harvester
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, release
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]


def test_a_description_that_failed_in_the_future_is_asked_for(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Its retry time is further away than the longest back-off, and so it is none."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/void.ttl", "x", "text/plain", 503)
    instance.clock.now = datetime(2036, 1, 1, tzinfo=UTC)
    assert instance.tick("p")[0].outcome is Outcome.FAILED
    instance.clock.now = datetime(2026, 1, 3, tzinfo=UTC)
    release(provider, 2, A2)
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]


def test_a_dump_that_failed_in_the_future_is_asked_for(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The announcement waits no longer than the longest back-off, counted from now."""
    registered()
    release(provider, 1, A1)
    provider.put("/1.ttl", "x", "text/plain", 503)
    instance.clock.now = datetime(2036, 1, 1, tzinfo=UTC)
    assert instance.tick("p")[0].outcome is Outcome.FAILED
    instance.clock.now = datetime(2026, 1, 3, tzinfo=UTC)
    release(provider, 1, A1)
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]


def test_a_retry_that_is_near_is_waited_for(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A back-off is a back-off."""
    registered()
    provider.put("/void.ttl", "x", "text/plain", 503)
    instance.tick("p")
    asked = len(provider.requests)
    assert instance.tick("p") == []
    assert len(provider.requests) == asked


def test_a_seed_of_the_future_is_stale(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Downloaded or tried under a clock that was ahead, it is downloaded again now."""
    instance.register("{}\n")
    seeds = instance.harvester.instance.ledger.seeds
    url = provider.put("/a.nt", "<http://x/a> <http://x/p> <http://x/b> .\n")
    later = provider.put("/b.nt", "x", "text/plain", 503)
    for each in (url, later):
        seeds.add(each, instance.clock(), 86400.0)
    instance.clock.now = datetime(2036, 1, 1, tzinfo=UTC)
    assert len(instance.harvester.seeding.run([])) == 2
    instance.clock.now = datetime(2026, 1, 3, tzinfo=UTC)
    assert len(instance.harvester.seeding.due()) == 2
    assert len(instance.harvester.seeding.run([])) == 2
    assert instance.harvester.seeding.due() == []


def test_a_fault_of_ours_in_a_look_is_reported(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the program is a finding and a failed run, tried again later, as any other trouble."""
    registered()
    release(provider, 1, A1)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    with monkeypatch.context() as patched:
        patched.setattr(harvester, "look", broken)
        [result] = instance.tick("p")
    ledger = instance.harvester.instance.ledger
    assert result.finding is not None
    assert (result.outcome, result.finding.kind) == (Outcome.FAILED, "fault")
    assert [finding.message for finding in ledger.findings("p")] == ["ZeroDivisionError: a fault"]
    assert [run.outcome for run in ledger.runs("p")] == ["failed"]
    assert instance.tick("p") == []
    instance.clock.forward(minutes=2)
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
