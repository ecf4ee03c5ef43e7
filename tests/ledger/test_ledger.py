"""The one place that says which version a provider is at, and what became of every run."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from harvest.ledger import Database, Described, Ledger, RunFacts
from harvest.ledger.requests import BROKEN_OFF, UPDATE
from harvest.model import Coverage, Finding, Note, Outcome, Validators
from sparql.reports import DumpReport, StepReport
from tests.ledger.samples import GRAPH, IRI, NOW, announced, capture, dataset, later, ledger, version

FINDING = Finding("wash", "cannot be parsed", "http://example.org/é.nt", 3, 4, "<a> <b>", fatal=True)
DUMP = DumpReport("http://example.org/é.nt", "0" * 64, 7, None)


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path, "a", "b")


def commit(made: Ledger, n: int, modified: datetime | None = NOW, triples: int = 10) -> None:
    """One harvest of provider `a`, from announcement to version."""
    found = announced(made, "a", dataset(modified=modified))
    made.announcements.fetched(found.id, (capture(),))
    found = replace(found, captures=(capture(),))
    run = made.start_run("a", NOW, found)
    made.file_version(version(n, run, triples=triples, modified=modified))
    made.commit_version(version(n, run, triples=triples, modified=modified), found, later(1))


def test_a_provider_is_enrolled_once(made: Ledger) -> None:
    """Its graph stays what it was when it came."""
    made.enrol("a", "http://other.example/")
    record = made.provider("a")
    assert record is not None
    assert (record.name, record.graph, record.version, record.triples) == ("a", GRAPH, 0, 0)
    assert (record.modified, record.written, record.description, record.retry_at) == (None, None, None, None)
    assert made.provider("c") is None
    assert [r.name for r in made.providers()] == ["a", "b"]


def test_a_description_is_remembered_until_it_fails(made: Ledger) -> None:
    """A failure forgets the validators, so that a mended description is read though the server says 304."""
    validators = Validators('"x"', "yesterday")
    odd = (FINDING, Finding("odd", "something"), Finding("another", "thing"))
    made.described.file("a", Described("http://example.org/void", "e" * 64, validators, odd), NOW)
    record = made.provider("a")
    assert record is not None
    assert (record.url, record.description, record.validators) == ("http://example.org/void", "e" * 64, validators)
    assert made.findings("a") == odd
    assert made.findings("b") == ()

    made.undescribed("a", (FINDING,), NOW, later(5))
    made.undescribed("a", (FINDING,), NOW, later(9))
    record = made.provider("a")
    assert record is not None
    assert (record.description, record.validators, record.failures) == (None, Validators(), 2)
    assert record.retry_at == later(9)
    assert made.findings("a") == (FINDING,)

    made.described.file("a", Described("http://example.org/void", "f" * 64, Validators(), ()), NOW)
    record = made.provider("a")
    assert record is not None
    assert (record.retry_at, record.failures) == (None, 0)
    assert made.findings("a") == ()


def test_a_run_comes_back_as_it_was_filed(made: Ledger) -> None:
    """All its figures, dumps, findings and steps."""
    found = announced(made)
    id = made.start_run("a", NOW, found)
    assert [run.ended for run in made.runs("a")] == [None]
    made.note_run(id, RunFacts(dumps=(DUMP,), vanished=4))
    made.steps.begin(id, "wash", NOW)
    made.end_run(id, Outcome.HELD, later(1), RunFacts(added=5, removed=6, findings=(FINDING,)))
    run = made.run(id)
    assert run is not None
    assert (made.run(id, "a"), made.run(id, "b"), made.runs_of(found.id)) == (run, None, [run])
    assert made.announcements.of_run(id) == found
    assert (run.started, run.ended) == (NOW, later(1))
    assert (run.outcome, run.dataset, run.modified, run.coverage) == ("held", IRI, NOW, "full")
    assert (run.added, run.removed, run.vanished_subjects, run.version) == (5, 6, 4, None)
    assert (run.dumps, run.findings) == ((DUMP,), (FINDING,))
    assert run.steps == (StepReport("wash", NOW, later(1), 60.0, broken=False, figures={}),)
    assert made.run(id + 1) is None


def test_runs_are_given_newest_first(made: Ledger) -> None:
    """Of one provider, and no more than asked for."""
    ids = [made.start_run("a", NOW, None) for _ in range(5)]
    made.start_run("b", NOW, None)
    assert [run.id for run in made.runs("a")] == ids[::-1]
    assert [run.id for run in made.runs("a", 2)] == ids[:2:-1]


def test_a_commit_moves_everything_in_one_step(made: Ledger) -> None:
    """Version, provider, dataset, announcement and run agree, also for who reads meanwhile."""
    found = announced(made)
    made.announcements.fetched(found.id, (capture(),))
    found = replace(found, captures=(capture(),))
    run = made.start_run("a", NOW, found)
    made.file_version(version(1, run))
    assert [v.n for v in made.loading()] == [1]
    record = made.provider("a")
    assert record is not None
    assert record.version == 0

    made.commit_version(version(1, run), found, later(1))
    record = made.provider("a")
    assert record is not None
    assert (record.version, record.triples, record.modified) == (1, 10, NOW)
    assert made.loading() == []
    assert made.versions("a") == [replace(version(1, run), state="committed")]
    settled = made.dataset("a", IRI)
    assert settled is not None
    assert (settled.iri, settled.modified, settled.coverage, settled.committed, settled.captures) == (
        IRI, NOW, Coverage.FULL, later(1), (capture(),),
    )  # fmt: skip
    assert made.announcements.latest("a", IRI) == (found, "done")
    ended = made.run(run)
    assert ended is not None
    assert (ended.outcome, ended.ended, ended.version, ended.added, ended.removed) == ("committed", later(1), 1, 7, 3)


def test_a_commit_may_be_said_again(made: Ledger) -> None:
    """After a crash the version is loaded once more, and committed once more."""
    commit(made, 1)
    before = [
        list(map(tuple, made.database.rows(f"SELECT * FROM {table}"))) for table in ("provider", "version", "run")
    ]
    made.commit_version(replace(made.versions("a")[0]), announcement=None, now=later(1))
    assert before == [
        list(map(tuple, made.database.rows(f"SELECT * FROM {table}"))) for table in ("provider", "version", "run")
    ]


def test_a_commit_that_fails_moves_nothing(made: Ledger) -> None:
    """The rows agree before and after, whatever statement it is that fails."""
    found = announced(made)
    run = made.start_run("a", NOW, found)
    made.file_version(version(1, run))
    for table in ("provider", "dataset", "announcement", "run"):
        verb = "INSERT" if table == "dataset" else "UPDATE"
        made.database.write(
            f"CREATE TEMP TRIGGER fault BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'fault'); END"
        )
        with pytest.raises(sqlite3.IntegrityError, match="fault"):
            made.commit_version(version(1, run), found, later(1))
        made.database.write("DROP TRIGGER fault")
        record = made.provider("a")
        assert record is not None
        assert (record.version, made.versions("a")[0].state, made.dataset("a", IRI)) == (0, "loading", None)
        assert made.announcements.latest("a", IRI) == (found, "seen")


def test_the_date_of_a_provider_is_the_latest_committed(made: Ledger) -> None:
    """With several datasets the last one must not win; dates of any zone and precision compare as times."""
    moments = [
        (datetime(2020, 1, 1, tzinfo=UTC), 0),
        (datetime(2019, 1, 1, tzinfo=UTC), 0),
        (None, 0),
        (datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), 0),
        (datetime(2020, 1, 1, 0, 0, 0, 1, UTC), 4),
        (datetime(2020, 1, 1, 0, 0, 1, tzinfo=UTC), 5),
        (datetime(999, 1, 1, tzinfo=UTC), 5),
    ]
    for n, (modified, latest) in enumerate(moments, start=1):
        commit(made, n, modified)
        record = made.provider("a")
        assert record is not None
        assert record.modified == moments[latest][0]


def test_a_provider_without_dates_has_none(made: Ledger) -> None:
    """Not the empty text."""
    commit(made, 1, None)
    record = made.provider("a")
    assert record is not None
    assert (record.version, record.modified) == (1, None)


def test_an_unchanged_harvest_moves_the_date_and_not_the_version(made: Ledger) -> None:
    """What was harvested is known to be good until then."""
    commit(made, 1)
    found = announced(made, "a", dataset(modified=later(60)))
    run = made.start_run("a", later(61), found)
    made.unchanged(found, run, later(62), RunFacts(vanished=2, findings=(FINDING,)))
    record, settled, ended = made.provider("a"), made.dataset("a", IRI), made.run(run)
    assert record is not None
    assert settled is not None
    assert ended is not None
    assert (record.version, record.modified, settled.modified) == (1, later(60), later(60))
    assert (ended.outcome, ended.vanished_subjects, ended.version, ended.findings) == ("unchanged", 2, None, (FINDING,))
    assert made.announcements.waiting(later(100)) == []
    assert len(made.versions("a")) == 1


def test_an_unchanged_harvest_without_a_date_leaves_the_date(made: Ledger) -> None:
    """A description that lost its date says nothing about it."""
    commit(made, 1)
    found = announced(made, "a", dataset(modified=None))
    made.unchanged(found, made.start_run("a", NOW, found), later(1))
    record = made.provider("a")
    assert record is not None
    assert record.modified == NOW


def test_versions_are_filed_once(made: Ledger) -> None:
    """Two versions of the same number would be two truths."""
    run = made.start_run("a", NOW, None)
    made.file_version(version(1, run))
    with pytest.raises(sqlite3.IntegrityError):
        made.file_version(version(1, run))
    made.file_version(version(2, run))
    assert [v.n for v in made.versions("a")] == [1, 2]
    made.set_digest("a", 2, "9" * 64)
    assert [v.digest for v in made.versions("a")] == ["d" * 64, "9" * 64]


def test_runs_that_a_crash_left_open_are_ended(made: Ledger) -> None:
    """All but those whose version is filed: it will be loaded, and ends its run."""
    commit(made, 1)
    open_run, filed = made.start_run("a", NOW, None), made.start_run("b", NOW, None)
    made.file_version(version(1, filed, name="b"))
    assert made.abandon(later(5)) == 1
    assert made.abandon(later(6)) == 0
    ended, still = made.run(open_run), made.run(filed)
    assert ended is not None
    assert still is not None
    assert (ended.outcome, ended.ended) == ("failed", later(5))
    assert [finding.kind for finding in ended.findings] == ["interrupted"]
    assert still.ended is None


def test_a_forgotten_provider_leaves_nothing(made: Ledger) -> None:
    """And another stays as it is."""
    commit(made, 1)
    made.described.file("a", Described("http://example.org/void", "e" * 64, Validators(), (FINDING,)), NOW)
    announced(made, "b")
    made.forget("a", Note("urn:uuid:0", NOW, ""))
    assert made.provider("a") is None
    for table in ("dataset", "announcement", "run", "version", "finding"):
        assert made.database.rows(f"SELECT * FROM {table} WHERE provider = 'a'") == []
    assert made.provider("b") is not None
    assert len(made.announcements.waiting(NOW, "b")) == 1


def test_what_the_registry_says_is_remembered(made: Ledger) -> None:
    """The platform can tell a date that people changed from one that it wrote."""
    made.set_written("a", NOW)
    assert [record.written for record in made.providers()] == [NOW, None]
    made.set_written("a", None)
    assert [record.written for record in made.providers()] == [None, None]


def test_facts_of_the_instance_are_kept(made: Ledger) -> None:
    """One value a key, over a restart."""
    assert made.meta("k") is None
    made.set_meta("k", "1")
    made.set_meta("k", "2")
    assert Ledger(Database(made.database.path)).meta("k") == "2"


def test_a_request_goes_from_asked_to_answered(made: Ledger) -> None:
    """The oldest first; each is taken once."""
    first = made.requests.ask("run", ["a", "b"], NOW)
    second = made.requests.ask("export", [], later(1))
    taken = [made.requests.take(later(2)) for _ in range(3)]
    assert [(r.id, r.command, r.names) for r in taken if r] == [(first, "run", ("a", "b")), (second, "export", ())]
    assert taken[2] is None
    assert made.requests.answer(first) is None
    made.requests.finish(first, {"done": ["é"]}, later(3))
    assert made.requests.answer(first) == {"done": ["é"]}
    assert made.requests.answer(second) is None


def test_a_request_can_be_taken_back_until_it_is_taken(made: Ledger) -> None:
    """A command that found nobody to do its work does it itself, and then nobody else may."""
    first, second = made.requests.ask("run", [], NOW), made.requests.ask("run", [], NOW)
    assert made.requests.withdraw(first)
    assert not made.requests.withdraw(first)
    taken = made.requests.take(NOW)
    assert taken is not None
    assert taken.id == second
    assert not made.requests.withdraw(second)


def test_a_request_is_taken_by_one_or_withdrawn(made: Ledger) -> None:
    """Whoever comes between finding and taking: the work is done once."""
    asked = {made.requests.ask("run", [str(n)], NOW) for n in range(60)}
    together = threading.Barrier(4)

    def take(_: int) -> list[int]:
        together.wait(10)
        return [request.id for request in iter(lambda: made.requests.take(NOW), None) if request]

    def withdraw() -> list[int]:
        together.wait(10)
        return [id for id in sorted(asked) if made.requests.withdraw(id)]

    with ThreadPoolExecutor(4) as threads:
        withdrawn = threads.submit(withdraw)
        taken = [threads.submit(take, n) for n in range(3)]
        got = [*withdrawn.result(60), *(id for future in taken for id in future.result(60))]
    assert sorted(got) == sorted(asked)


def test_requests_that_a_crash_left_taken_are_taken_again(made: Ledger) -> None:
    """Answered ones are not."""
    ids = [made.requests.ask("run", [], NOW) for _ in range(3)]
    for _ in ids:
        made.requests.take(NOW)
    made.requests.finish(ids[0], {}, NOW)
    made.requests.requeue(NOW)
    assert [request.id for _ in ids if (request := made.requests.take(NOW))] == ids[1:]


def test_an_update_that_a_crash_left_taken_is_not_taken_again(made: Ledger) -> None:
    """To insert twice is another thing than to insert once; one that nobody took yet is carried out."""
    taken, waiting = (made.requests.ask(UPDATE, ["CLEAR ALL"], NOW) for _ in range(2))
    made.requests.take(NOW)
    made.requests.requeue(NOW)
    assert made.requests.answer(taken) == BROKEN_OFF
    request = made.requests.take(NOW)
    assert request is not None and (request.id, request.names) == (waiting, ("CLEAR ALL",))
    assert made.requests.take(NOW) is None


def test_the_text_of_an_update_is_dropped_with_its_answer(made: Ledger) -> None:
    """It may have 8 MB, and stands in the archive; the words of other commands are kept."""
    ids = [made.requests.ask(command, ["word"], NOW) for command in (UPDATE, "run")]
    for id in ids:
        made.requests.finish(id, {"ok": True}, NOW)
    rows = made.database.rows("SELECT names FROM request ORDER BY id")
    assert [row["names"] for row in rows] == ["[]", '["word"]']
