"""The steps of runs: filed as they begin, ended with what ends them, and marked as broken when the process died."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

from harvest.ledger import Database, Ledger
from harvest.ledger.schema import MIGRATIONS
from harvest.model import Coverage, Note, Outcome
from tests.ledger.samples import NOW, announced, capture, dataset, later, ledger, version
from tests.unprivileged import ROOT


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path, "a", "b")


def names(made: Ledger, run: int) -> list[tuple[str, bool, bool]]:
    """The steps of a run: name, whether it ended, whether it was broken off."""
    return [(step.name, step.ended is not None, step.broken) for step in made.steps.of([run]).get(run, ())]


def test_a_step_begins_where_the_one_before_ends(made: Ledger) -> None:
    """No time of a run belongs to no step."""
    run = made.start_run("a", NOW, announced(made), "fetch")
    made.steps.begin(run, "file", later(1))
    made.steps.begin(run, "wash", later(2))
    made.end_run(run, Outcome.FAILED, later(5))
    steps = made.steps.of([run])[run]
    assert [step.name for step in steps] == ["fetch", "file", "wash"]
    assert all(before.ended == after.started for before, after in pairwise(steps))
    assert (steps[0].started, steps[-1].ended) == (NOW, later(5))


def test_figures_are_of_the_step_in_hand(made: Ledger) -> None:
    """Earlier figures give way, as how far a step was says nothing at its end; a step that ended stays as it is."""
    run = made.start_run("a", NOW, announced(made), "fetch")
    made.steps.record(run, {"bytes": 1, "of_bytes": 2})
    made.steps.record(run, {"bytes": 5})
    made.steps.begin(run, "wash", later(1))
    made.steps.record(run, {"at": 'a/ö "b"'})
    made.end_run(run, Outcome.COMMITTED, later(2))
    made.steps.record(run, {"bytes": 9})
    assert [step.figures for step in made.steps.of([run])[run]] == [{"bytes": 5}, {"at": 'a/ö "b"'}]


def test_steps_are_read_of_the_runs_asked_for(made: Ledger) -> None:
    """A page of runs takes one query."""
    runs = [made.start_run("a", NOW, None, "fetch") for _ in range(3)]
    bare = made.start_run("b", NOW, None)
    assert set(made.steps.of([*runs[1:], bare, 999])) == set(runs[1:])
    assert [len(run.steps) for run in made.runs("a")] == [1, 1, 1]


def test_a_run_that_a_crash_left_open_has_a_broken_step(made: Ledger) -> None:
    """It says where the process ended; steps before it are whole."""
    run = made.start_run("a", NOW, announced(made), "fetch")
    made.steps.begin(run, "wash", later(1))
    assert made.abandon(later(9)) == 1
    assert names(made, run) == [("fetch", True, False), ("wash", True, True)]
    assert made.steps.of([run])[run][-1].ended == later(9)


def test_a_run_that_waits_goes_on_after_a_restart(made: Ledger) -> None:
    """The dumps of the run are filed: nothing of it is lost, and no failure is reported."""
    found = announced(made)
    run = made.start_run("a", NOW, found, "fetch")
    made.steps.begin(run, "wait", later(1))
    assert made.abandon(later(2)) == 0
    assert made.steps.resume(found.id, "check", later(3)) == run
    assert made.abandon(later(4)) == 1
    assert made.steps.resume(found.id, "check", later(5)) is None


def test_a_run_that_waits_ends_when_a_newer_dump_takes_its_place(made: Ledger) -> None:
    """Nobody would ever end it otherwise; one that is being downloaded is left to who downloads it."""
    first, other = announced(made), announced(made, "b")
    waiting, loading = made.start_run("a", NOW, first, "wait"), made.start_run("b", NOW, other, "fetch")
    announced(made, "a", dataset(modified=later(5)))
    announced(made, "b", dataset(modified=later(5)))
    ended, still = made.run(waiting), made.run(loading)
    assert ended is not None and still is not None
    assert (ended.outcome, [finding.kind for finding in ended.findings]) == ("unchanged", ["superseded"])
    assert names(made, waiting) == [("wait", True, False)]
    assert still.ended is None


def test_a_full_harvest_ends_older_runs_that_wait(made: Ledger) -> None:
    """A partial dump that waits is superseded by a newer full one of the dataset."""
    partial = announced(made, "a", dataset(coverage=Coverage.PARTIAL))
    waiting = made.start_run("a", NOW, partial, "wait")
    made.announcements.fetched(partial.id, (capture(),))
    full = announced(made, "a", dataset(modified=later(1)))
    made.unchanged(full, made.start_run("a", later(1), full, "check"), later(2))
    run = made.run(waiting)
    assert run is not None
    assert (run.outcome, run.ended) == ("unchanged", later(2))


def test_a_commit_ends_the_last_step(made: Ledger) -> None:
    """In the transaction of the commit."""
    found = announced(made)
    run = made.start_run("a", NOW, found, "check")
    made.steps.begin(run, "commit", later(1))
    made.file_version(version(1, run))
    made.commit_version(version(1, run), found, later(2))
    assert made.steps.of([run])[run][-1].ended == later(2)


def test_a_forgotten_run_leaves_no_steps(made: Ledger) -> None:
    """Nor does one of a provider that is forgotten."""
    dropped, kept = made.start_run("a", NOW, None, "fetch"), made.start_run("a", NOW, None, "fetch")
    made.drop_run(dropped)
    assert made.steps.of([dropped, kept]).keys() == {kept}
    made.forget("a", Note("urn:uuid:0", NOW, ""))
    assert made.database.rows("SELECT * FROM step") == []


def test_steps_outlive_a_killed_process(tmp_path: Path) -> None:
    """They are written without waiting for the disk, which only a power cut shows."""
    script = """
        import os, signal, sys
        from pathlib import Path
        from tests.ledger.samples import NOW, later, ledger

        made = ledger(Path(sys.argv[1]), "a")
        run = made.start_run("a", NOW, None, "fetch")
        made.steps.begin(run, "wash", later(1))
        made.steps.record(run, {"files": 3})
        os.kill(os.getpid(), signal.SIGKILL)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == -signal.SIGKILL
    [run] = Ledger(Database(tmp_path / "ledger.sqlite")).runs("a")
    assert [(step.name, step.figures) for step in run.steps] == [("fetch", {}), ("wash", {"files": 3})]


