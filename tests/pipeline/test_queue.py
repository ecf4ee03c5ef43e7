"""What an instance is at: one object for `/status`, `harvest status`, the log line and the dashboard."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import structlog
from structlog.testing import capture_logs

from harvest.catalog.queue import queue_report
from harvest.cli import output_queue as show_queue
from harvest.service.schedule import Scheduler
from sparql.reports import QueueReport
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_findings import DumpRecords, day, describe
from tests.pipeline.test_semantics import A1, A2, B1, ttl
from tests.provider import ProviderServer, dataset


def queue(instance: TemporaryInstance) -> QueueReport:
    running = instance.harvester.instance
    return queue_report(running.ledger, running.settings, running.roster.all(), running.clock())


@pytest.fixture
def busy(instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords) -> TemporaryInstance:
    """One dataset fails since an hour, one is held, one partial waits behind another, one is harvested just now."""
    instance.guard(0, 0.1)
    registered()
    provider.put("/a.ttl", ttl(A1, B1))
    provider.put("/a2.ttl", ttl(A2))
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(1), "/none.ttl"))
    instance.tick("p")
    instance.clock.forward(hours=1)
    describe(provider, ("a", day(2), "/a2.ttl"), ("b", day(1), "/none.ttl"))
    instance.tick("p")
    ledger = instance.harvester.instance.ledger
    named = "".join(
        dataset(f"{provider.url}/#{name}", day(n), [f"/{name}.ttl"], partial=True) for name, n in (("c", 1), ("d", 1))
    )
    text = provider.pages["/void.ttl"].body.decode()
    provider.put("/void.ttl", text + named)
    instance.harvester.look("p")
    provider.put("/void.ttl", text + named.replace("01-01", "01-02"))
    instance.harvester.look("p")
    waiting = {each.dataset.iri[-1]: each for each, _ in ledger.announcements.waiting(instance.clock(), "p")}
    ledger.start_run("p", instance.clock(), waiting["d"], "wash")
    instance.clock.forward(minutes=5)
    return instance


def test_the_queue_says_what_fails_is_held_waits_and_is_harvested(busy: TemporaryInstance) -> None:
    """Each entry says since when and, where it waits, for what."""
    found = queue(busy)
    [failing], [held], [harvesting] = found.failing, found.held, found.harvesting
    assert ((failing.dataset or "")[-2:], failing.tries, failing.age_s) == ("#b", 2, 3900)
    assert "404" in (failing.reason or "")
    assert ((held.dataset or "")[-2:], held.age_s, held.command) == ("#a", 300, "harvest approve p")
    assert ((harvesting.dataset or "")[-2:], harvesting.step) == ("#d", "wash")
    first, *behind = found.waiting
    assert ((first.dataset or "")[-2:], first.reason) == ("#c", "its turn has not come")
    assert [(entry.dataset or "")[-2:] for entry in behind] == ["#c", "#d"]
    assert all("older than this partial dump, has to be harvested first" in entry.reason for entry in behind)
    current = busy.harvester.instance.generations.current()
    assert current is not None
    assert (found.generation, found.exported, found.seeds["relative"]) == (current.number, None, 0)
    busy.harvester.export()
    assert queue(busy).exported == datetime(2026, 1, 1, 1, 5, tzinfo=UTC)


def test_the_queue_is_printed_for_people(busy: TemporaryInstance, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the table of `harvest status`."""
    show_queue.queue(queue(busy), None)
    printed = capsys.readouterr().out
    assert printed.startswith("1 failing (the longest for 1 h 5 min), 1 held (the longest for 5 min 0 s), 3 waiting")
    assert "2 tries, the last 2026-01-01 01:00, the next 2026-01-01 01:02" in printed
    assert "`harvest approve p`" in printed
    assert "seeds: none; generation: " in printed and "last export: none yet" in printed


def test_the_line_in_the_log_names_what_is_harvested(busy: TemporaryInstance) -> None:
    """Whoever began the run: the schedule, or a command that was handed over."""
    structlog.reset_defaults()  # a command that ran before in this process has kept the log to errors
    with capture_logs() as logged:
        Scheduler(busy.harvester).status()
    [line] = [line for line in logged if line["event"] == "status"]
    assert line["harvesting"] == ["p: wash"]
    assert (line["failing"], line["held"], line["waiting"]) == (["p"], ["p"], 3)


def test_what_nobody_harvests_is_not_in_the_queue(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A provider that is switched off fails nobody; a description that cannot be read has no dataset."""
    registered()
    provider.put("/void.ttl", "broken <")
    instance.tick("p")
    [failing] = queue(instance).failing
    assert (failing.provider, failing.dataset, failing.tries) == ("p", None, 1)
    assert "void.ttl" in (failing.reason or "")
    registered("enabled: false")
    assert queue(instance).failing == ()
