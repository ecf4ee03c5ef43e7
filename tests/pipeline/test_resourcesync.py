"""A provider that is registered by `resourcesync`, from its lists to its graph."""

from __future__ import annotations

import hashlib

import pytest

from harvest.pipeline import Look
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, outcomes, ttl
from tests.provider import ProviderServer
from tests.resourcesync import capabilities, document, index, item, link, md5, sha256

AT = "2025-06-01T00:00:00Z"
LATER = "2025-07-01T00:00:00Z"


def source(provider: ProviderServer, *items: str, at: str | None = AT) -> None:
    """Put a capability list with one resource list."""
    url = provider.url
    provider.put("/caps.xml", capabilities(resourcelist=f"{url}/resources.xml"), "application/xml")
    provider.put("/resources.xml", document("resourcelist", *items, at=at), "application/xml")


def registered(instance: TemporaryInstance, provider: ProviderServer, path: str = "/caps.xml", *keys: str) -> None:
    extra = "".join(f"  {key}\n" for key in keys)
    instance.register(f"p:\n  resourcesync: {provider.url}{path}\n{extra}")


def message(instance: TemporaryInstance) -> str:
    """What the failed look at the provider says; nothing was announced."""
    look = instance.harvester.look("p")
    assert look.failed is not None and not look.announced
    return look.failed.message


def test_the_files_of_a_resource_list_are_one_dataset(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """All RDF files together, as nothing says which of them is the dataset; an unchanged list harvests nothing."""
    one, two = (provider.put(f"/{n}.ttl", ttl(line)) for n, line in (("one", A1), ("two", B1)))
    picture = provider.put("/b.jpg", b"\xff\xd8\xff", "image/jpeg")
    source(provider, *(item(url, lastmod=AT) for url in (one, two, picture)))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1}
    [found] = instance.harvester.instance.ledger.described.of("p")
    assert (found.dataset.iri, found.dataset.dumps) == (f"{provider.url}/caps.xml", (one, two))
    asked = len(provider.requests)
    assert instance.harvester.look("p") == Look()
    assert {status for _, status in provider.requests[asked:]} == {304}
    assert not {path for path, _ in provider.requests[asked:]} & {"/one.ttl", "/two.ttl"}
    assert instance.proven("p")


def test_a_file_that_is_no_rdf_is_archived_and_listed(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """ "The extra files ... will simply be stored" (Timbuctoo); one that is gone keeps nothing from being harvested."""
    dataset = provider.put("/a.ttl", ttl(A1))
    picture, gone = provider.put("/b.jpg", b"\xff\xd8\xff", "image/jpeg"), f"{provider.url}/gone.pdf"
    source(provider, item(dataset, lastmod=AT), item(picture, lastmod=AT), item(gone, lastmod=AT))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    running = instance.harvester.instance
    assert running.content.holds(hashlib.sha256(b"\xff\xd8\xff").hexdigest())
    [finding] = [found for found in running.ledger.findings("p") if found.kind == "stored"]
    assert picture in finding.message and gone in finding.message and not finding.fatal
    last = running.ledger.downloads.last(gone)
    assert last is not None and last.status == 404


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ((("b.ttl", {"isDataset": "true"}), ("dataset.ttl", {})), "b.ttl"),
        ((("a.ttl", {}), ("dataset.ttl", {}), ("dataset.rdf", {})), "dataset.ttl"),
        ((("only", {}),), "only"),
        ((("a.bin", {"type": "text/turtle; charset=utf-8"}), ("c.ttl", {"type": "image/png"})), "a.bin"),
    ],
)
def test_one_file_of_several_is_the_dataset(
    instance: TemporaryInstance, provider: ProviderServer, said: tuple[tuple[str, dict[str, str]], ...], taken: str
) -> None:
    """The one said to be it, else `dataset.*`, else the sole one; a type that is said overrules the extension."""
    for name, _ in said:
        provider.put(f"/{name}", ttl(A1 if name == taken else A2), "application/octet-stream")
    source(provider, *(item(f"{provider.url}/{name}", lastmod=AT, **meta) for name, meta in said))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1}