def test_steps_of_earlier_layouts_are_kept(tmp_path: Path) -> None:
    """They had names and seconds; they follow each other from the begin of their run."""
    path = tmp_path / "ledger.sqlite"
    old = Database(path, migrations=MIGRATIONS[:2])
    old.write("INSERT INTO provider (name, graph, description, etag) VALUES ('a', 'g', 'd', 'e')")
    said = '[{"name": "wash", "seconds": 90.5}, {"name": "load", "seconds": 0.25}]'
    old.write(
        "INSERT INTO run (provider, started, ended, outcome, steps) VALUES ('a', ?, ?, 'committed', ?)",
        "2026-11-20T12:00:00.500000+00:00",
        "2026-11-20T12:01:31.250000+00:00",
        said,
    )
    old.close()
    made = Ledger(Database(path))
    [run] = made.runs("a")
    assert [(step.name, step.broken) for step in run.steps] == [("wash", False), ("load", False)]
    assert (run.steps[0].started, run.steps[-1].ended) == (run.started, run.ended)
    assert run.steps[0].ended == run.steps[1].started
    record = made.provider("a")
    assert record is not None
    assert (record.about, record.description) == ((), None), "the description is to be read once more"


def test_a_step_is_no_part_of_a_durable_transaction(made: Ledger) -> None:
    """What comes after one waits for the disk as before."""
    run = made.start_run("a", NOW, None, "fetch")
    made.steps.begin(run, "wash", later(1))
    with made.database.transaction() as db:
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
        db.execute("UPDATE run SET version = 1")
    with made.database.transaction(durable=False) as db:
        assert isinstance(db, sqlite3.Connection)
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 1
