"""Providers that are registered by the landing page of a dataset in a repository."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.config.settings import FilesetSettings
from harvest.discover.platforms.platform import GROUP
from harvest.model import ManifestFile, Outcome
from sparql.reports import to_json
from tests import repositories
from tests.packages import install
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.provider import ProviderServer
from tests.repositories import PAGE, md5, put_json, zenodo

A, B, C = (f'<http://x/{name}> <http://p> "{name}"' for name in "abc")


@pytest.fixture
def zenodo_instance(instance: TemporaryInstance, provider: ProviderServer) -> TemporaryInstance:
    """An instance for which the local server is Zenodo, and resolves DOIs."""
    hosts = {provider.url.removeprefix("http://"): "zenodo"}
    filesets = FilesetSettings(platform_hosts=hosts, doi_resolver=f"{provider.url}/doi/")
    instance.settings = replace(instance.settings, filesets=filesets)
    return instance


def plays(instance: TemporaryInstance, provider: ProviderServer, platform: str) -> None:
    """The local server is a repository of that platform."""
    filesets = FilesetSettings(platform_hosts={provider.url.removeprefix("http://"): platform})
    instance.settings = replace(instance.settings, filesets=filesets)


def outcomes(instance: TemporaryInstance) -> list[Outcome]:
    return [result.outcome for result in instance.tick("p")]


def failure(instance: TemporaryInstance) -> tuple[str, str]:
    """Kind and message of the finding that a tick ends with."""
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding
    return result.finding.kind, result.finding.message


def test_a_dataset_in_a_repository_is_harvested(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """All its RDF files are the dumps of one dataset; the table beside them is listed. Nothing new costs no version."""
    instance, files = zenodo_instance, {"a.ttl": f"{A} .", "b.nt": f"{B} .\n", "c.csv": "c"}
    page = zenodo(provider, 7, files)
    instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    assert outcomes(instance) == []
    assert instance.proven("p")
    assert provider.asked("/api/records/7/files/c.csv/content") == []
    ledger = instance.harvester.instance.ledger
    record = ledger.filesets.at(page)
    assert record
    assert (record.hit, record.status, record.platform_name, record.platform_id) == (True, "success", "zenodo", "7")
    assert (record.file_count, record.total_size) == (3, sum(map(len, files.values())))
    content = f"{provider.url}/api/records/7/files/c.csv/content"
    assert record.manifest[2] == ManifestFile("c.csv", 1, md5("c"), platform_url=content)
    known = ledger.provider("p")
    assert known
    [about] = known.about
    assert (about.title, about.creators, about.licence, about.homepage) == ("Letters", ("Doe, Jo",), "cc-by-4.0", page)


def test_what_the_repository_says_is_said_of_the_provider(
    zenodo_instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Title, creators, licence, DOI and version, in the JSON, in VoID and as a citation; also where no file changed."""
    instance, creators = zenodo_instance, [{"name": "Doe, Jo"}, {"name": "Roe, An"}]
    said = {"creators": creators, "version": "2.1", "publication_date": "2019-05-06"}
    page = zenodo(provider, 7, {"a.ttl": f"{A} ."}, **said)
    instance.register(f"p:\n  dataset: {page}\n  contact: me@example.org\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    report = InstanceCatalog(instance.settings, instance.clock).provider("p")
    assert report
    [about] = to_json(report)["about"]
    cited = "Doe, Jo; Roe, An (2019). Letters. Version 2.1. https://doi.org/10.5281/zenodo.7"
    assert about["citation"] == cited
    assert (about["creators"], about["doi"]) == (["Doe, Jo", "Roe, An"], "10.5281/zenodo.7")
    assert (about["version"], about["issued"], about["publisher"]) == ("2.1", "2019-05-06", None)
    assert report.contact == "me@example.org"
    for node in (instance.settings.graph("p"), page):
        void = void_of(instance, node)
        assert {("creator", "Doe, Jo"), ("creator", "Roe, An"), ("version", "2.1"), ("issued", "2019-05-06")} < void
        assert {("title", "Letters"), ("license", "cc-by-4.0"), ("bibliographicCitation", cited)} < void
        assert ("identifier", "https://doi.org/10.5281/zenodo.7") in void
    zenodo(provider, 7, {"a.ttl": f"{A} ."}, **said | {"title": "All letters"})
    assert outcomes(instance) == []
    assert ("title", "All letters") in void_of(instance, page)


def void_of(instance: TemporaryInstance, subject: str) -> set[tuple[str, str]]:
    """What the VoID description of the exports says of a node, by the last part of each predicate."""
    instance.harvester.export()
    said = pyoxigraph.parse(path=instance.settings.exports_dir / "void.ttl")
    quads = [quad for quad in said if str(quad.subject) == f"<{subject}>"]
    return {(re.split("[/#]", q.predicate.value)[-1], str(getattr(q.object, "value", ""))) for q in quads}


FILES = """SELECT ?path ?status ?size ?digits {
    ?g dcterms:identifier "p" ; harvest:fileset [ dcat:distribution ?file ] ; harvest:file ?file .
    ?file a dcat:Distribution ; harvest:path ?path ; dcat:byteSize ?size ; dcat:downloadURL ?url .
    ?file spdx:checksum [ spdx:algorithm spdx:checksumAlgorithm_md5 ; spdx:checksumValue ?digits ] .
    OPTIONAL { ?file harvest:status ?said } BIND(COALESCE(?said, "") AS ?status) } ORDER BY ?path"""


def test_the_manifest_can_be_asked(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Its files with their checksums, and what came of them; only the newest, also where no RDF changed."""
    instance, files = zenodo_instance, {"a.ttl": f"{A} .", "c.csv": "c"}
    page = zenodo(provider, 7, files)
    instance.register(f"p:\n  dataset: {page}\n")
    instance.tick("p")
    turtle, table = ("a.ttl", "exists", str(len(files["a.ttl"])), md5(files["a.ttl"])), ("c.csv", "", "1", md5("c"))
    assert ask(instance, FILES) == [turtle, table]
    found = "SELECT ?platform ?page ?files ?bytes ?status { ?f a harvest:Fileset ; harvest:platform ?platform ;"
    found += " dcat:landingPage ?page ; harvest:files ?files ; dcat:byteSize ?bytes ; harvest:status ?status }"
    assert ask(instance, found) == [("zenodo", page, "2", str(len(files["a.ttl"]) + 1), "success")]
    zenodo(provider, 7, {"a.ttl": files["a.ttl"], "d.csv": "dd"})
    assert outcomes(instance) == []
    assert ask(instance, FILES) == [turtle, ("d.csv", "", "2", md5("dd"))]
    said = InstanceCatalog(instance.settings, instance.clock).receipt("p")
    assert said and md5("dd").encode() in said
    instance.register("{}")
    instance.harvester.forget("p")
    assert ask(instance, "SELECT ?s { ?s ?p ?o FILTER(CONTAINS(STR(?s), '#file')) }") == []


CITED = """SELECT ?title ?version ?doi ?cited { ?f a harvest:Fileset ; dcterms:title ?title ; dcat:version ?version ;
  dcterms:bibliographicCitation ?cited ; dcterms:identifier ?doi
  FILTER(DATATYPE(?doi) = <http://www.w3.org/2001/XMLSchema#anyURI>) }"""


def test_a_fileset_is_cited_in_the_metadata_graph(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Title, version, DOI and citation follow the record, also where no file changed; the receipt has them, too."""
    instance, files = zenodo_instance, {"a.ttl": f"{A} ."}
    instance.register(f"p:\n  dataset: {zenodo(provider, 7, files, version='2.1')}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    doi = "https://doi.org/10.5281/zenodo.7"
    assert ask(instance, CITED) == [("Letters", "2.1", doi, f"Doe, Jo. Letters. Version 2.1. {doi}")]
    zenodo(provider, 7, files, version="2.2", title="Old letters")
    assert outcomes(instance) == []
    cited = f"Doe, Jo. Old letters. Version 2.2. {doi}"
    assert ask(instance, CITED) == [("Old letters", "2.2", doi, cited)]
    said = InstanceCatalog(instance.settings, instance.clock).receipt("p")
    assert said
    assert cited.encode() in said


def test_an_unchanged_landing_page_is_not_sent_again(
    zenodo_instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """It is asked for conditionally; a page that changed, or moved, is read as it is now."""
    instance = zenodo_instance
    page = zenodo(provider, 7, {"a.ttl": f"{A} ."})
    provider.redirect("/doi/10.5281/zenodo.7", page)
    instance.register("p:\n  dataset: doi:10.5281/zenodo.7\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert outcomes(instance) == []
    assert provider.asked("/records/7") == [200, 304]
    provider.put("/records/7", f"{PAGE}<p>2</p>", "text/html")
    assert outcomes(instance) == []
    assert provider.asked("/records/7") == [200, 304, 200]
    provider.put("/record/7", f"{PAGE}<p>2</p>", "text/html")
    provider.redirect("/doi/10.5281/zenodo.7", f"{provider.url}/record/7")
    zenodo(provider, 7, {"a.ttl": f"{B} ."})
    instance.clock.forward(days=2)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert provider.asked("/record/7") == [304, 200]
    assert instance.graph("p") == {A, B}


def test_a_page_whose_headers_count_is_asked_for_as_a_whole(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The links of Signposting are in its header, which 304 leaves out."""
    page = repositories.signposting(provider, {"a.ttl": f"{A} ."})
    instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    repositories.signposting(provider, {"a.ttl": f"{A} .", "b.nt": f"{B} .\n"})
    instance.clock.forward(days=2)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert provider.asked("/letters") == [200, 200]
    assert instance.graph("p") == {A, B}


def test_every_answer_of_a_platform_is_filed(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The archive has the landing page and the record, each led to by the page."""
    instance = zenodo_instance
    page = zenodo(provider, 7, {"a.ttl": f"{A} ."})
    instance.register(f"p:\n  dataset: {page}\n")
    instance.tick("p")
    running = instance.harvester.instance
    for url in (page, f"{provider.url}/api/records/7", f"{provider.url}/api/records/7/files/a.ttl/content"):
        assert running.filed(url)
    download = running.ledger.downloads.at(f"{provider.url}/api/records/7", None)
    assert download
    assert download.informed == running.crawl.activity(page)


def test_a_new_version_is_a_new_release(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The record that is registered says that there is a newer one, whose files are harvested then."""
    instance = zenodo_instance
    instance.register(f"p:\n  dataset: {zenodo(provider, 7, {'a.ttl': f'{A} .'})}\n  removals: mirror\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    zenodo(provider, 7, {"a.ttl": f"{A} ."}, last=False)
    zenodo(provider, 8, {"renamed.ttl": f"{B} . {C} ."})
    provider.pages["/api/records/7/versions/latest"] = provider.pages["/api/records/8"]
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {B, C}
    assert outcomes(instance) == []
    assert [version.n for version in instance.harvester.instance.ledger.versions("p")] == [1, 2]
    assert instance.proven("p")


def test_a_doi_is_resolved(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """However it is written; the graph's dataset is named by it."""
    page = zenodo(provider, 7, {"a.ttl": f"{A} ."})
    provider.pages["/doi/10.5281/zenodo.7"] = provider.pages[page.removeprefix(provider.url)]
    zenodo_instance.register("p:\n  dataset: doi:10.5281/zenodo.7\n")
    assert outcomes(zenodo_instance) == [Outcome.COMMITTED]
    [described] = zenodo_instance.harvester.instance.ledger.described.of("p")
    assert described.dataset.iri == "https://doi.org/10.5281/zenodo.7"


def test_a_wrong_checksum_changes_nothing(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Of one file of two: nothing of the fileset is imported until its bytes are those of the manifest."""
    instance, path = zenodo_instance, "/api/records/7/files/b.ttl/content"
    instance.register(f"p:\n  dataset: {zenodo(provider, 7, {'a.ttl': f'{A} .', 'b.ttl': f'{B} .'})}\n")
    right = provider.pages[path]
    provider.put(path, f"{C} .", "application/octet-stream")
    kind, message = failure(instance)
    assert kind == "mismatch"
    assert "md5" in message
    assert instance.graph("p") == set()
    provider.pages[path] = right
    instance.clock.forward(days=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}


@pytest.mark.parametrize(
    ("status", "kind"), [(404, "platform-404"), (410, "platform-restricted"), (403, "platform-restricted")]
)
def test_the_status_of_the_record_says_what_is_wrong(
    zenodo_instance: TemporaryInstance, provider: ProviderServer, status: int, kind: str
) -> None:
    """The landing page is there, the record is not, or not for us; the graph stays."""
    zenodo_instance.register(f"p:\n  dataset: {zenodo(provider, 7, {'a.ttl': f'{A} .'})}\n")
    assert outcomes(zenodo_instance) == [Outcome.COMMITTED]
    put_json(provider, "/api/records/7", {"status": status, "message": "none"}, status)
    assert failure(zenodo_instance)[0] == kind
    assert zenodo_instance.graph("p") == {A}


@pytest.mark.parametrize("right", ["restricted", "closed", "embargoed"])
def test_what_is_not_for_everybody_is_said_so(
    zenodo_instance: TemporaryInstance, provider: ProviderServer, right: str
) -> None:
    """The record can be read, its files cannot."""
    zenodo_instance.register(f"p:\n  dataset: {zenodo(provider, 7, {}, access_right=right)}\n")
    kind, message = failure(zenodo_instance)
    assert kind == "platform-restricted"
    assert right in message


def test_a_record_of_all_versions_is_out_of_scope(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The number of the concept answers with its newest version; the finding names that."""
    zenodo(provider, 7, {"a.ttl": f"{A} ."})
    provider.pages["/api/records/1"] = provider.pages["/api/records/7"]
    zenodo_instance.register(f"p:\n  dataset: {provider.put('/records/1', PAGE, 'text/html')}\n")
    kind, message = failure(zenodo_instance)
    assert kind == "platform-scope"
    assert "such as 7" in message


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        ({"max_file_count": 1}, "too-many-files"),
        ({"max_total_size": 5}, "too-large-size"),
    ],
)
def test_limits_are_strict(
    zenodo_instance: TemporaryInstance, provider: ProviderServer, limits: dict[str, int], kind: str
) -> None:
    """As many as the limit is are taken, more are not; the ledger has the manifest all the same."""
    instance, page = zenodo_instance, zenodo(provider, 7, {"a.csv": "123", "b.csv": "456"})
    instance.settings = replace(instance.settings, filesets=replace(instance.settings.filesets, **limits))
    instance.register(f"p:\n  dataset: {page}\n")
    assert failure(instance)[0] == kind
    record = instance.harvester.instance.ledger.filesets.at(page)
    assert record
    assert (record.hit, record.status, len(record.manifest)) == (False, kind, 2)
    zenodo(provider, 7, {"a.ttl": ""} if kind == "too-many-files" else {"a.csv": "12", "b.csv": "456"})
    instance.clock.forward(days=1)
    assert failure(instance)[0] != kind


def test_no_platform_and_no_files(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What no platform knows is said with what to do; an empty record, and one without RDF, have findings of theirs."""
    instance.register(f"p:\n  dataset: {provider.put('/records/7', PAGE, 'text/html')}\n")
    kind, message = failure(instance)
    assert kind == "no-platform-match"
    assert "platform_hosts" in message
    provider.put("/records/7", "gone", "text/html", 410)
    instance.clock.forward(days=1)
    assert failure(instance)[0] == "terminal-bad-status"


@pytest.mark.parametrize(("files", "kind"), [({}, "empty-manifest"), ({"a.csv": "1"}, "no-rdf")])
def test_nothing_to_harvest(
    zenodo_instance: TemporaryInstance, provider: ProviderServer, files: dict[str, str], kind: str
) -> None:
    """A record without files is asked for the list of its own, and says so when that is empty as well."""
    put_json(provider, "/api/records/7/files", {"entries": []})
    zenodo_instance.register(f"p:\n  dataset: {zenodo(provider, 7, files)}\n")
    assert failure(zenodo_instance)[0] == kind


def test_an_answer_that_is_no_record(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A page in place of JSON, JSON of another shape."""
    zenodo_instance.register(f"p:\n  dataset: {zenodo(provider, 7, {})}\n")
    for body in ("<html>", "[]", '{"files": []}'):
        provider.put("/api/records/7", body, "application/json")
        assert failure(zenodo_instance)[0] == "platform-error"
        zenodo_instance.clock.forward(days=1)


@pytest.mark.parametrize(
    "platform",
    ["dataverse", "figshare", "archiveorg", "dryad", "dataone", "ckan", "schemaorg", "dcat", "signposting"],
)
def test_a_dataset_of_every_platform_is_harvested(
    instance: TemporaryInstance, provider: ProviderServer, platform: str
) -> None:
    """From the landing page to the graph, and again when a file changed; nothing new costs no version."""
    if platform in ("figshare", "archiveorg", "dryad", "dataone"):  # those that are known by their hosts
        plays(instance, provider, platform)
    put = getattr(repositories, platform)
    page = put(provider, {"a.ttl": f"{A} .", "b.nt": f"{B} .\n", "c.csv": "c"})
    instance.register(f"p:\n  dataset: {page}\n  removals: mirror\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    record = instance.harvester.instance.ledger.filesets.at(page)
    assert record
    assert (record.platform_name, record.file_count) == (platform, 3)
    assert outcomes(instance) == []
    put(provider, {"a.ttl": f"{A} .", "b.nt": f"{C} .\n", "c.csv": "c"})
    if platform in ("ckan", "signposting"):  # they say no checksums, so the files are asked for
        instance.clock.forward(days=2)
        instance.tick("p", forced=True)
    else:
        assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, C}
    assert instance.proven("p")


def test_folders_are_kept(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Files of one name in two folders are two files."""
    page = repositories.dataverse(provider, {"one/a.ttl": f"{A} .", "two/a.ttl": f"{B} ."})
    instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    record = instance.harvester.instance.ledger.filesets.at(page)
    assert record
    assert [file.path for file in record.manifest] == ["one/a.ttl", "two/a.ttl"]


def test_an_unsafe_path_is_left_out(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The others are harvested, and the finding names it."""
    page = repositories.dataverse(provider, {"a.ttl": f"{A} .", "../b.ttl": f"{B} ."})
    instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}
    ledger = instance.harvester.instance.ledger
    [finding] = ledger.findings("p")
    assert finding.kind == "unsafe-path"
    assert "../b.ttl" in finding.message
    record = ledger.filesets.at(page)
    assert record
    assert [file.status for file in record.manifest] == [None, "unsafe-path"]


MUSEUM = """
    from harvest.discover.platforms import Manifest, ManifestFile, Platform, Wanted

    def matches(landing):
        return landing.url.endswith("/museum")

    def process(landing, answers):
        if "broken" in landing.answer.text():
            raise KeyError("files")
        listing = landing.url + "/files.json"
        if listing not in answers:
            return Wanted((listing,))
        files = [ManifestFile(name, platform_url=url) for name, url in answers[listing].json().items()]
        return Manifest("museum", landing.host, "1", tuple(files), landing.url)

    MUSEUM = Platform(matches, process)
"""


def test_a_platform_of_another_package(
    instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found by its entry point; what it raises is a finding."""
    install(tmp_path / "site", monkeypatch, "museum", {"museum": "museum:MUSEUM"}, MUSEUM, GROUP)
    page = provider.put("/museum", PAGE, "text/html")
    put_json(provider, "/museum/files.json", {"a.ttl": provider.put("/bytes", f"{A} .", "application/octet-stream")})
    instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}
    provider.put("/museum", "broken", "text/html")
    kind, message = failure(instance)
    assert kind == "platform-error"
    assert "KeyError" in message


def test_what_came_of_a_landing_page_is_reported(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """With the manifest, and which files are filed; when the record goes, the status says so and the files stay."""
    instance, page = zenodo_instance, zenodo(provider, 7, {"a.ttl": f"{A} .", "b.csv": "1"})
    instance.register(f"p:\n  dataset: {page}\nq:\n  dump: {provider.put('/q.ttl', f'{B} .')}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    catalog = InstanceCatalog(instance.settings, instance.clock)
    report = catalog.provider("p")
    assert report and report.ingest
    said = to_json(report)["ingest"]
    assert (said["hit"], said["status"], said["ingest_strategy"]) == (True, "success", "web-fileset")
    assert said["request"] == {"ingest_type": "dataset", "base_url": page}
    assert (said["terminal"]["terminal_url"], said["terminal"]["terminal_status_code"]) == (page, 200)
    assert [(file["path"], file["status"]) for file in said["manifest"]] == [("a.ttl", "exists"), ("b.csv", None)]
    assert (said["html_biblio"]["title"], said["file_meta"]["size_bytes"]) == ("Letters", len(PAGE))
    assert catalog.ingests() == [report.ingest]
    other = catalog.provider("q")
    assert other
    assert "ingest" not in to_json(other)
    put_json(provider, "/api/records/7", {}, 410)
    instance.tick("p")
    [gone] = catalog.ingests()
    assert (gone.hit, gone.status, len(gone.manifest)) == (False, "platform-restricted", 2)


def test_a_list_of_files_in_pages(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each page of it names the next one."""
    page = zenodo(provider, 7, {"a.ttl": f"{A} .", "b.ttl": f"{B} ."})
    record = json.loads(provider.pages["/api/records/7"].body)
    first, second = record.pop("files")
    put_json(provider, "/api/records/7", record)
    further = put_json(provider, "/api/records/7/files?page=2", {"entries": [second], "links": {}})
    put_json(provider, "/api/records/7/files", {"entries": [first], "links": {"next": further}})
    zenodo_instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(zenodo_instance) == [Outcome.COMMITTED]
    assert zenodo_instance.graph("p") == {A, B}


def test_a_platform_that_asks_for_patience(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """429 says nothing of the dataset: it is tried again later, and the ledger's row stays as it is."""
    instance, page = zenodo_instance, zenodo(provider, 7, {"a.ttl": f"{A} ."})
    instance.register(f"p:\n  dataset: {page}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    right = provider.pages["/api/records/7"]
    put_json(provider, "/api/records/7", {"message": "slow down"}, 429)
    kind, message = failure(instance)
    assert kind == "status"
    assert "429" in message and "tried again" in message
    record = instance.harvester.instance.ledger.filesets.at(page)
    assert record and record.status == "success"
    provider.pages["/api/records/7"] = right
    instance.clock.forward(days=1)
    assert outcomes(instance) == []
    assert instance.graph("p") == {A}


def test_a_forgotten_provider_leaves_no_row(zenodo_instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Unless another one has the same landing page."""
    instance, page = zenodo_instance, zenodo(provider, 7, {"a.ttl": f"{A} ."})
    instance.register(f"p:\n  dataset: {page}\nq:\n  dataset: {page}\n")
    instance.tick("p")
    instance.tick("q")
    filesets = instance.harvester.instance.ledger.filesets
    instance.register(f"q:\n  dataset: {page}\n")
    instance.harvester.forget("p")
    assert filesets.at(page)
    instance.register("{}\n")
    instance.harvester.forget("q")
    assert filesets.at(page) is None
