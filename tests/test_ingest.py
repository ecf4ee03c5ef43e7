"""`harvest ingest`: datasets of repositories into a folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from warcio.archiveiterator import ArchiveIterator

from harvest.cli.main import main
from harvest.config.settings import FilesetSettings
from harvest.model import Manifest, ManifestFile
from harvest.pipeline.filesets import strategies
from harvest.pipeline.filesets.mirror import KEYS
from tests.provider import ProviderServer, serving
from tests.repositories import PAGE, archiveorg, dataone, dataverse, dryad, figshare, md5, zenodo

FILES = {"a.ttl": "<http://x/a> a <http://x/A> .", "b.csv": "1,2\n"}


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@dataclass(frozen=True)
class Ingest:
    """Calls `harvest ingest` for a local server that plays a platform."""

    folder: Path
    provider: ProviderServer

    def __call__(
        self, *words: str, platform: str = "zenodo", stdin: str | None = None, max_bytes: int = 1 << 30, **limits: int
    ) -> list[Any]:
        hosts = {self.provider.url.removeprefix("http://"): platform}
        filesets = {"platform_hosts": hosts, "doi_resolver": f"{self.provider.url}/doi/", **limits}
        filesets["archiveorg"] = f"{self.provider.url}/archive/"
        config = self.folder / "harvest.yaml"
        http = {"retries": 0, "allow_loopback": True, "max_bytes": max_bytes}
        config.write_text(json.dumps({"http": http, "filesets": filesets}))
        said = ["ingest", *words, "--into", str(self.into), "--config", str(config)]
        done = CliRunner().invoke(main, said, input=stdin)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.exit_code == (0 if results and all(result["hit"] for result in results) else 1), done.output
        return results

    @property
    def into(self) -> Path:
        return self.folder / "ingested"


@pytest.fixture
def ingest(tmp_path: Path, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Ingest:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    return Ingest(tmp_path, provider)


def test_a_fileset_is_captured(ingest: Ingest, provider: ProviderServer) -> None:
    """The result has the fields of the document; bytes are filed, and stand in WARC files where the lines say."""
    page = zenodo(provider, 7, FILES)
    [result] = ingest(page)
    assert (result["hit"], result["status"], result["ingest_strategy"]) == (True, "success", "web-fileset")
    assert result["request"] == {"ingest_type": "dataset", "base_url": page}
    assert (result["platform_name"], result["platform_id"], result["platform_domain"]) == ("zenodo", "7", "127.0.0.1")
    assert (result["file_count"], result["total_size"]) == (2, sum(map(len, FILES.values())))
    assert result["terminal"]["terminal_url"] == page
    assert result["file_meta"]["size_bytes"] == len(PAGE)
    assert result["html_biblio"]["doi"] == "10.5281/zenodo.7"
    for file, (name, body) in zip(result["manifest"], FILES.items(), strict=True):
        assert (file["path"], file["status"], file["size"], file["md5"]) == (name, "exists", len(body), md5(body))
        digest = file["sha256"]
        assert (ingest.into / "content" / digest[:2] / digest[2:4] / digest).read_text() == body
        assert len(file["terminal_dt"]) == 14
    assert [json.loads(line) for line in (ingest.into / "ingests.jsonl").read_text().splitlines()] == [result]
    cdx = result["cdx"]
    assert cdx["url"] == page
    with (ingest.into / "warc" / cdx["warc_path"]).open("rb") as stream:
        stream.seek(cdx["warc_offset"])
        record = next(iter(ArchiveIterator(stream)))
        assert record.rec_headers["WARC-Target-URI"] == page
        assert record.content_stream().read().decode() == PAGE


def test_a_single_file_has_a_second_result(ingest: Ingest, provider: ProviderServer) -> None:
    """The second result is of the type `dataset-file`, with what is said of the file."""
    first, second = ingest(zenodo(provider, 7, {"a.csv": "1,2"}))
    assert (first["status"], first["ingest_strategy"]) == ("success-file", "web-file")
    assert second["request"]["ingest_type"] == "dataset-file"
    assert second["file_meta"] == first["fileset_file"]["file_meta"]
    assert second["file_meta"]["md5hex"] == md5("1,2")
    assert second["terminal"]["terminal_url"].endswith("/a.csv/content")


@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_request_is_answered_before_the_next_is_read(ingest: Ingest, provider: ProviderServer, workers: str) -> None:
    """Another program may ask one after the other, for as long as it likes."""
    pages = [zenodo(provider, number, FILES | {"n.csv": str(number)}) for number in (7, 8, 9)]
    ingest(pages[0])  # writes the settings
    words = [
        "ingest",
        "-",
        "--workers",
        workers,
        "--into",
        str(ingest.into),
        "--config",
        f"{ingest.folder}/harvest.yaml",
    ]
    command = [sys.executable, "-c", "from harvest.cli.main import main; main()", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        for page, status in zip(pages, ("success-existing", "success", "success"), strict=True):
            process.stdin.write(f"{page}\n")
            process.stdin.flush()
            result = json.loads(process.stdout.readline())
            assert (result["request"]["base_url"], result["status"]) == (page, status)
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_what_is_there_already_is_not_asked_for_again(ingest: Ingest, provider: ProviderServer) -> None:
    """Unless bytes are gone, or the files are others."""
    page = zenodo(provider, 7, FILES)
    [first] = ingest(page)
    [again] = ingest(page)
    assert (again["status"], again["hit"]) == ("success-existing", True)
    assert again["manifest"] == first["manifest"]
    assert provider.asked("/api/records/7/files/a.ttl/content") == [200]
    digest = first["manifest"][0]["sha256"]
    (ingest.into / "content" / digest[:2] / digest[2:4] / digest).unlink()
    assert ingest(page)[0]["status"] == "success"
    zenodo(provider, 7, FILES | {"b.csv": "3"})
    assert ingest(page)[0]["status"] == "success"


@pytest.mark.parametrize(
    ("body", "status"),
    [("1,3\n", "mismatch-md5"), ("1", "mismatch-size"), (None, "terminal-bad-status")],
    ids=["other", "truncated", "missing"],
)
def test_a_file_that_is_not_as_the_manifest_says(
    ingest: Ingest, provider: ProviderServer, body: str | None, status: str
) -> None:
    """The file and the whole have the status; the other file is there."""
    page = zenodo(provider, 7, FILES)
    provider.put("/api/records/7/files/b.csv/content", body or "", "text/csv", 200 if body else 404)
    [result] = ingest(page)
    assert (result["hit"], result["status"]) == (False, status)
    assert [file["status"] for file in result["manifest"]] == ["exists", status]


def test_limits_and_platforms_have_statuses(ingest: Ingest, provider: ProviderServer) -> None:
    """Each stands in the result, with what is known up to then."""
    page = zenodo(provider, 7, FILES)
    for limits, status in (({"max_file_count": 1}, "too-many-files"), ({"max_total_size": 5}, "too-large-size")):
        [result] = ingest(page, **limits)
        assert (result["hit"], result["status"], result["file_count"]) == (False, status, 2)
        assert result["manifest"]
    [result] = ingest(f"{provider.url}/nothing", platform="ckan")
    assert result["status"] == "platform-scope"
    [result] = ingest(provider.put("/details/x", "", "text/html"), platform="archiveorg")
    assert result["status"] == "empty-blob"
    [result] = ingest(f"{provider.url}/records/9", platform="none-such")
    assert (result["status"], result["manifest"]) == ("no-platform-match", None)
    [result] = ingest(f"{provider.url}/records/9")
    assert (result["status"], result["terminal"]) == ("platform-404", None)
    assert "error_message" in result


def test_an_article_without_a_version_is_out_of_scope(ingest: Ingest, provider: ProviderServer) -> None:
    """An ingest is of one version; a provider follows the newest one."""
    page = figshare(provider, FILES)
    assert ingest(page, platform="figshare")[0]["status"] == "platform-scope"
    provider.pages["/v2/articles/5/versions/1"] = provider.pages["/v2/articles/5"]
    page = provider.put("/articles/dataset/letters/5/1", PAGE, "text/html")
    assert ingest(page, platform="figshare")[0]["status"] == "success"


def test_requests_as_json_lines(ingest: Ingest, provider: ProviderServer) -> None:
    """Results come in their order, with the request as it was given; a DOI is resolved."""
    page = zenodo(provider, 7, FILES)
    provider.pages["/doi/10.5281/zenodo.7"] = provider.pages["/records/7"]
    lines = [json.dumps({"base_url": page, "ingest_request_source": "me"}), "10.5281/zenodo.7", page]
    results = ingest("-", "--workers", "2", stdin="\n".join(lines))
    assert [result["request"]["base_url"] for result in results] == [page, "https://doi.org/10.5281/zenodo.7", page]
    assert results[0]["request"]["ingest_request_source"] == "me"
    assert all(result["hit"] for result in results)


@pytest.mark.parametrize(
    ("platform", "put"),
    [("archiveorg", archiveorg), ("dataverse", dataverse), ("dryad", dryad), ("dataone", dataone)],
    ids=["archiveorg", "dataverse", "dryad", "dataone"],
)
def test_other_platforms(ingest: Ingest, provider: ProviderServer, platform: str, put: Any) -> None:
    """All files are captured, also those that are not RDF."""
    [result] = ingest(put(provider, FILES), platform=platform)
    assert (result["status"], result["platform_name"]) == ("success", platform)
    assert [file["path"] for file in result["manifest"]] == list(FILES)


def manifest(*sizes: int, url: str | None = "http://x/a", bundle: str | None = None) -> Manifest:
    files = tuple(ManifestFile(str(n), size, platform_url=url) for n, size in enumerate(sizes))
    return Manifest("x", "x", "1", files, "http://x/", web_bundle_url=bundle)


@pytest.mark.parametrize(
    ("found", "strategy"),
    [
        (manifest(1), "web-file"),
        (manifest((64 << 20) - 1), "web-file"),
        (manifest(64 << 20), "archiveorg-file"),
        (manifest(1, 1), "web-fileset"),
        (manifest(1, 64 << 20), "archiveorg-fileset"),
        (manifest(1 << 20, 1 << 20, 1 << 20), "archiveorg-fileset"),
        (manifest(1, 1, url=None, bundle="http://x/zip"), "web-fileset-bundled"),
        (manifest(1, 64 << 20, url=None, bundle="http://x/zip"), "archiveorg-fileset-bundled"),
    ],
)
def test_strategies_by_count_size_and_platform(found: Manifest, strategy: str) -> None:
    """One below 64 MiB is a file of the web; a total at the limit is not."""
    assert strategies.chosen(found, FilesetSettings(max_total_size=3 << 20)) == strategy


def test_the_preferred_size_of_a_file_is_a_setting(ingest: Ingest, provider: ProviderServer) -> None:
    """From there on the strategy is another one."""
    page = zenodo(provider, 7, FILES)
    assert [result["status"] for result in ingest(page, preferred_file_size=1000)] == ["success"]
    [result] = ingest(page, preferred_file_size=len(FILES["a.ttl"]))
    assert result["ingest_strategy"] == "archiveorg-fileset"


def test_a_file_that_is_too_large_is_not_taken(ingest: Ingest, provider: ProviderServer) -> None:
    """By the setting `http.max_bytes`; the others are filed."""
    page = zenodo(provider, 7, FILES | {"c.bin": "x" * 5000})
    [result] = ingest(page, max_bytes=4000)
    assert result["status"] == "body-too-large"
    assert [file["status"] for file in result["manifest"]] == ["exists", "exists", "body-too-large"]
    assert "max_bytes" in result["manifest"][2]["extra"]["error"]


def test_a_mirror_without_a_key(ingest: Ingest, provider: ProviderServer) -> None:
    """The result says which variables to set, and nothing is downloaded."""
    provider.put("/archive/metadata/127.0.0.1-7", "{}", "application/json")
    page = zenodo(provider, 7, FILES)
    said = json.loads(provider.pages["/api/records/7"].body)
    said["files"][0]["size"] = 64 << 20
    provider.put("/api/records/7", json.dumps(said), "application/json")
    [result] = ingest(page)
    assert (result["status"], result["ingest_strategy"]) == ("no-strategy-helper", "archiveorg-fileset")
    assert all(name in result["error_message"] for name in KEYS)
    assert provider.asked("/api/records/7/files/a.ttl/content") == []


def test_what_is_no_request_stops_no_other(ingest: Ingest, provider: ProviderServer) -> None:
    """Each has a result of its own, in the order of the lines."""
    page = zenodo(provider, 7, FILES)
    lines = ["[1]", "", '{"base_url": 5}', '{"base_url": "http://', "ftp://x.example/", page]
    *bad, good = ingest("-", stdin="\n".join(lines))
    assert good["status"] == "success"
    assert [result["status"] for result in bad] == ["bad-request"] * 4
    assert all(result["error_message"] and result.keys() >= good.keys() for result in bad)
    assert bad[0]["request"] == {"base_url": "[1]"}
