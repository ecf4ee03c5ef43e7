"""The report on a provider for people and programs, from the ledger and the registry alone."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harvest.catalog.providers import SCHEDULE, Schedule, provider_report, provider_reports
from harvest.catalog.runs import version_report
from harvest.config.settings import Settings
from harvest.ledger import Described, Ledger, RunFacts
from harvest.model import Coverage, Finding, Outcome, Provider, Removals, Source, Validators
from sparql.reports import DumpReport, to_json
from tests.ledger.samples import GRAPH, IRI, NOW, announced, capture, dataset, later, ledger, version

SETTINGS = Settings(graph_base="http://example.org/graph/")
PROVIDER = Provider("a", Source.VOID, "http://example.org/void.ttl", contact="somebody@example.org", interval=150)
FATAL = Finding("wash", "cannot be parsed", "http://example.org/a.nt", 3, 4, "<a> <b>", fatal=True)
ODD = Finding("odd", "something is odd")
DUMP = DumpReport("http://example.org/a.nt", "0" * 64, 7, "text/turtle")
DESIGNED = {
    "name", "graph", "state", "modified", "version", "triples", "last_run", "findings", "next_check",
}  # fmt: skip
"""Keys that the design promises to programs."""


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path, "a")


def reported(made: Ledger, provider: Provider | None = PROVIDER, minutes: float = 0) -> dict[str, Any]:
    report = provider_report(made, SETTINGS, "a", provider, later(minutes))
    assert report is not None
    found: dict[str, Any] = json.loads(json.dumps(to_json(report)))
    assert found.keys() >= DESIGNED
    return found


def run(made: Ledger, outcome: Outcome, *findings: Finding) -> int:
    """A run that ended so, on an announcement that is still there."""
    found = announced(made)
    id = made.start_run("a", NOW, found)
    made.end_run(id, outcome, later(1), RunFacts(findings=findings, dumps=(DUMP,), added=1, removed=2, vanished=3))
    if outcome is Outcome.HELD:
        made.announcements.settle(found.id, "held")
    return id


def commit(made: Ledger) -> None:
    found = announced(made)
    made.announcements.fetched(found.id, (capture(),))
    first = version(1, made.start_run("a", NOW, found), triples=1234)
    made.file_version(first)
    made.commit_version(first, replace(found, captures=(capture(),)), later(1))


def test_a_provider_that_is_only_registered_is_reported(made: Ledger) -> None:
    """Before its first look it is idle and has nothing."""
    other = replace(PROVIDER, name="z")
    found = provider_report(made, SETTINGS, "z", other, NOW)
    assert found is not None
    assert (found.name, found.graph, found.state) == ("z", "http://example.org/graph/z", "idle")
    assert (found.version, found.triples, found.modified, found.last_run) == (0, 0, None, None)
    assert (found.url, found.source, found.removals) == ("http://example.org/void.ttl", "void", "keep")
    assert (found.findings, found.datasets, found.contact) == ((), (), "somebody@example.org")
    assert provider_report(made, SETTINGS, "nobody", None, NOW) is None


def test_a_committed_provider_is_reported_with_its_figures(made: Ledger) -> None:
    """What it holds, from when, of which datasets."""
    commit(made)
    found = reported(made)
    assert (found["graph"], found["state"], found["version"], found["triples"]) == (GRAPH, "idle", 1, 1234)
    assert found["modified"] == "2026-11-20T12:00:00.123456Z"
    last = found["last_run"]
    assert (last["outcome"], last["version"], last["added"], last["removed"]) == ("committed", 1, 7, 3)
    assert (last["started"], last["ended"]) == ("2026-11-20T12:00:00.123456Z", "2026-11-20T12:01:00.123456Z")
    [dataset] = found["datasets"]
    assert (dataset["iri"], dataset["state"], dataset["coverage"]) == (IRI, "idle", "full")
    assert (dataset["modified"], dataset["committed"]) == ("2026-11-20T12:00:00.123456Z", "2026-11-20T12:01:00.123456Z")


def test_a_run_is_reported_with_all_that_is_known(made: Ledger) -> None:
    """The keys of DESIGN's `last_run`, and what pages show beside."""
    id = run(made, Outcome.FAILED, FATAL)
    found = made.run(id)
    assert found is not None
    assert to_json(found) == {
        "id": id,
        "started": "2026-11-20T12:00:00.123456Z",
        "ended": "2026-11-20T12:01:00.123456Z",
        "outcome": "failed",
        "dataset": IRI,
        "modified": "2026-11-20T12:00:00.123456Z",
        "coverage": "full",
        "version": None,
        "added": 1,
        "removed": 2,
        "vanished_subjects": 3,
        "dumps": [asdict(DUMP)],
        "findings": [
            {
                "kind": "wash",
                "message": "cannot be parsed",
                "url": "http://example.org/a.nt",
                "line": 3,
                "column": 4,
                "excerpt": "<a> <b>",
                "fatal": True,
            }
        ],
        "steps": [],
    }


