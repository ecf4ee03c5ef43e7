"""The running schedule: ticks, no overlap, backlog, the inbox, time limits, and a clean end."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from harvest.errors import BusyError
from harvest.orders import carry_out
from harvest.pipeline import Desk, opened
from harvest.priority import NICE, step_aside
from harvest.schedule import Scheduler
from harvest.settings import ScheduleSettings, WashSettings
from tests.pipeline.conftest import Instance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.provider import ProviderServer, serving

WAIT_S = 30.0


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    made = Instance(tmp_path)
    made.settings = replace(made.settings, schedule=ScheduleSettings(update=0.2, export=0.2, status=60))
    yield made
    made.close()


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, f"not within {WAIT_S:g} s: {what}"
        time.sleep(0.02)


@contextmanager
def scheduled(instance: Instance) -> Iterator[tuple[Desk, Scheduler]]:
    """The instance with its schedule running on real time."""
    with opened(instance.settings) as workshop:
        desk = Desk(workshop)
        scheduler = Scheduler(desk)
        scheduler.start()
        try:
            yield desk, scheduler
        finally:
            scheduler.stop()


def register(instance: Instance, provider: ProviderServer, *keys: str) -> None:
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n" + "".join(f"  {key}\n" for key in keys))


def asked(provider: ProviderServer, path: str) -> bool:
    return provider.asked(path) != []


def modified(desk: Desk) -> datetime | None:
    record = desk.workshop.ledger.provider("p")
    return record.modified if record else None


def versions(desk: Desk) -> int:
    record = desk.workshop.ledger.provider("p")
    return record.version if record else 0


def test_releases_are_harvested_and_exported_unattended(instance: Instance, provider: ProviderServer) -> None:
    """A release, then another: both become versions and exports with nobody asking."""
    register(instance, provider)
    release(provider, 1, A1)
    with scheduled(instance) as (desk, _):
        until(lambda: versions(desk) == 1, "the first version")
        release(provider, 2, A2)
        until(lambda: versions(desk) == 2, "the second version")
        until(lambda: (instance.settings.exports_dir / "p.nq.gz.sha256").exists(), "the export")


def test_a_provider_is_never_harvested_twice_at_once(instance: Instance, provider: ProviderServer) -> None:
    """Many ticks pass while a download hangs; there is one request for the dump, and one version."""
    register(instance, provider)
    release(provider, 1, A1)
    hold = threading.Event()
    original = provider.pages["/1.ttl"]

    class Slow(type(original)):  # type: ignore[misc]  # a page whose body comes when the test lets it
        @property
        def body(self) -> bytes:
            hold.wait(WAIT_S)
            return original.body

        @body.setter
        def body(self, value: bytes) -> None:
            """The dataclass sets it; it is not used."""

    provider.pages["/1.ttl"] = Slow(b"", "text/turtle")
    with scheduled(instance) as (desk, _):
        until(lambda: len(provider.asked("/void.ttl")) > 5, "several looks")
        hold.set()
        until(lambda: versions(desk) == 1, "the version")
    assert provider.asked("/1.ttl") == [200]
    assert len(desk.workshop.ledger.versions("p")) == 1


def test_partials_announced_while_a_harvest_runs_are_taken_at_once(
    instance: Instance, provider: ProviderServer
) -> None:
    """A partial that is gone when its turn comes was downloaded when it was seen, and none is skipped."""
    register(instance, provider)
    release(provider, 1, A1)
    reached, go = threading.Event(), threading.Event()

    def on_step(name: str, step: str) -> None:
        if step == "revise" and not go.is_set():
            reached.set()
            go.wait(WAIT_S)

    with opened(instance.settings, on_step=on_step) as workshop:
        desk = Desk(workshop)
        scheduler = Scheduler(desk)
        scheduler.start()
        try:
            assert reached.wait(WAIT_S)
            for day, triple in ((2, B1), (3, C1)):
                release(provider, day, triple, partial=True)
                until(partial(asked, provider, f"/{day}.ttl"), "the download at sight")
            until(
                lambda: sum(state == "fetched" for _, state in waiting(desk)) >= 2,
                "both partials filed",
            )
            del provider.pages["/2.ttl"], provider.pages["/3.ttl"]
            go.set()
            until(lambda: versions(desk) == 3, "three versions")
        finally:
            go.set()
            scheduler.stop()
        graph = {line.split(b" <http://h")[0].decode() for line in workshop.store.dump(instance.settings.graph("p"))}
        assert graph == {A1, B1, C1}


def waiting(desk: Desk) -> list[tuple[object, str]]:
    return list(desk.workshop.ledger.announcements.waiting(datetime.now(UTC), "p"))


def test_an_edited_registry_takes_effect_at_the_next_tick(instance: Instance, provider: ProviderServer) -> None:
    """A provider added while the platform runs is harvested; a broken edit changes nothing but is told."""
    instance.register("{}\n")
    release(provider, 1, A1)
    with scheduled(instance) as (desk, _):
        register(instance, provider)
        until(lambda: versions(desk) == 1, "the new provider's version")
        instance.register(f"p:\n  viod: {provider.url}/void.ttl\n")
        until(lambda: desk.workshop.roster.problem is not None, "the problem told")
        release(provider, 2, A2)
        until(lambda: versions(desk) == 2, "the harvest by the last good registry")
        assert "void" in str(desk.workshop.roster.problem)


def test_a_command_beside_a_running_schedule_is_handed_over(instance: Instance, provider: ProviderServer) -> None:
    """`harvest run`, `approve`, `verify` find the data directory taken and wait for the answer of its holder."""
    register(instance, provider, "interval: 1d")
    release(provider, 1, A1)
    with scheduled(instance) as (desk, _):
        until(lambda: versions(desk) == 1, "the first version")
        with pytest.raises(BusyError, match="process"), opened(instance.settings):
            pass
        release(provider, 2, A2)
        answer = carry_out(instance.settings, "run", ["p"], lambda name, step: None)
        assert answer["ok"] and answer["results"][0]["outcome"] == "committed"
        assert carry_out(instance.settings, "verify", [], lambda name, step: None)["ok"]
        failed = carry_out(instance.settings, "approve", ["p"], lambda name, step: None)
        assert not failed["ok"] and "nothing of p is held" in failed["error"]


def test_a_command_alone_does_its_work_itself(instance: Instance, provider: ProviderServer) -> None:
    """Without a running instance the command opens the data directory, and leaves it free."""
    register(instance, provider)
    release(provider, 1, A1)
    answer = carry_out(instance.settings, "run", [], lambda name, step: None)
    assert [result["outcome"] for result in answer["results"]] == ["committed"]
    again = carry_out(instance.settings, "run", [], lambda name, step: None)
    assert [result["outcome"] for result in again["results"]] == ["nothing new"]


def test_a_hung_washing_is_ended_by_its_time_limit(instance: Instance, provider: ProviderServer) -> None:
    """A dump that takes too long is a finding, its process is gone, and the provider's next release is harvested."""
    instance.settings = replace(instance.settings, wash=WashSettings(timeout_s=0.001))
    register(instance, provider)
    release(provider, 1, *(f'<http://x/{i}> <http://p> "{i}"' for i in range(60_000)))
    with scheduled(instance) as (desk, _):
        until(lambda: any(run.ended for run in desk.workshop.ledger.runs("p")), "the run's end")
        [run] = desk.workshop.ledger.runs("p")
        assert run.outcome == "failed" and run.findings[0].kind == "wash-timeout"
    instance.settings = replace(instance.settings, wash=WashSettings())
    release(provider, 2, A2)
    with scheduled(instance) as (desk, _):
        until(lambda: versions(desk) == 1, "the next release")


