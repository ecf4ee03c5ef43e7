"""The handlers that are there: what they ask for, and what they pass over."""

from __future__ import annotations

import gzip
import tarfile
import threading
import time
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harvest.archive.handling import HandlerEntry, Version
from harvest.errors import DescriptionError, WashError
from harvest.pipeline.track.asking import HandlerBounds, HandlerJob, ask
from harvest.pipeline.track.handlers import OWN, archive, chosen, handlers, sitemap, void
from sparql.rdf import RDF
from sparql.rdf import VOID as VOID_NS
from tests.packages import install
from tests.provider import VOID, dataset
from tests.realdata import realdata

DIGEST = "0123456789abcdef" * 4
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "handlers.md"


def version(path: Path, media_type: str | None = None, url: str | None = None) -> Version:
    url = url or f"http://x/{path.name}"
    return Version(url, DIGEST, path, media_type, url, datetime(2026, 1, 1, tzinfo=UTC))


def filed(folder: Path, name: str, body: str | bytes, media_type: str | None = None) -> Version:
    path = folder / name
    path.write_bytes(body.encode() if isinstance(body, str) else body)
    return version(path, media_type)


@pytest.mark.parametrize(
    ("name", "dumps"),
    [
        ("DataONEorg__slinky__d1lod_void.ttl", ["http://dataone.org/void.ttl"]),
        ("csarven__270a.info__void.ttl", []),
        (
            "berlin__lod-budget__void.ttl",
            ["https://raw.githubusercontent.com/berlin/lod-budget/refs/heads/main/data/haushalt-be.ttl"],
        ),
    ],
)
def test_real_descriptions(name: str, dumps: list[str]) -> None:
    """What they name that can be RDF."""
    assert list(void(version(realdata() / "void" / name, "text/turtle"))) == dumps