def test_a_version_is_reported_with_its_figures() -> None:
    """The digest names what an export of it holds."""
    assert to_json(version_report(version(4, 7))) == {
        "n": 4,
        "at": "2026-11-20T12:00:00.123456Z",
        "coverage": "full",
        "dataset": IRI,
        "modified": "2026-11-20T12:00:00.123456Z",
        "added": 7,
        "removed": 3,
        "triples": 10,
        "sha256": "d" * 64,
        "run": 7,
    }


def test_the_state_is_what_the_provider_is_doing(made: Ledger) -> None:
    """Through a life: idle, harvesting, failing, held, approved, idle."""
    assert reported(made)["state"] == "idle"
    open_run = made.start_run("a", NOW, announced(made))
    assert reported(made)["state"] == "harvesting"
    made.end_run(open_run, Outcome.FAILED, NOW, RunFacts(findings=(FATAL,)))
    assert reported(made)["state"] == "failing"
    run(made, Outcome.HELD, replace(FATAL, kind="held"))
    assert reported(made)["state"] == "held"
    made.announcements.approve("a")
    commit(made)
    assert reported(made)["state"] == "idle"


@pytest.mark.parametrize(
    ("outcome", "findings", "state"),
    [
        (Outcome.FAILED, (FATAL,), "failing"),
        (Outcome.FAILED, (), "failing"),
        (Outcome.UNCHANGED, (), "idle"),
        (Outcome.UNCHANGED, (ODD,), "idle"),
        (Outcome.COMMITTED, (ODD,), "idle"),
    ],
)
def test_the_last_run_decides_whether_it_is_failing(
    made: Ledger, outcome: Outcome, findings: tuple[Finding, ...], state: str
) -> None:
    """What is merely odd is reported and fails nothing."""
    run(made, Outcome.FAILED, FATAL)
    run(made, outcome, *findings)
    found = reported(made)
    assert found["state"] == state
    assert [finding["kind"] for finding in found["findings"]] == [finding.kind for finding in findings]


def test_a_description_that_cannot_be_read_is_failing(made: Ledger) -> None:
    """The provider fails though its last harvest went well; once the description is read again, all is well."""
    commit(made)
    made.undescribed("a", (replace(FATAL, kind="status"), ODD), NOW, later(5))
    found = reported(made)
    assert found["state"] == "failing"
    assert [finding["kind"] for finding in found["findings"]] == ["status", "odd"]
    made.described.file("a", Described(PROVIDER.url, "e" * 64, Validators(), (ODD,)), NOW)
    found = reported(made)
    assert (found["state"], [finding["kind"] for finding in found["findings"]]) == ("idle", ["odd"])


def test_a_finding_of_description_and_run_is_reported_once(made: Ledger) -> None:
    """The same words twice make people look for a difference."""
    made.described.file("a", Described(PROVIDER.url, "e" * 64, Validators(), (ODD,)), NOW)
    run(made, Outcome.UNCHANGED, ODD, FATAL)
    assert [finding["kind"] for finding in reported(made)["findings"]] == ["wash", "odd"]


def test_a_provider_that_is_switched_off_is_disabled(made: Ledger) -> None:
    """Whatever its last run was; it is not looked at any more."""
    run(made, Outcome.FAILED, FATAL)
    made.set_meta(SCHEDULE, Schedule(NOW, 60).dump())
    found = reported(made, replace(PROVIDER, enabled=False))
    assert (found["state"], found["next_check"]) == ("disabled", None)