@pytest.mark.parametrize("how", ["well-known", "header", "element", "robots", "description", "list"])
def test_a_source_is_found_from_any_page(instance: TemporaryInstance, provider: ProviderServer, how: str) -> None:
    """By its host, by a page that links it in a header or an element, by robots.txt, from above and from below."""
    url = provider.url
    source(provider, item(provider.put("/a.ttl", ttl(A1)), lastmod=AT))
    description = document("description", item(f"{url}/caps.xml", capability="capabilitylist"))
    up = document("resourcelist", link("up", f"{url}/caps.xml"), item(f"{url}/a.ttl", lastmod=AT), at=AT)
    path = "/page"
    provider.put("/page", "<html><head></head></html>", "text/html")
    if how == "well-known":
        path = ""
        provider.put("/.well-known/resourcesync", description, "application/xml")
    elif how == "header":
        provider.links["/page"] = '<http://x.example/a>; rel="next", </caps.xml>; title="a, b"; rel="resourcesync"'
    elif how == "element":
        provider.put("/page", '<html><head><link rel="resourcesync" href="caps.xml"/></head></html>', "text/html")
    elif how == "robots":
        provider.put("/resources.xml", up, "application/xml")
        provider.put("/robots.txt", f"User-agent: *\nSitemap: {url}/resources.xml\n", "text/plain")
    elif how == "description":
        path = "/description.xml"
        provider.put(path, description, "application/xml")
    else:
        path = "/resources.xml"
        provider.put(path, up, "application/xml")
    registered(instance, provider, path)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1}
    [found] = instance.harvester.instance.ledger.described.of("p")
    assert found.dataset.iri == f"{url}/caps.xml"
    assert instance.harvester.look("p") == Look()


def test_an_index_of_resource_lists_is_one_dataset(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Beyond 50,000 items a list has parts."""
    for n, line in enumerate((A1, B1)):
        file = provider.put(f"/{n}.ttl", ttl(line))
        provider.put(f"/list{n}.xml", document("resourcelist", item(file, lastmod=AT), at=AT), "application/xml")
    parts = index("resourcelist", *(item(f"{provider.url}/list{n}.xml") for n in range(2)), at=AT)
    provider.put("/caps.xml", capabilities(resourcelist=f"{provider.url}/resources.xml"), "application/xml")
    provider.put("/resources.xml", parts, "application/xml")
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1}


@pytest.mark.parametrize("said", ["md5", "sha256", "length"])
def test_bytes_that_are_not_as_listed_are_not_harvested(
    instance: TemporaryInstance, provider: ProviderServer, said: str
) -> None:
    """The last version stays and is served; the harvest goes on when list and file agree again."""
    body = ttl(A1)
    meta = {"md5": {"hash": md5(body)}, "sha256": {"hash": sha256(body)}, "length": {"length": len(body)}}[said]
    file = provider.put("/a.ttl", body)
    source(provider, item(file, lastmod=AT, **meta))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    provider.put("/a.ttl", ttl(A2) + "\n")
    source(provider, item(file, lastmod=LATER, **meta))
    [failed] = instance.tick("p")
    assert failed.finding is not None and failed.finding.kind == "mismatch" and file in failed.finding.message
    assert instance.graph("p") == {A1}
    source(provider, item(file, lastmod=LATER, length=len(ttl(A2)) + 1, hash=sha256(ttl(A2) + "\n")))
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, A2} - ({A1} if A1.split()[0] == A2.split()[0] else set())


BOMB = """<?xml version="1.0"?>
<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>&b;</loc></url></urlset>
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("path", "broken", "said"),
    [
        ("/resources.xml", document("resourcelist", at=AT)[:-12], "cannot be read at line 2"),
        ("/resources.xml", BOMB, "declares the entity 'a'"),
        ("/resources.xml", "<html></html>", "is no ResourceSync document"),
        ("/resources.xml", document("capabilitylist"), "says it is a `resourcelist`"),
        ("/resources.xml", document("resourcelist", "<url><loc>ftp://x/a</loc></url>"), "has no usable address"),
        ("/resources.xml", document("resourcelist", at=AT), "name no file"),
        ("/resources.xml", document("resourcelist", item("/a.jpg"), item("/b.pdf"), at=AT), "none of the 2 files"),
        ("/resources.xml", index("resourcelist", item("/resources.xml")), "leads back to"),
        ("/caps.xml", document("capabilitylist"), "neither a resource list nor a change list"),
        ("/caps.xml", document("description", item("/caps.xml")), "leads back to"),
        ("/caps.xml", document(None, item("/a.ttl")), "a sitemap without `rs:md capability`"),
    ],
)
def test_what_cannot_be_applied_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, path: str, broken: str, said: str
) -> None:
    """A finding says what is wrong; the graph stays, and the sync goes on when the source is mended."""
    source(provider, item(provider.put("/a.ttl", ttl(A1)), lastmod=AT))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    whole = provider.pages[path].body
    provider.put(path, broken, "application/xml")
    assert said in message(instance)
    assert instance.graph("p") == {A1}
    provider.put(path, whole, "application/xml")
    provider.put("/a.ttl", ttl(A1, B1))
    provider.put("/resources.xml", document("resourcelist", item("/a.ttl", lastmod=LATER), at=AT), "application/xml")
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1}


ABOUT = """@prefix dcterms: <http://purl.org/dc/terms/> . @prefix void: <http://rdfs.org/ns/void#> .
<http://x/d> a void:Dataset ; dcterms:title "Ships" ; dcterms:license <http://x/cc0> ; dcterms:publisher "A museum" .
"""


