"""The running schedule: ticks, no overlap, backlog, the inbox, time limits, and a clean end."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from harvest.archive.provenance import new_activity
from harvest.catalog.providers import provider_report
from harvest.config.settings import ScheduleSettings, WashSettings
from harvest.errors import BusyError
from harvest.pipeline import Harvester, opened
from harvest.pipeline.priority import NICE, step_aside
from harvest.service import schedule
from harvest.service.orders import carry_out
from harvest.service.schedule import Scheduler
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.provider import VOID, ProviderServer, dataset, serving

WAIT_S = 240.0


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[TemporaryInstance]:
    made = TemporaryInstance(tmp_path)
    made.settings = replace(made.settings, schedule=ScheduleSettings(update=0.2, export=0.2, status=60))
    yield made
    made.close()


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, f"not within {WAIT_S:g} s: {what}"
        time.sleep(0.02)


@contextmanager
def scheduled(instance: TemporaryInstance) -> Iterator[tuple[Harvester, Scheduler]]:
    """The instance with its schedule running on real time."""
    with opened(instance.settings) as running:
        harvester = Harvester(running)
        scheduler = Scheduler(harvester)
        scheduler.start()
        try:
            yield harvester, scheduler
        finally:
            scheduler.stop()


def register(instance: TemporaryInstance, provider: ProviderServer, *keys: str) -> None:
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n" + "".join(f"  {key}\n" for key in keys))


def asked(provider: ProviderServer, path: str) -> bool:
    return provider.asked(path) != []


def modified(harvester: Harvester) -> datetime | None:
    record = harvester.instance.ledger.provider("p")
    return record.modified if record else None


def versions(harvester: Harvester) -> int:
    record = harvester.instance.ledger.provider("p")
    return record.version if record else 0


def test_releases_are_harvested_and_exported_unattended(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A release, then another: both become versions and exports with nobody asking."""
    register(instance, provider)
    release(provider, 1, A1)
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) == 1, "the first version")
        release(provider, 2, A2)
        until(lambda: versions(harvester) == 2, "the second version")
        until(lambda: (instance.settings.exports_dir / "p.nq.gz.sha256").exists(), "the export")


def test_a_provider_is_never_harvested_twice_at_once(instance: TemporaryInstance, provider: ProviderServer) -> None:
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
    with scheduled(instance) as (harvester, _):
        until(lambda: len(provider.asked("/void.ttl")) > 5, "several looks")
        hold.set()
        until(lambda: versions(harvester) == 1, "the version")
    assert provider.asked("/1.ttl") == [200]
    assert len(harvester.instance.ledger.versions("p")) == 1


def test_partials_announced_while_a_harvest_runs_are_taken_at_once(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A partial that is gone when its turn comes was downloaded when it was seen, and none is skipped."""
    register(instance, provider)
    release(provider, 1, A1)
    reached, go = threading.Event(), threading.Event()

    def on_step(name: str, step: str) -> None:
        if step == "revise" and not go.is_set():
            reached.set()
            go.wait(WAIT_S)

    with opened(instance.settings, on_step=on_step) as running:
        harvester = Harvester(running)
        scheduler = Scheduler(harvester)
        scheduler.start()
        try:
            assert reached.wait(WAIT_S)
            for day, triple in ((2, B1), (3, C1)):
                release(provider, day, triple, partial=True)
                until(partial(asked, provider, f"/{day}.ttl"), "the download at sight")
            until(lambda: filed(harvester) >= 2, "both partials filed")
            del provider.pages["/2.ttl"], provider.pages["/3.ttl"]
            go.set()
            until(lambda: versions(harvester) == 3, "three versions")
        finally:
            go.set()
            scheduler.stop()
        graph = {line.split(b" <http://h")[0].decode() for line in running.store.dump(instance.settings.graph("p"))}
        assert graph == {A1, B1, C1}


def filed(harvester: Harvester) -> int:
    """How many announcements of the provider wait for their turn with their dumps filed."""
    [now] = harvester.instance.ledger.described.of("p")
    return sum(each.state == "fetched" for each in now.waiting)


def waiting(harvester: Harvester) -> list[tuple[object, str]]:
    return list(harvester.instance.ledger.announcements.waiting(datetime.now(UTC), "p"))


def test_an_edited_registry_takes_effect_at_the_next_tick(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A provider added while the platform runs is harvested; a broken edit changes nothing but is reported."""
    instance.register("{}\n")
    release(provider, 1, A1)
    with scheduled(instance) as (harvester, _):
        register(instance, provider)
        until(lambda: versions(harvester) == 1, "the new provider's version")
        until(lambda: "modified" in instance.settings.registry.read_text(), "the date that is written back")
        instance.register(f"p:\n  viod: {provider.url}/void.ttl\n")
        until(lambda: harvester.instance.roster.problem is not None, "the problem of the registry")
        release(provider, 2, A2)
        until(lambda: versions(harvester) == 2, "the harvest by the last good registry")
        assert "void" in str(harvester.instance.roster.problem)


def test_a_log_that_could_not_be_written_is_written_by_a_later_tick(instance: TemporaryInstance) -> None:
    """Also where no provider is due any more, such as after the last one was forgotten."""
    instance.register("{}\n")
    with scheduled(instance) as (harvester, _):
        crawl = harvester.instance.crawl
        crawl.note(new_activity(), [Triple(NamedNode("http://h/a"), NamedNode("http://h/p"), Literal("1"))])
        until(lambda: not harvester.instance.ledger.downloads.waits(), "the log written")


@contextmanager
def seldom(instance: TemporaryInstance, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Harvester, Scheduler]]:
    """The instance on its own clock, with a tick a day and tries again as soon as the clock lets them."""
    monkeypatch.setattr(schedule, "RETRY_S", 0.05)
    instance.settings = replace(instance.settings, schedule=ScheduleSettings(update=86400, export=60, status=60))
    with opened(instance.settings, instance.clock) as running:
        harvester = Harvester(running)
        scheduler = Scheduler(harvester)
        scheduler.start()
        try:
            yield harvester, scheduler
        finally:
            scheduler.stop()


