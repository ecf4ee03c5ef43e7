"""DOIs and downloads that redirect, and the recorded answers that are no manifest, played by a local server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_fileset_recorded import JSON, looked, read, recorded
from tests.provider import ProviderServer
from tests.repositories import PAGE, dataverse, zenodo

__all__ = ["recorded"]

A = '<http://x/a> <http://p> "a"'


def location(exchange: Path) -> str:
    """Where a recorded answer redirects to."""
    headers: dict[str, str] = read(exchange)["response"]["headers"]
    return {name.lower(): value for name, value in headers.items()}["location"]


def plays(provider: ProviderServer, exchange: Path, of: str) -> None:
    """Answer as recorded, on the local server: a DOI below /doi, all else at its path at the host `of`."""
    asked = read(exchange)["request"]["uri"].replace("https://doi.org", "/doi").replace(of, "")
    provider.redirect(asked, location(exchange).replace(of, provider.url))


def test_the_doi_of_a_record_of_zenodo(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """One redirect leads from the DOI to the page, whose number is that of the record."""
    plays(provider, recorded / "zenodo/legacy-doi-redirect-3459420.exchange.json", "https://zenodo.org")
    provider.put("/record/3459420", PAGE, "text/html")
    record = read(recorded / "zenodo/legacy-record-3459420.json")
    provider.put("/api/records/3459420", json.dumps(record).replace("https://zenodo.org", provider.url), JSON)
    filed, _ = looked(instance, provider, "doi:10.5281/zenodo.3459420", "zenodo")
    assert filed
    assert (filed.platform_name, filed.platform_id) == ("zenodo", "3459420")
    assert [(file.path, file.size, f"md5:{file.md5}") for file in filed.manifest] == [
        (each["key"], each["size"], each["checksum"]) for each in record["files"]
    ]
    assert [path for path, _ in provider.requests[:2]] == ["/doi/10.5281/zenodo.3459420", "/record/3459420"]


@pytest.mark.parametrize("record_status", [404, 401])
def test_a_record_behind_a_doi_that_is_not_to_be_had(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path, record_status: int
) -> None:
    """The page is there as it was recorded; the record is answered as Zenodo refuses."""
    folder = recorded / "zenodo"
    body = (folder / "doi-redirect-8347772").read_text()
    plays(provider, folder / "doi-redirect-8347772.exchange.json", "https://zenodo.org")
    assert "zenodo.org/record/8347772" in body
    provider.put("/record/8347772", (folder / "legacy-landing-8347772.html").read_bytes(), "text/html")
    refusal = {404: "legacy-error-404.json", 401: "legacy-error-401-deposit.json"}[record_status]
    provider.put("/api/records/8347772", (folder / refusal).read_bytes(), JSON, record_status)
    _, finding = looked(instance, provider, "doi:10.5281/zenodo.8347772", "zenodo")
    assert finding.kind == {404: "platform-404", 401: "platform-restricted"}[record_status]


def test_the_doi_of_a_dataset_of_dataverse(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """Two redirects; the identifier is in the address of the page. HEAD is never asked, which storage refuses."""
    folder, host = recorded / "dataverse", "https://dataverse.harvard.edu"
    plays(provider, folder / "redirect-1-doi.exchange.json", host)
    plays(provider, folder / "redirect-2-citation.exchange.json", host)
    page = read(folder / "redirect-3-dataset-xhtml.exchange.json")["request"]["uri"].replace(host, "")
    provider.put(page, PAGE, "text/html")
    asked = "/api/datasets/:persistentId?persistentId=doi:10.7910/DVN/RLMYMR"
    said = read(folder / "dataset-DVN-RLMYMR.json")
    provider.put(asked, json.dumps(said), JSON)
    filed, finding = looked(instance, provider, "doi:10.7910/DVN/RLMYMR")
    assert finding.kind == "no-rdf"
    assert filed
    assert (filed.platform_name, filed.platform_id) == ("dataverse", "doi:10.7910/DVN/RLMYMR")
    assert filed.file_count == len(said["data"]["latestVersion"]["files"])


def test_a_download_that_redirects_to_storage(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """As Dataverse's do, with an address that has a signature; storage that refuses HEAD is asked by GET alone."""
    exchange = read(recorded / "dataverse/access-datafile-303.exchange.json")
    storage = location(recorded / "dataverse/access-datafile-303.exchange.json").partition("amazonaws.com")[2]
    page = dataverse(provider, {"a.ttl": f"{A} ."})
    provider.put(storage, f"{A} .", "application/octet-stream")
    provider.redirect("/api/access/datafile/10", provider.url + storage)
    provider.pages["/api/access/datafile/10"].status = exchange["response"]["status"]["code"]
    instance.register(f"p:\n  dataset: {page}\n")
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}
    assert provider.asked(storage) == [200]


