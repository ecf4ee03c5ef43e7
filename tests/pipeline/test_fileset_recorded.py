"""Answers that were recorded from DataONE, Dryad, PANGAEA and DataCite, played by a local server."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvest.config.settings import FilesetSettings
from harvest.ledger.filesets import FilesetRecord
from harvest.model import Finding, Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer
from tests.realdata import realdata

NODE = "https://cn.dataone.org"
QUERY = "/cn/v2/query/solr/?q="
NAMED = "&fl=identifier,formatType,formatId,resourceMap,obsoletedBy&rows=1000&start=0&wt=json"
MEMBERS = (
    "&fl=identifier,formatType,title,size,formatId,fileName,documents,checksum,checksumAlgorithm,keywords,dataUrl,"
    "dateUploaded&rows=1000&start=0&wt=json"
)
JSON = "application/json"


@pytest.fixture
def recorded() -> Path:
    return realdata() / "platforms"


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def path_of(exchange: Path) -> str:
    """The path that was asked for at DataONE, with the field that says which version is newer."""
    asked: str = read(exchange)["request"]["uri"]
    return asked.removeprefix(NODE).replace(",resourceMap&", ",resourceMap,obsoletedBy&")


def looked(
    instance: TemporaryInstance, provider: ProviderServer, url: str, platform: str | None = None
) -> tuple[FilesetRecord | None, Finding]:
    """What is filed of a registered address, and the finding that the tick ends with: nothing recorded has bytes."""
    hosts = {provider.url.removeprefix("http://"): platform} if platform else {}
    filesets = FilesetSettings(platform_hosts=hosts, doi_resolver=f"{provider.url}/doi/")
    instance.settings = replace(instance.settings, filesets=filesets)
    instance.register(f"p:\n  dataset: {json.dumps(url)}\n")
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding
    address = f"https://doi.org/{url.removeprefix('doi:')}" if url.startswith("doi:") else url
    return instance.harvester.instance.ledger.filesets.at(address), result.finding


def test_a_package_of_dataone(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """From the DOI by its redirect and the resource map to data and metadata, each with size and checksum."""
    answer = (recorded / "dataone/solr-resourcemap-A2ND53.json").read_text()
    exchange = read(recorded / "dataone/doi-redirect-A2ND53.exchange.json")
    for name in ("identifier", "resourcemap"):
        asked = path_of(recorded / f"dataone/solr-{name}-A2ND53.json.exchange.json")
        body = (recorded / f"dataone/solr-{name}-A2ND53.json").read_text()
        provider.put(asked, body.replace(NODE, provider.url), JSON)
    at = exchange["response"]["headers"]["location"].replace("https://arcticdata.io", provider.url)
    provider.redirect("/doi/10.18739/A2ND53", at)
    provider.put("/catalog/", "<title>Arctic Data Center</title>", "text/html")
    filed, finding = looked(instance, provider, "doi:10.18739/A2ND53", "dataone")
    docs = json.loads(answer)["response"]["docs"]
    assert finding.kind == "no-rdf"
    assert filed
    assert (filed.platform_name, filed.platform_id) == ("dataone", "doi:10.18739/A2ND53")
    assert [(file.size, file.sha1) for file in filed.manifest] == [(each["size"], each["checksum"]) for each in docs]
    assert [(file.path, file.mimetype) for file in filed.manifest] == [
        ("doi_10.18739_A2ND53.xml", "application/xml"),
        ("2015_Barrow_Atqasuk_ITEX_Thaw_v1.csv", "text/csv"),
        ("1995-20XX_Barrow_Atqasuk_ITEX_Thaw_metadata-Copy.txt", "text/plain"),
    ]
    urls = [each["dataUrl"].replace(NODE, provider.url) for each in docs]
    assert [file.platform_url for file in filed.manifest] == urls


def test_a_package_that_holds_packages(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """The resource maps in it are files: RDF/XML. Each package is a dataset of its own."""
    name = "resource_map_urn:uuid:ec4f122b-876f-4e33-818c-2c91e7a2488f"
    asked = read(recorded / "dataone/solr-nested-1.json.exchange.json")["request"]["uri"]
    answer = (recorded / "dataone/solr-nested-1.json").read_text()
    provider.put(asked.removeprefix(NODE), answer.replace(NODE, provider.url), JSON)
    itself = {"identifier": name, "formatType": "RESOURCE", "formatId": "http://www.openarchives.org/ore/terms"}
    quoted = name.replace(":", "%3A")
    provider.put(f"{QUERY}identifier:%22{quoted}%22{NAMED}", json.dumps({"response": {"docs": [itself]}}), JSON)
    page = provider.put(f"/view/{quoted}", "<title>A page</title>", "text/html")
    filed, _ = looked(instance, provider, page, "dataone")
    docs = json.loads(answer)["response"]["docs"]
    assert filed
    assert [(file.path, file.size, file.sha1) for file in filed.manifest] == [
        (each["fileName"], each["size"], each["checksum"]) for each in docs
    ]
    assert [file.mimetype for file in filed.manifest].count("application/rdf+xml") == 7
    assert len(filed.manifest) == 8


def test_what_dataone_does_not_know(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """The index answers 200 without a document."""
    asked = path_of(recorded / "dataone/solr-not-found.json.exchange.json")
    provider.put(asked, (recorded / "dataone/solr-not-found.json").read_bytes(), JSON)
    page = provider.put("/view/localhost_01", "<title>A page</title>", "text/html")
    filed, finding = looked(instance, provider, page, "dataone")
    assert filed is None or filed.status == "platform-404"
    assert (finding.kind, "localhost_01" in finding.message) == ("platform-404", True)


def test_a_single_object_of_dataone(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """An address of /resolve/ stands for one file, of which a list of places is answered; the dataset is asked for."""
    docs = read(recorded / "dataone/solr-checksum-md5.json")["response"]["docs"]
    name = docs[0]["identifier"]
    address = f"/cn/v2/resolve/{name}"
    page = provider.put(address, (recorded / "dataone/resolve-md5.xml").read_bytes(), "text/xml")
    answer = (recorded / "dataone/solr-checksum-md5.json").read_bytes()
    provider.put(f"{QUERY}identifier:%22{name}%22{NAMED}", answer, JSON)
    _, finding = looked(instance, provider, page, "dataone")
    assert (finding.kind, name in finding.message) == ("platform-scope", True)


def test_members_without_names_and_with_md5(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """They are named by their identifiers."""
    answer = (recorded / "dataone/solr-checksum-md5.json").read_text()
    itself = {"identifier": "a", "formatType": "METADATA", "resourceMap": ["resource_map_a"]}
    provider.put(f"{QUERY}identifier:%22a%22{NAMED}", json.dumps({"response": {"docs": [itself]}}), JSON)
    provider.put(f"{QUERY}resourceMap:%22resource_map_a%22{MEMBERS}", answer.replace(NODE, provider.url), JSON)
    page = provider.put("/view/a", "<title>A page</title>", "text/html")
    filed, finding = looked(instance, provider, page, "dataone")
    assert finding.kind == "no-rdf"
    assert filed
    assert [(file.path, file.size, file.md5, file.mimetype) for file in filed.manifest] == [
        (each["identifier"], 11036, "e27c99a7f701dab97b7d09c467acf468", each["formatId"])
        for each in json.loads(answer)["response"]["docs"]
    ]


def test_a_newer_version_of_a_package(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Not recorded: `obsoletedBy` is taken to lead to it, as far as the index knows; a circle ends."""

    def put(name: str, newer: str | None, file: str | None) -> None:
        said = {"identifier": name, "formatType": "METADATA", "resourceMap": [f"map_{name}"], "obsoletedBy": newer}
        docs = {"response": {"docs": [said] if file else []}}
        provider.put(f"{QUERY}identifier:%22{name}%22{NAMED}", json.dumps(docs), JSON)
        member = {"identifier": f"of_{name}", "fileName": file, "formatType": "DATA"}
        found = {"response": {"numFound": 1, "docs": [member]}}
        provider.put(f"{QUERY}resourceMap:%22map_{name}%22{MEMBERS}", json.dumps(found), JSON)

    def files() -> list[str]:
        filed = instance.harvester.instance.ledger.filesets.at(page)
        return [file.path for file in filed.manifest] if filed else []

    page = provider.put("/view/a", "<title>A page</title>", "text/html")
    put("a", "b", "a.csv")
    put("b", None, None)
    looked(instance, provider, page, "dataone")
    assert files() == ["a.csv"]
    put("b", "c", "b.csv")
    put("c", "a", "c.csv")
    instance.clock.forward(days=2)
    instance.tick("p")
    assert files() == ["c.csv"]


