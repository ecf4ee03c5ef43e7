"""The files of a dataset in a repository that are no RDF: archived beside the harvest, and not imported."""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import replace

import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.config.settings import FilesetSettings
from harvest.model import Outcome
from harvest.pipeline.rounds import Round
from harvest.wash import process
from sparql.reports import IngestReport
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.provider import ProviderServer
from tests.repositories import ckan, zenodo

A, B = (f'<http://x/{name}> <http://p> "{name}"' for name in "ab")
FILES = {"a.ttl": f"{A} .", "c.csv": "1,2\n", "d/readme.txt": "Read me."}
TABLE = "/api/records/7/files/c.csv/content"
TEXT = "/api/records/7/files/d/readme.txt/content"


@pytest.fixture(scope="module", autouse=True)
def _forking() -> None:
    """What processes are forked from is started here: a look's thread has the lowest priority, and so would it."""
    assert process.call(int, process.Bounds(120, "http://x/"), "7") == 7


@pytest.fixture
def repository(instance: TemporaryInstance, provider: ProviderServer) -> TemporaryInstance:
    """An instance for which the local server is Zenodo."""
    filesets = FilesetSettings(platform_hosts={provider.url.removeprefix("http://"): "zenodo"})
    instance.settings = replace(instance.settings, filesets=filesets)
    return instance


def harvested(instance: TemporaryInstance) -> list[Outcome]:
    """What a round gives; all files have come when it returns."""
    results = Round(instance.harvester).run(["p"])["p"]
    instance.harvester.downloads.finish_files()
    return [result.outcome for result in results]


def ingest(instance: TemporaryInstance) -> IngestReport:
    report = InstanceCatalog(instance.settings, instance.clock).provider("p")
    assert report and report.ingest
    return report.ingest


def statuses(instance: TemporaryInstance) -> dict[str, str | None]:
    return {file.path: file.status for file in ingest(instance).manifest}


