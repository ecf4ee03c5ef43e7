"""Sitemaps, real and hostile: what they lead to."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime

import pytest

from harvest.discover.sitemap import MOST_URLS, read_document, read_robots, read_sitemap
from harvest.discover.sitemap_items import Item, SitemapDataset, SitemapEntry, looks_like_rdf, read_lastmod
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
    """Handlers are given every document, and to be no sitemap is no fault."""
    assert found(body) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_are_those_of_xml(encoding: str) -> None:
    """By byte order mark or declaration."""
    body = f"<?xml version='1.0' encoding='{encoding.removesuffix('-sig')}'?>" + urlset("<loc>/gr\u00fcn.ttl</loc>")
    assert found(body.encode(encoding)) == ["http://x/gr\u00fcn.ttl"]


def test_what_breaks_off_counts_up_to_there() -> None:
    """The URLs before the break are read, and the error has its place."""
    whole = urlset("<loc>/a.ttl</loc>", "<loc>/b.ttl</loc>")
    reading = read_sitemap(io.BytesIO(whole.removesuffix("</urlset>").encode()), "http://x/s")
    assert [next(reading), next(reading)] == ["http://x/a.ttl", "http://x/b.ttl"]
    with pytest.raises(
        DescriptionError, match=r"http://x/s cannot be read on at line 1, column \d+: no elem"
    ) as caught:
        next(reading)
    assert caught.value.line == 1


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 100}">' for n in range(12))


@pytest.mark.sampled(2)
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
    began = time.process_time()
    if reason is None:
        assert found(body) == []
    else:
        with pytest.raises(DescriptionError, match=reason):
            found(body)
    assert time.process_time() - began < 30


@pytest.mark.long
def test_as_many_urls_as_the_protocol_allows_are_read() -> None:
    """The limit itself is not past the limit."""
    every = found(urlset(*(f"<loc>/{n}.ttl</loc>" for n in range(MOST_URLS))))
    assert (len(every), every[-1]) == (MOST_URLS, f"http://x/{MOST_URLS - 1}.ttl")


def items(body: str | bytes, url: str = "http://x/sitemap.xml") -> list[Item]:
    return read_document(io.BytesIO(body.encode() if isinstance(body, str) else body), url)


def test_entries_have_their_date_frequency_and_priority() -> None:
    """As written; what cannot be read is left out and the entry stays."""
    date = "<lastmod>2026-02-01T10:00:00+02:00</lastmod>"
    more = f"<loc>/a</loc>{date}<changefreq>Daily</changefreq><priority>0.8</priority>"
    [full, bare] = items(urlset(more, "<loc>/b</loc><lastmod>soon</lastmod><priority>high</priority>"))
    assert full == SitemapEntry("http://x/a", datetime(2026, 2, 1, 8, tzinfo=UTC), "daily", 0.8)
    assert bare == SitemapEntry("http://x/b")


@pytest.mark.parametrize("folder", ["scschema.xsd", ""])
@pytest.mark.parametrize("prefix", ["", "sc:"])
def test_datasets_of_the_semantic_extension(folder: str, prefix: str) -> None:
    """In both namespaces that sites write, and with `changefreq` in either that is meant."""
    namespace = f"http://sw.deri.org/2007/07/sitemapextension/{folder}".rstrip("/")
    body = (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:sc="{namespace}"><sc:dataset>'
        "<sc:datasetLabel> All of it </sc:datasetLabel><sc:datasetURI>http://x/d</sc:datasetURI>"
        "<sc:linkedDataPrefix>http://x/id/</sc:linkedDataPrefix><sc:dataDumpLocation>/1.nt</sc:dataDumpLocation>"
        f"<sc:dataDumpLocation>/2.nt</sc:dataDumpLocation><{prefix}changefreq>weekly</{prefix}changefreq>"
        "</sc:dataset></urlset>"
    )
    dumps = ("http://x/1.nt", "http://x/2.nt")
    assert items(body) == [SitemapDataset(dumps, "All of it", "http://x/d", "http://x/id/", None, "weekly")]


@pytest.mark.parametrize(
    ("written", "until"),
    [
        ("2026-02-28", "2026-03-01T12:00"), ("2026-02", "2026-03-01T12:00"), ("2025", "2026-01-01T12:00"),
        ("2026-02-28T01:02:03Z", "2026-02-28T01:02:03"), ("2026-02-28T01:02-01:00", "2026-02-28T02:02"),
        ("2026-02-28T01:02:03.5", "2026-02-28T01:02:03.5"), ("2026-02-30", None), ("28.02.2026", None), ("", None),
        ("9999-12-31", None), ("2026-13", None),
    ],
)  # fmt: skip
def test_a_date_means_the_last_moment_that_it_may(written: str, until: str | None) -> None:
    """A page that was downloaded at noon may change in the evening of the day that its `lastmod` names."""
    assert read_lastmod(written) == (datetime.fromisoformat(until).replace(tzinfo=UTC) if until else None)


@pytest.mark.parametrize(
    ("name", "number", "first"),
    [
        ("nabu_sitemap.xml", 3, "https://geoconnex.us/iow/wqp/BPMWQX-1084-WR-CC01C"),
        ("schemaorg_sitemap.xml", 2244, "https://schema.org/3DModel"),
        ("yourselftoscience_sitemap.xml", 116, "https://yourselftoscience.org/"),
    ],
)
def test_real_sitemaps_list_pages(name: str, number: int, first: str) -> None:
    """Each with its date, whatever namespace its elements are in."""
    every = items((realdata() / "sitemaps" / name).read_bytes())
    assert isinstance(every[0], SitemapEntry)
    assert (len(every), every[0].loc) == (number, first)
    assert all(isinstance(entry, SitemapEntry) and entry.lastmod for entry in every)


def test_a_text_of_addresses_is_a_sitemap() -> None:
    """One a line; another line is an error with its number."""
    assert items("\ufeffhttp://x/a\n\nhttp://x/b.ttl\r\n") == [
        SitemapEntry("http://x/a"),
        SitemapEntry("http://x/b.ttl", is_rdf=True),
    ]
    with pytest.raises(DescriptionError, match="line 2") as reported:
        items("http://x/a\nb\n")
    assert reported.value.line == 2