def test_stopping_in_the_middle_loses_nothing(instance: Instance, provider: ProviderServer) -> None:
    """A shutdown while a harvest runs finishes it; what was waiting is harvested after the next start."""
    register(instance, provider)
    release(provider, 1, A1)
    with scheduled(instance) as (desk, _):
        until(lambda: provider.asked("/1.ttl") != [], "the download")
    release(provider, 2, A2)
    with scheduled(instance) as (desk, _):
        until(lambda: versions(desk) >= 1 and not waiting(desk), "nothing waiting")
        until(lambda: modified(desk) == datetime(2026, 1, 2, tzinfo=UTC), "the newest release")
    instance.clock.now = datetime.now(UTC)
    assert instance.graph("p") == {A2}
    assert instance.proven("p")


def test_one_providers_trouble_does_not_stop_another(instance: Instance, provider: ProviderServer) -> None:
    """A provider whose description is broken and one whose dump is: the third is harvested in the same tick."""
    provider.put("/bad.ttl", "this is not Turtle <")
    provider.describe("/void2.ttl", "2026-01-01T00:00:00Z", ["/nothing.ttl"])
    release(provider, 1, A1)
    instance.register(
        f"broken:\n  void: {provider.url}/bad.ttl\nempty:\n  void: {provider.url}/void2.ttl\n"
        f"p:\n  void: {provider.url}/void.ttl\n"
    )
    with scheduled(instance) as (desk, _):
        until(lambda: versions(desk) == 1, "the good provider's version")
        until(lambda: desk.workshop.ledger.runs("empty") != [], "the bad dump's run")
        assert desk.workshop.ledger.runs("broken")[0].outcome == "failed"


