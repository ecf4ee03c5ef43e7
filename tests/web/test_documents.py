"""The pages of seeds and documents, over a real ledger."""

from __future__ import annotations

import hashlib
from html.parser import HTMLParser
from pathlib import Path

import pyoxigraph
import pytest
from flask.testing import FlaskClient

from harvest.catalog.instance import InstanceCatalog
from harvest.catalog.seeds import ENTRIES, PAGE
from harvest.config.settings import Settings
from harvest.ledger import Clean, Ledger, SitemapReading
from harvest.model import Capture, Content, Hop, Part, Problem, Snapshot, Status
from harvest.model.seeds import entry_hash, seed_hash
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.ledger.samples import NOW, later, ledger

BASE = "http://h.example"
URI = "http://me:secret@data.example/all.zip"
CLEAN = b"<http://x/a> <http://x/p> <http://x/b> <http://h.example/graph/seed-1> .\n"
SHA256 = hashlib.sha256(CLEAN).hexdigest()
PROBLEM = Problem("syntax", "a dot is missing, <b>see</b> `here`", 3, 14, "<script>alert(1)</script>")
HOP = Hop("http://data.example/all.zip", 302, (1, 1), (("location", "/b.zip"), ("x", "<i>")), 0.25)
HTML = {"Accept": "text/html"}