@pytest.mark.parametrize("place", ["list", "source"])
def test_what_a_source_is_described_by_is_said_of_it(
    instance: TemporaryInstance, provider: ProviderServer, place: str
) -> None:
    """At the root of the capability list, or beside it in the source description; read once while it is the same."""
    url = provider.url
    source(provider, item(provider.put("/a.ttl", ttl(A1)), lastmod=AT))
    described = link("describedby", "/page.html") + link("describedby", "/about.ttl")
    provider.put("/page.html", "<html></html>", "text/html")
    provider.put("/about.ttl", ABOUT)
    entry = item(f"{url}/caps.xml", described if place == "source" else "", capability="capabilitylist")
    provider.put("/description.xml", document("description", entry), "application/xml")
    if place == "list":
        lists = document("capabilitylist", described, item(f"{url}/resources.xml", capability="resourcelist"))
        provider.put("/caps.xml", lists, "application/xml")
    registered(instance, provider, "/description.xml")
    assert outcomes(instance) == ["committed"]
    record = instance.harvester.instance.ledger.provider("p")
    assert record is not None
    [about] = record.about
    assert (about.iri, about.title, about.licence) == (f"{url}/caps.xml", "Ships", "http://x/cc0")
    assert instance.harvester.look("p") == Look() and provider.asked("/about.ttl") == [200, 304]
    provider.put("/about.ttl", "no RDF at all {")
    assert [instance.harvester.look("p") for _ in range(2)] == [Look()] * 2
    record, findings = (
        instance.harvester.instance.ledger.provider("p"),
        instance.harvester.instance.ledger.findings("p"),
    )
    assert record is not None and record.about == (about,)
    assert [finding.kind for finding in findings] == ["described-by"] and not findings[0].fatal
    provider.put("/about.ttl", ABOUT.replace("Ships", "Boats"))
    assert instance.harvester.look("p") == Look()
    [found] = instance.harvester.instance.ledger.described.of("p")
    assert found.dataset.title == "Boats" and instance.graph("p") == {A1}


def two_lists(provider: ProviderServer, second: str) -> None:
    """A source of two datasets; `second` is the resource list of the one."""
    url = provider.url
    for name in ("one", "two"):
        provider.put(f"/{name}.xml", capabilities(resourcelist=f"{url}/{name}-list.xml"), "application/xml")
    listed = item(provider.put("/one.ttl", ttl(A1)), lastmod=AT)
    provider.put("/one-list.xml", document("resourcelist", listed, at=AT), "application/xml")
    provider.put("/two-list.xml", second, "application/xml")
    named = (item(f"{url}/{name}.xml", capability="capabilitylist") for name in ("one", "two"))
    provider.put("/source.xml", document("description", *named), "application/xml")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("<urlset", "two-list.xml"),
        (document("resourcelist", at=LATER), "name no file"),
        (index("resourcelist", item("/two.xml", capability="resourcelist"), at=LATER), "leads back"),
        (document("changelist", at=LATER), "is a `changelist`"),
    ],
)
def test_a_broken_list_stops_its_own_dataset_alone(
    instance: TemporaryInstance, provider: ProviderServer, broken: str, said: str
) -> None:
    """The other one is harvested; of this one all stays, also in a mirror, and it goes on when it is mended."""
    whole = document("resourcelist", item(provider.put("/two.ttl", ttl(B1)), lastmod=AT), at=AT)
    two_lists(provider, whole)
    registered(instance, provider, "/source.xml", "removals: mirror")
    assert outcomes(instance) == ["committed", "committed"]
    assert instance.graph("p") == {A1, B1}

    two_lists(provider, broken.replace("/two.xml", f"{provider.url}/two.xml"))
    changed = item(provider.put("/one.ttl", ttl(A2)), lastmod=LATER)
    provider.put("/one-list.xml", document("resourcelist", changed, at=LATER), "application/xml")
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1}
    [finding] = [each for each in instance.harvester.instance.ledger.findings("p") if each.kind == "list-broken"]
    assert f"{provider.url}/two.xml" in finding.message and said in finding.message

    other = item(provider.put("/three.ttl", ttl(A1)), lastmod=LATER)
    provider.put("/two-list.xml", document("resourcelist", other, at=LATER), "application/xml")
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, A1}
    assert not [each for each in instance.harvester.instance.ledger.findings("p") if each.kind == "list-broken"]
    assert instance.proven("p")


def test_a_source_of_which_all_is_broken_fails_as_one(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Nothing is announced, and the reason is that of the first."""
    two_lists(provider, "<urlset")
    provider.put("/one-list.xml", "<urlset", "application/xml")
    registered(instance, provider, "/source.xml")
    assert "/one-list.xml" in message(instance)
