"""The short form that lists show says the same as the whole object, in one query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.catalog.providers import SCHEDULE, Schedule, provider_reports, summaries
from harvest.config.settings import Settings
from harvest.ledger import Described, Ledger, RunFacts
from harvest.model import About, Finding, Outcome, Provider, Source, Validators
from tests.ledger.samples import NOW, announced, dataset, later, ledger, version

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
    made.end_run(
        made.start_run("a", later(5), announced(made), "fetch"), Outcome.FAILED, later(6), RunFacts(findings=(FATAL,))
    )


def held(made: Ledger) -> None:
    found = announced(made)
    made.end_run(made.start_run("a", later(5), found), Outcome.HELD, later(6), RunFacts(findings=(FATAL,)))
    made.announcements.settle(found.id, "held")


def odd(made: Ledger) -> None:
    made.end_run(made.start_run("a", later(5), announced(made)), Outcome.UNCHANGED, later(6), RunFacts(findings=(ODD,)))


def unreadable(made: Ledger) -> None:
    made.undescribed("a", (FATAL,), NOW, later(30))
    made.end_run(made.start_run("a", later(5), None), Outcome.FAILED, later(6), RunFacts(findings=(FATAL,)))


def readable(made: Ledger) -> None:
    about = (About("http://example.org/d", "Ships"), About("http://example.org/e", "Other"))
    made.described.file("a", Described(PROVIDER.url, "e" * 64, Validators(), (ODD,), about), NOW)


def begun(made: Ledger) -> None:
    made.steps.begin(made.start_run("a", later(8), announced(made), "fetch"), "wash", later(9))


def other(made: Ledger) -> None:
    """Another dataset of the provider is harvested."""
    found = announced(made, "a", dataset("http://example.org/void#other"))
    made.end_run(made.start_run("a", later(8), found), Outcome.UNCHANGED, later(9))
    made.announcements.settle(found.id, "done")


STORIES: list[tuple[Callable[[Ledger], None], ...]] = [
    (),
    (commit,),
    (commit, failed),
    (commit, failed, begun),
    (failed, commit),
    (commit, held),
    (commit, odd),
    (commit, failed, other),
    (commit, held, other),
    (failed, held, begun, other),
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
    [short] = summaries(made, registered, later(20))
    [whole] = provider_reports(made, SETTINGS, registered, later(20))
    for key in ("name", "state", "version", "triples", "modified", "next_check"):
        assert getattr(short, key) == getattr(whole, key)
    assert [short.title] == [about.title for about in whole.about][:1] or not whole.about
    assert (short.tried is None) == (whole.trouble is None)
    run, other = short.last_run, whole.last_run
    assert (run is None) == (other is None)
    if run and other:
        assert (run.id, run.started, run.ended, run.outcome) == (other.id, other.started, other.ended, other.outcome)
        assert run.step == (other.step if other.ended is None else None)


def test_what_the_registry_alone_knows_is_listed(tmp_path: Path) -> None:
    """By name, among those that were harvested."""
    made = ledger(tmp_path, "b")
    registered: dict[str, Provider] = {name: replace(PROVIDER, name=name) for name in "ac"}
    listed = summaries(made, registered, NOW)
    assert [(each.name, each.state) for each in listed] == [("a", "idle"), ("b", "disabled"), ("c", "idle")]


def test_trouble_is_shown_with_since_when_and_how_often(tmp_path: Path) -> None:
    """From the first failure after the last good run, not from the last one."""
    made = ledger(tmp_path, "a")
    failed(made)
    commit(made)
    for minutes in (10, 20, 30):
        run = made.start_run("a", later(minutes), announced(made), "fetch")
        made.end_run(run, Outcome.FAILED, later(minutes + 1), RunFacts(findings=(FATAL,)))
    known = made.overview.of(["a", "unknown"])
    assert known.keys() == {"a"}
    [standing] = known["a"].standings
    assert standing.bad is not None
    assert (standing.bad.since, standing.bad.tries, standing.bad.run) == (later(10), 3, run)
    commit_again = made.start_run("a", later(40), announced(made), "check")
    made.end_run(commit_again, Outcome.UNCHANGED, later(41))
    assert [each.bad for each in made.overview.of()["a"].standings] == [None]