class Addresses(HTMLParser):
    """Where a page leads, and how many main headings it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.headings = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if name == "href" and value]
        self.headings += tag == "h1"


def fill(made: Ledger) -> str:
    """A seed whose archive has an entry with a problem and a clean document; the hash of the download."""
    seed, _ = made.seeds.add(URI, NOW, 86400)
    download = made.documents.downloading(seed, NOW)
    made.documents.filed(download, Capture(URI, URI, NOW, 200, "b" * 64, 999, "application/zip"), (HOP,), later(1))
    made.seeds.processed(seed, later(1))
    content = Content(120, 110, 7, "CRLF", "latin-1")
    entry = Part(("ä.ttl",), Status.PARSED, NOW, later(1), content, "Turtle", 10, 2, False, (PROBLEM,), {"syntax": 500})
    graph = "http://h.example/graph/seed-1"
    clean = Clean(entry_hash(download, "ä.ttl"), Snapshot(Path("x"), 1, SHA256), content, graph, later(2))
    made.documents.record(download, [Part((), Status.DEPLETED, NOW, later(1)), entry], [clean])
    made.documents.load([SHA256])
    return download


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("instance")
    (folder / "registry.yaml").write_text("{}\n")
    place = folder / "content" / SHA256[:2] / SHA256[2:4]
    place.mkdir(parents=True)
    (place / SHA256).write_bytes(CLEAN)
    return folder


@pytest.fixture(scope="module")
def made(folder: Path) -> Ledger:
    return ledger(folder)


@pytest.fixture(scope="module")
def download(made: Ledger) -> str:
    return fill(made)


@pytest.fixture(scope="module")
def client(folder: Path, made: Ledger, download: str) -> FlaskClient:
    settings = Settings(base_url=BASE, data_dir=folder, registry=folder / "registry.yaml", exports_dir=folder)
    return create_pages(Context(InstanceCatalog(settings), Site(BASE), QueryLimits(), lambda: 0)).test_client()


def test_a_download_is_described_with_the_fields_of_the_document(client: FlaskClient, download: str) -> None:
    """Those of LOD Laundromat 2, under its names; its entries beside them."""
    found = client.get(f"/documents/{download}", headers={"Accept": "application/json"}).get_json()
    assert found == client.get(f"/documents/{download}.json").get_json()
    assert (found["parent"], found["status"], found["type"]) == (seed_hash(URI), "depleted", "download")
    assert found["http"] == [
        {
            "headers": {"location": "/b.zip", "x": "<i>"},
            "status": 302,
            "uri": "http://data.example/all.zip",
            "version": {"major": 1, "minor": 1},
            "walltime": 0.25,
        }
    ]
    assert (found["number_of_bytes"], found["newline"]) == (999, None)
    assert found["timestamp"] == ["2026-11-20T12:00:00.123456Z", "2026-11-20T12:01:00.123456Z"]
    assert found["totals"] == {"statements": 10, "dropped": 2, "clean": 1, "counts": {"syntax": 500}}
    assert [entry["name"] for entry in found["entries"]] == ["ä.ttl"]
    [entry] = found["entries"]
    part = client.get(f"/documents/{entry['hash']}.json").get_json()
    assert (part["parent"], part["format"], part["encoding"], part["whole"]) == (download, "Turtle", "latin-1", False)
    assert (part["newline"], part["number_of_bytes"], part["number_of_chars"], part["number_of_lines"]) == (
        "CRLF", 120, 110, 7,
    )  # fmt: skip
    assert part["counts"] == {"syntax": 500}
    assert part["problems"] == [
        {"kind": "syntax", "message": PROBLEM.message, "line": 3, "column": 14, "excerpt": PROBLEM.excerpt}
    ]


def test_a_seed_is_described_with_the_fields_of_the_document(client: FlaskClient, download: str) -> None:
    """The record of a seed has its URI without the password that stands in it."""
    found = client.get(f"/documents/{seed_hash(URI)}.json").get_json()
    assert (found["uri"], found["relative"], found["status"]) == ("http://data.example/all.zip", False, "depleted")
    assert (found["added"], found["interval"]) == ("2026-11-20T12:00:00.123456Z", 86400.0)
    assert found["processed"] == "2026-11-20T12:01:00.123456Z"
    assert [item["hash"] for item in found["downloads"]] == [download]
    for ending in ("", ".json", ".ttl"):
        assert b"secret" not in client.get(f"/documents/{seed_hash(URI)}{ending}", headers=HTML).data


def test_a_clean_document_leads_to_its_statements(client: FlaskClient, download: str) -> None:
    """Its record has its content and its dirty document; by ending and by Accept it is N-Quads."""
    found = client.get(f"/documents/{SHA256}.json").get_json()
    assert (found["status"], found["dirty"], found["statements"]) == ("cleaned", entry_hash(download, "ä.ttl"), 1)
    assert found["content"]["number_of_bytes"] == 120
    for path, accept in ((f"/documents/{SHA256}.nq", "*/*"), (f"/documents/{SHA256}", "application/n-quads")):
        answer = client.get(path, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["Location"]) == (303, f"/content/{SHA256}")
        assert "Accept" in answer.headers["Vary"]
    assert client.get(f"/documents/{SHA256}.nq", follow_redirects=True).data == CLEAN
    assert SHA256 in client.get(f"/documents/{entry_hash(download, 'ä.ttl')}.nq").text


def test_each_record_is_rdf(client: FlaskClient, download: str) -> None:
    """Turtle by ending and by Accept; from the problem to the document, the archive and the seed."""
    store = pyoxigraph.Store()
    for hash in (seed_hash(URI), download, entry_hash(download, "ä.ttl"), SHA256):
        answer = client.get(f"/documents/{hash}", headers={"Accept": "text/turtle"})
        assert answer.content_type == "text/turtle; charset=utf-8"
        assert answer.data == client.get(f"/documents/{hash}.ttl").data
        store.load(answer.data, pyoxigraph.RdfFormat.TURTLE)
    rows = store.query(
        """PREFIX harvest: <https://w3id.org/sparql-harvest/ns#> PREFIX prov: <http://www.w3.org/ns/prov#>
           PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dcterms: <http://purl.org/dc/terms/>
           SELECT ?uri ?kind ?line ?number ?newline ?bytes ?graph {
             ?clean a harvest:CleanDocument ; harvest:graph ?graph ; prov:wasDerivedFrom ?entry .
             ?entry harvest:problem [ harvest:kind ?kind ; harvest:line ?line ] ; harvest:newline ?newline ;
               dcat:byteSize ?bytes ; harvest:count [ harvest:kind ?kind ; harvest:number ?number ] ;
               prov:generatedAtTime ?at ; dcterms:format "Turtle" ; prov:wasDerivedFrom ?download .
             ?download harvest:http [ harvest:statusCode 302 ] ; prov:wasDerivedFrom ?seed .
             ?seed a harvest:Seed ; harvest:uri ?uri ; harvest:relative false ; harvest:interval ?interval . }"""
    )
    assert isinstance(rows, pyoxigraph.QuerySolutions)
    [row] = rows
    values = [term.value for term in row]  # type: ignore[union-attr]  # no unbound variable
    assert values == [
        "http://data.example/all.zip",
        "syntax",
        "3",
        "500",
        "CRLF",
        "120",
        "http://h.example/graph/seed-1",
    ]


def test_what_others_wrote_is_shown_as_text(client: FlaskClient, download: str) -> None:
    """Excerpts, messages and headers come from documents and servers that nobody vouches for."""
    page = client.get(f"/documents/{entry_hash(download, 'ä.ttl')}", headers=HTML).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "<script>" not in page
    assert "&lt;b&gt;see&lt;/b&gt; <code>here</code>" in page
    assert "<code>syntax</code> 500; the first 1 are these:" in page
    assert "x: &lt;i&gt;" in client.get(f"/documents/{download}", headers=HTML).text


def test_the_pages_lead_to_each_other(client: FlaskClient, download: str) -> None:
    """From the list to the seed, its download, an entry, the clean document and its bytes."""
    seen: set[str] = set()
    waiting = ["/documents/"]
    while waiting:
        path = waiting.pop()
        seen.add(path)
        answer = client.get(path, headers=HTML, follow_redirects=True)
        assert answer.status_code == 200, path
        if answer.mimetype == "text/html":
            page = Addresses(answer.text)
            assert page.headings == 1, path
            assert "Accept" in answer.headers["Vary"]
            waiting += [found for found in page.found if found.startswith("/documents/") and found not in seen]
    assert {f"/documents/{hash}" for hash in (seed_hash(URI), download, entry_hash(download, "ä.ttl"), SHA256)} < seen


@pytest.mark.parametrize(
    "path", ["0" * 32, "0" * 64, f"{'0' * 32}.json", f"{'0' * 32}.ttl", f"{'0' * 64}.nq", "0" * 33]
)
def test_what_is_not_there_is_404_with_a_message(client: FlaskClient, path: str) -> None:
    """The message says that there is no such document."""
    answer = client.get(f"/documents/{path}")
    assert answer.status_code == 404
    assert "There is no" in answer.text


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=9999999", "state=<b>"])
def test_a_page_that_cannot_be_is_refused(client: FlaskClient, query: str) -> None:
    """The refusal says what would be right."""
    assert client.get(f"/documents/?{query}").status_code == 400


def test_the_list_is_paged_and_filtered(client: FlaskClient, made: Ledger) -> None:
    """A hundred seeds a page; all of a state; how many are in each, and how many are relative."""
    before = client.get("/documents.json").get_json()
    made.seeds.add_all([*(f"http://many.example/{n}" for n in range(PAGE + 1)), "relative.ttl"], NOW, 86400)
    first = client.get("/documents/", headers={"Accept": "application/json"}).get_json()
    second = client.get("/documents.json?page=2").get_json()
    assert (first["total"], first["pages"]) == (before["total"] + PAGE + 2, 2)
    assert (len(first["seeds"]), first["relative"]) == (PAGE, before["relative"] + 1)
    hashes = {seed["hash"] for seed in (*first["seeds"], *second["seeds"])}
    assert len(hashes) == first["total"]
    added = client.get("/documents.json?state=added").get_json()
    assert (added["total"], {seed["status"] for seed in added["seeds"]}) == (PAGE + 2, {"added"})
    page = client.get("/documents/?state=added", headers=HTML).text
    assert "/documents/?state=added&amp;page=2" in page
    assert (first["entries"], first["from_sitemaps"]) == (before["entries"], before["from_sitemaps"])
    made.sitemaps.set_seeds(
        "http://me:secret@many.example/sitemap.xml", {seed_hash("http://many.example/0"): None}, NOW
    )
    counted = client.get("/documents.json").get_json()
    assert (counted["from_sitemaps"], counted["entries"]["parsed"]) == (before["from_sitemaps"] + 1, 1)
    page = client.get("/documents/", headers=HTML).text
    assert "1 of them comes from sitemaps" in page and "Entries of archives in the latest downloads: 1 parsed" in page
    record = client.get(f"/documents/{seed_hash('http://many.example/0')}.json").get_json()
    assert (record["sitemap"], record["vanished"]) == ("http://many.example/sitemap.xml", None)


def test_the_sitemaps_that_fill_the_list_are_shown(client: FlaskClient, made: Ledger) -> None:
    """When each was read and is read again, what it listed, why it was not read; and what it lists no more."""
    url, hash = "http://me:secret@maps.example/sitemap.xml", seed_hash("http://maps.example/a")
    made.seeds.add_all(["http://maps.example/a"], NOW, 86400)
    made.sitemaps.set_seeds(url, {hash: None}, NOW)
    made.sitemaps.read(url, SitemapReading(None, None, 3600, 1), NOW)
    made.sitemaps.set_seeds(url, {}, NOW)
    made.sitemaps.failed(url, "it answered 500", NOW)
    listed = client.get("/documents.json").get_json()
    [found] = listed["sitemaps"]
    assert (found["url"], found["entries"], found["vanished"], found["failures"]) == (
        "http://maps.example/sitemap.xml",
        1,
        1,
        1,
    )
    assert found["read"] == listed["sitemaps"][0]["added"] and found["trouble"] == "it answered 500"
    assert client.get(f"/documents/{hash}.json").get_json()["vanished"] == found["read"]
    page = client.get("/documents/", headers=HTML).text
    assert "http://maps.example/sitemap.xml" in page and "it answered 500" in page and "secret" not in page
    assert "lists it no more since" in client.get(f"/documents/{hash}", headers=HTML).text


def test_a_page_beyond_the_last_says_so(client: FlaskClient) -> None:
    """The page says the number of the last one."""
    assert "There is no page 9" in client.get("/documents/?page=9", headers=HTML).text
    assert "No document is in the state cleaned" in client.get("/documents/?state=cleaned", headers=HTML).text


def test_the_entries_of_an_archive_are_paged(client: FlaskClient, made: Ledger) -> None:
    """An archive of ten thousand files is no page."""
    seed, _ = made.seeds.add("http://data.example/large.zip", NOW, 86400)
    download = made.documents.downloading(seed, NOW)
    parts = [Part((f"{n:05}",), Status.PARSED, NOW, NOW) for n in range(ENTRIES + 1)]
    made.documents.record(download, [Part((), Status.DEPLETED, NOW, NOW), *parts])
    found = client.get(f"/documents/{download}.json?page=2").get_json()
    assert ([entry["name"] for entry in found["entries"]], found["pages"]) == ([f"{ENTRIES:05}"], 2)
    assert "?page=2" in client.get(f"/documents/{download}", headers=HTML).text


RED, AMBER, GREEN, BLUE = "state failing", "state held", "state idle", "state harvesting"


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (Part((), Status.PARSED, NOW, NOW, None, "Turtle", 5), f'{GREEN}">parsed<'),
        (Part((), Status.PARSED, NOW, NOW, None, "Turtle", 5, 2), f'{AMBER}">parsed, with losses<'),
        (Part((), Status.PARSED, NOW, NOW, None, "Turtle", 5, whole=False), f'{RED}">parsed, not to its end<'),
        (Part((), Status.GUESSING, NOW, NOW, counts={"no-rdf": 1}), f'{RED}">guessing, no RDF<'),
        (Part((), Status.PARSED, NOW, NOW, None, "HTML", counts={"no-rdf": 1}), f'{RED}">parsed, no RDF<'),
        (Part((), Status.DEPLETED, NOW, NOW, counts={"archive": 1}), f'{RED}">depleted, not to its end<'),
        (Part((), Status.DEPLETED, NOW, NOW), f'{GREEN}">depleted<'),
        (None, f'{RED}">downloading, failed<'),
    ],
)
def test_only_what_went_well_is_green(client: FlaskClient, made: Ledger, part: Part | None, shown: str) -> None:
    """A file that broke off stood there in green, as parsed; in the list, too."""
    uri = f"http://data.example/{hashlib.sha256(shown.encode()).hexdigest()}"
    seed, _ = made.seeds.add(uri, NOW, 86400)
    download = made.documents.downloading(seed, NOW)
    assert f'{BLUE}">downloading<' in client.get(f"/documents/{download}", headers=HTML).text
    if part is None:
        made.documents.failed(download, (), Problem("download", "404 Not Found"), NOW)
    else:
        made.documents.record(download, [part])
    assert shown in client.get(f"/documents/{download}", headers=HTML).text
    assert client.get(f"/documents/{seed}", headers=HTML).text.count(shown) == 2


def test_a_dump_of_which_an_entry_breaks_off_is_not_green(client: FlaskClient, made: Ledger) -> None:
    """The archive itself may be whole."""
    seed, _ = made.seeds.add("http://data.example/half.zip", NOW, 86400)
    download = made.documents.downloading(seed, NOW)
    entry = Part(("a.ttl",), Status.PARSED, NOW, NOW, whole=False, problems=(PROBLEM,), counts={"cut-off": 1})
    made.documents.record(download, [entry, Part((), Status.DEPLETED, NOW, NOW)])
    assert f'{RED}">depleted, not to its end<' in client.get(f"/documents/{download}", headers=HTML).text
