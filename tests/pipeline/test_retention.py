"""The past that nothing needs is let go; versions, their runs and what waits stay, and pages say so."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from harvest.archive.provenance import new_activity
from harvest.catalog.instance import InstanceCatalog
from harvest.catalog.providers import provider_report
from harvest.config.settings import KeepSettings
from harvest.ledger import Ledger
from harvest.model import Capture, Download
from harvest.pipeline import Retention
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.pipeline.test_semantics import A1, B1, release
from tests.provider import ProviderServer

RUNS = "SELECT ?r { ?r a harvest:Run }"
FINDINGS = "SELECT ?f { ?f a harvest:Finding }"


@pytest.fixture
def old(instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]) -> TemporaryInstance:
    """An instance with two versions and twelve unchanged harvests between them, all of last year; two runs are kept."""
    instance.settings = replace(instance.settings, keep=KeepSettings(age=30 * 86400, newest=2))
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    for day in range(2, 14):
        release(provider, day, A1)
        instance.tick("p")
        instance.clock.forward(days=1)
    release(provider, 14, A1, B1)
    instance.tick("p")
    instance.clock.forward(days=365)
    return instance


def ledger_of(instance: TemporaryInstance) -> Ledger:
    return instance.harvester.instance.ledger


def count(instance: TemporaryInstance, table: str) -> int:
    [row] = ledger_of(instance).database.rows(f"SELECT count(*) AS n FROM {table}")
    return int(row["n"])


def test_old_runs_that_made_no_version_go(old: TemporaryInstance) -> None:
    """From the ledger and from the metadata graph, with steps and announcements; those of versions stay."""
    assert (count(old, "run"), len(ask(old, RUNS))) == (14, 14)
    Retention(old.harvester.instance).let_go()
    runs = ledger_of(old).runs("p")
    assert [(run.outcome, run.version) for run in runs] == [("committed", 2), ("unchanged", None), ("committed", 1)]
    assert len(ask(old, RUNS)) == 3
    assert count(old, "announcement") == 1
    steps = ledger_of(old).database.rows("SELECT DISTINCT run FROM step ORDER BY run DESC")
    assert [row["run"] for row in steps] == [run.id for run in runs[:2]]
    assert old.proven("p")
    assert [rebuilt.same for rebuilt in old.harvester.rebuild("p", check=True)] == [True, True]
    assert old.tick("p") == []
    assert Retention(old.harvester.instance).let_go() == 0


def test_a_provider_says_up_to_which_run_some_were_let_go(old: TemporaryInstance) -> None:
    """Who looks for a run of last year knows that it was there."""
    running = old.harvester.instance

    def runs_let_go() -> object:
        known = provider_report(running.ledger, running.settings, "p", running.roster.get("p"), old.clock())
        assert known is not None
        return known.runs_let_go

    assert runs_let_go() is None
    Retention(running).let_go()
    assert runs_let_go() == 12


def pages_of(instance: TemporaryInstance) -> FlaskClient:
    """The pages of an instance, as a browser asks for them."""
    catalog = InstanceCatalog(instance.settings)
    client = create_pages(Context(catalog, Site("http://h.example"), QueryLimits(), lambda: 0)).test_client()
    client.environ_base["HTTP_ACCEPT"] = "text/html"
    return client


def test_pages_say_what_was_let_go(old: TemporaryInstance) -> None:
    """Who follows a link of last year learns that there was something, and where the rest is."""
    first, *gone, last = (run.id for run in reversed(ledger_of(old).runs("p")))
    pages = pages_of(old)
    assert "were let go" not in pages.get("/providers/p").text
    assert pages.get(f"/providers/p/runs/{gone[0]}").status_code == 200
    Retention(old.harvester.instance).let_go()
    assert "Of the runs up to number 12 those that made no version were let go" in pages.get("/providers/p").text
    for path in (f"/providers/p/runs/{gone[0]}", f"/providers/p/runs/{gone[0]}.json"):
        answer = pages.get(path)
        assert answer.status_code == 404
        assert f"p has no run {gone[0]} any more; /providers/p lists its latest ones." in answer.text
    answer = pages.get("/providers/p/runs/9999")
    assert answer.status_code == 404 and "p has no run 9999; /providers/p lists" in answer.text
    shown = {run: pages.get(f"/providers/p/runs/{run}").text for run in (first, last)}
    let_go = "or they were let go when they were old"
    assert (let_go in shown[first], let_go in shown[last]) == (True, False)
    for n in (1, 2):
        assert pages.get(f"/providers/p/versions/{n}.nq").status_code == 200


def test_what_is_young_stays(old: TemporaryInstance) -> None:
    """The settings say what is old."""
    old.clock.forward(days=-364)
    assert Retention(old.harvester.instance).let_go() == 0
    assert count(old, "run") == 14


def test_logs_can_be_made_again_when_the_past_is_gone(old: TemporaryInstance) -> None:
    """What a log says of a version stands in the ledger once, for good: in the note that went into the log."""
    needed = ledger_of(old).downloads.needed()
    assert count(old, "version WHERE facts IS NOT NULL") == 0
    Retention(old.harvester.instance).let_go()
    for record in ledger_of(old).downloads.logs():
        old.harvester.instance.content.path(record.digest).unlink()
    assert all(mended.mended for mended in old.harvester.maintenance.mend())
    assert [rebuilt.same for rebuilt in old.harvester.rebuild("p", check=True)] == [True, True]
    assert {d.sha256 for run in ledger_of(old).runs("p") for d in run.dumps} <= needed
    assert {d.sha256 for run in ledger_of(old).runs("p") for d in run.dumps} <= ledger_of(old).downloads.needed()


def test_earlier_documents_go_and_the_newest_stay(old: TemporaryInstance) -> None:
    """Fourteen dumps at fourteen addresses are fourteen seeds, each with its last document; problems go with theirs."""
    seeds = ledger_of(old).seeds.page(listed=False)
    seed = seeds[0].hash
    for day in range(5):
        began = old.clock() - timedelta(days=200 - day)
        hash = ledger_of(old).documents.downloading(seed, began)
        ledger_of(old).documents.filed(hash, Capture("u:x", "u:x", began, 200, "0" * 64, 1, None), (), began)
    before = count(old, "document")
    earliest = ledger_of(old).documents.of_seed(seed)[-1].hash
    pages = pages_of(old)
    assert pages.get(f"/documents/{earliest}").status_code == 200
    Retention(old.harvester.instance).let_go()
    answer = pages.get(f"/documents/{earliest}")
    assert answer.status_code == 404 and "or not any more if it was an old one" in answer.text
    assert [d.began for d in ledger_of(old).documents.of_seed(seed)] == sorted(
        (old.clock() - timedelta(days=200 - day) for day in (3, 4)), reverse=True
    )
    assert count(old, "document") == before - 4


def test_failed_downloads_and_answers_go(old: TemporaryInstance) -> None:
    """The last of each URL stays, and what no log holds yet; so do downloads that gave bytes."""
    downloads, at = ledger_of(old).downloads, old.clock() - timedelta(days=300)
    for _ in range(3):
        downloads.add(Download(new_activity(), "http://x/", at, at, None, 500, "broken", None))
    old.harvester.instance.crawl.seal()
    downloads.add(Download(new_activity(), "http://y/", at, at, None, 500, "broken", None))
    kept = count(old, "download")
    asked = ledger_of(old).requests.ask("run", ["p"], at)
    ledger_of(old).requests.finish(asked, {"ok": True}, at)
    waits = ledger_of(old).requests.ask("run", ["p"], at)
    Retention(old.harvester.instance).let_go()
    assert count(old, "download") == kept - 2
    assert [row["id"] for row in ledger_of(old).database.rows("SELECT id FROM request")] == [waits]


def test_what_is_held_keeps_its_run(old: TemporaryInstance, provider: ProviderServer) -> None:
    """However old it is: somebody may approve it."""
    old.guard(0, 0)
    old.close()
    release(provider, 15, B1.replace('"1"', '"2"'))
    assert [result.outcome.value for result in old.tick("p")] == ["held"]
    held = ledger_of(old).runs("p")[0]
    old.clock.forward(days=1000)
    Retention(old.harvester.instance).let_go()
    assert ledger_of(old).run(held.id) is not None
    assert [result.outcome.value for result in old.harvester.approve("p")] == ["committed"]


HOLES = """
import ctypes
from harvest.pipeline.retention import return_memory
def resident():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return int(line.split()[1])
c = ctypes.CDLL(None)
c.malloc.restype, c.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
pieces = [c.malloc(4000) for _ in range(50_000)]
for piece in pieces:
    ctypes.memset(piece, 1, 4000)
for piece in pieces[:-1]:
    c.free(piece)
before = resident()
return_memory()
print(before - resident())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library than glibc")
def test_memory_that_is_free_is_returned() -> None:
    """A piece in use above 200 MB of free ones keeps all of them in the process otherwise."""
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True, timeout=300)
    assert int(done.stdout) > 150_000