def failed_looks(harvester: Harvester) -> int:
    record = harvester.instance.ledger.provider("p")
    return record.failures if record else 0


def test_a_failed_look_is_tried_again_after_a_minute(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look is not left to the next tick, which may be a day away; the page says the same."""
    register(instance, provider)
    provider.put("/void.ttl", "broken <")
    with seldom(instance, monkeypatch) as (harvester, _):
        until(lambda: failed_looks(harvester) == 1, "the first look")
        release(provider, 1, A1)
        time.sleep(0.2)
        assert len(provider.asked("/void.ttl")) == 1
        registered = harvester.instance.roster.get("p")
        report = provider_report(harvester.instance.ledger, instance.settings, "p", registered, instance.clock())
        assert report is not None and report.next_check == datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
        instance.clock.forward(minutes=1)
        until(lambda: versions(harvester) == 1, "the harvest")


def test_a_dump_that_failed_is_tried_again_whatever_the_tick_is(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The announcement knows its time; no look is needed for it."""
    register(instance, provider)
    release(provider, 1, A1)
    page = provider.pages.pop("/1.ttl")
    with seldom(instance, monkeypatch) as (harvester, _):
        until(lambda: any(run.ended for run in harvester.instance.ledger.runs("p")), "the first try")
        provider.pages["/1.ttl"] = page
        instance.clock.forward(minutes=1)
        until(lambda: versions(harvester) == 1, "the harvest")
        assert provider.asked("/void.ttl") == [200]


def test_a_start_looks_at_once(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever mended the network and starts again need not wait for what failed before."""
    register(instance, provider, "interval: 7d")
    provider.put("/void.ttl", "broken <")
    for _ in range(5):
        instance.tick("p", forced=True)
    instance.close()
    release(provider, 1, A1)
    with seldom(instance, monkeypatch) as (harvester, _):
        until(lambda: versions(harvester) == 1, "the harvest")


def test_a_provider_that_is_new_or_moved_is_looked_at_at_the_next_tick(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Its interval says how often it is looked at, not how long nobody looks at it at first."""
    instance.register("{}\n")
    release(provider, 1, A1)
    with scheduled(instance) as (harvester, scheduler):
        until(lambda: scheduler._tick >= 2, "a few ticks")
        register(instance, provider, "interval: 7d")
        until(lambda: versions(harvester) == 1, "the harvest of the new provider")
        until(lambda: "modified" in instance.settings.registry.read_text(), "the date that is written back")
        provider.put("/2.ttl", f"{A2} .")
        provider.describe("/moved.ttl", "2026-01-02T00:00:00Z", ["/2.ttl"], iri=f"{provider.url}/void.ttl#d")
        instance.register(f"p:\n  void: {provider.url}/moved.ttl\n  interval: 7d\n")
        until(lambda: versions(harvester) == 2, "the harvest from the new address")


def test_a_command_beside_a_running_schedule_is_handed_over(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """`harvest run`, `approve`, `verify` find the data directory taken and wait for the answer of its holder."""
    register(instance, provider, "interval: 1d")
    release(provider, 1, A1)
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) == 1, "the first version")
        with pytest.raises(BusyError, match="process"), opened(instance.settings):
            pass
        release(provider, 2, A2)
        answer = carry_out(instance.settings, "run", ["p"], lambda name, step: None)
        assert answer["ok"] and answer["results"][0]["outcome"] == "committed"
        assert carry_out(instance.settings, "verify", [], lambda name, step: None)["ok"]
        failed = carry_out(instance.settings, "approve", ["p"], lambda name, step: None)
        assert not failed["ok"] and "nothing of p is held" in failed["error"]


def test_a_command_alone_does_its_work_itself(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Without a running instance the command opens the data directory, and leaves it free."""
    register(instance, provider)
    release(provider, 1, A1)
    answer = carry_out(instance.settings, "run", [], lambda name, step: None)
    assert [result["outcome"] for result in answer["results"]] == ["committed"]
    again = carry_out(instance.settings, "run", [], lambda name, step: None)
    assert [result["outcome"] for result in again["results"]] == ["nothing new"]


def test_a_hung_washing_is_ended_by_its_time_limit(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A dump that takes too long is a finding, its process is gone, and the provider's next release is harvested."""
    instance.settings = replace(instance.settings, wash=WashSettings(timeout_s=0.001))
    register(instance, provider)
    release(provider, 1, *(f'<http://x/{i}> <http://p> "{i}"' for i in range(60_000)))
    with scheduled(instance) as (harvester, _):
        until(lambda: any(run.ended for run in harvester.instance.ledger.runs("p")), "the run's end")
        [run] = harvester.instance.ledger.runs("p")
        assert run.outcome == "failed" and run.findings[0].kind == "wash-timeout"
    instance.settings = replace(instance.settings, wash=WashSettings())
    release(provider, 2, A2)
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) == 1, "the next release")


