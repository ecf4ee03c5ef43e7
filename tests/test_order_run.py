"""What `harvest run` answers: each dataset with the figures of its own run, and never silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.cli import output as show
from harvest.service.order_run import run
from harvest.service.orders import carry_out
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_findings import START, day, describe, of, report_of
from tests.pipeline.test_semantics import A1, A2, B1, ttl
from tests.provider import VOID, ProviderServer, dataset, serving


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path, provider: ProviderServer) -> Iterator[TemporaryInstance]:
    made = TemporaryInstance(tmp_path)
    made.register(f"p:\n  void: {provider.url}/void.ttl\n")
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1, A2))
    yield made
    made.close()


def answers(instance: TemporaryInstance, *names: str) -> list[dict[str, Any]]:
    return list(run(instance.harvester, names)["results"])


def reasons(answer: dict[str, Any]) -> list[str]:
    return [each["reason"] for each in answer["reasons"]]


def printed(instance: TemporaryInstance, capsys: pytest.CaptureFixture[str], *names: str) -> str:
    show.results(run(instance.harvester, names))
    return capsys.readouterr().out


def test_each_dataset_has_the_figures_of_its_own_run(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Two were harvested, and the figures of the last one stood beside both."""
    describe(provider, ("a", day(1), "/a.ttl"), ("b", day(2), "/b.ttl"))
    figures = [(each["dataset"][-2:], each["version"], each["added"], each["removed"]) for each in answers(instance)]
    assert figures == [("#a", 1, 1, 0), ("#b", 2, 2, 1)]


def test_nothing_new_says_why(
    instance: TemporaryInstance, provider: ProviderServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same date, an older one, one that the registry calls harvested."""
    describe(provider, ("a", day(3), "/a.ttl"))
    answers(instance)
    [same] = answers(instance)
    assert (same["outcome"], reasons(same)) == (
        "nothing new",
        ["its date, 2026-01-03 00:00, was harvested on 2026-01-01 00:00 UTC"],
    )
    describe(provider, ("a", day(2), "/a.ttl"))
    [older] = answers(instance)
    assert "is older than the one harvested, 2026-01-03 00:00" in reasons(older)[0]
    out = printed(instance, capsys)
    assert "p  nothing new" in out and "is older than" in out and "modified-older" in out


def test_a_registry_entry_that_moved_with_the_same_date_is_reported(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Nothing is harvested from the new address until its date is newer, and that is no secret."""
    describe(provider, ("a", day(1), "/a.ttl"))
    answers(instance)
    provider.put("/moved.ttl", VOID + dataset(f"{provider.url}/#a", day(1), ["/b.ttl"]))
    instance.register(f"p:\n  void: {provider.url}/moved.ttl\n  modified: 2026-01-01\n")
    [answer] = answers(instance)
    [finding] = answer["reasons"][0]["findings"]
    assert (answer["outcome"], finding["kind"]) == ("nothing new", "dumps-differ")
    assert "b.ttl" in finding["message"] and "`harvest run p`" in finding["message"]


def test_what_fails_is_tried_now_and_says_when_it_is_tried_again(
    instance: TemporaryInstance, provider: ProviderServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person who calls it mended something a moment ago; until when it waits is said."""
    describe(provider, ("a", day(1), "/none.ttl"))
    answers(instance)
    out = printed(instance, capsys)
    assert provider.asked("/none.ttl") == [404, 404]
    assert "p  waiting" in out and "it is tried again at 2026-01-01 00:02 UTC" in out
    provider.put("/void.ttl", "broken <")
    answers(instance)
    describe(provider, ("a", day(2), "/a.ttl"))
    assert [each["outcome"] for each in answers(instance)] == ["committed"], "the description is asked for at once"


def test_what_is_held_waits_for_somebody(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """It is no `nothing new`."""
    instance.guard(0, 0.1)
    describe(provider, ("a", day(1), "/b.ttl"))
    answers(instance)
    provider.put("/c.ttl", ttl(A1))
    describe(provider, ("a", day(2), "/c.ttl"))
    assert [each["outcome"] for each in answers(instance)] == ["held"]
    [answer] = answers(instance)
    assert (answer["outcome"], reasons(answer)) == (
        "waiting",
        ["the shrink guard holds it until `harvest approve p`"],
    )


@pytest.mark.parametrize(
    ("dump", "why"),
    [("/dumps/", "it names a directory"), ("ftp://x.example/a.nt", "only http and https"), ("/a.csv", "it is a table")],
)
def test_a_dump_that_is_none_is_refused_with_the_reason_that_check_gives(
    instance: TemporaryInstance, provider: ProviderServer, dump: str, why: str
) -> None:
    """The answer says more than that there is no dataset."""
    describe(provider, ("a", day(1), dump))
    [answer] = answers(instance)
    assert answer["outcome"] == "failed"
    assert why in answer["finding"]["message"]


def test_beside_a_running_instance_the_progress_is_shown(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The command waits for another process, and says what that one harvests meanwhile."""
    describe(provider, ("a", day(1), "/a.ttl"))
    answers(instance)
    ledger = instance.harvester.instance.ledger
    latest = ledger.announcements.latest("p", f"{provider.url}/#a")
    assert latest is not None
    ledger.start_run("p", instance.clock(), latest[0], "wash")
    heard: list[tuple[str, str]] = []

    def hear(name: str, step: str) -> None:
        """The other process answers once its step was shown."""
        heard.append((name, step))
        if (request := ledger.requests.take(instance.clock())) is not None:
            ledger.requests.finish(request.id, {"ok": True, "results": []}, instance.clock())

    assert carry_out(instance.settings, "run", ["p"], hear) == {"ok": True, "results": []}
    assert heard[0] == ("p", "wash")


def test_an_undated_dump_that_is_gone_says_when_it_is_asked_for_again(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Nothing of it is announced, and it fails all the same."""
    describe(provider, ("a", None, "/a.ttl"))
    answers(instance)
    page = provider.pages.pop("/a.ttl")
    instance.clock.forward(days=2)
    answers(instance)
    its = of(report_of(instance), "a")
    assert (its.state, its.committed) == ("failing", START)
    assert its.next_try is not None
    assert "its dumps are asked for again at 2026-01-03" in its.reason
    provider.pages["/a.ttl"] = page
    instance.clock.forward(days=2)
    answers(instance)
    assert report_of(instance).state == "idle"
