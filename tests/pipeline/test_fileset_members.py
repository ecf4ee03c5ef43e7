"""Providers whose files a repository hands over as one archive alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from harvest.config.settings import FilesetSettings
from harvest.ledger.filesets import FilesetRecord
from harvest.model import EXISTS, ManifestFile, Outcome
from harvest.pipeline.harvest.preview import preview
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer
from tests.repositories import bundled, tarred, zipped

A, B = (f'<http://x/{name}> <http://p> "{name}"' for name in "ab")
FILES = {"a.ttl": f"{A} .", "c.csv": "1,2"}
BUNDLE = "/api/records/7/files-archive"


@pytest.fixture
def repository(instance: TemporaryInstance, provider: ProviderServer) -> TemporaryInstance:
    """An instance for which the local server is Zenodo."""
    filesets = FilesetSettings(platform_hosts={provider.url.removeprefix("http://"): "zenodo"})
    instance.settings = replace(instance.settings, filesets=filesets)
    return instance


def outcomes(instance: TemporaryInstance) -> list[Outcome]:
    return [result.outcome for result in instance.tick("p")]


def record(instance: TemporaryInstance, page: str) -> FilesetRecord:
    found = instance.harvester.instance.ledger.filesets.at(page)
    assert found
    return found


def kinds(instance: TemporaryInstance) -> dict[str, str]:
    return {each.kind: each.message for each in instance.harvester.instance.ledger.findings("p")}


@pytest.mark.parametrize(
    "body", [zipped(FILES), zipped(FILES, "zenodo-7/"), tarred(FILES)], ids=["zip", "folder", "tgz"]
)
def test_an_archive_of_all_files_is_harvested(
    repository: TemporaryInstance, provider: ProviderServer, body: bytes
) -> None:
    """The RDF in it is the graph, all of it is filed, and it is downloaded once; a rebuild needs no network."""
    page = bundled(provider, FILES, body)
    repository.register(f"p:\n  dataset: {page}\n  removals: mirror\n")
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert repository.graph("p") == {A}
    found = record(repository, page)
    assert (found.status, found.ingest_strategy) == ("success", "web-fileset-bundled")
    assert [(file.path, file.status, file.platform_url) for file in found.manifest] == [
        ("a.ttl", EXISTS, None),
        ("c.csv", EXISTS, None),
    ]
    content = repository.harvester.instance.content
    for file, text in zip(found.manifest, FILES.values(), strict=True):
        assert file.sha256 == hashlib.sha256(text.encode()).hexdigest()
        assert content.path(file.sha256).read_text() == text
    assert outcomes(repository) == []
    repository.clock.forward(days=2)
    assert outcomes(repository) == []
    assert provider.asked(BUNDLE) == [200]
    assert repository.proven("p")
    changed = FILES | {"a.ttl": f"{B} ."}
    bundled(provider, changed, zipped(changed))
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert repository.graph("p") == {B}
    assert provider.asked(BUNDLE) == [200, 200]
    assert repository.proven("p")


def test_bytes_that_are_gone_are_had_again(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """What the archive of the instance has not any more is taken from the bundle, asked for conditionally."""
    page = bundled(provider, FILES, zipped(FILES))
    repository.register(f"p:\n  dataset: {page}\n")
    assert outcomes(repository) == [Outcome.COMMITTED]
    table: ManifestFile = record(repository, page).manifest[1]
    content = repository.harvester.instance.content
    assert table.sha256
    content.path(table.sha256).unlink()
    assert outcomes(repository) == []
    assert content.holds(table.sha256)
    assert provider.asked(BUNDLE) == [200, 304]


def test_an_archive_of_files_without_checksums(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """It is asked for conditionally at each look; what changed in it is harvested."""

    def put(files: dict[str, str]) -> str:
        page = bundled(provider, files, zipped(files))
        said = json.loads(provider.pages["/api/records/7"].body)
        for file in said["files"]:
            del file["checksum"], file["size"]
        provider.put("/api/records/7", json.dumps(said), "application/json")
        return page

    repository.register(f"p:\n  dataset: {put(FILES)}\n  removals: mirror\n")
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert outcomes(repository) == []
    assert provider.asked(BUNDLE) == [200, 304]
    put(FILES | {"a.ttl": f"{B} ."})
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert repository.graph("p") == {B}


def test_what_would_be_harvested_is_previewed(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """Without opening the archive, which is the dump that is named."""
    page = bundled(provider, FILES, zipped(FILES))
    repository.register(f"p:\n  dataset: {page}\n")
    found = preview(repository.settings, repository.harvester.provider("p"))
    assert [dataset.dumps for dataset in found.datasets] == [(provider.url + BUNDLE,)]
    assert provider.asked(BUNDLE) == []


def test_rdf_that_is_not_as_the_manifest_says(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """Nothing is imported, and the graph stays; the status is that of the file."""
    page = bundled(provider, FILES, zipped(FILES))
    repository.register(f"p:\n  dataset: {page}\n")
    assert outcomes(repository) == [Outcome.COMMITTED]
    changed = {"a.ttl": f"{B} .", "c.csv": "1,2"}
    for body, status in ((zipped(FILES), "mismatch-md5"), (zipped({"c.csv": "1,2"}), "not-in-bundle")):
        bundled(provider, changed, body)
        repository.clock.forward(days=2)
        [result] = repository.tick("p")
        assert result.finding
        assert (result.finding.kind, "a.ttl" in result.finding.message) == (status, True)
        assert record(repository, page).status == status
        assert repository.graph("p") == {A}


def test_another_file_that_is_not_in_the_archive(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """It is a finding, and the harvest goes on."""
    page = bundled(provider, FILES, zipped({"a.ttl": FILES["a.ttl"]}))
    repository.register(f"p:\n  dataset: {page}\n")
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert repository.graph("p") == {A}
    assert "'c.csv'" in kinds(repository)["not-archived"]
    assert "not-in-bundle" in kinds(repository)["not-archived"]


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"no archive", 200), (b"gone", 404), (zipped(FILES)[:60], 200)],
    ids=["no-archive", "gone", "cut-off"],  # a zip says when it was made, and all processes must name the case alike
)
def test_an_archive_that_cannot_be_opened(
    repository: TemporaryInstance, provider: ProviderServer, body: bytes, code: int
) -> None:
    """The status says so; once it is mended it is harvested."""
    page = bundled(provider, FILES, body)
    provider.pages[BUNDLE].status = code
    repository.register(f"p:\n  dataset: {page}\n")
    [result] = repository.tick("p")
    assert result.finding
    assert result.finding.kind == "bundle-error"
    bundled(provider, FILES, zipped(FILES))
    repository.clock.forward(days=2)
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert repository.graph("p") == {A}


def test_relative_iris_in_a_member(repository: TemporaryInstance, provider: ProviderServer) -> None:
    """They are resolved against the address that the bytes have, which is their digest."""
    files = {"a.ttl": '<#a> <http://p> "a" .'}
    digest = hashlib.sha256(files["a.ttl"].encode()).hexdigest()
    repository.register(f"p:\n  dataset: {bundled(provider, files, zipped(files))}\n")
    assert outcomes(repository) == [Outcome.COMMITTED]
    assert repository.graph("p") == {f'<hash://sha256/{digest}#a> <http://p> "a"'}