def test_a_shutdown_does_not_wait_for_a_download_that_hangs(instance: Instance, provider: ProviderServer) -> None:
    """It is given up without a word against the provider, and taken up at the next start."""
    register(instance, provider)
    release(provider, 1, A1)
    real = provider.pages["/1.ttl"]
    reached, hold = threading.Event(), threading.Event()

    class Hanging(type(real)):  # type: ignore[misc]  # a page whose body does not come
        @property
        def body(self) -> bytes:
            reached.set()
            hold.wait(WAIT_S)
            return real.body

        @body.setter
        def body(self, value: bytes) -> None:
            """The dataclass sets it; it is not used."""

    provider.pages["/1.ttl"] = Hanging(b"", "text/turtle")
    with scheduled(instance) as (desk, _):
        assert reached.wait(WAIT_S)
        began = time.monotonic()
    assert time.monotonic() - began < WAIT_S / 2
    hold.set()
    provider.pages["/1.ttl"] = real
    with scheduled(instance) as (desk, _):
        until(lambda: versions(desk) == 1, "the harvest after the restart")
        assert [run.outcome for run in desk.workshop.ledger.runs("p")] == ["committed"]


def test_a_provider_that_does_not_answer_holds_up_no_other(instance: Instance, provider: ProviderServer) -> None:
    """Its look waits for the time limit; the others are looked at tick after tick meanwhile."""
    with serving() as silent:
        silent.gate.clear()
        release(provider, 1, A1)
        instance.register(f"p:\n  void: {provider.url}/void.ttl\nsilent:\n  void: {silent.url}/void.ttl\n")
        with scheduled(instance) as (desk, _):
            until(lambda: versions(desk) == 1, "the first version")
            release(provider, 2, A2)
            until(lambda: versions(desk) == 2, "the second version, while the other provider is silent")
            assert silent.requests == []
            silent.gate.set()


def test_harvesting_steps_aside_for_those_who_ask() -> None:
    """What works on a harvest, and the processes it starts, get the processor after the front and its queries."""
    found: list[str] = []

    def work() -> None:
        step_aside()
        found.append(subprocess.run(["nice"], capture_output=True, text=True, check=True).stdout.strip())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert found == [str(NICE)]
    assert before < NICE, "the main thread starts the front, which must not step aside"


def test_the_threads_of_harvesting_have_stepped_aside(instance: Instance, provider: ProviderServer) -> None:
    """Those that harvest and those that wash seeds."""
    register(instance, provider)

    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    with scheduled(instance) as (_, scheduler):
        for pool in (scheduler._workers, scheduler._seeders):
            assert pool.submit(priority).result(WAIT_S) == NICE
