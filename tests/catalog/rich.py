"""An instance that has one of everything that pages, JSON and RDF report, made in its ledger alone."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from harvest.catalog.instance import InstanceCatalog
from harvest.catalog.providers import SCHEDULE, Schedule
from harvest.config.settings import Settings
from harvest.ledger import Clean, Database, Decided, Described, Ledger, RunFacts
from harvest.model import (
    About,
    Announcement,
    Capture,
    Content,
    Coverage,
    Dataset,
    Finding,
    Hop,
    Outcome,
    Part,
    Problem,
    Snapshot,
    Statistics,
    Status,
    Validators,
)
from harvest.model.seeds import entry_hash
from sparql.reports import DumpReport
from tests.ledger.samples import NOW, later, version

BASE = "http://h.example"
REGISTRY = """\
mixed:
  void: http://me:secret@d.example/mixed/void.ttl
  removals: mirror
  contact: somebody@d.example
  notify: https://d.example/inbox
off:
  void: http://d.example/off/void.ttl
  enabled: false
claimed:
  modified: 2026-01-02T03:04:05Z
  void: http://d.example/claimed/void.ttl
broken:
  void: http://d.example/broken/void.ttl
busy:
  dump: http://d.example/busy.nt
written:
  updates: true
new:
  sitemap: http://d.example/sitemap.xml