def test_stopping_in_the_middle_loses_nothing(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A shutdown while a harvest runs finishes it; what was waiting is harvested after the next start."""
    register(instance, provider)
    release(provider, 1, A1)
    with scheduled(instance) as (harvester, _):
        until(lambda: provider.asked("/1.ttl") != [], "the download")
    release(provider, 2, A2)
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) >= 1 and not waiting(harvester), "nothing waiting")
        until(lambda: modified(harvester) == datetime(2026, 1, 2, tzinfo=UTC), "the newest release")
    instance.clock.now = datetime.now(UTC)
    assert instance.graph("p") == {A2}
    assert instance.proven("p")


def test_one_providers_trouble_does_not_stop_another(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A provider whose description is broken and one whose dump is: the third is harvested in the same tick."""
    provider.put("/bad.ttl", "this is not Turtle <")
    provider.describe("/void2.ttl", "2026-01-01T00:00:00Z", ["/nothing.ttl"])
    release(provider, 1, A1)
    instance.register(
        f"broken:\n  void: {provider.url}/bad.ttl\nempty:\n  void: {provider.url}/void2.ttl\n"
        f"p:\n  void: {provider.url}/void.ttl\n"
    )
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) == 1, "the good provider's version")
        until(lambda: harvester.instance.ledger.runs("empty") != [], "the bad dump's run")
        assert harvester.instance.ledger.runs("broken")[0].outcome == "failed"


def test_a_shutdown_does_not_wait_for_a_download_that_hangs(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
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
    with scheduled(instance) as (harvester, _):
        assert reached.wait(WAIT_S)
        began = time.monotonic()
    assert time.monotonic() - began < WAIT_S / 2
    hold.set()
    provider.pages["/1.ttl"] = real
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) == 1, "the harvest after the restart")
        assert [run.outcome for run in harvester.instance.ledger.runs("p")] == ["committed"]


