"""Only the pages of a sitemap that changed are washed again, and what comes out is as from scratch."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.model import Document, Outcome
from harvest.wash import page_cache
from harvest.wash.canonical import wash
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_sitemaps import HEAD
from tests.provider import ProviderServer

CONTEXT = '{{"@context": {{"says": "http://x/{}"}}}}'
JSON_LD = '<html><body><script type="application/ld+json">{}</script></body></html>'


class Site:
    """A site of pages, and the instances that harvest it."""

    def __init__(self, server: ProviderServer) -> None:
        self.server = server
        self.pages: dict[str, int] = {}
        self.context = server.put("/context", CONTEXT.format("says"), "application/ld+json")

    def put(self, name: str, value: str, day: int) -> None:
        """A page with blank nodes: in Turtle, in RDFa, or in JSON-LD with a remote context, by its first letter."""
        self.pages[name] = day
        if name[0] == "t":
            text = f'<http://x/{name}> <http://p> "{value}", [ <http://q> "_:d0-a" ], _:a . _:a <http://q> _:a .'
            self.server.put(f"/{name}", text)
        elif name[0] == "r":
            rdfa = f'<p about="http://x/{name}" property="http://p">{value}</p><p typeof="http://x/T" property="http://q">1</p>'
            self.server.put(f"/{name}", f"<html><body>{rdfa}</body></html>", "text/html")
        else:
            text = f'{{"@context": "{self.context}", "says": ["{value}", {{"says": "{name}"}}]}}'
            self.server.put(f"/{name}", JSON_LD.format(text), "text/html")

    def list(self) -> str:
        """Put the sitemap; its address."""
        years = {name: 2020 if day == 1 else 2098 + day for name, day in self.pages.items()}
        urls = "".join(
            f"<url><loc>{self.server.url}/{name}</loc><lastmod>{year}-01-01</lastmod></url>"
            for name, year in years.items()
        )
        return self.server.put("/sitemap.xml", f"{HEAD}{urls}</urlset>", "application/xml")


def pages_of(instance: TemporaryInstance) -> Path:
    return instance.settings.layout.pages("p")


def harvested(instance: TemporaryInstance, site: Site) -> tuple[Outcome, int]:
    """Harvest the site: the outcome, and how many pages were washed, as each washing of one files what it gave."""
    instance.register(f"p:\n  sitemap: {site.list()}\n  removals: mirror\n")
    instance.guard(100_000, 1)
    before = filed(instance)
    results = instance.tick("p")
    return (results[0].outcome if results else Outcome.UNCHANGED), len(filed(instance) - before)


def filed(instance: TemporaryInstance) -> set[tuple[str, int, int]]:
    """The files of pages, each with when it was written."""
    found = ((path, path.stat()) for path in pages_of(instance).glob("*/*"))
    return {(path.name, status.st_ino, status.st_mtime_ns) for path, status in found}


def reused(instance: TemporaryInstance) -> int:
    """How many pages the last run reports as not read again."""
    ledger = instance.harvester.instance.ledger
    [run] = ledger.runs("p", 1)
    return sum(int(step.figures.get("reused", 0)) for step in ledger.steps.of([run.id])[run.id])


def digests(instance: TemporaryInstance) -> list[str | None]:
    return [version.digest for version in instance.harvester.instance.ledger.versions("p")]


@pytest.fixture
def site(provider: ProviderServer) -> Site:
    made = Site(provider)
    for name in ("t1", "t2", "r1", "j1", "j2"):
        made.put(name, "same", 1)
    return made


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[TemporaryInstance]:
    """A second instance, which keeps nothing of pages."""
    (tmp_path / "scratch").mkdir()
    made = TemporaryInstance(tmp_path / "scratch")
    yield made
    made.close()


def test_only_pages_that_changed_are_washed_again(instance: TemporaryInstance, site: Site) -> None:
    """Nor is another page asked for; the versions are those that washing everything gives."""
    assert harvested(instance, site) == (Outcome.COMMITTED, 5)
    site.put("j1", "other", 2)
    instance.clock.forward(days=3)
    assert harvested(instance, site) == (Outcome.COMMITTED, 1) and reused(instance) >= 4
    assert (site.server.asked("/t1"), site.server.asked("/j1")) == ([200], [200, 200])
    del site.pages["t2"]
    site.put("t3", "same", 3)
    instance.clock.forward(days=3)
    assert harvested(instance, site) == (Outcome.COMMITTED, 1)
    assert len(list(pages_of(instance).glob("*/*"))) == 5  # nothing of the page that is gone
    rebuilt = instance.harvester.rebuild("p", check=True)
    assert [(each.n, each.same) for each in rebuilt] == [(1, True), (2, True), (3, True)]
    assert instance.proven("p")
    instance.register("{}\n")
    instance.harvester.forget("p")
    assert not pages_of(instance).exists()


@pytest.mark.parametrize("seed", range(2))
def test_versions_are_those_of_washing_everything(
    instance: TemporaryInstance, scratch: TemporaryInstance, site: Site, seed: int
) -> None:
    """Whatever pages come, change and go, with the names of blank nodes."""
    chance = random.Random(seed)
    for round in range(3):
        for name in chance.sample(["t1", "t2", "t3", "r1", "r2", "j1", "j2", "j3"], 3):
            if name in site.pages and chance.random() < 0.3:
                del site.pages[name]
            else:
                site.put(name, chance.choice(["same", "a", "b"]), round + 2)
        shutil.rmtree(pages_of(scratch), ignore_errors=True)
        for each in (instance, scratch):
            each.clock.forward(days=3)
        kept, plain = harvested(instance, site), harvested(scratch, site)
        assert kept[0] == plain[0] and kept[1] <= plain[1] == (len(site.pages) if plain[1] else 0)
    assert digests(instance) == digests(scratch) and len(digests(instance)) >= 2


def test_a_page_whose_context_changed_is_washed_again(instance: TemporaryInstance, site: Site) -> None:
    """Pages that do not use the context are not; it is asked for once a day, and only when something is washed."""
    assert harvested(instance, site)[1] == 5
    site.server.put("/context", CONTEXT.format("other"), "application/ld+json")
    site.put("t1", "new", 2)
    instance.clock.forward(days=3)
    assert harvested(instance, site)[1] == 3
    assert any("<http://x/other>" in line for line in instance.graph("p"))
    assert not any("<http://x/says>" in line for line in instance.graph("p"))
    assert [each.same for each in instance.harvester.rebuild("p", check=True)] == [True, True]


def test_what_is_kept_and_damaged_is_not_used(instance: TemporaryInstance, site: Site) -> None:
    """It is a cache: a byte that was flipped, or a file that was cut short, costs a washing."""
    harvested(instance, site)
    first, second, *_ = sorted(pages_of(instance).glob("*/*"))
    data = bytearray(first.read_bytes())
    data[len(data) // 2] ^= 0xFF
    first.write_bytes(data)
    second.write_bytes(second.read_bytes()[:-9])
    site.put("t1", "new", 2)
    instance.clock.forward(days=3)
    assert harvested(instance, site)[1] in (2, 3)  # what was kept of the page that changed may be one of the two
    assert [each.same for each in instance.harvester.rebuild("p", check=True)] == [True, True]


@pytest.mark.parametrize("media_type", ["text/turtle", "application/rdf+xml", "application/ld+json", "text/html"])
def test_a_page_of_many_lines_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, media_type: str) -> None:
    """Nor is it held in memory; it is read again, by any parser, and nothing of it counts twice."""
    monkeypatch.setattr(page_cache, "LARGEST", 5_000)
    numbers = range(20_000)
    if media_type == "application/rdf+xml":
        node = '<rdf:Description rdf:about="http://x/{0}" xmlns:p="http://p/"><p:n>{0}</p:n></rdf:Description>'
        items = "".join(node.format(n) for n in numbers)
        text = f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">{items}</rdf:RDF>'
    elif media_type == "text/turtle":
        text = "".join(f'<http://x/{n}> <http://p/n> "{n}" .\n' for n in numbers)
    else:
        items = ",".join(f'{{"@id": "http://x/{n}", "http://p/n": "{n}"}}' for n in numbers)
        text = f"[{items}]" if media_type.endswith("json") else JSON_LD.format(f"[{items}]")
    place = tmp_path / "page"
    place.write_text(text)
    plain = Document(place, "http://x/page", media_type)
    kept = replace(plain, keep=tmp_path / "kept")
    small = tmp_path / "small"
    small.write_text("<http://x/0> <http://p/n> [] .")
    beside = Document(small, "http://x/small", "text/turtle")
    first, second = (wash([each, beside], "http://g", tmp_path / "out.nq", 64 << 20) for each in (kept, plain))
    assert first.snapshot.digest == second.snapshot.digest and first.snapshot.triples == len(numbers) + 1
    assert [len(its) for its in first.documents] == [1, 1] and first.documents[0][0].statements == len(numbers)
    assert list((tmp_path / "kept").glob("*/*")) == []
