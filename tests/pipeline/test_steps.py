"""The steps of real runs: they cover the runs, say what was done, and where a killed one was."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from harvest.fetch import exchange
from harvest.model import Outcome
from harvest.pipeline import STEPS
from harvest.pipeline import run_progress as progress
from sparql.reports import RunReport
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import run_and_die
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]


def latest(instance: TemporaryInstance) -> RunReport:
    return instance.harvester.instance.ledger.runs("p", 1)[0]


def test_the_steps_of_a_run_cover_its_whole_time(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first byte asked for to the commit, without a gap, in the order of the pipeline."""
    registered()
    release(provider, 1, A1, B1)
    instance.harvester.look("p")
    now = instance.clock.__call__

    def ticking(self: object) -> object:
        instance.clock.forward(seconds=1)
        return now()

    monkeypatch.setattr(type(instance.clock), "__call__", ticking)
    instance.harvester.work("p")
    run = latest(instance)
    beside = ("look", "adopt", "feed", "write-back")
    assert [step.name for step in run.steps] == [name for name in STEPS if name not in beside]
    assert (run.steps[0].started, run.steps[-1].ended) == (run.started, run.ended)
    assert all(before.ended == after.started for before, after in pairwise(run.steps))
    assert not any(step.broken for step in run.steps)


def test_steps_say_what_they_did(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Steps have the figures that the page of the run shows."""
    registered("removals: mirror")
    release(provider, 1, A1, B1)
    instance.tick("p")
    release(provider, 2, A1, A2)
    instance.tick("p")
    run = latest(instance)
    did = {step.name: step.figures for step in run.steps}
    assert did["fetch"] == {"dumps": 1, "bytes": run.dumps[0].bytes}
    assert did["wash"] == {"files": 1, "bytes": run.dumps[0].bytes, "triples": 2}
    assert {"added": 1, "removed": 1}.items() <= did["revise"].items()
    assert did["file-change"]["bytes"] > 0
    assert did["load"] == {"triples": 2, "written": "delta"}
    current = instance.harvester.instance.generations.current()
    assert current is not None
    assert did["publish"] == {"generation": current.number}


def test_a_download_that_goes_on_says_how_far_it_is(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes so far and of how many; the figures of the end take their place."""
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    monkeypatch.setattr(exchange, "_PIECE", 1 << 10)
    registered()
    release(provider, 1, *(f"<http://x/{i}> <http://p> 'some value of number {i}'" for i in range(500)))
    steps = instance.harvester.instance.ledger.steps
    heard: list[dict[str, int | str]] = []
    record = steps.record

    def listened(run: int, figures: dict[str, int | str]) -> None:
        heard.append(dict(figures))
        record(run, figures)

    monkeypatch.setattr(steps, "record", listened)
    instance.tick("p")
    received = [figures["bytes"] for figures in heard if "of_bytes" in figures]
    assert len(received) > 5
    assert received == sorted(received)
    assert received[-1] == latest(instance).dumps[0].bytes
    instance.close()
    assert not (instance.settings.data_dir / "ledger.sqlite-wal").exists(), "a thread has left the ledger open"


def test_how_far_a_step_is_is_written_once_in_a_while(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes come a million times; of a run that takes a moment only the first ones are written."""
    monkeypatch.setattr(exchange, "_PIECE", 16)
    registered()
    release(provider, 1, *(f"<http://x/{i}> <http://p> {i}" for i in range(300)))
    steps = instance.harvester.instance.ledger.steps
    recorded: list[int] = []
    record = steps.record

    def counted(run: int, figures: dict[str, int | str]) -> None:
        recorded.append(run)
        record(run, figures)

    monkeypatch.setattr(steps, "record", counted)
    began = time.monotonic()
    instance.tick("p")
    seconds = int(time.monotonic() - began)  # in each of which a step may write once
    steps_with_figures = sum(bool(step.figures) for step in latest(instance).steps)
    assert len(recorded) <= steps_with_figures + progress.AT_ONCE + seconds


def _changes(instance: TemporaryInstance) -> int:
    """Rows that this thread's connection has changed so far."""
    row = instance.harvester.instance.ledger.database.row("SELECT total_changes() AS n")
    assert row is not None
    return int(row["n"])


def test_a_tick_without_news_writes_no_step(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A thousand providers are looked at every minute."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    before = _changes(instance)
    assert instance.tick("p") == []
    assert _changes(instance) == before


@pytest.mark.parametrize("step", ["fetch", "wash", "revise"])
def test_a_killed_run_says_where_it_was_broken_off(
    step: str, instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The next start reports the killed run, and the next tick has a run of its own."""
    registered()
    release(provider, 1, A1)
    assert run_and_die(instance, step) == -signal.SIGKILL
    run = latest(instance)
    assert (run.outcome, [finding.kind for finding in run.findings]) == ("failed", ["interrupted"])
    assert (run.steps[-1].name, run.steps[-1].broken, run.steps[-1].ended) == (step, True, run.ended)
    assert not any(before.broken for before in run.steps[:-1])
    instance.clock.forward(days=20)
    [result] = instance.tick("p")
    assert result.outcome is Outcome.COMMITTED
    assert latest(instance).id > run.id


def test_a_run_killed_while_loading_goes_on_in_the_same_run(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The step that was broken off stays recorded, and the rest follows it."""
    registered()
    release(provider, 1, A1)
    assert run_and_die(instance, "load") == -signal.SIGKILL
    run = latest(instance)
    assert run.outcome == "committed"
    names = [(step.name, step.broken) for step in run.steps]
    at = names.index(("load", True))
    assert names[at + 1 :] == [(name, False) for name in ("load", "describe", "publish", "commit")]
    assert all(before.ended == after.started for before, after in pairwise(run.steps))


def test_a_run_killed_while_it_waits_goes_on(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Its dumps are filed, so it is one run with a long wait and no failure."""
    registered()
    release(provider, 1, A1)
    assert run_and_die(instance, "wait") == -signal.SIGKILL
    instance.clock.forward(days=20)
    [result] = instance.tick("p")
    assert result.outcome is Outcome.COMMITTED
    [run] = instance.harvester.instance.ledger.runs("p")
    assert not any(step.broken for step in run.steps)


def test_a_download_that_fails_ends_its_run(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One run, of one step, with the reason."""
    registered()
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/none.ttl"])
    instance.tick("p")
    run = latest(instance)
    assert (run.outcome, [step.name for step in run.steps]) == ("failed", ["fetch"])
    assert [finding.kind for finding in run.findings] == ["status"]


def test_a_description_that_works_again_is_no_trouble_any_more(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Its run stays in the list, and does not keep the provider failing until the next release."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    void = provider.pages.pop("/void.ttl")
    instance.clock.forward(hours=1)
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    provider.pages["/void.ttl"] = void
    instance.clock.forward(hours=1)
    assert instance.tick("p") == []
    known = instance.harvester.instance.ledger.overview.of(["p"])["p"]
    assert known.standings == ()
