"""Where datasets stand: each by itself, and the provider as the worst of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from harvest.ledger import Database, Ledger, RunFacts, Standing
from harvest.ledger.schema import MIGRATIONS
from harvest.ledger.states import worst
from harvest.model import Announcement, Coverage, Finding, Outcome, State
from tests.ledger.samples import announced, dataset, later, ledger

FATAL = Finding("wash", "cannot be parsed", fatal=True)
ONE, OTHER = "http://example.org/void#one", "http://example.org/void#other"


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path, "a")


def seen(made: Ledger, iri: str, coverage: Coverage = Coverage.FULL) -> Announcement:
    return announced(made, "a", dataset(iri, coverage))


def ended(made: Ledger, found: Announcement, outcome: Outcome, minute: float = 1) -> int:
    """A run over an announcement that ended so, with what follows for the announcement."""
    run = made.start_run("a", later(minute), found, "fetch")
    if outcome is Outcome.FAILED:
        made.announcements.postpone(found.id, later(minute + 1), FATAL)
    elif outcome is Outcome.HELD:
        made.announcements.hold(found.id, later(minute + 1), FATAL)
    else:
        made.announcements.settle(found.id, "done")
    made.end_run(run, outcome, later(minute + 1), RunFacts(findings=(FATAL,)))
    return run


def standings(made: Ledger) -> dict[str, Standing]:
    return {standing.iri: standing for standing in made.standings.of(["a"]).get("a", ())}


def state(made: Ledger) -> State:
    return worst(standings(made).values())


def test_a_dataset_that_fails_is_not_hidden_by_one_that_goes_well(made: Ledger) -> None:
    """The other one commits every day, and nobody would ever see that this one answers 500."""
    run = ended(made, seen(made, ONE), Outcome.FAILED)
    ended(made, seen(made, OTHER), Outcome.COMMITTED, minute=5)
    assert (state(made), standings(made).keys()) == (State.FAILING, {ONE})
    bad = standings(made)[ONE].bad
    assert bad is not None
    assert (bad.run, bad.since, bad.tries, bad.tried) == (run, later(1), 1, later(2))


def test_the_worst_dataset_is_what_the_provider_is(made: Ledger) -> None:
    """Failing before held, held before harvesting; what merely waits is idle."""
    seen(made, ONE)
    assert (standings(made)[ONE].state, state(made)) == (State.WAITING, State.IDLE)
    other = seen(made, OTHER)
    run = made.start_run("a", later(1), other, "wash")
    assert (standings(made)[OTHER].state, state(made)) == (State.HARVESTING, State.HARVESTING)
    ended(made, seen(made, ONE), Outcome.HELD)
    assert (standings(made)[ONE].state, state(made)) == (State.HELD, State.HELD)
    made.end_run(run, Outcome.FAILED, later(3), RunFacts(findings=(FATAL,)))
    assert (standings(made)[OTHER].state, state(made)) == (State.FAILING, State.FAILING)


def test_tries_are_counted_from_the_first_that_went_wrong_over_all_announcements(made: Ledger) -> None:
    """A provider that publishes something broken every day is not better off for each day."""
    first = seen(made, ONE)
    ended(made, first, Outcome.FAILED, minute=1)
    made.announcements.postpone(first.id, later(4))  # the same bytes again, reported by no run of their own
    run = ended(made, seen(made, ONE), Outcome.FAILED, minute=10)
    bad = standings(made)[ONE].bad
    assert bad is not None
    assert (bad.since, bad.tries, bad.tried, bad.run) == (later(1), 3, later(11), run)
    ended(made, seen(made, ONE), Outcome.UNCHANGED, minute=20)
    assert standings(made) == {}


def test_a_dump_that_gave_way_says_nothing_of_the_tries_before(made: Ledger) -> None:
    """It was never tried, so what failed before it still fails."""
    ended(made, seen(made, ONE), Outcome.FAILED)
    waits = seen(made, ONE)
    made.start_run("a", later(5), waits, "wait")
    assert standings(made)[ONE].state is State.FAILING, "a run that waits for its turn does nothing yet"
    seen(made, ONE)
    assert standings(made)[ONE].running == ()
    assert standings(made)[ONE].bad is not None


def test_a_description_that_cannot_be_read_fails_until_it_can(made: Ledger) -> None:
    """It counts as one more dataset, without an IRI."""
    for minute in (1, 2):
        made.undescribed("a", (FATAL,), later(minute), later(minute + 1))
    bad = standings(made)[""].bad
    assert bad is not None
    assert (state(made), bad.since, bad.tries, bad.tried, bad.run) == (State.FAILING, later(1), 2, later(2), None)


def test_a_partial_dump_says_what_it_waits_for(made: Ledger) -> None:
    """The second waits for the first, which failed and is tried again later."""
    first = seen(made, ONE, Coverage.PARTIAL)
    second = seen(made, ONE, Coverage.PARTIAL)
    ended(made, first, Outcome.FAILED)
    one, two = standings(made)[ONE].waiting
    assert (one.announcement, one.behind, two.announcement, two.behind) == (first.id, None, second.id, first.id)
    assert standings(made)[ONE].next_try == one.retry_at


def test_a_ledger_of_before_knows_how_the_last_tries_ended(tmp_path: Path) -> None:
    """From its runs: since when, how often, and of each dataset by itself."""
    path = tmp_path / "ledger.sqlite"
    before = next(n for n, text in enumerate(MIGRATIONS) if "CREATE TABLE attempt" in text)
    Database(path, migrations=MIGRATIONS[:before]).close()
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO provider (name, graph, failures) VALUES ('a', 'g', 0)")
        runs = [(ONE, "committed"), (ONE, "failed"), (OTHER, "unchanged"), (ONE, "held"), (None, "failed")]
        for minute, (iri, outcome) in enumerate(runs):
            values = ("a", later(minute).isoformat(), later(minute + 1).isoformat(), outcome, iri)
            db.execute("INSERT INTO run (provider, started, ended, outcome, dataset) VALUES (?, ?, ?, ?, ?)", values)
    made = Ledger(Database(path))
    [standing] = made.standings.of()["a"]
    assert standing.bad is not None
    bad = standing.bad
    assert (standing.iri, bad.outcome, bad.run, bad.tries) == (ONE, "held", 4, 2)
    assert (bad.since, bad.tried) == (later(1), later(4))


def test_a_thousand_providers_take_no_more_queries_than_one(tmp_path: Path) -> None:
    """What went well is not read."""
    names = [f"a{n}" for n in range(1000)]
    made = ledger(tmp_path, *names)
    queries: list[str] = []
    made.database._connection().set_trace_callback(queries.append)
    assert made.standings.of() == {}
    assert len(queries) == 3
