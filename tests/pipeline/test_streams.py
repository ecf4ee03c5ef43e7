"""Providers that are registered by a Linked Data Event Stream: the newest version of each object."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer
from tests.realdata import realdata
from tests.test_check import register
from tests.test_cli import Command, harvest

__all__ = ["harvest"]

PREFIXES = """@prefix tree: <https://w3id.org/tree#> . @prefix ldes: <https://w3id.org/ldes#> . @prefix x: <http://x/> .
@prefix as: <https://www.w3.org/ns/activitystreams#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
STREAM = "x:s a ldes:EventStream; ldes:timestampPath x:at; ldes:versionOfPath x:of; tree:view <{view}> .\n"
Member = tuple[str, int, str | None]


def page(
    server: ProviderServer, path: str, members: Sequence[Member], nodes: Sequence[str] = (), *, more: str = ""
) -> str:
    """Put a page; a member is a name, an hour and a value, None for a deletion."""
    view = "".join(f"<{server.url}{path}> tree:relation [ tree:node <{node}> ] .\n" for node in nodes)
    said = ""
    for name, hour, value in members:
        version = f"<http://x/v/{name}/{hour}>"
        said += f'x:s tree:member {version} . {version} x:of x:{name}; x:at "2025-01-01T{hour:02}:00:00Z"^^xsd:dateTime'
        said += f'; x:p "{value}", [ x:q "{value}" ] .\n' if value else "; a as:Delete .\n"
    body = PREFIXES + STREAM.format(view=server.url + "/0") + view + said + more
    return server.put(path, body, "text/turtle")


def outcomes(instance: TemporaryInstance) -> list[Outcome]:
    return [result.outcome for result in instance.tick("p")]


def values(instance: TemporaryInstance) -> dict[str, str]:
    """What each object says by x:p that is a literal."""
    found = (line.split(" ", 2) for line in instance.graph("p"))
    return {s[10:-1]: o[1:-1] for s, p, o in found if p == "<http://x/p>" and o.startswith('"')}