def test_a_provider_that_left_the_registry_is_reported_with_what_to_do(made: Ledger) -> None:
    """Its graph stays until somebody removes it."""
    commit(made)
    made.described.file("a", Described("http://example.org/old.ttl", "e" * 64, Validators(), ()), NOW)
    found = reported(made, None)
    assert (found["state"], found["next_check"], found["source"]) == ("disabled", None, None)
    assert (found["url"], found["version"], found["triples"]) == ("http://example.org/old.ttl", 1, 1234)
    [finding] = found["findings"]
    assert finding["kind"] == "unregistered"
    assert "`harvest forget a` removes its graph" in finding["message"]


def test_a_registry_that_claims_a_harvest_that_never_was_is_reported(made: Ledger) -> None:
    """A registry copied from another instance has dates, and nothing would ever be harvested, silently."""
    claimed = replace(PROVIDER, modified=datetime(2020, 5, 4, tzinfo=UTC))
    [finding] = reported(made, claimed)["findings"]
    assert finding["kind"] == "never-harvested"
    assert "the registry says that 2020-05-04 is harvested" in finding["message"]
    commit(made)
    assert reported(made, claimed)["findings"] == []


def test_the_registry_says_how_a_provider_is_harvested(made: Ledger) -> None:
    """The ledger may be of an older entry."""
    other = replace(PROVIDER, source=Source.DUMP, url="http://example.org/a.nt", removals=Removals.MIRROR)
    found = reported(made, other)
    assert (found["source"], found["url"], found["removals"]) == ("dump", "http://example.org/a.nt", "mirror")


def test_all_providers_are_reported_by_name(made: Ledger) -> None:
    """Those of the registry, and those that the ledger remembers."""
    made.enrol("z", "http://example.org/graph/z")
    registered = {"m": replace(PROVIDER, name="m"), "a": PROVIDER}
    found = provider_reports(made, SETTINGS, registered, NOW)
    assert [(item.name, item.state) for item in found] == [("a", "idle"), ("m", "idle"), ("z", "disabled")]


def test_reporting_writes_nothing(made: Ledger, tmp_path: Path) -> None:
    """Pages are shown from a reader's connection."""
    run(made, Outcome.HELD, FATAL)
    made.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".sqlite-shm"}
    reported(made)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".sqlite-shm"} == before


@pytest.mark.parametrize(
    ("interval", "ticks"), [(None, 1), (1, 1), (60, 1), (61, 2), (120, 2), (150, 3), (86400, 1440), (86401, 1441)]
)
def test_a_provider_is_looked_at_every_so_many_ticks(interval: float | None, ticks: int) -> None:
    """The first tick at or after its interval."""
    assert Schedule(NOW, 60).ticks(replace(PROVIDER, interval=interval)) == ticks


def test_the_next_look_is_at_a_tick_of_the_schedule() -> None:
    """Every third minute here, from the first tick on."""
    schedule = Schedule(NOW, 60)
    looks = {0: 0, 0.1: 3, 2.9: 3, 3: 3, 3.1: 6, 100: 102, -5: 0}
    for now, at in looks.items():
        assert schedule.next(PROVIDER, later(now)) == later(at), now
    assert Schedule.load(schedule.dump()) == schedule


def test_the_next_check_waits_for_a_description_that_failed(made: Ledger) -> None:
    """It is looked at again at the time that was set for it, whenever the next tick is."""
    assert reported(made)["next_check"] is None
    made.set_meta(SCHEDULE, Schedule(NOW, 60).dump())
    assert reported(made, minutes=1)["next_check"] == later(3).isoformat().replace("+00:00", "Z")
    made.undescribed("a", (FATAL,), NOW, later(7))
    assert reported(made, minutes=1)["next_check"] == later(7).isoformat().replace("+00:00", "Z")
    assert reported(made, minutes=10)["next_check"] == later(10).isoformat().replace("+00:00", "Z")


def test_a_partial_dataset_is_reported_as_such(made: Ledger) -> None:
    """Aggregators need to know that its dump is not the whole."""
    found = announced(made, "a", dataset(coverage=Coverage.PARTIAL, modified=NOW - timedelta(days=1)))
    made.unchanged(found, made.start_run("a", NOW, found), NOW)
    assert reported(made)["datasets"][0]["coverage"] == "partial"
