"""Sitemaps, real and hostile: what they lead to."""

from __future__ import annotations

import io
import time

import pytest

from harvest.discover.sitemap import MOST_URLS, looks_like_rdf, read_robots, read_sitemap
from harvest.errors import DescriptionError
from tests.realdata import realdata

NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    ' xmlns:rs="http://www.openarchives.org/rs/terms/"'
    ' xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd"'
)


def found(body: str | bytes, url: str = "http://x/maps/sitemap.xml") -> list[str]:
    return list(read_sitemap(io.BytesIO(body.encode() if isinstance(body, str) else body), url))


def urlset(*entries: str) -> str:
    return f"<urlset {NAMESPACES}>{''.join(f'<url>{entry}</url>' for entry in entries)}</urlset>"


@pytest.mark.parametrize(
    ("name", "leads_to"),
    [
        ("nabu_sitemap_index.xml", ["https://geoconnex.us/sitemap/iow/wqp/stations__5.xml"]),
        ("nabu_sitemap_index_selfie.xml", ["https://geoconnex.us/sitemap/SELFIE/SELFIE_ids__0.xml"]),
        ("nabu_sitemap.xml", []),
        ("schemaorg_sitemap.xml", []),
        ("yourselftoscience_sitemap.xml", []),
    ],
)
def test_real_sitemaps(name: str, leads_to: list[str]) -> None:
    """Indexes lead on; thousands of pages are passed over."""
    assert found((realdata() / "sitemaps" / name).read_bytes()) == leads_to


def test_real_robots_name_their_sitemaps() -> None:
    """The line may stand anywhere."""
    folder = realdata() / "sitemaps"
    assert list(read_robots((folder / "schemaorg_robots.txt").read_text(), "https://schema.org/robots.txt")) == [
        "https://schema.org/docs/sitemap.xml"
    ]
    assert list(read_robots((folder / "nabu_geoconnex_robots.txt").read_text(), "https://geoconnex.us/")) == []
    text = "SITEMAP : /a.xml # here\nSitemap: ftp://x/b\nDisallow: /c"
    assert list(read_robots(text, "http://x/robots.txt")) == ["http://x/a.xml"]


def test_resource_lists_are_sitemaps() -> None:
    """The examples of the ResourceSync specification: an index leads to lists, and none of them is damaged."""
    folder = realdata() / "resourcesync" / "resync" / "examples_from_spec_v1_1"
    every = {path.name: found(path.read_bytes()) for path in folder.glob("*.xml")}
    assert "http://example.com/resourcelist1.xml" in {url for urls in every.values() for url in urls}


@pytest.mark.parametrize(
    "entry",
    [
        "<loc>../a.ttl</loc>",
        "<loc>\n http://x/a.ttl#part </loc>",
        '<loc>page</loc><xhtml:link rel="alternate" type="text/turtle" href="/a.ttl"/>',
        '<loc>page</loc><rs:ln rel="alternate describedby" type="application/rdf+xml" href="/a.ttl"/>',
        '<loc>/a.ttl</loc><rs:md type="text/turtle"/>',
        "<loc><![CDATA[http://x/a.ttl]]></loc>",
    ],
)
def test_what_looks_like_rdf_is_found(entry: str) -> None:
    """By extension, by type, by link; relative addresses are lived with."""
    assert found(urlset(entry, "<loc>/page</loc>", entry)) == ["http://x/a.ttl"]


def test_types_and_dumps_count_whatever_the_name() -> None:
    """A type is said of its own entry alone; dumps of the semantic extension stand in a dataset."""
    typed, plain = '<loc>/typed</loc><rs:md type="text/turtle; charset=utf-8"/>', "<loc>/plain</loc>"
    assert found(urlset(typed, plain)) == ["http://x/typed"]
    dump = "<sc:dataset><sc:datasetLabel>d</sc:datasetLabel><sc:dataDumpLocation>/d</sc:dataDumpLocation></sc:dataset>"
    assert found(f"<urlset {NAMESPACES}>{dump}</urlset>") == ["http://x/d"]
    page = '<loc>/p</loc><xhtml:link rel="alternate" type="text/html" href="/de"/>'
    image = '<loc>/q</loc><image:image xmlns:image="http://i/"><image:loc>/a.ttl</image:loc></image:image>'
    assert found(urlset(page, image)) == []