def test_the_doi_of_a_file(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """It leads to the page of a file, which is out of scope."""
    folder = recorded / "dataverse"
    plays(provider, folder / "redirect-file-doi.exchange.json", "https://dataverse.harvard.edu")
    page = location(folder / "redirect-file-doi.exchange.json").partition("harvard.edu")[2]
    provider.put(page, PAGE, "text/html")
    _, finding = looked(instance, provider, "doi:10.7910/DVN/RLMYMR/WNKD3W")
    assert finding.kind == "platform-scope"


def test_a_doi_that_leads_in_a_circle(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The finding has the way that was gone; the next look finds what was mended."""
    provider.redirect("/doi/10.5281/zenodo.7", f"{provider.url}/one")
    provider.redirect("/one", f"{provider.url}/two")
    provider.redirect("/two", f"{provider.url}/one")
    filed, finding = looked(instance, provider, "doi:10.5281/zenodo.7", "zenodo")
    assert filed is None
    assert "a redirect loop" in finding.message
    assert f"{provider.url}/one -> {provider.url}/two -> {provider.url}/one" in finding.message
    zenodo(provider, 7, {"a.ttl": f"{A} ."})
    provider.redirect("/doi/10.5281/zenodo.7", f"{provider.url}/records/7")
    instance.clock.forward(days=2)
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}


def test_a_doi_that_nobody_knows(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The resolver answers 404, and the finding says so; a graph that is harvested already stays."""
    _, finding = looked(instance, provider, "doi:10.5072/unknown")
    assert (finding.kind, "404" in finding.message) == ("terminal-bad-status", True)
    zenodo(provider, 7, {"a.ttl": f"{A} ."})
    provider.put("/records/7", "<title>InvenioRDM</title>", "text/html")
    provider.redirect("/doi/10.5072/unknown", f"{provider.url}/records/7")
    instance.clock.forward(days=2)
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
    del provider.pages["/doi/10.5072/unknown"]
    instance.clock.forward(days=2)
    [result] = instance.tick("p")
    assert result.finding
    assert result.finding.kind == "terminal-bad-status"
    assert instance.graph("p") == {A}


@pytest.mark.parametrize("name", ["legacy-search-page1-size2", "legacy-search-checksum-figure"])
def test_records_that_a_search_of_zenodo_found(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path, name: str
) -> None:
    """Each is a manifest where its page is registered."""
    records = read(recorded / f"zenodo/{name}.json")["hits"]["hits"]
    for record in records:
        said = json.dumps(record).replace("https://zenodo.org", provider.url)
        provider.put(f"/api/records/{record['id']}", said, JSON)
        page = provider.put(f"/record/{record['id']}", PAGE, "text/html")
        filed, _ = looked(instance, provider, page, "zenodo")
        instance.clock.forward(days=2)
        assert filed
        assert [(file.path, file.size, f"md5:{file.md5}") for file in filed.manifest] == [
            (each["key"], each["size"], each["checksum"]) for each in record["files"]
        ]
        assert filed.manifest


def test_the_files_of_a_record_in_a_list_of_their_own(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """With a name that has brackets and spaces; the record was restricted when it was recorded, and is open here."""
    record = read(recorded / "zenodo/rdm-search-13505983.json")["hits"]["hits"][0]
    record["metadata"]["access_right"] = "open"
    record.pop("access", None)
    listing = (recorded / "zenodo/rdm-files-13505983.json").read_text()
    provider.put("/api/records/13505983", json.dumps(record).replace("https://zenodo.org", provider.url), JSON)
    provider.put("/api/records/13505983/files", listing.replace("https://zenodo.org", provider.url), JSON)
    page = provider.put("/records/13505983", PAGE, "text/html")
    filed, _ = looked(instance, provider, page, "zenodo")
    assert filed
    [entry] = json.loads(listing)["entries"]
    [file] = filed.manifest
    assert (file.path, file.size, f"md5:{file.md5}") == (entry["key"], entry["size"], entry["checksum"])


@pytest.mark.parametrize("name", ["package_search-rows2", "package_search-organization"])
def test_packages_that_a_search_of_ckan_found(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path, name: str
) -> None:
    """Each is a manifest with as many files as it has resources."""
    for package in read(recorded / f"ckan/{name}.json")["result"]["results"]:
        said = json.dumps({"success": True, "result": package})
        local = said.replace("https://", f"{provider.url}/").replace("http://dados", f"{provider.url}/dados")
        provider.put(f"/api/3/action/package_show?id={package['name']}", local, JSON)
        page = provider.put(f"/dataset/{package['name']}", PAGE, "text/html")
        filed, _ = looked(instance, provider, page, "ckan")
        instance.clock.forward(days=2)
        assert filed
        assert filed.file_count == len(package["resources"])
        assert [file.size for file in filed.manifest] == [each["size"] for each in package["resources"]]


@pytest.mark.parametrize(("kind", "number"), [("figure", 15562817), ("dataset", 15461879)])
def test_a_file_of_figshare(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path, kind: str, number: int
) -> None:
    """Files that were recorded apart from their articles."""
    file = read(recorded / f"figshare/article-{kind}-file.json")["private"]
    provider.put("/v2/articles/5", json.dumps({"id": 5, "version": 1, "files": [file]}), JSON)
    page = provider.put("/articles/dataset/letters/5", PAGE, "text/html")
    filed, _ = looked(instance, provider, page, "figshare")
    assert filed
    assert [(one.path, one.size, one.md5, one.platform_url) for one in filed.manifest] == [
        (file["name"], file["size"], file["computed_md5"], f"https://ndownloader.figshare.com/files/{number}")
    ]


def test_a_restricted_file_of_dataverse(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """A dataset of which all files are restricted is; where another one is not, it is listed without an address."""
    entry = read(recorded / "dataverse/file-meta-restricted.json")
    asked = "/api/datasets/:persistentId?persistentId=doi:10.5072/FK2/A"
    page = provider.put("/dataset.xhtml?persistentId=doi:10.5072/FK2/A", PAGE, "text/html")
    other = {"label": "b.csv", "dataFile": {"id": 9, "filename": "b.csv", "filesize": 1}}
    provider.put(asked, json.dumps({"data": {"latestVersion": {"files": [entry, other]}}}), JSON)
    filed, finding = looked(instance, provider, page)
    assert finding.kind == "no-rdf"
    assert filed
    file = filed.manifest[0]
    assert (file.path, file.size, file.platform_url) == ("deposit-api.jpg", 1319202, None)
    assert file.sha1 == "31cc50f4bbef69aed5658b8aef69cc54b67138be"
    provider.put(asked, json.dumps({"data": {"latestVersion": {"files": [entry]}}}), JSON)
    instance.clock.forward(days=2)
    [result] = instance.tick("p")
    assert result.finding
    assert result.finding.kind == "platform-restricted"


NO_MANIFEST: list[tuple[str, str, str | None, str]] = [
    ("zenodo/legacy-search-conceptdoi-no-hit.json", "/api/records/?q=x", "zenodo", "platform-scope"),
    ("dataverse/search-filePersistentId-WNKD3W.json", "/api/search?q=x", "dataverse", "platform-scope"),
    ("dataverse/search-entityId-demo.json", "/api/search?q=x", None, "no-platform-match"),
    ("dataverse/search-fileMd5.json", "/api/search?q=x", None, "no-platform-match"),
    ("dataverse/info-version.json", "/api/info/version", None, "no-platform-match"),
    ("figshare/today-14763051-article-search.json", "/v2/articles?doi=x", "figshare", "platform-scope"),
    ("ckan/group-404.json", "/api/3/action/group_package_show?id=x", "ckan", "platform-scope"),
    ("archive_org/nasa_meta.xml", "/x/nasa_meta.xml", None, "no-platform-match"),
    ("inveniordm/stored-tombstone.json", "/x/stored", None, "no-platform-match"),
    ("schemaorg-signposting/a2a-18-html-citeas-only.html", "/18", None, "no-platform-match"),
    ("schemaorg-signposting/sos-variableMeasured-gridDataset.jsonld", "/a", None, "no-platform-match"),
    ("schemaorg-signposting/sos-variableMeasured_NGDSBoreholeTemperature.jsonld", "/a", None, "no-platform-match"),
]
MEDIA_TYPES = {".json": JSON, ".jsonld": "application/ld+json", ".html": "text/html", ".xml": "application/xml"}


@pytest.mark.parametrize(("name", "path", "platform", "status"), NO_MANIFEST, ids=[each[0] for each in NO_MANIFEST])
def test_what_is_no_landing_page(
    instance: TemporaryInstance,
    provider: ProviderServer,
    recorded: Path,
    name: str,
    path: str,
    platform: str | None,
    status: str,
) -> None:
    """Searches, and descriptions that name no files, have a status and what to do."""
    body = recorded / name
    page = provider.put(path, body.read_bytes(), MEDIA_TYPES[body.suffix])
    filed, finding = looked(instance, provider, page, platform)
    assert (filed, finding.kind) == (None, status)
    if status == "no-platform-match":
        assert "names no files" in finding.message


def test_a_search_that_moved(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """308, as Zenodo answered, is followed."""
    plays(provider, recorded / "zenodo/legacy-search-redirect-308.exchange.json", "https://zenodo.org")
    asked = read(recorded / "zenodo/legacy-search-redirect-308.exchange.json")["request"]["uri"]
    at = location(recorded / "zenodo/legacy-search-redirect-308.exchange.json")
    provider.pages[asked.replace("https://zenodo.org", "")].status = 308
    provider.put(at.replace("https://zenodo.org", ""), "{}", JSON)
    _, finding = looked(instance, provider, asked.replace("https://zenodo.org", provider.url), "zenodo")
    assert finding.kind == "platform-scope"


def test_a_deleted_record_with_a_tombstone(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """After the documentation of InvenioRDM the API answers 410 with what was recorded of its tombstone."""
    tombstone: dict[str, Any] = read(recorded / "inveniordm/stored-tombstone.json")["tombstone"]
    page = provider.put("/records/abcde-12345", PAGE, "text/html", 410)
    said = {"status": 410, "message": "Record deleted", "tombstone": tombstone}
    provider.put("/api/records/abcde-12345", json.dumps(said), JSON, 410)
    _, finding = looked(instance, provider, page, "inveniordm")
    assert finding.kind == "platform-restricted"