def sha256(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


STATUSES = "SELECT ?path ?status { ?f harvest:path ?path ; harvest:status ?status } ORDER BY ?path"


def test_files_that_are_no_rdf_are_archived_once(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """Their bytes are in the archive by SHA-256, the graph has none of them, and a further look asks for none."""
    instance, page = repository, zenodo(provider, 7, FILES)
    instance.register(f"p:\n  dataset: {page}\n")
    assert harvested(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}
    running = instance.harvester.instance
    for path, body in FILES.items():
        assert running.content.path(sha256(body)).read_text() == body, path
    files = {file.path: file for file in ingest(instance).manifest}
    assert {(path, file.status, file.sha256) for path, file in files.items()} == {
        (path, "exists", sha256(body)) for path, body in FILES.items()
    }
    assert files["c.csv"].terminal_url == provider.url + TABLE
    assert ask(instance, STATUSES) == [(path, "exists") for path in FILES]
    download = running.ledger.downloads.at(provider.url + TABLE, None)
    assert download and download.informed == running.crawl.activity(page)
    assert harvested(instance) == []
    assert provider.asked(TABLE) == [200]
    assert [finding.kind for finding in running.ledger.findings("p")] == ["not-rdf"]
    assert instance.proven("p")


def test_a_new_version_downloads_what_changed(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """Files have other addresses there; one whose checksum is the same is not downloaded again."""
    instance = repository
    instance.register(f"p:\n  dataset: {zenodo(provider, 7, FILES)}\n")
    assert harvested(instance) == [Outcome.COMMITTED]
    zenodo(provider, 7, FILES, last=False)
    zenodo(provider, 8, FILES | {"c.csv": "3,4\n"})
    provider.pages["/api/records/7/versions/latest"] = provider.pages["/api/records/8"]
    harvested(instance)
    assert set(statuses(instance).values()) == {"exists"}
    assert provider.asked(TEXT.replace("7", "8")) == []
    assert provider.asked(TABLE.replace("7", "8")) == [200]
    assert instance.harvester.instance.content.path(sha256("3,4\n")).is_file()


def test_a_file_without_a_checksum_is_asked_for_conditionally(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """After each look; other bytes are filed as well."""
    files = {"a.ttl": f"{A} .", "c.csv": "1,2\n"}
    instance.register(f"p:\n  dataset: {ckan(provider, files)}\n")
    assert harvested(instance) == [Outcome.COMMITTED]
    assert statuses(instance) == dict.fromkeys("ac", "exists")
    [table] = {path for path, _ in provider.requests if "c.csv" in path}
    harvested(instance)
    assert provider.asked(table) == [200, 304]
    provider.put(table, "3,4\n", provider.pages[table].media_type)
    harvested(instance)
    assert provider.asked(table) == [200, 304, 200]
    assert instance.harvester.instance.content.path(sha256("3,4\n")).is_file()


@pytest.mark.parametrize(
    ("body", "status", "is_now", "why"),
    [
        ("1,3\n", 200, "mismatch-md5", "not those of the manifest"),
        ("1,2", 200, "mismatch-size", "not those of the manifest"),
        ("gone", 404, "terminal-bad-status", "404"),
    ],
)
def test_a_file_that_fails_is_a_finding_and_stops_no_harvest(
    repository: TemporaryInstance, provider: ProviderServer, body: str, status: int, is_now: str, why: str
) -> None:
    """It is asked for again at the next look, and the finding goes when it is as the manifest says."""
    instance, page = repository, zenodo(provider, 7, FILES)
    right = provider.pages[TABLE]
    provider.put(TABLE, body, "text/csv", status)
    instance.register(f"p:\n  dataset: {page}\n")
    assert harvested(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}
    assert statuses(instance) == {"a.ttl": "exists", "c.csv": is_now, "d/readme.txt": "exists"}
    assert ask(instance, STATUSES)[1] == ("c.csv", is_now)
    for _ in range(2):
        [finding] = [f for f in instance.harvester.instance.ledger.findings("p") if f.kind == "not-archived"]
        assert "'c.csv'" in finding.message and is_now in finding.message and why in finding.message
        assert (finding.url, finding.fatal) == (provider.url + TABLE, False)
        assert harvested(instance) == []
    assert len(provider.asked(TABLE)) == 3
    provider.pages[TABLE] = right
    assert harvested(instance) == []
    assert set(statuses(instance).values()) == {"exists"}
    assert [finding.kind for finding in instance.harvester.instance.ledger.findings("p")] == ["not-rdf"]
    report = InstanceCatalog(instance.settings, instance.clock).provider("p")
    assert report and report.state == "idle"


def test_the_graph_does_not_wait_for_other_files(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """A table that does not come keeps no RDF from being committed, nor the round; when it comes, it is filed."""
    instance, page = repository, zenodo(provider, 7, FILES)
    provider.gates[TABLE] = threading.Event()
    instance.register(f"p:\n  dataset: {page}\n")
    try:
        results = Round(instance.harvester).run(["p"])["p"]
        assert [result.outcome for result in results] == [Outcome.COMMITTED]
        assert instance.graph("p") == {A}
        assert statuses(instance)["c.csv"] is None
    finally:
        provider.gates[TABLE].set()
    instance.harvester.downloads.finish_files()
    assert set(statuses(instance).values()) == {"exists"}


def test_files_that_did_not_come_are_asked_for_after_the_next_start(
    repository: TemporaryInstance, provider: ProviderServer
) -> None:
    """An instance that stops gives them up without a finding; what came before is not downloaded again."""
    instance, page = repository, zenodo(provider, 7, {"b.csv": "5,6\n"} | FILES)
    first = "/api/records/7/files/b.csv/content"
    provider.gates[TABLE] = threading.Event()
    instance.register(f"p:\n  dataset: {page}\n")
    try:
        Round(instance.harvester).run(["p"])
        until = time.monotonic() + 240
        while statuses(instance)["b.csv"] is None and time.monotonic() < until:
            time.sleep(0.02)
        instance.harvester.close()
        instance.close()
    finally:
        provider.gates.pop(TABLE).set()
    assert (statuses(instance)["b.csv"], statuses(instance)["c.csv"]) == ("exists", None)
    assert [finding.kind for finding in instance.harvester.instance.ledger.findings("p")] == ["not-rdf"]
    harvested(instance)
    assert set(statuses(instance).values()) == {"exists"}
    assert provider.asked(first) == [200]


def test_what_has_no_size_is_limited_by_what_is_left(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """`filesets.max_total_size` holds also for files of which the platform does not say how large they are."""
    instance.settings = replace(instance.settings, filesets=FilesetSettings(max_total_size=100))
    page = ckan(provider, {"a.ttl": f"{A} .", "b.csv": "x" * 60, "c.csv": "y" * 60})
    instance.register(f"p:\n  dataset: {page}\n")
    assert harvested(instance) == [Outcome.COMMITTED]
    assert sorted(map(str, statuses(instance).values())) == ["body-too-large", "exists", "exists"]


def test_a_fileset_beyond_the_limits_is_not_downloaded(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """Neither the RDF nor the rest."""
    instance = repository
    filesets = replace(instance.settings.filesets, max_file_count=2)
    instance.settings = replace(instance.settings, filesets=filesets)
    instance.register(f"p:\n  dataset: {zenodo(provider, 7, FILES)}\n")
    assert harvested(instance) == []
    assert [path for path, _ in provider.requests if "/files/" in path] == []
    assert set(statuses(instance).values()) == {None}
