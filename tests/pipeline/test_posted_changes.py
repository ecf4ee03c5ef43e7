"""Changes that are sent for a graph of updates: applied as what they are, or not at all."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvest.config.settings import GuardSettings
from harvest.ledger.requests import UPDATE
from harvest.pipeline.update.updating import Written
from harvest.service.orders import execute
from sparql.errors import Conflict, ForbiddenError, UnknownGraph, UnreadableChange
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.crash_update import GRAPH
from tests.selection import mostly_long

REPOSITORY = Path(__file__).resolve().parents[2]
FIRST = b'+<http://a> <http://p> <http://o> .\n+<http://b> <http://p> "x" .\n'
SECOND = b'--- old\n+++ new\n@@ -2 +2 @@\n-<http://b> <http://p> "x" .\n+<http://b> <http://p> "y" .\n'


@pytest.fixture
def notes(instance: TemporaryInstance) -> TemporaryInstance:
    """An instance with a graph that updates write."""
    instance.register("notes:\n  updates: true\noff: {updates: true, enabled: false}\nd: {dump: 'http://d/d.nt'}\n")
    return instance


def sent(instance: TemporaryInstance, data: bytes, graph: str = GRAPH) -> Written:
    """Apply a change a minute later."""
    instance.clock.forward(minutes=1)
    return instance.harvester.writing.change(graph, data)


def counts(written: Written) -> tuple[str, int, int, int, int]:
    return written.outcome.value, written.version, written.added, written.removed, written.triples


def state(instance: TemporaryInstance) -> tuple[set[str], Any]:
    """What must stay where nothing is applied."""
    record = instance.harvester.instance.ledger.provider("notes")
    return instance.graph("notes"), record and (record.version, record.triples)


def test_changes_make_versions_with_runs_and_logs(notes: TemporaryInstance) -> None:
    """Each is a version, a run with its finding-free receipt, and is made again from the archive."""
    assert counts(sent(notes, FIRST)) == ("committed", 1, 2, 0, 2)
    written = sent(notes, gzip.compress(SECOND))
    assert counts(written) == ("committed", 2, 1, 1, 2)
    assert notes.graph("notes") == {"<http://a> <http://p> <http://o>", '<http://b> <http://p> "y"'}
    run = notes.harvester.instance.ledger.run(written.run or 0)
    assert run is not None and (run.outcome, run.version, run.findings) == ("committed", 2, ())
    assert [dump.url for dump in run.dumps] == ["http://h.example/providers/notes#change"]
    assert notes.proven("notes")
    remade = notes.harvester.rebuild("notes", check=True)
    assert [(each.n, each.same) for each in remade] == [(1, True), (2, True)]


def test_changes_and_sparql_updates_follow_each_other(notes: TemporaryInstance) -> None:
    """Both write the same graph, in the order in which they come."""
    sent(notes, FIRST)
    notes.clock.forward(minutes=1)
    notes.harvester.update(f"DELETE DATA {{ GRAPH <{GRAPH}> {{ <http://a> <http://p> <http://o> }} }}")
    assert counts(sent(notes, SECOND)) == ("committed", 3, 1, 1, 1)
    assert notes.graph("notes") == {'<http://b> <http://p> "y"'}
    assert notes.proven("notes")
    assert all(each.same for each in notes.harvester.rebuild("notes", check=True))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (b'-<http://b> <http://p> "z" .\n', Conflict, "1 statement that the change removes was not there"),
        (b'+<http://c> <http://p> "z" .\n' + FIRST, Conflict, "2 statements that the change adds were there already"),
        (b"-<http://b> <http://p> _:x .\n", Conflict, "with blank nodes that the change removes could not be found"),
        (b"+<http://c> <http://p> .\n+<http://c> <http://p> 'x' .\n", UnreadableChange, "line 1"),
        (b"<http://c> <http://p> <http://o> .\n", UnreadableChange, "is no N-Quads unified diff"),
        (gzip.compress(SECOND, mtime=0)[:-9], UnreadableChange, "cut off or damaged"),
    ],
)
def test_what_does_not_fit_or_cannot_be_read_changes_nothing(
    notes: TemporaryInstance, data: bytes, error: type[Exception], said: str
) -> None:
    """The answer says why; it is not tried again, and stands in the way of nothing that comes later."""
    sent(notes, FIRST)
    before = state(notes)
    with pytest.raises(error, match="Nothing was changed") as caught:
        sent(notes, data)
    assert said in str(caught.value) and "tried again" not in str(caught.value)
    assert state(notes) == before
    assert notes.harvester.instance.ledger.announcements.open("notes") == []
    assert notes.harvester.work("notes") == []
    assert counts(sent(notes, SECOND)) == ("committed", 2, 1, 1, 2)
    assert notes.proven("notes")


def test_the_same_bytes_are_applied_once_they_fit(notes: TemporaryInstance) -> None:
    """That they did not fit before says nothing of now."""
    with pytest.raises(Conflict):
        sent(notes, SECOND)
    sent(notes, FIRST)
    assert counts(sent(notes, SECOND)) == ("committed", 2, 1, 1, 2)
    with pytest.raises(Conflict):
        sent(notes, SECOND)


def test_an_empty_change_changes_nothing(notes: TemporaryInstance) -> None:
    """A job may send what `diff` says of two equal files."""
    sent(notes, FIRST)
    assert counts(sent(notes, b"")) == ("unchanged", 1, 0, 0, 2)


def test_the_guard_holds_a_change_until_it_is_approved(notes: TemporaryInstance) -> None:
    """A mistake of a program that removes the graph is seen by somebody; what comes after it waits for the decision."""
    notes.settings = replace(notes.settings, guard=GuardSettings(0, 0.4))
    sent(notes, FIRST)
    before = state(notes)
    assert counts(sent(notes, SECOND)) == ("held", 1, 0, 0, 2)
    assert state(notes) == before
    with pytest.raises(Conflict, match="harvest approve notes"):
        sent(notes, b"+<http://c> <http://p> <http://o> .\n")
    assert [each.outcome.value for each in notes.harvester.approve("notes")] == ["committed"]
    assert '<http://b> <http://p> "y"' in notes.graph("notes")
    assert sent(notes, b"+<http://c> <http://p> <http://o> .\n").version == 3


def test_a_held_change_that_is_skipped_is_gone(notes: TemporaryInstance) -> None:
    """And the graph takes others again."""
    notes.settings = replace(notes.settings, guard=GuardSettings(0, 0.4))
    sent(notes, FIRST)
    sent(notes, SECOND)
    notes.harvester.skip("notes")
    assert counts(sent(notes, b"+<http://c> <http://p> <http://o> .\n")) == ("committed", 2, 1, 0, 3)


@pytest.mark.parametrize(
    ("graph", "error"),
    [
        ("http://h.example/graph/d", ForbiddenError),
        ("http://h.example/graph/off", ForbiddenError),
        ("http://h.example/graph/harvest-metadata", ForbiddenError),
        ("http://h.example/graph/none", UnknownGraph),
        ("http://elsewhere.example/notes", UnknownGraph),
    ],
)
def test_other_graphs_take_no_changes(notes: TemporaryInstance, graph: str, error: type[Exception]) -> None:
    """What a provider publishes is the provider's."""
    with pytest.raises(error):
        sent(notes, FIRST, graph)