def test_a_dataset_of_dryad(instance: TemporaryInstance, provider: ProviderServer, recorded: Path) -> None:
    """The newest version and its files, with SHA-256."""
    listing = read(recorded / "dryad/files-355108.json")
    versions = (recorded / "dryad/versions-6hdr7sr8z.json").read_bytes()
    provider.put("/api/v2/datasets/doi%3A10.5061%2Fdryad.6hdr7sr8z/versions", versions, JSON)
    provider.put("/api/v2/versions/355108/files", json.dumps(listing), JSON)
    page = provider.put("/dataset/doi:10.5061/dryad.6hdr7sr8z", "<title>Dryad</title>", "text/html")
    filed, finding = looked(instance, provider, page, "dryad")
    assert finding.kind == "no-rdf"
    assert filed
    assert (filed.platform_id, filed.file_count) == ("10.5061/dryad.6hdr7sr8z", 9)
    assert [(file.path, file.size, file.sha256, file.mimetype, file.platform_url) for file in filed.manifest] == [
        (
            each["path"],
            each["size"],
            each["digest"],
            each["mimeType"] or None,
            provider.url + each["_links"]["stash:download"]["href"],
        )
        for each in listing["_embedded"]["stash:files"]
    ]


def test_what_is_not_public_in_dryad(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Not recorded: versions are taken to have a visibility, lists to go on at `next`, and files may be deleted."""
    path, page = "/api/v2/datasets/doi%3A10.5061%2Fdryad.1/versions", "/dataset/doi:10.5061/dryad.1"
    hidden = {"versionNumber": 2, "visibility": "restricted", "_links": {"stash:files": {"href": "/none"}}}
    provider.put(path, json.dumps({"_embedded": {"stash:versions": [hidden]}}), JSON)
    provider.put(page, "<title>Dryad</title>", "text/html")
    _, finding = looked(instance, provider, provider.url + page, "dryad")
    assert finding.kind == "platform-restricted"
    shown = {"versionNumber": 1, "visibility": "public", "_links": {"stash:files": {"href": "/files"}}}
    first = {"_links": {"next": {"href": f"{path}?page=2"}}, "_embedded": {"stash:versions": [hidden]}}
    provider.put(path, json.dumps(first), JSON)
    provider.put(f"{path}?page=2", json.dumps({"_embedded": {"stash:versions": [shown]}}), JSON)
    files = [{"path": "a.csv", "size": 1}, {"path": "b.csv", "size": 1, "status": "deleted"}]
    provider.put("/files", json.dumps({"_embedded": {"stash:files": files}}), JSON)
    instance.clock.forward(days=1)
    [result] = instance.tick("p")
    assert result.finding
    assert result.finding.kind == "no-rdf"
    filed = instance.harvester.instance.ledger.filesets.at(provider.url + page)
    assert filed
    assert [file.path for file in filed.manifest] == ["a.csv"]


@pytest.mark.parametrize(
    ("body", "query", "platform"),
    [
        ("pangaea-902845-landing.html", "", "schemaorg"),
        ("pangaea-902845.jsonld", "", "schemaorg"),
        ("pangaea-902845.panmd.xml", "?format=metadata_panmd", "signposting"),
    ],
)
def test_pages_of_pangaea(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path, body: str, query: str, platform: str
) -> None:
    """The page, the same address as JSON-LD and its metadata all lead to the archive of the series."""
    folder = recorded / "schemaorg-signposting"
    answer = read(folder / f"{body}.exchange.json")["response"]["headers"]
    path = f"/10.1594/PANGAEA.902845{query}"
    page = provider.put(
        path,
        (folder / body).read_text().replace("https://doi.pangaea.de", provider.url),
        answer["Content-Type"],
    )
    provider.links[path] = answer["Link"].replace("https://doi.pangaea.de", provider.url)
    filed, _ = looked(instance, provider, page)
    assert filed
    assert (filed.platform_name, filed.status) == (platform, "success")
    assert [(file.platform_url, file.mimetype, file.size) for file in filed.manifest] == [
        (f"{provider.url}/10.1594/PANGAEA.902845?format=zip", "application/zip", None)
    ]


def test_an_answer_of_pangaea_that_is_not_acceptable(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """It is 406, and said so."""
    code = read(recorded / "schemaorg-signposting/pangaea-902845-406.exchange.json")["response"]["status"]["code"]
    page = provider.put("/10.1594/PANGAEA.902845", "", "text/html", code)
    _, finding = looked(instance, provider, page)
    assert (finding.kind, "406" in finding.message) == ("terminal-bad-status", True)


def test_a_search_of_pangaea_is_no_dataset(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """It is out of scope; the finding says how many it found, and how the first ones are registered."""
    asked = read(recorded / "pangaea/search.json.exchange.json")["request"]["uri"].partition(".de")[2]
    page = provider.put(asked, (recorded / "pangaea/search.json").read_bytes(), "application/json; charset=UTF-8")
    _, finding = looked(instance, provider, page)
    assert finding.kind == "platform-scope"
    assert "177,748 datasets" in finding.message
    assert "doi:10.1594/PANGAEA.892812" in finding.message


@pytest.mark.parametrize("name", ["datacite-api-doi.json", "zenodo-8347772.schemaorg.jsonld"])
def test_metadata_of_a_doi_is_no_dataset(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path, name: str
) -> None:
    """DataCite knows no files; the finding says what to register."""
    body = recorded / "doi-content-negotiation" / name
    answer = read(body.with_name(f"{name}.exchange.json"))["response"]["headers"]
    provider.redirect("/doi/10.5281/zenodo.8347772", f"{provider.url}/10.5281%2Fzenodo.8347772")
    provider.put("/10.5281%2Fzenodo.8347772", body.read_bytes(), answer["Content-Type"])
    _, finding = looked(instance, provider, "doi:10.5281/zenodo.8347772")
    assert finding.kind == "platform-scope"
    assert "https://doi.org/10.5281/zenodo.8347772" in finding.message


def test_content_negotiation_that_is_refused(
    instance: TemporaryInstance, provider: ProviderServer, recorded: Path
) -> None:
    """A landing page is asked for as HTML; where 422 is answered all the same, that is the finding."""
    folder = recorded / "doi-content-negotiation"
    at = read(folder / "doi-redirect-ldjson.exchange.json")["response"]["headers"]["location"]
    at = at.replace("https://data.crosscite.org", provider.url)
    provider.redirect("/doi/10.5281/zenodo.8347772", at, (folder / "doi-redirect-ldjson").read_text())
    code = read(folder / "crosscite-422.txt.exchange.json")["response"]["status"]["code"]
    provider.put(at.removeprefix(provider.url), (folder / "crosscite-422.txt").read_bytes(), "text/plain", code)
    _, finding = looked(instance, provider, "doi:10.5281/zenodo.8347772")
    assert (finding.kind, "422" in finding.message) == ("terminal-bad-status", True)


def test_datacite_with_addresses_of_files(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Not recorded: `contentUrl` is taken to be where the files are."""
    url = provider.put("/data/a.csv", "a,b", "text/csv")
    said = {"doi": "10.5072/1", "titles": [{"title": "Letters"}], "contentUrl": [url]}
    page = provider.put("/dois/10.5072/1", json.dumps({"data": {"type": "dois", "attributes": said}}), JSON)
    filed, finding = looked(instance, provider, page)
    assert finding.kind == "no-rdf"
    assert filed
    assert filed.platform_name == "datacite"
    assert [(file.path, file.platform_url) for file in filed.manifest] == [("a.csv", url)]
