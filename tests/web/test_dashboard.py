"""The dashboard: trouble first, then all providers, sorted and filtered by the address alone."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.model import Coverage, Dataset, Finding
from tests.ledger.samples import NOW, later
from tests.web.reported import ReportedInstance, Shape, reported_instance

BAD = Finding(
    "wash",
    "http://d.example/b.nt: 3 of 4 statements are no RDF; the last good version is kept. Mend it & try again.",
    "http://d.example/b.nt",
    17,
    4,
    "<a> <b>",
    fatal=True,
)


@pytest.fixture
def instance(tmp_path: Path) -> ReportedInstance:
    """An instance of one provider in good state, one that fails, one that runs, one that was never harvested."""
    made = reported_instance(tmp_path, "a", "b", "c", "new")
    for n, (triples, added, removed) in enumerate(((100, 100, 0), (90, 0, 10), (130, 40, 0)), start=1):
        made.commit("a", n, triples, added, removed)
    made.commit("b", 1, 1000, 1000)
    for minutes in (20, 30, 40):
        made.fail("b", minutes, BAD)
    made.commit("c", 1, 5, 5)
    made.ledger.start_run("c", later(60), made.announced("c", later(60)), "wash")
    return made


def test_trouble_is_shown_first_with_reason_since_when_and_what_is_served(instance: ReportedInstance) -> None:
    """Trouble is what an operator looks for every morning."""
    text = instance.page("/").text
    card = text[text.index('id="trouble"') : text.index('id="all"')]
    assert "3 of 4 statements are no RDF" in card
    assert "Mend it" not in card, "the first sentence is enough here"
    assert "line 17, column 4" in card
    assert later(20).strftime("%Y-%m-%d %H:%M UTC") in card
    assert "3 tries" in card
    assert 'href="/providers/b/versions/1">version 1</a>' in card
    assert "1\N{NARROW NO-BREAK SPACE}000 triples" in card
    assert '"/providers/a"' not in card


def test_a_provider_that_is_tried_again_stays_in_trouble_until_that_went_well(instance: ReportedInstance) -> None:
    """A download of an hour must not hide that the last one failed."""
    run = instance.ledger.start_run("b", later(50), instance.announced("b", later(50)), "fetch")
    card = instance.page("/").text.split('id="all"')[0]
    assert "3 of 4 statements" in card
    assert "harvesting" in card
    instance.ledger.end_run(run, "unchanged", later(51))
    assert "Need attention</h2>" not in instance.page("/").text


def test_what_runs_is_shown_with_its_step_and_leads_to_its_page(instance: ReportedInstance) -> None:
    """Who waits for a harvest sees where it is."""
    page = instance.page("/")
    [run] = [run.id for run in instance.ledger.runs("c") if run.ended is None]
    assert f"/providers/c/runs/{run}" in Shape(page.text).addresses
    assert ">wash<" in page.text


def test_what_waits_is_listed_with_its_reason_the_oldest_first(instance: ReportedInstance) -> None:
    """A backlog is seen before somebody misses data; beyond twenty the rest is counted."""
    text = instance.page("/").text
    assert "<dt>Waiting</dt><dd>0</dd>" in text
    assert 'id="waiting"' not in text
    parts = {n: Dataset(f"http://d.example/new#{n:02}", (f"http://d.example/{n}.nt",)) for n in range(21)}
    for n, dataset in reversed(parts.items()):
        instance.ledger.announcements.add("new", dataset, later(-n))
    instance.ledger.announcements.add("new", replace(parts[7], coverage=Coverage.PARTIAL, modified=NOW), later(90))
    text = instance.page("/").text
    assert "<dt>Waiting</dt><dd>22</dd>" in text
    section = text[text.index('id="waiting"') : text.index('id="all"')]
    shown = re.findall(r"http://d\.example/new#(\d\d)</span>: ([^<]*)", section)
    assert [int(n) for n, _ in shown] == [*range(20, 0, -1)]
    assert {reason.strip() for _, reason in shown} == {"its turn has not come"}
    assert '<a href="/providers/new">new</a>' in section
    assert '2 more stand in the <a href="/status">' in section
    behind = [each for each in instance.client.get("/status").json["waiting"] if "older" in each["reason"]]
    assert [each["dataset"] for each in behind] == [parts[7].iri]


def test_plots_say_in_words_what_they_show(instance: ReportedInstance) -> None:
    """The words are for who does not see the plots; a provider without versions has no plot."""
    shape = Shape(instance.page("/").text)
    assert "Triples over 3 versions: first 100, last 130, least 90, most 130" in shape.plots
    assert "Triples in the one version: 5" in shape.plots
    changes = (
        "Changes, logarithmic: most added 100 in version 1, most removed 10 in version 2, last +40 \N{MINUS SIGN}0"
    )
    assert changes in shape.plots
    assert len(shape.plots) == 6
    assert (shape.unlabelled, shape.inline) == (0, [])


@pytest.mark.parametrize(
    ("query", "names", "order"),
    [
        ("", ["a", "b", "c", "new"], "ascending"),
        ("?sort=-name", ["new", "c", "b", "a"], "descending"),
        ("?sort=triples", ["b", "a", "c", "new"], "descending"),
        ("?sort=-triples", ["new", "c", "a", "b"], "ascending"),
        ("?sort=state", ["b", "c", "a", "new"], "ascending"),
        ("?sort=last", ["c", "b", "a", "new"], "descending"),
        ("?sort=version", ["a", "b", "c", "new"], "descending"),
        ("?state=failing", ["b"], "ascending"),
        ("?q=E", ["new"], "ascending"),
        ("?q=e&state=failing", [], None),
    ],
)
def test_the_list_is_sorted_and_filtered_by_the_address(
    instance: ReportedInstance, query: str, names: list[str], order: str | None
) -> None:
    """Without JavaScript, and so that an address can be sent to somebody."""
    for path in ("/", "/providers/"):
        page = instance.page(path + query)
        shape = Shape(page.text.split('id="all"')[1])
        assert [row for row in shape.rows if row.startswith("/providers/")] == [f"/providers/{n}" for n in names]
        assert shape.sorted == ([order] if order else [])


@pytest.mark.parametrize("query", ["?sort=size", "?state=good", "?page=0", "?page=2", "?page=x"])
def test_a_mistake_in_the_address_is_reported(instance: ReportedInstance, query: str) -> None:
    """A mistake is not answered with another list than the one that was asked for."""
    assert instance.page("/" + query).status_code == 400


def test_an_instance_without_providers_says_what_to_do(tmp_path: Path) -> None:
    """The first page that somebody sees."""
    text = reported_instance(tmp_path).page("/").text
    assert "Add one to the registry file" in text
    assert "Need attention</h2>" not in text


def test_a_title_stands_beside_the_name_as_text(instance: ReportedInstance) -> None:
    """Providers write titles, so that a title is never markup."""
    instance.ledger.database.write(
        "UPDATE provider SET about = ? WHERE name = 'a'", '[{"title": "Ships & <b>sea</b>"}]'
    )
    assert "Ships &amp; &lt;b&gt;sea&lt;/b&gt;" in instance.page("/").text
    assert [row for row in Shape(instance.page("/?q=ships").text).rows if row == "/providers/a"]


def test_a_thousand_providers_are_shown_in_a_moment_and_few_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred a page; what the database is asked does not grow with their number."""
    names = [f"p{n:04}" for n in range(1000)]
    instance = reported_instance(tmp_path, *names)
    with instance.ledger.database.transaction(durable=False) as db:
        rows = [(name, n, NOW.isoformat(), n, n * 1000) for name in names for n in range(1, 21)]
        db.executemany(
            "INSERT INTO version (provider, n, run, state, at, coverage, added, removed, triples)"
            " VALUES (?, ?, 0, 'committed', ?, 'full', ?, 0, ?)",
            rows,
        )
        db.executemany(
            "INSERT INTO run (provider, announcement, started, ended, outcome, version)"
            " VALUES (?, 1, ?, ?, 'committed', ?)",
            [(name, at, at, n) for name, n, at, *_ in rows],
        )
        db.execute("UPDATE provider SET version = 20, triples = 20000")
    instance.page("/")
    asked: list[str] = []
    database = type(instance.ledger.database)
    rows_of = database.rows
    monkeypatch.setattr(
        database, "rows", lambda self, query, *values: asked.append(query) or rows_of(self, query, *values)
    )
    took = []
    for page in range(1, 4):
        began = time.process_time()
        text = instance.page(f"/?page={page}").text
        took.append(time.process_time() - began)
    assert len(asked) / 3 < 12
    assert len(Shape(text).plots) == 200
    assert "Page 3 of 10" in text
    assert min(took) < 10, "0.09 s on an idle core"
