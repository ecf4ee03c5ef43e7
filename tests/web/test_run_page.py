"""The page of a run: its steps, what they did, how long they took, and that it is shown while it goes on."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harvest.ledger import RunFacts
from harvest.model import Finding, Layout, Outcome
from sparql.reports import StepReport
from sparql.web.runs import did, steps
from tests.ledger.samples import NOW, later
from tests.web.records import RUN
from tests.web.reported import ReportedInstance, Shape, reported_instance


@pytest.fixture
def instance(tmp_path: Path) -> ReportedInstance:
    return reported_instance(tmp_path, "a", "b")


def begun(instance: ReportedInstance) -> int:
    """A run that is at its second step."""
    ledger = instance.ledger
    run = ledger.start_run("a", NOW, instance.announced("a"), "fetch")
    ledger.steps.record(run, {"dumps": 2, "bytes": 5 << 20})
    ledger.steps.begin(run, "wash", later(1.5))
    ledger.steps.record(run, {"files": 3, "at": "<b>.nt", "doing": "parsing"})
    return run


def test_a_run_that_goes_on_is_shown_with_the_step_that_it_is_at(instance: ReportedInstance) -> None:
    """The page shows what a run did so far: live with a script, on reloading without."""
    run = begun(instance)
    page = instance.page(f"/providers/a/runs/{run}")
    assert "5.0 MiB" in page.text
    assert "3 files read" in page.text
    assert "parsing &lt;b&gt;.nt" in page.text
    assert "so far" in page.text
    assert 'src="/static/run.js"' in page.text
    assert 'data-running="yes"' in page.text
    assert "<noscript>" in page.text
    shape = Shape(page.text)
    assert (shape.inline, shape.unlabelled) == ([], 0)


def test_a_run_that_ended_needs_no_script(instance: ReportedInstance) -> None:
    """A run that ended does not change any more; its outcome and findings are shown."""
    run = begun(instance)
    finding = Finding("wash", "It does not parse.", "http://d.example/a.nt", 3, 4, "<a>", fatal=True)
    instance.ledger.end_run(run, Outcome.FAILED, later(3), RunFacts(findings=(finding,)))
    text = instance.page(f"/providers/a/runs/{run}").text
    assert "run.js" not in text
    assert "It does not parse." in text
    assert "line 3, column 4" in text
    assert "3 min 0 s" in text
    assert "1 min 30 s" in text


def test_a_run_that_was_killed_says_where(instance: ReportedInstance) -> None:
    """Not that a step took three days because nobody started the instance again."""
    run = begun(instance)
    instance.ledger.abandon(later(60))
    text = instance.page(f"/providers/a/runs/{run}").text
    assert "broken off" in text
    assert "the harvester stopped during this run" in text


def test_the_record_is_data_by_ending_and_by_accept(instance: ReportedInstance) -> None:
    """Who polls gets 304 until something happened."""
    run = begun(instance)
    answer = instance.client.get(f"/providers/a/runs/{run}.json")
    record: dict[str, Any] = answer.get_json()
    assert (record["id"], record["outcome"], record["ended"]) == (run, None, None)
    assert [(step["name"], step["seconds"], step["broken"]) for step in record["steps"]] == [
        ("fetch", 90.0, False),
        ("wash", None, False),
    ]
    accepted = instance.client.get(f"/providers/a/runs/{run}", headers={"Accept": "application/json"})
    assert accepted.get_json() == record
    again = {"If-None-Match": answer.headers["ETag"]}
    assert instance.client.get(f"/providers/a/runs/{run}.json", headers=again).status_code == 304
    instance.ledger.steps.record(run, {"files": 4})
    assert instance.client.get(f"/providers/a/runs/{run}.json", headers=again).status_code == 200


@pytest.mark.parametrize("path", ["/providers/b/runs/{}", "/providers/b/runs/{}.json", "/providers/a/runs/99"])
def test_a_run_of_another_provider_is_not_there(instance: ReportedInstance, path: str) -> None:
    """A run has an address below its own provider only, and a run that never was has none."""
    assert instance.page(path.format(begun(instance))).status_code == 404


def test_runs_lead_to_the_ones_before_and_after(instance: ReportedInstance) -> None:
    """The runs before and after are those of the same provider."""
    ids = [instance.commit("a", n, 10 * n, 10) for n in (1, 2, 3)]
    instance.commit("b", 1, 5, 5)
    addresses = Shape(instance.page(f"/providers/a/runs/{ids[1]}").text).addresses
    assert {f"/providers/a/runs/{ids[0]}", f"/providers/a/runs/{ids[2]}", "/providers/a/versions/2"} <= set(addresses)
    assert len([a for a in addresses if a.startswith("/providers/b")]) == 0


def test_a_version_leads_to_its_run_however_long_ago(instance: ReportedInstance, tmp_path: Path) -> None:
    """A list of runs ends after a hundred; what made a version is asked for by name."""
    run = instance.commit("a", 1, 1, 1)
    change = Layout(tmp_path / "var").provider("a").change(1)
    change.parent.mkdir(parents=True)
    change.write_bytes(gzip.compress(b"+<http://x/s> <http://x/p> <http://x/o> <http://h.example/graph/a> .\n"))
    for n in range(101):
        instance.fail("a", 20 + n, Finding("fetch", "no"))
    assert f"/providers/a/runs/{run}" not in Shape(instance.page("/providers/a").text).addresses
    assert f"/providers/a/runs/{run}" in Shape(instance.page("/providers/a/versions/1").text).addresses


def test_bars_stand_where_the_steps_were() -> None:
    """In thousandths of the run; one of no time to speak of is seen all the same, and stays inside."""
    began = datetime(2026, 1, 1, tzinfo=UTC)

    def step(name: str, start: float, end: float | None) -> StepReport:
        ended = None if end is None else began + timedelta(seconds=end)
        return StepReport(name, began + timedelta(seconds=start), ended, None, broken=False, figures={})

    made = (step("fetch", 0, 25), step("wait", 25, 25.1), step("wash", 25.1, 100), step("load", 100, None))
    shown = steps(replace(RUN, started=began, ended=None, steps=made), began + timedelta(seconds=100))
    assert [(shape.name, shape.state) for shape in shown] == [
        ("Download", "done"),
        ("Wash", "done"),
        ("Load", "running"),
    ]
    assert (shown[0].offset, shown[0].width) == (0, 250)
    assert shown[2].width == 4
    assert all(shape.offset + shape.width <= 1000 for shape in shown)


def test_figures_are_shown_in_words() -> None:
    """One is not several; a figure that is not there is not shown."""
    assert did({}) == []
    assert did({"dumps": 1, "bytes": 2048, "of_bytes": 4096}) == ["2.0 KiB of 4.0 KiB", "1 dump"]
    assert did({"files": 1, "triples": 1, "left_out": 2, "doing": "parsing"}) == [
        "1 file read",
        "1 triple",
        "2 statements left out",
    ]
    assert did({"added": 3, "removed": 1}) == ["+3 \N{MINUS SIGN}1"]