"""
WRONG = Finding("wash", "Größe <b>: 3 of 4 are no RDF. Mend it.", "http://d.example/f.nt", 3, 4, "<a> <b>", fatal=True)
ODD = Finding("odd", "something is odd", "http://d.example/mixed/void.ttl")
HELD = Finding("held", "900 of 1,000 triples would go", fatal=True)
ABOUT = About(
    "http://d.example/#good", "Ships", "All.", "http://l.example/", "We", "http://d.example/", ("http://d.example/1",)
)
DUMP = DumpReport("http://me:pw@d.example/good.nt", "0" * 64, 7, "text/turtle")
SHA256 = "5" * 64


def settings_of(folder: Path) -> Settings:
    return Settings(
        base_url=BASE,
        graph_base=f"{BASE}/graph/",
        registry=folder / "registry.yaml",
        data_dir=folder / "var",
        exports_dir=folder / "exports",
    )


def rich(folder: Path) -> InstanceCatalog:
    """The catalog of an instance that was filled, two hours after its beginning."""
    settings = settings_of(folder)
    settings.registry.write_text(REGISTRY)
    for place in (settings.data_dir, settings.exports_dir):
        place.mkdir()
    entry = {"file": "all.nq.gz", "graph": None, "version": 1, "triples": 1, "bytes": 1, "sha256": "e" * 64}
    entry |= {"content_sha256": None, "at": later(30).isoformat()}
    (settings.exports_dir / "index.json").write_text(json.dumps({"all": entry}))
    ledger = Ledger(Database(settings.layout.ledger))
    for name in ("mixed", "off", "broken", "busy", "written", "gone"):
        ledger.enrol(name, settings.graph(name))
    ledger.set_meta(SCHEDULE, Schedule(NOW, 60).dump())
    _mixed(ledger)
    _others(ledger)
    _seeds(ledger)
    return InstanceCatalog(settings, lambda: later(120))


def _dataset(name: str, day: int | None = 0, coverage: Coverage = Coverage.FULL) -> Dataset:
    date = None if day is None else NOW + timedelta(days=day)
    return Dataset(f"http://d.example/#{name}", (f"http://d.example/{name}.nt",), coverage, date, f"The {name} one")


def _capture(url: str) -> Capture:
    return Capture(url, url, NOW, 200, "0" * 64, 7, "text/turtle", (), Validators())


def _announced(ledger: Ledger, name: str, what: Dataset, minutes: float = 0) -> Announcement:
    found = ledger.announcements.get(ledger.announcements.add(name, what, later(minutes)))
    assert found is not None
    return found


def _commit(ledger: Ledger, name: str, n: int, what: Dataset) -> None:
    """A version, made by a run of a minute in three steps."""
    found = _announced(ledger, name, what, 10 * n)
    run = ledger.start_run(name, later(10 * n), found, "fetch")
    ledger.steps.begin(run, "wash", later(10 * n + 0.25))
    ledger.steps.record(run, {"triples": 10 * n, "doing": "sorting"})
    made = replace(version(n, run, triples=1000 * n, name=name), at=later(10 * n + 0.5), modified=what.modified)
    made = replace(made, dataset=what.iri, coverage=what.coverage.value)
    ledger.file_version(made)
    ledger.figures.put(name, n, Statistics(1000 * n, 5, {"http://p/b": 7, "http://p/a": 7}, {"http://c/": 3}))
    ledger.note_run(run, RunFacts(dumps=(DUMP,), findings=(ODD,)))
    filed = replace(found, captures=(_capture(what.dumps[0]),))
    ledger.commit_version(made, filed, later(10 * n + 1))


def _mixed(ledger: Ledger) -> None:
    """Datasets that are idle, failing, held, waiting one behind another, unknown so far, and gone; a damaged file."""
    good, left, failing, held = _dataset("good"), _dataset("left"), _dataset("failing"), _dataset("held", None)
    early, late = _dataset("parts", 1, Coverage.PARTIAL), _dataset("parts", 2, Coverage.PARTIAL)
    _commit(ledger, "mixed", 1, good)
    _commit(ledger, "mixed", 2, left)
    described = (good, failing, held, early, _dataset("fresh", None))
    read = Described("http://d.example/mixed/void.ttl", "e" * 64, Validators(), (ODD,), (ABOUT,), described)
    odd = {"http://d.example/#fresh": (Finding("no-feature", "it is taken as full"),)}
    ledger.described.file("mixed", read, later(25), Decided((), None, None, odd))
    wrong = _announced(ledger, "mixed", failing, 30)
    for minutes in (30, 40):
        run = ledger.start_run("mixed", later(minutes), wrong, "wash")
        ledger.announcements.postpone(wrong.id, later(minutes + 1), WRONG)
        ledger.end_run(run, Outcome.FAILED, later(minutes + 1), RunFacts(findings=(WRONG, ODD), dumps=(DUMP,)))
    guarded = _announced(ledger, "mixed", held, 50)
    run = ledger.start_run("mixed", later(50), guarded, "revise")
    ledger.announcements.hold(guarded.id, later(51), HELD, "f" * 64)
    ledger.end_run(run, Outcome.HELD, later(51), RunFacts(findings=(HELD,), added=1, removed=900, vanished=3))
    _announced(ledger, "mixed", early, 60)
    _announced(ledger, "mixed", late, 61)
    ledger.damages.add("mixed", Finding("damaged", "changes/000001.nqud.gz is damaged", fatal=True))


def _others(ledger: Ledger) -> None:
    """A description that cannot be read; a harvest that goes on; a provider that left the registry."""
    ledger.undescribed("broken", (replace(WRONG, kind="status"),), later(100), later(130))
    ledger.end_run(ledger.start_run("broken", later(99), None), Outcome.FAILED, later(100), RunFacts(findings=(WRONG,)))
    _commit(ledger, "busy", 1, _dataset("busy"))
    run = ledger.start_run("busy", later(110), _announced(ledger, "busy", _dataset("busy", 3), 110), "fetch")
    ledger.steps.record(run, {"bytes": 7, "of_bytes": 9})
    ledger.steps.begin(run, "wash", later(111))
    _commit(ledger, "gone", 1, _dataset("gone"))


def _seeds(ledger: Ledger) -> None:
    """A seed whose archive has an entry with a problem and a clean document; one that failed, one that is relative."""
    seeds, documents = ledger.seeds, ledger.documents
    url = "http://me:secret@data.example/all.zip"
    seed, _ = seeds.add(url, NOW, 86400)
    download = documents.downloading(seed, NOW)
    hop = Hop("http://data.example/all.zip", 302, (1, 1), (("location", "/b.zip"), ("x", "<i>")), 0.25)
    documents.filed(download, Capture(url, url, NOW, 200, "b" * 64, 999, "application/zip"), (hop,), later(1))
    seeds.processed(seed, later(1))
    content = Content(120, 110, 7, "CRLF", "latin-1")
    problem = Problem("syntax", "a dot is missing, <b>see</b> `here`", 3, 14, "<script>alert(1)</script>")
    entry = Part(("ä.ttl",), Status.PARSED, NOW, later(1), content, "Turtle", 10, 2, False, (problem,), {"syntax": 500})
    graph = f"{BASE}/graph/seed-1"
    clean = Clean(entry_hash(download, "ä.ttl"), Snapshot(Path("x"), 1, SHA256), content, graph, later(2))
    documents.record(download, [Part((), Status.DEPLETED, NOW, later(1)), entry], [clean])
    documents.load([SHA256])
    failed, _ = seeds.add("http://d.example/none.ttl", later(1), 60)
    begun = documents.downloading(failed, later(2))
    documents.failed(begun, (hop,), Problem("download", "404 Not Found"), later(3))
    seeds.tried(failed, later(3))
    seeds.add("../a.ttl", later(4), 60)
    seeds.add("http://d.example/of-provider.nt", later(5), 60, listed=False, provider="mixed")