TURTLE = VOID + dataset("http://x/d", None, ["http://x/a.nt"])
FORMATS = {
    "a.ttl": TURTLE,
    "a.trig": f"{VOID} <http://x/g> {{ {dataset('http://x/d', None, ['http://x/a.nt'])} }}",
    "a.nt": f"<http://x/d> <{VOID_NS}dataDump> <http://x/a.nt> .\n<http://x/d> <{RDF}type> <{VOID_NS}Dataset> .\n",
    "a.rdf": f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:v="{VOID_NS}"><v:Dataset><v:dataDump rdf:resource="http://x/a.nt"/>'
    "</v:Dataset></rdf:RDF>",
    "a.jsonld": f'{{"@type": "{VOID_NS}Dataset", "{VOID_NS}dataDump": {{"@id": "http://x/a.nt"}}}}',
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("media_type", [None, "text/plain", "text/html", "text/turtle"])
def test_every_format_of_descriptions_is_read(tmp_path: Path, name: str, media_type: str | None) -> None:
    """Each that a provider may register, whatever its server says."""
    assert list(void(filed(tmp_path, name, FORMATS[name], media_type))) == ["http://x/a.nt"]


@pytest.mark.parametrize(
    ("name", "body", "media_type"),
    [
        ("a.nt", "<http://x/a> <http://x/b> <http://x/c> .", "application/n-triples"),
        ("a.ttl", "this is <http://x/> no turtle", "text/turtle"),
        ("a.html", "<html><a href='http://rdfs.org/ns/void#'>VoID</a></html>", "text/html"),
        ("a.txt", "see http://rdfs.org/ns/void# for more", "text/plain"),
        ("a.ttl", VOID + "<http://x/d> a void:Dataset .", "text/turtle"),
        ("a.bin", bytes(range(256)) * 100, None),
        ("a", b"", None),
    ],
)
def test_what_is_no_description_is_passed_over(
    tmp_path: Path, name: str, body: str | bytes, media_type: str | None
) -> None:
    """Nobody said that it was one."""
    assert list(void(filed(tmp_path, name, body, media_type))) == []


@pytest.mark.parametrize(("name", "media_type"), [("a", "text/turtle"), ("a.ttl", "text/plain"), ("a.ttl", None)])
def test_a_broken_description_is_reported(tmp_path: Path, name: str, media_type: str | None) -> None:
    """Such a document says that it is RDF, and speaks of VoID."""
    with pytest.raises(DescriptionError, match=f"http://x/{name} cannot be read as Turtle at line"):
        list(void(filed(tmp_path, name, VOID + "<http://x/d> a void:Dataset ; ; [", media_type)))


def test_descriptions_in_utf_16_are_read(tmp_path: Path) -> None:
    """They are RDF/XML or older; the namespace stands in them with zeros between."""
    body = (
        '<?xml version="1.0" encoding="utf-16"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:v="http://rdfs.org/ns/void#"><v:Dataset><v:dataDump rdf:resource="http://x/a.nt"/></v:Dataset></rdf:RDF>'
    )
    assert list(void(filed(tmp_path, "a.rdf", body.encode("utf-16")))) == ["http://x/a.nt"]


def test_a_large_dump_costs_little(tmp_path: Path) -> None:
    """Handlers are given every dump; one that does not speak of VoID is not parsed."""
    body = b"<http://x/a> <http://x/b> <http://x/c> .\n" * 1_000_000
    large = filed(tmp_path, "a.nt", body, "application/n-triples")
    began = time.process_time()
    assert [*void(large), *sitemap(large), *archive(large)] == []
    assert time.process_time() - began < 30


def test_sitemaps_may_be_compressed_and_archives_are_none(tmp_path: Path) -> None:
    """A zip archive begins with no `<`; neither does a picture."""
    body = b"<urlset><url><loc>/a.ttl</loc></url></urlset>"
    assert list(sitemap(filed(tmp_path, "a.xml", body))) == ["http://x/a.ttl"]
    assert list(sitemap(filed(tmp_path, "a.xml.gz", gzip.compress(body)))) == ["http://x/a.ttl"]
    assert list(sitemap(filed(tmp_path, "b.xml.gz", gzip.compress(body)[:20]))) == []
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("a.xml", body)
    assert list(sitemap(version(tmp_path / "a.zip"))) == []


def test_robots_are_read_at_their_place_alone(tmp_path: Path) -> None:
    """Source: RFC 9309, section 2.3."""
    robots = filed(tmp_path, "robots.txt", "Sitemap: http://x/a.xml\n", "text/plain")
    assert list(sitemap(robots)) == ["http://x/a.xml"]
    assert list(sitemap(version(robots.path, url="http://x/docs/robots.txt"))) == []


def test_entries_are_listed_up_to_where_an_archive_breaks_off(tmp_path: Path) -> None:
    """The entries that could be read are asked for, and an error says where the archive breaks off."""
    with tarfile.open(tmp_path / "a.tar", "w") as packed:
        for name in "abc":
            (tmp_path / name).write_bytes(b"x" * 5000)
            packed.add(tmp_path / name, name)
    whole = (tmp_path / "a.tar").read_bytes()
    uri = f"tar:hash://sha256/{DIGEST}!/"
    assert list(archive(filed(tmp_path, "whole.tar", whole))) == [uri + name for name in "abc"]
    broken = iter(archive(filed(tmp_path, "broken.tar", whole[:12_800])))
    assert [next(broken), next(broken)] == [uri + "a", uri + "b"]
    with pytest.raises(WashError, match="cannot be read as tar after 2 entries"):
        list(broken)


def test_our_own_can_be_loaded() -> None:
    """The table names functions that are there."""
    assert {name: HandlerEntry(name, reference).load() for name, reference in OWN.items()} == {
        "void": void,
        "sitemap": sitemap,
        "archive": archive,
    }
    assert [handler.name for handler in chosen(["archive", "void", "archive"])[0]] == ["archive", "void"]
    assert handlers()[1] == []


@pytest.mark.long
def test_one_slow_handler_does_not_use_up_the_time_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They share a process while all goes well; whoever is at work when it is ended gets one of its own."""
    source = "import time\ndef slow(version):\n    time.sleep(2.5)\n    return ['http://x/slow']\n"
    install(tmp_path / "site", monkeypatch, "slow", {"slow": "slow:slow"}, source)
    job = HandlerJob(HandlerEntry("slow", "slow:slow", "slow 1.2"), filed(tmp_path, "a", b""))
    wishes = list(ask([job] * 3, threading.Event(), HandlerBounds(7)))
    assert [(wish.urls, wish.trouble) for wish in wishes] == [(("http://x/slow",), None)] * 3


def test_the_package_in_the_documents_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever copies it has a handler."""
    text = DOCUMENT.read_text("utf-8")
    project = tomllib.loads(text.split("```toml\n")[1].split("```")[0])["project"]
    source = text.split("```python\n")[1].split("```")[0]
    [(group, points)] = project["entry-points"].items()
    assert group == "sparql_harvest.handlers"
    install(tmp_path / "site", monkeypatch, "harvest_dcat", points, source)
    catalogue = (
        "@prefix dcat: <http://www.w3.org/ns/dcat#> . <#c> a dcat:Catalog; dcat:dataset [ a dcat:Dataset;"
        " dcat:distribution [ dcat:downloadURL <a.nt> ], [ dcat:downloadURL <http://y/b.zip> ] ] ."
    )
    given, findings = chosen(["dcat"])
    versions = [
        filed(tmp_path, "c.ttl", catalogue, "text/turtle"),
        filed(tmp_path, "c.html", f"<p>{catalogue}</p>", "text/html"),
        filed(tmp_path, "d.nt", "<http://x/a> <http://x/b> <http://x/c> .", "application/n-triples"),
    ]
    wishes = list(ask([HandlerJob(given[0], each) for each in versions], threading.Event()))
    assert findings == [] and [wish.trouble for wish in wishes] == [None] * 3
    assert [sorted(wish.urls) for wish in wishes] == [["http://x/a.nt", "http://y/b.zip"], [], []]
