"""Providers that are registered by a sitemap: dumps of the semantic extension, or all pages as one dataset."""

from __future__ import annotations

import gzip

import pytest

from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer

HEAD = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd">'
)
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
A, B, C = (f'<http://x/{name}> <http://p> "{name}"' for name in "abc")
PAGE = (
    '<html><body>{}<script type="application/ld+json">{{"@id": "http://x/{}", "http://p": "{}"}}</script></body></html>'
)


def page(server: ProviderServer, name: str, value: str) -> str:
    return server.put(f"/{name}", PAGE.format(name, name, value), "text/html")


def urls(*pages: tuple[str, str | None]) -> str:
    entries = (f"<url><loc>{loc}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</url>" for loc, day in pages)
    return f"{HEAD}{''.join(entries)}</urlset>"


def outcomes(instance: TemporaryInstance) -> list[Outcome]:
    return [result.outcome for result in instance.tick("p")]


def kinds(instance: TemporaryInstance) -> set[str]:
    return {finding.kind for finding in instance.harvester.instance.ledger.runs("p", 1)[0].findings}


def test_a_dump_of_a_semantic_sitemap_is_harvested(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """From the registry to the graph, and again when the dump is other bytes; pages beside datasets do not count."""
    dump = provider.put("/d.ttl", f"{A} . {B} .")
    body = (
        f"{HEAD}<url><loc>{provider.url}/page</loc></url><sc:dataset><sc:datasetLabel>All</sc:datasetLabel>"
        f"<sc:dataDumpLocation>{dump}</sc:dataDumpLocation><changefreq>daily</changefreq></sc:dataset></urlset>"
    )
    instance.register(f"p:\n  sitemap: {provider.put('/sitemap.xml', body, 'application/xml')}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    assert instance.proven("p")
    assert outcomes(instance) == []
    provider.put("/d.ttl", f"{A} . {C} .")
    instance.clock.forward(minutes=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B, C}
    [now] = instance.harvester.instance.ledger.described.of("p")
    assert now.dataset.title == "All"


def test_pages_are_one_dataset(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """JSON-LD in HTML and Turtle, by a gzipped sitemap of an index; a page that holds no RDF is passed over."""
    pages = [(page(provider, "a", "a"), "2025-12-01"), (provider.put("/b", f"{B} ."), None)]
    pages.append((provider.put("/plain", "<html><body>nothing</body></html>", "text/html"), None))
    packed = provider.put("/1.xml.gz", gzip.compress(urls(*pages).encode()), "application/gzip")
    index = provider.put("/index.xml", f"{INDEX}<sitemap><loc>{packed}</loc></sitemap></sitemapindex>", "text/xml")
    instance.register(f"p:\n  sitemap: {index}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    assert instance.proven("p")
    assert "no-rdf" in kinds(instance)


def test_rdfa_pages_are_harvested_and_rebuilt(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Two versions of pages in RDFa come out of the archive as they were."""
    rdfa = '<html><body><p about="http://x/a" property="http://p">{}</p></body></html>'
    a, b = provider.put("/a", rdfa.format("a"), "text/html"), provider.put("/b", f"{B} .")
    instance.register(f"p:\n  sitemap: {provider.put('/sitemap.xml', urls((a, None), (b, None)), 'text/xml')}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    provider.put("/a", rdfa.format("c"), "text/html")
    instance.clock.forward(days=1, hours=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {'<http://x/a> <http://p> "c"', B}
    rebuilt = instance.harvester.rebuild("p", check=True)
    assert [(each.n, each.same) for each in rebuilt] == [(1, True), (2, True)]


def test_a_page_is_asked_for_when_its_date_is_newer(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A changed page replaces what it said, and no other page is asked for."""
    a, b = page(provider, "a", "a"), page(provider, "b", "b")
    sitemap = provider.put("/sitemap.xml", urls((a, "2025-12-01"), (b, "2025-12-02T10:00:00Z")), "application/xml")
    instance.register(f"p:\n  sitemap: {sitemap}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    instance.clock.forward(days=5)
    assert outcomes(instance) == []
    page(provider, "b", "c")
    provider.put("/sitemap.xml", urls((a, "2025-12-01"), (b, "2099-01-04T10:00:00Z")), "application/xml")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, '<http://x/b> <http://p> "c"'}
    assert (provider.asked("/a"), provider.asked("/b")) == ([200], [200, 200])
    assert instance.proven("p")


def test_pages_without_a_date_are_asked_for_once_a_day(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """By conditional requests, and what is other bytes is harvested."""
    a, b = page(provider, "a", "a"), page(provider, "b", "b")
    instance.register(f"p:\n  sitemap: {provider.put('/sitemap.xml', urls((a, None), (b, None)), 'text/xml')}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    page(provider, "a", "c")
    instance.clock.forward(hours=1)
    assert outcomes(instance) == []
    instance.clock.forward(days=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {'<http://x/a> <http://p> "c"', B}
    assert provider.asked("/b") == [200, 304]
    instance.clock.forward(days=1, hours=1)
    assert outcomes(instance) == []
    assert provider.asked("/b") == [200, 304, 304]


@pytest.mark.parametrize(("removals", "left"), [("keep", {A, B}), ("mirror", {A})])
@pytest.mark.parametrize("is_listed", [True, False], ids=["listed", "unlisted"])
def test_a_page_that_disappears_follows_removals(
    instance: TemporaryInstance, provider: ProviderServer, removals: str, left: set[str], is_listed: bool
) -> None:
    """Whether its server says that it is gone, or the sitemap lists it no more."""
    a, b = page(provider, "a", "a"), page(provider, "b", "b")
    sitemap = provider.put("/sitemap.xml", urls((a, None), (b, None)), "application/xml")
    instance.register(f"p:\n  sitemap: {sitemap}\n  removals: {removals}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    if is_listed:
        provider.put("/b", "gone", "text/plain", status=410)
        instance.clock.forward(days=1, hours=1)
    else:
        provider.put("/sitemap.xml", urls((a, None)), "application/xml")
    assert outcomes(instance) in ([Outcome.COMMITTED], [Outcome.UNCHANGED])
    assert instance.graph("p") == left
    assert instance.proven("p")


def test_a_page_that_fails_counts_as_it_was(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """One of them keeps no other from being harvested, and is a finding until it is there again."""
    a, b = page(provider, "a", "a"), page(provider, "b", "b")
    sitemap = provider.put("/sitemap.xml", urls((a, None), (b, None)), "application/xml")
    instance.register(f"p:\n  sitemap: {sitemap}\n  removals: mirror\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    provider.put("/b", "broken", "text/plain", status=500)
    page(provider, "a", "c")
    instance.clock.forward(days=1, hours=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {'<http://x/a> <http://p> "c"', B}
    assert "page" in kinds(instance)
    page(provider, "b", "b")
    page(provider, "a", "a")
    instance.clock.forward(days=1, hours=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert "page" not in kinds(instance)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{HEAD}<url><loc>http://x/</loc>", "cannot be read on at line 1"),
        ('<!DOCTYPE urlset [<!ENTITY e "x">]><urlset><url><loc>http://x/&e;</loc></url></urlset>', "entity 'e'"),
        (f"{INDEX}<sitemap><loc>/sitemap.xml</loc></sitemap></sitemapindex>", "leads back to"),
        (f"{INDEX}<sitemap><loc>/missing.xml</loc></sitemap></sitemapindex>", "/missing.xml"),
        ("<html><body>not here</body></html>", "is no sitemap"),
        ("http://x/a\nno address\n", "line 2 is no http or https address"),
        (f"{HEAD}</urlset>", "lists no page"),
    ],
    ids=["broken", "entity", "circle", "missing", "page", "text", "empty"],
)
def test_a_bad_sitemap_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, body: str, reason: str
) -> None:
    """It is a finding, and when it is mended the harvest goes on."""
    sitemap = provider.put("/sitemap.xml", urls((page(provider, "a", "a"), None)), "application/xml")
    instance.register(f"p:\n  sitemap: {sitemap}\n  removals: mirror\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    provider.put("/sitemap.xml", body, "application/xml")
    instance.clock.forward(minutes=1)
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding and reason in result.finding.message
    assert instance.graph("p") == {A}
    provider.put("/sitemap.xml", f"{page(provider, 'a', 'a')}\n{page(provider, 'b', 'b')}\n", "text/plain")
    instance.clock.forward(days=2)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
