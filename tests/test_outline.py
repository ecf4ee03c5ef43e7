"""The short form that lists show says the same as the whole object, in one query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvest.ledger import Described, Ledger
from harvest.model import About, Finding, Outcome, Provider, Source, Validators
from harvest.outline import outlines
from harvest.settings import Settings
from harvest.status import SCHEDULE, Schedule, provider_objects
from tests.ledger.samples import NOW, announced, later, ledger, version

PROVIDER = Provider("a", Source.VOID, "http://example.org/void.ttl")
FATAL = Finding("wash", "cannot be parsed", fatal=True)
ODD = Finding("odd", 'says "fatal": true, and is not')
SETTINGS = Settings(graph_base="http://example.org/graph/")


def commit(made: Ledger) -> None:
    found = announced(made)
    first = version(1, made.start_run("a", NOW, found, "check"), triples=1234)
    made.file_version(first)
    made.commit_version(first, found, later(1))


def failed(made: Ledger) -> None:
    made.end_run(made.start_run("a", later(5), announced(made), "fetch"), Outcome.FAILED, later(6), findings=(FATAL,))


def held(made: Ledger) -> None:
    found = announced(made)
    made.end_run(made.start_run("a", later(5), found), Outcome.HELD, later(6), findings=(FATAL,))
    made.announcements.settle(found.id, "held")


def odd(made: Ledger) -> None:
    made.end_run(made.start_run("a", later(5), announced(made)), Outcome.UNCHANGED, later(6), findings=(ODD,))


def unreadable(made: Ledger) -> None:
    made.undescribed("a", (FATAL,), later(30))
    made.end_run(made.start_run("a", later(5), None), Outcome.FAILED, later(6), findings=(FATAL,))


def readable(made: Ledger) -> None:
    about = (About("http://example.org/d", "Ships"), About("http://example.org/e", "Other"))
    made.described("a", Described(PROVIDER.url, "e" * 64, Validators(), (ODD,), about))


def begun(made: Ledger) -> None:
    made.steps.begin(made.start_run("a", later(8), announced(made), "fetch"), "wash", later(9))


STORIES: list[tuple[Callable[[Ledger], None], ...]] = [
    (),
    (commit,),
    (commit, failed),
    (commit, failed, begun),
    (failed, commit),
    (commit, held),
    (commit, odd),
    (commit, unreadable),
    (commit, unreadable, readable),
    (commit, readable, begun),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: "-".join(step.__name__ for step in story) or "nothing")
@pytest.mark.parametrize("provider", [PROVIDER, replace(PROVIDER, enabled=False), None], ids=["on", "off", "gone"])
def test_a_list_says_what_the_object_says(
    tmp_path: Path, story: tuple[Callable[[Ledger], None], ...], provider: Provider | None
) -> None:
    """Whatever happened; a dashboard that differs from the page of a provider is believed by nobody."""
    made = ledger(tmp_path, "a")
    made.set_meta(SCHEDULE, Schedule(NOW, 60).dump())
    for step in story:
        step(made)
    registered = {"a": provider} if provider else {}
    [short] = outlines(made, registered, later(20))
    [whole] = provider_objects(made, SETTINGS, registered, later(20))
    assert short.keys() <= whole.keys()
    for key in ("name", "state", "version", "triples"):
        assert short[key] == whole[key]
    assert _same(short["modified"], whole["modified"])
    assert _same(short["next_check"], whole["next_check"])
    assert [about["title"] for about in short["about"]] == [about["title"] for about in whole["about"]][:1]
    assert (short["trouble"] is None) == (whole["trouble"] is None)
    run, other = short["last_run"], whole["last_run"]
    assert (run is None) == (other is None)
    if run and other:
        assert (run["id"], run["outcome"]) == (other["id"], other["outcome"])
        assert _same(run["started"], other["started"])
        assert _same(run["ended"], other["ended"])
        if other["ended"] is None:
            assert run["steps"][-1]["name"] == other["steps"][-1]["name"]


def _same(short: str | None, whole: str | None) -> bool:
    """Whether two times are the same, however their zone is written."""
    return (short or "").replace("+00:00", "Z") == (whole or "")


def test_what_the_registry_alone_knows_is_listed(tmp_path: Path) -> None:
    """By name, among those that were harvested."""
    made = ledger(tmp_path, "b")
    registered: dict[str, Provider] = {name: replace(PROVIDER, name=name) for name in "ac"}
    listed: list[dict[str, Any]] = outlines(made, registered, NOW)
    assert [(each["name"], each["state"]) for each in listed] == [("a", "idle"), ("b", "disabled"), ("c", "idle")]


def test_trouble_is_told_with_since_when_and_how_often(tmp_path: Path) -> None:
    """From the first failure after the last good run, not from the last one."""
    made = ledger(tmp_path, "a")
    failed(made)
    commit(made)
    for minutes in (10, 20, 30):
        run = made.start_run("a", later(minutes), announced(made), "fetch")
        made.end_run(run, Outcome.FAILED, later(minutes + 1), findings=(FATAL,))
    known = made.overview.of(["a", "unknown"])
    assert known.keys() == {"a"}
    assert (known["a"].since, known["a"].tries) == (later(10), 3)
    assert known["a"].settled is not None
    assert known["a"].settled.id == run
    commit_again = made.start_run("a", later(40), announced(made), "check")
    made.end_run(commit_again, Outcome.UNCHANGED, later(41))
    assert (made.overview.of()["a"].since, made.overview.of()["a"].tries) == (None, 0)
