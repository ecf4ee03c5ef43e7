"""The page of a provider: what it is, what became of it, and every version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harvest.ledger import Described, RunFacts
from harvest.model import About, Finding, Outcome, Validators
from sparql.reports import DumpReport
from tests.ledger.samples import later
from tests.web.reported import ReportedInstance, Shape, reported_instance

ABOUT = About(
    "http://d.example/a#d",
    "Ships of the <sea>",
    "All of them.",
    "https://creativecommons.org/publicdomain/zero/1.0/",
    "The Institute",
    "http://d.example/",
    ("http://d.example/ship/1", "http://d.example/ship/2"),
)
BAD = Finding("wash", "It does not parse.", "http://d.example/a.nt", 3, 4, "<a> <b> oops", fatal=True)


@pytest.fixture
def instance(tmp_path: Path) -> ReportedInstance:
    made = reported_instance(tmp_path, "a", "new")
    for n in range(1, 61):
        made.commit("a", n, 100 + n, 2, 1)
    read = Described("http://d.example/a/void.ttl", "e" * 64, Validators(), (), (ABOUT,))
    made.ledger.described.file("a", read, later(0))
    return made


def test_what_the_description_says_is_shown(instance: ReportedInstance) -> None:
    """Title, text, licence, publisher, homepage, examples: what providers wrote, as text."""
    text = instance.page("/providers/a").text
    assert "Ships of the &lt;sea&gt;" in text
    assert "All of them." in text
    assert "The Institute" in text
    addresses = Shape(text).addresses
    assert {ABOUT.licence, ABOUT.homepage} <= set(addresses)
    assert "/entity?iri=http%3A//d.example/ship/1" in addresses
    assert instance.client.get("/providers/a.json").json["about"] == [
        {
            "iri": ABOUT.iri,
            "title": ABOUT.title,
            "description": ABOUT.description,
            "licence": ABOUT.licence,
            "publisher": ABOUT.publisher,
            "homepage": ABOUT.homepage,
            "examples": list(ABOUT.examples),
        }
    ]


def test_creators_release_and_citation_are_shown(instance: ReportedInstance) -> None:
    """What a repository says of a dataset, as text; the DOI as a link."""
    made = replace(ABOUT, creators=("Doe, <Jo>", "Roe, An"), doi="10.5072/7", version="2.1", issued="2019-05-06")
    read = Described("http://d.example/a/void.ttl", "f" * 64, Validators(), (), (made,))
    instance.ledger.described.file("a", read, later(0))
    text = instance.page("/providers/a").text
    cited = "(2019). Ships of the &lt;sea&gt;. Version 2.1. https://doi.org/10.5072/7"
    for shown in ("<dd>Doe, &lt;Jo&gt;; Roe, An</dd>", "<dd>2.1, 2019-05-06</dd>", f"Roe, An {cited}</dd>"):
        assert shown in text
    assert "https://doi.org/10.5072/7" in Shape(text).addresses


def test_an_address_that_no_browser_opens_is_no_link(instance: ReportedInstance) -> None:
    """Dumps may be named by hash, and a description may say anything."""
    run = instance.ledger.start_run("a", later(700), instance.announced("a"), "check")
    dump = DumpReport(f"hash://sha256/{'0' * 64}", "0" * 64, 7, None)
    instance.ledger.end_run(run, Outcome.UNCHANGED, later(701), RunFacts(dumps=(dump,)))
    evil = About("http://d.example/a#d", homepage="javascript:alert(1)", licence="javascript://x/%0aalert(1)")
    read = Described("http://d.example/a/void.ttl", "f" * 64, Validators(), (), (evil,))
    instance.ledger.described.file("a", read, later(702))
    for path in ("/providers/a", f"/providers/a/runs/{run}"):
        page = instance.page(path)
        assert dump.url in page.text
        assert not [a for a in Shape(page.text).addresses if a.startswith(("hash:", "javascript:"))]


def test_the_json_has_the_newest_versions_and_leads_to_the_rest(instance: ReportedInstance) -> None:
    """Programs read what changed here; a provider of ten thousand versions is no answer of ten thousand records."""
    record = instance.client.get("/providers/a.json").json
    assert [version["n"] for version in record["versions"]] == list(range(60, 35, -1))
    assert instance.client.get("/providers/new.json").json["versions"] == []
    for n in range(61, 131):
        instance.commit("a", n, 100 + n, 2, 1)
    pages = [instance.client.get(record["versions_url"], query_string={"page": n}).json for n in (1, 2)]
    assert [version["n"] for page in pages for version in page["versions"]] == list(range(130, 0, -1))
    assert {(page["name"], page["total"], page["pages"]) for page in pages} == {("a", 130, 2)}
    assert instance.client.get(record["versions_url"], query_string={"page": 3}).json["versions"] == []
    assert instance.client.get(record["versions_url"], query_string={"page": "x"}).status_code == 400
    assert instance.client.get("/providers/nobody/versions.json").status_code == 404


def test_whom_to_ask_and_whom_to_notify_are_shown(tmp_path: Path) -> None:
    """A provider sees that the registry has the right address."""
    instance = reported_instance(tmp_path, "a")
    registry = tmp_path / "registry.yaml"
    registry.write_text(f"{registry.read_text()}  contact: jo@example.org\n  notify: mailto:<ann>@example.org\n")
    record = instance.client.get("/providers/a.json").json
    assert (record["contact"], record["notify"]) == ("jo@example.org", "mailto:<ann>@example.org")
    text = instance.page("/providers/a").text
    assert "jo@example.org" in text
    assert "mailto:&lt;ann&gt;@example.org" in text


def test_versions_are_paged_newest_first_and_plotted_whole(instance: ReportedInstance) -> None:
    """The table is the plot for who does not see it."""
    first, third = instance.page("/providers/a").text, instance.page("/providers/a?page=3").text
    assert [n for n in (60, 36) if f'href="/providers/a/versions/{n}"' in first] == [60, 36]
    assert 'href="/providers/a/versions/35"' not in first.split('id="runs"')[0]
    assert 'href="/providers/a/versions/1"' in third
    assert "Page 3 of 3" in third
    for text in (first, third):
        assert "Triples over 60 versions: first 101, last 160, least 101, most 160" in Shape(text).plots
    assert instance.page("/providers/a?page=4").status_code == 400


def test_a_finding_is_shown_with_place_and_text_around(instance: ReportedInstance) -> None:
    """So that a provider can mend it without asking, and sees what is served meanwhile."""
    run = instance.fail("a", 700, BAD)
    text = instance.page("/providers/a").text
    assert "line 3, column 4" in text
    assert "&lt;a&gt; &lt;b&gt; oops" in text
    assert "What is served meanwhile is version 60" in text
    assert f"/providers/a/runs/{run}" in Shape(text).addresses


def test_the_runs_say_what_was_found_three_of_each_and_how_many_more(instance: ReportedInstance) -> None:
    """In the column of findings: the cause first, as the history has it, by its first sentence."""
    run = instance.ledger.start_run("a", later(800), instance.announced("a"), "fetch")
    found = (
        BAD,
        *(Finding("recoded", f"It was read as latin-{n}. More of it.", "http://d.example/a.nt") for n in range(1, 6)),
    )
    instance.ledger.end_run(run, Outcome.FAILED, later(801), RunFacts(findings=found))
    table = instance.page("/providers/a").text.split('id="runs"')[1]
    row = next(part for part in table.split("<tr") if f"/runs/{run}" in part)
    column = row.rsplit("<td", 1)[1]
    assert column.index("It does not parse.") < column.index("latin-1") < column.index("latin-2")
    assert "latin-3" not in column and "More of it" not in column
    assert "and 3 more" in column


def test_a_provider_without_versions_has_a_page(instance: ReportedInstance) -> None:
    """Nothing to plot, nothing to query, and no empty frames."""
    text = instance.page("/providers/new").text
    assert "Nothing has been harvested yet." in text
    assert "Query this graph" not in text
    assert Shape(text).plots == []


def test_a_page_of_a_thousand_versions_stays_small(tmp_path: Path) -> None:
    """Neighbours share a column of the plots, and none of their extremes is lost."""
    instance = reported_instance(tmp_path, "a")
    with instance.ledger.database.transaction(durable=False) as db:
        db.executemany(
            "INSERT INTO version (provider, n, run, state, at, coverage, added, removed, triples)"
            " VALUES ('a', ?, 0, 'committed', ?, 'full', 1, 1, ?)",
            [(n, later(n).isoformat(), 7 if n == 501 else 1000) for n in range(1, 1001)],
        )
        db.execute("UPDATE provider SET version = 1000, triples = 1000")
    text = instance.page("/providers/a").text
    shape = Shape(text)
    assert "Triples over 1\N{NARROW NO-BREAK SPACE}000 versions: first" in shape.plots[0]
    assert "least 7" in shape.plots[0]
    assert text.count('class="spot"') == 2 * 143
    assert len(text) < 150_000


def test_each_dataset_is_shown_with_its_state_and_what_to_do(instance: ReportedInstance) -> None:
    """The one that fails first, though another was harvested after it; why, since when, how often, and what helps."""
    found = instance.announced("new")
    run = instance.ledger.start_run("new", later(5), found, "fetch")
    instance.ledger.announcements.postpone(found.id, later(6), BAD)
    instance.ledger.end_run(run, Outcome.FAILED, later(6), RunFacts(findings=(BAD,)))
    text = instance.page("/providers/new").text
    section = text[text.index('id="datasets"') : text.index('id="versions"')]
    assert "http://d.example/new#d" in section and "state failing" in section
    assert "1 try, the last" in section and f"/providers/new/runs/{run}" in section
    assert "the last try failed; it is tried again at" in section
    assert "<code>harvest run new</code>" in section
    assert 'id="datasets"' in instance.page("/providers/a").text