def test_a_provider_that_does_not_answer_holds_up_no_other(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Its look waits for the time limit; the others are looked at tick after tick meanwhile."""
    with serving() as silent:
        silent.gate.clear()
        release(provider, 1, A1)
        instance.register(f"p:\n  void: {provider.url}/void.ttl\nsilent:\n  void: {silent.url}/void.ttl\n")
        with scheduled(instance) as (harvester, _):
            until(lambda: versions(harvester) == 1, "the first version")
            release(provider, 2, A2)
            until(lambda: versions(harvester) == 2, "the second version, while the other provider is silent")
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


def test_the_threads_of_harvesting_have_stepped_aside(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Those that harvest and those that wash seeds."""
    register(instance, provider)

    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    with scheduled(instance) as (_, scheduler):
        for threads in (scheduler._workers, scheduler._lookers):
            assert threads.submit("host", "owner", priority).result(WAIT_S) == NICE


@contextmanager
def dripping(begin: bytes = b"") -> Iterator[str]:
    """A server whose answers come byte by byte and never end; gives its address."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)

    def answer(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(10_000)
            connection.sendall(begin)
            while not ended.wait(0.1):
                connection.sendall(b"#")

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://localhost:{listener.getsockname()[1]}"
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/n-triples\r\nContent-Length: 1000000\r\n\r\n"


def test_servers_that_drip_hold_up_no_other(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """As many as may be downloaded at once, and twice as many as are harvested at once; the next is harvested soon."""
    release(provider, 1, A1)
    with dripping(BODY) as drip:
        slow = "".join(f"a{i}:\n  dump: {drip.replace('localhost', f'127.0.0.{i + 2}')}/{i}\n" for i in range(4))
        instance.register(f"{slow}p:\n  void: {provider.url}/void.ttl\n")
        with scheduled(instance) as (harvester, _):
            began = time.monotonic()
            until(lambda: versions(harvester) == 1, "the version of the provider that answers")
            assert time.monotonic() - began < WAIT_S
            runs = [harvester.instance.ledger.runs(f"a{i}") for i in range(4)]
            assert {run.steps[-1].name for found in runs for run in found} == {"fetch"}


def test_a_host_that_drips_is_reported_and_its_neighbours_are_harvested(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """`harvest run` ends by itself: what is too slow is given up, and says which setting would wait for it."""
    instance.settings = replace(
        instance.settings, http=replace(instance.settings.http, min_rate=1000, min_rate_s=3, read_s=3)
    )
    release(provider, 1, A1)
    steps: list[tuple[str, str]] = []
    with dripping(BODY) as drip:
        instance.register(f"a:\n  dump: {drip}/1\nb:\n  dump: {drip}/2\np:\n  void: {provider.url}/void.ttl\n")
        answer = carry_out(instance.settings, "run", [], lambda name, step: steps.append((name, step)))
    found = {result["name"]: result for result in answer["results"] if result["outcome"] != "waiting"}
    assert found["p"]["outcome"] == "committed"
    for name in ("a", "b"):
        assert found[name]["outcome"] == "failed"
        assert found[name]["finding"]["kind"] == "too-slow"
        assert "http.min_rate" in found[name]["finding"]["message"]


def test_slow_descriptions_of_one_host_hold_up_no_other(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """More of them than there are threads that look: they wait without holding one."""
    release(provider, 1, A1)
    with dripping() as drip:
        slow = "".join(f"a{i}:\n  void: {drip}/{i}\n" for i in range(60))
        instance.register(f"{slow}p:\n  void: {provider.url}/void.ttl\n")
        with scheduled(instance) as (harvester, _):
            until(lambda: versions(harvester) == 1, "the version of the provider that answers")


def test_a_dataset_that_is_gone_holds_up_none_beside_it(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A dump without a date answers 404 from now on; the dated ones of the same description are harvested."""
    register(instance, provider)
    provider.put("/a.nt", f"{A1} .\n")
    provider.put("/b.nt", f"{B1} .\n")

    def describe(day: int) -> None:
        sets = [dataset(f"{provider.url}/#a", None, ["/a.nt"]), dataset(f"{provider.url}/#b", at(day), ["/b.nt"])]
        provider.put("/void.ttl", VOID + "".join(sets))

    describe(1)
    with scheduled(instance) as (harvester, _):
        until(lambda: versions(harvester) == 2, "both datasets")
        provider.put("/a.nt", "gone", "text/plain", 404)
        provider.put("/b.nt", f"{C1} .\n")
        describe(2)
        until(lambda: versions(harvester) == 3, "the dated one")


def at(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00Z"


def test_seeds_that_drip_hold_up_no_other(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as are worked on at once; the next one has its turn soon."""
    monkeypatch.setattr("harvest.pipeline.seeds.seeding.LONG_S", 0.5)
    instance.register("{}\n")
    good = provider.put("/a.nt", f"{A1} .\n", "application/n-triples")
    with dripping(BODY) as drip, scheduled(instance) as (harvester, _):
        slow = [f"{drip.replace('localhost', f'127.0.0.{i + 2}')}/{i}" for i in range(6)]
        seeds = harvester.instance.ledger.seeds
        for uri in slow:
            seeds.add(uri, harvester.instance.clock(), 86400)
        hash, _ = seeds.add(good, harvester.instance.clock(), 86400)
        until(lambda: seeds.get(hash).status == "parsed", "the seed that answers")  # type: ignore[union-attr]  # it is there