def test_the_newest_versions_are_the_graph(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Of all pages, which lead back to one another; each look that finds new members makes one version."""
    first, second = f"{provider.url}/1", f"{provider.url}/2"
    page(provider, "/0", [], [first])
    page(provider, "/1", [("a", 1, "old"), ("b", 2, "b")], [second, f"{provider.url}/0"])
    page(provider, "/2", [("a", 3, "new"), ("a", 2, "middle")])
    instance.register(f"p:\n  ldes: {provider.url}/0\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert values(instance) == {"a": "new", "b": "b"}
    assert len(instance.graph("p")) == 8
    assert outcomes(instance) == []
    page(provider, "/2", [("a", 3, "new"), ("b", 4, None), ("c", 5, "c")])
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert values(instance) == {"a": "new", "c": "c"}
    [record] = [each for each in instance.harvester.instance.ledger.versions("p") if each.n == 2]
    assert (record.added, record.removed) == (4, 4)
    assert instance.proven("p")
    assert [(each.n, each.same) for each in instance.harvester.rebuild("p", check=True)] == [(1, True), (2, True)]


def test_a_member_may_be_a_graph(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Its statements are taken as they are; of several views the first is read."""
    body = (
        "x:s a ldes:EventStream; ldes:timestampPath x:at; ldes:versionOfPath x:of; tree:view </one>, </two> .",
        "x:s tree:member x:v . x:v x:of x:a; x:at '2025-01-01T00:00:00Z'; a as:Create . x:v { x:a x:of x:other }",
    )
    provider.put("/s", PREFIXES + body[0])
    provider.put("/one", PREFIXES + " ".join(body), "application/trig")
    instance.register(f"p:\n  ldes: {provider.url}/s\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {"<http://x/a> <http://x/of> <http://x/other>"}
    assert provider.asked("/two") == []


def test_an_object_may_be_described_under_its_own_iri(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The member then says only of which object it is a version, and when it was."""
    said = "x:v1 x:of x:a ; x:at '2025-01-01T00:00:00Z' . x:s tree:member x:v1 . x:a x:p 'a' ; x:q [ x:r x:b ] ."
    said += " x:b x:p 'b' ."
    page(provider, "/0", [], more=said)
    instance.register(f"p:\n  ldes: {provider.url}/0\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert values(instance) == {"a": "a", "b": "b"}
    assert len(instance.graph("p")) == 5


def test_a_real_dump_of_a_stream(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """One page with the newest version of each object, which is described under its own IRI."""
    provider.put("/dump.ttl", (realdata() / "platforms/ldes/rdfc-ldes-dump.ttl").read_bytes())
    instance.register(f"p:\n  ldes: {provider.url}/dump.ttl\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    lines = instance.graph("p")
    modified = {line.split()[0] for line in lines if "<http://purl.org/dc/terms/modified>" in line}
    labelled = {line.split()[0] for line in lines if "core#prefLabel>" in line}
    assert len(modified) == 4 and modified <= labelled


def test_immutable_pages_are_asked_for_once(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Also by an instance that was started anew; what was had before a page failed is not had again."""
    first, second = f"{provider.url}/1", f"{provider.url}/2"
    page(provider, "/0", [], [first, second])
    page(provider, "/1", [("a", 1, "a")])
    provider.caching["/1"] = "public, max-age=31536000, immutable"
    instance.register(f"p:\n  ldes: {provider.url}/0\n")
    assert outcomes(instance) == [Outcome.FAILED]
    page(provider, "/2", [("b", 1, "b")])
    instance.clock.forward(days=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert values(instance) == {"a": "a", "b": "b"}
    instance.close()
    page(provider, "/2", [("b", 2, "c")])
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert values(instance) == {"a": "a", "b": "c"}
    assert provider.asked("/1") == [200]
    assert provider.asked("/0") == [200, 304, 304]


@pytest.mark.parametrize(
    ("name", "count"),
    [("mock-ldes", 6), ("mock-ldes-linked-list", 8), ("mock-ldes-inbetween", 3)],
)
def test_real_streams(instance: TemporaryInstance, provider: ProviderServer, name: str, count: int) -> None:
    """A view apart from its stream, a list and a hierarchy of pages, one branch of it filled."""
    for file in (realdata() / "platforms/ldes").glob("rdfc-mock-ldes*.ttl"):
        provider.put("/" + file.name.removeprefix("rdfc-"), file.read_bytes())
    inner = "/mock-ldes-inbetween-"
    provider.put(f"{inner}0.ttl", f"{PREFIXES} <> tree:relation [ tree:node <{inner}24.ttl> ] .")
    for empty in ("24-09-26-09-05", "24-09-26-10", "24-09-25", "24-10"):
        provider.put(f"{inner}{empty}.ttl", f"{PREFIXES} <{provider.url}/mock-ldes-inbetween.ttl> a ldes:EventStream .")
    instance.register(f"p:\n  ldes: {provider.url}/{name}.ttl\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    objects = [line.split()[0] for line in instance.graph("p") if "<http://example.org/prop2>" in line]
    assert len(objects) == len(set(objects)) == count


@pytest.mark.parametrize(
    ("name", "host"),
    [("eventstream", "http://localhost:12121"), ("ldes-with-3-views", "http://localhost:10101")],
)
def test_of_the_views_of_a_real_stream_the_first_is_read(
    instance: TemporaryInstance, provider: ProviderServer, name: str, host: str
) -> None:
    """Both streams name their views on a page of its own; the pages of the views are made here."""
    body = (realdata() / f"platforms/ldes/vsds-{name}.ttl").read_bytes().replace(host.encode(), provider.url.encode())
    provider.put("/stream.ttl", body)
    views = dict.fromkeys(re.findall(rb"/(?:observations|200-ldes-with-3-views)/by-[a-z]+", body))
    stream = "/observations" if name == "eventstream" else "/200-ldes-with-3-views"
    version = "x:v <http://purl.org/dc/terms/isVersionOf> x:a ; x:p 'a' ;"
    version += " <http://www.w3.org/ns/prov#generatedAtTime> '2025-01-01T00:00:00Z' ."
    for view in views:
        said = f"<{provider.url}{stream}> tree:member x:v . {version}"
        provider.put(view.decode(), PREFIXES + said, "text/turtle")
    instance.register(f"p:\n  ldes: {provider.url}/stream.ttl\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert '<http://x/a> <http://x/p> "a"' in instance.graph("p")
    assert sum(bool(provider.asked(view.decode())) for view in views) == 1


def test_a_real_page_whose_node_is_no_view(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Members of a page that is neither stream nor view; both are versions of addresses."""
    provider.put("/page.ttl", (realdata() / "platforms/ldes/vsds-tree-node-is-not-a-view.ttl").read_bytes())
    instance.register(f"p:\n  ldes: {provider.url}/page.ttl\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert len([line for line in instance.graph("p") if "ns/prov#generatedAtTime>" in line]) == 2


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [("1-relation-3-members", 65, "rdf:langString"), ("10-member-fragment", 17, "Invalid IRI code point '{'")],
)
def test_a_real_page_that_is_no_turtle_is_a_finding(
    instance: TemporaryInstance, provider: ProviderServer, name: str, line: int, reason: str
) -> None:
    """A template that was not filled in, and a literal that names the datatype of tagged ones."""
    provider.put("/page.ttl", (realdata() / f"platforms/ldes/vsds-{name}.ttl").read_bytes())
    instance.register(f"p:\n  ldes: {provider.url}/page.ttl\n")
    assert outcomes(instance) == [Outcome.FAILED]
    [finding] = instance.harvester.instance.ledger.runs("p")[0].findings
    assert (finding.line, finding.url) == (line, f"{provider.url}/page.ttl")
    assert reason in finding.message


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("x:s tree:member <", "cannot be read as Turtle"),
        ("x:s tree:member x:v . x:v x:of x:d; x:at 'soon' .", "no time that can be read"),
        ("x:s tree:member x:v . x:v x:at '2025-01-01' .", "0 objects that it is a version of"),
        ("<> tree:relation [ tree:node </missing> ] .", "404"),
        ("<> tree:relation [ tree:node </other> ] .", "is no page of an event stream"),
    ],
    ids=["broken", "time", "object", "missing", "other"],
)
def test_a_bad_page_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, more: str, reason: str
) -> None:
    """It is a finding, and when it is mended the harvest goes on."""
    provider.put("/other", "<http://x/a> <http://x/b> <http://x/c> .")
    url = page(provider, "/0", [("a", 1, "a")])
    instance.register(f"p:\n  ldes: {url}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    page(provider, "/0", [("a", 1, "a"), ("b", 2, "b")], more=more)
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding and reason in result.finding.message
    assert values(instance) == {"a": "a"}
    page(provider, "/0", [("a", 1, "a"), ("b", 2, "b")])
    instance.clock.forward(days=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert values(instance) == {"a": "a", "b": "b"}


def test_check_reads_the_stream(harvest: Command, provider: ProviderServer) -> None:
    """Offline nobody knows what would be harvested; online all pages are read."""
    register(harvest, f"ldes: {page(provider, '/0', [('a', 1, 'a')])}")
    result = harvest("check")
    assert result.exit_code == 0
    assert "nobody asked for them here" in " ".join(result.stdout.split())
    assert harvest("check", "--online").exit_code == 0
    page(provider, "/0", [], [f"{provider.url}/missing"])
    assert harvest("check", "--online").exit_code == 1


CONTEXT = {"tree": "https://w3id.org/tree#", "ldes": "https://w3id.org/ldes#", "x": "http://x/", "p": "x:p"}


def jsonld(server: ProviderServer, context: str) -> None:
    """A page of JSON-LD with a member, whose context is somewhere else."""
    member = {"@id": "x:v", "x:of": {"@id": "x:a"}, "x:at": "2025-01-01T00:00:00Z", "p": "a"}
    said = {"@context": context, "@id": "x:s", "@type": "ldes:EventStream", "tree:member": member}
    said |= {"ldes:timestampPath": {"@id": "x:at"}, "ldes:versionOfPath": {"@id": "x:of"}}
    server.put("/stream.jsonld", json.dumps(said), "application/ld+json")


def test_remote_contexts_of_a_page_are_fetched(
    instance: TemporaryInstance, provider: ProviderServer, harvest: Command
) -> None:
    """Through one another, once for a day; `harvest check` reads such a page, too."""
    jsonld(provider, "/one")
    provider.put("/one", json.dumps({"@context": ["/two", {"unused": "x:unused"}]}), "application/ld+json")
    provider.put("/two", json.dumps({"@context": CONTEXT}), "application/ld+json")
    instance.register(f"p:\n  ldes: {provider.url}/stream.jsonld\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") >= {'<http://x/a> <http://x/p> "a"'}
    assert instance.proven("p")
    assert outcomes(instance) == []
    assert provider.asked("/one") == provider.asked("/two") == [200]
    register(harvest, f"ldes: {provider.url}/stream.jsonld")
    assert harvest("check", "--online").exit_code == 0


@pytest.mark.parametrize(
    ("context", "said"), [(None, "cannot be had"), ("[]", "is no JSON-LD context"), ("{", "cannot be read as JSON")]
)
def test_a_context_that_is_not_to_be_had_is_a_finding(
    instance: TemporaryInstance, provider: ProviderServer, context: str | None, said: str
) -> None:
    """Nothing is applied; a context that refers to itself is none."""
    jsonld(provider, "/one")
    if context is not None:
        provider.put("/one", context, "application/ld+json")
    instance.register(f"p:\n  ldes: {provider.url}/stream.jsonld\n")
    assert outcomes(instance) == [Outcome.FAILED]
    [finding] = instance.harvester.instance.ledger.runs("p")[0].findings
    assert said in finding.message
    provider.put("/one", json.dumps({"@context": "/one"}), "application/ld+json")
    instance.clock.forward(days=2)
    assert outcomes(instance) == [Outcome.FAILED]