@pytest.mark.parametrize(
    ("url", "is_rdf"),
    [
        ("http://x/a.nt", True), ("http://x/a.NQ.GZ?v=1", True), ("http://x/a.jsonld.tar.bz2", True),
        ("http://x/a.rdf.zip", True), ("http://x/a.xml", False), ("http://x/a.json", False), ("http://x/nt", False),
        ("http://x/a.zip", False), ("http://x.ttl/", False),
    ],
)  # fmt: skip
def test_names_say_what_is_rdf(url: str, is_rdf: bool) -> None:
    """Whatever it is packed in; `.xml` alone says nothing."""
    assert looks_like_rdf(url) is is_rdf


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\n", b"no xml", b"<html><loc>/a.ttl</loc></html>", b"<urlset xmlns='http://other/'><url/></urlset>",
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>", b"\x1f\x8b\x00", b"PK\x03\x04",
        b"<" * 99, b"<?xml version='1.0' encoding='no-such'?><urlset/>",
    ],
)  # fmt: skip
def test_other_documents_lead_nowhere(body: bytes) -> None:
    """Handlers are told of everything, and this is no fault of theirs."""
    assert found(body) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_are_those_of_xml(encoding: str) -> None:
    """By byte order mark or declaration."""
    body = f"<?xml version='1.0' encoding='{encoding.removesuffix('-sig')}'?>" + urlset("<loc>/gr\u00fcn.ttl</loc>")
    assert found(body.encode(encoding)) == ["http://x/gr\u00fcn.ttl"]


def test_what_breaks_off_counts_up_to_there() -> None:
    """And is told with its place."""
    whole = urlset("<loc>/a.ttl</loc>", "<loc>/b.ttl</loc>")
    reading = read_sitemap(io.BytesIO(whole.removesuffix("</urlset>").encode()), "http://x/s")
    assert [next(reading), next(reading)] == ["http://x/a.ttl", "http://x/b.ttl"]
    with pytest.raises(DescriptionError, match=r"http://x/s cannot be read on at line 1, column \d+: no elem") as told:
        next(reading)
    assert told.value.line == 1


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 100}">' for n in range(12))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"<!DOCTYPE urlset [{BOMB}]>" + urlset("<loc>/a.ttl&e11;</loc>"), None),
        ('<!DOCTYPE urlset [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + urlset("<loc>/a.ttl&e;</loc>"), None),
        (urlset("<loc>" + "<a>" * 1000), "levels deep"),
        (urlset("<loc>/a.ttl" + "x" * 60_000_000 + "</loc>"), "more than 52,428,800 bytes"),
        (urlset(*["<loc>/a</loc>"] * (MOST_URLS + 1)), "more than 50,000 URLs"),
    ],
    ids=["entities", "files", "depth", "bytes", "urls"],
)
def test_hostile_sitemaps_end_soon(body: str, reason: str | None) -> None:
    """Without network, without files, and without much memory or time."""
    began = time.perf_counter()
    if reason is None:
        assert found(body) == []
    else:
        with pytest.raises(DescriptionError, match=reason):
            found(body)
    assert time.perf_counter() - began < 20


def test_as_many_urls_as_the_protocol_allows_are_read() -> None:
    """The limit itself is not past the limit."""
    every = found(urlset(*(f"<loc>/{n}.ttl</loc>" for n in range(MOST_URLS))))
    assert (len(every), every[-1]) == (MOST_URLS, f"http://x/{MOST_URLS - 1}.ttl")