def test_the_command_says_what_kind_of_error_it_was(notes: TemporaryInstance) -> None:
    """The front gives each its status."""
    words = (GRAPH, b64encode(SECOND).decode())
    answer = execute(notes.harvester, UPDATE, words)
    assert (answer["ok"], answer["kind"]) == (False, "Conflict")
    sent(notes, FIRST)
    notes.clock.forward(minutes=1)
    assert execute(notes.harvester, UPDATE, words)["results"][0]["version"] == 2


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "step", mostly_long(["update", "check", "revise", "file-change", "load", "publish"], ("check", "load"))
)
def test_a_change_killed_at_a_step_is_whole_or_not_there(notes: TemporaryInstance, step: str) -> None:
    """The next start has the graph before it or after it, and loses nothing that is filed."""
    sent(notes, FIRST)
    before = state(notes)[0]
    notes.close()
    killed = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.crash_update", str(notes.folder), step, "change"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    notes.clock.forward(days=20)
    notes.tick("notes")
    after = {"<http://a> <http://p> <http://o>", '<http://b> <http://p> "y"'}
    assert state(notes)[0] == (before if step == "update" else after)
    assert notes.proven("notes")
    assert not [run for run in notes.harvester.instance.ledger.runs("notes") if run.ended is None]
    last = notes.harvester.instance.ledger.versions("notes")[-1].n
    assert sent(notes, b"+<http://c> <http://p> <http://o> .\n").version == last + 1
