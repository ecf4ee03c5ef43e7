"""`harvest check`: nothing is called good that would not be harvested."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.discover.refusal import refusal
from harvest.model import Provider, Source
from tests.provider import VOID, ProviderServer, dataset
from tests.repositories import zenodo
from tests.resourcesync import capabilities, document, item
from tests.test_cli import Command, harvest, provider

__all__ = ["harvest", "provider"]

REFUSED = {
    f"resourcesync: hash://sha256/{'0' * 64}": "filed bytes do not",
    "dump: http://x.example/data/": "it names a directory",
    "dump: http://x.example": "it names a directory",
    "dump: http://x.example/data.csv": "it is a table",
    "dump: http://x.example/data.csv.gz": "it is a table",
    "dump: http://x.example/data.hdt": "it is HDT",
    "dump: http://x.example/data.hdt.index.v1-1": "it is an index of a binary file",
    "dump: http://x.example/data.nt.gz.md5": "it is a checksum",
    "dump: ftp://x.example/data.nt": "http",
    "void: http://x.example/void.csv": "it is a table",
}
"""Sources of an entry that would never give a triple, and what is said of each."""


def register(harvest: Command, source: str) -> int:
    """Write a registry with one provider of that source; the line of the provider."""
    (harvest.folder / "registry.yaml").write_text(f"# providers\np:\n  {source}\n")
    return 2


@pytest.mark.parametrize("source", REFUSED)
def test_what_will_not_be_harvested_is_not_good(harvest: Command, source: str) -> None:
    """The registry knows kinds that this version does not read; a pull request with one passed the check."""
    line = register(harvest, source)
    for words in (("check",), ("check", "--online")):
        result = harvest(*words)
        assert result.exit_code == 1
        assert REFUSED[source] in result.stdout
        assert f"registry.yaml:{line}:" in result.stdout or f"registry.yaml:{line + 1}:" in result.stdout
        assert "the registry is not good" in result.stdout


@pytest.mark.parametrize("source", [source for source in REFUSED if not source.startswith("dump: ftp")])
def test_a_run_gives_the_reason_that_the_check_gives(harvest: Command, source: str) -> None:
    """Who has merged it all the same finds it in `run`, `status` and on the page."""
    register(harvest, source)
    result = harvest("run")
    assert result.exit_code == 1
    assert REFUSED[source] in result.stdout


@pytest.mark.parametrize("end", ["a.nt", "a.json", "a.html", "a?format=csv", "a.csv?b=c", "download/"])
def test_what_may_be_harvested_is_good(harvest: Command, end: str) -> None:
    """JSON may be JSON-LD, and a page may hold RDFa; an entry that is disabled is nobody's concern."""
    enabled = "" if not end.endswith(("/", "c")) else "\n  enabled: false"
    register(harvest, f"dump: http://x.example/{end}{enabled}")
    assert harvest("check").exit_code == 0


def test_a_landing_page_or_doi_is_good(harvest: Command) -> None:
    """Which files a repository has only asking shows."""
    for said in ("http://x.example/dataset", "10.5281/zenodo.7", "doi:10.5281/zenodo.7"):
        register(harvest, f"dataset: {said}")
        assert harvest("check").exit_code == 0
    register(harvest, "dataset: letters")
    assert harvest("check").exit_code == 1


def test_the_files_of_a_repository_are_asked_for(harvest: Command, provider: ProviderServer) -> None:
    """Online the landing page is followed to the dumps; one that leads to none is an error."""
    with (harvest.folder / "harvest.yaml").open("a") as settings:
        settings.write(f"filesets: {{platform_hosts: {{'{provider.url.removeprefix('http://')}': zenodo}}}}\n")
    register(harvest, f"dataset: {zenodo(provider, 7, {'a.nt': '<http://x/a> <http://x/p> 1 .', 'b.csv': '1'})}")
    result = harvest("check", "--online")
    assert result.exit_code == 0
    assert "1 dump" in " ".join(result.stdout.split())
    register(harvest, f"dataset: {zenodo(provider, 8, {'b.csv': '1'})}")
    result = harvest("check", "--online")
    assert result.exit_code == 1
    assert "is RDF" in " ".join(result.stdout.split())


def described(provider: ProviderServer, *dumps: str) -> None:
    """Put a description of one dataset with those dumps."""
    provider.put("/void.ttl", VOID + dataset(f"{provider.url}/void.ttl#d", "2026-01-01T00:00:00Z", list(dumps)))


def test_each_dump_is_asked_for_and_none_is_downloaded(harvest: Command, provider: ProviderServer) -> None:
    """A dump that is not there was called good; its server may refuse HEAD."""
    described(provider, "/a.nt", "/b.nt")
    provider.put("/a.nt", "<http://x/a> <http://x/p> 1 .\n" * 100_000)
    result = harvest("check", "--online")
    assert result.exit_code == 1
    assert "/b.nt answered 404 Not Found" in result.stdout
    assert "/a.nt answered" not in result.stdout
    provider.put("/b.nt", "<http://x/b> <http://x/p> 1 .\n")
    assert harvest("check", "--online").exit_code == 0
    assert provider.asked("/a.nt")


def test_a_dump_that_is_registered_itself_is_asked_for(harvest: Command, provider: ProviderServer) -> None:
    """It has no description that could fail."""
    register(harvest, f"dump: {provider.url}/a.nt")
    assert harvest("check").exit_code == 0
    result = harvest("check", "--online")
    assert result.exit_code == 1
    assert "404" in result.stdout


@pytest.mark.parametrize(
    ("body", "media_type", "limits", "said", "code"),
    [
        ("", "text/turtle", "", "is empty", 1),
        ("x" * 3000, "text/turtle", "\n  limits: {max_bytes: 2kB}", "more than the 2,000", 1),
        ("<html></html>", "text/html", "", "an HTML page", 0),
    ],
)
def test_what_a_server_says_of_a_dump_is_reported(
    harvest: Command, provider: ProviderServer, body: str, media_type: str, limits: str, said: str, code: int
) -> None:
    """Each would fail, or most probably fail, when it is harvested."""
    register(harvest, f"dump: {provider.url}/a.nt{limits}")
    provider.put("/a.nt", body, media_type)
    result = harvest("check", "--online")
    assert (result.exit_code, said in result.stdout) == (code, True), result.stdout


def test_what_a_source_lists_is_known_by_asking(harvest: Command, provider: ProviderServer) -> None:
    """Without asking, the check says that it does not know; with it, what would be harvested and what is wrong."""
    register(harvest, f"resourcesync: {provider.url}/caps.xml")
    result = harvest("check")
    assert result.exit_code == 0
    assert "`harvest check --online`" in result.stdout
    result = harvest("check", "--online")
    assert result.exit_code == 1
    assert "/caps.xml answered 404" in result.stdout and "nobody asked" not in result.stdout
    provider.put("/caps.xml", capabilities(resourcelist=f"{provider.url}/list.xml"), "application/xml")
    provider.put("/list.xml", document("resourcelist", item("/a.nt"), at="2026-01-01"), "application/xml")
    assert "/a.nt answered 404" in harvest("check", "--online").stdout
    provider.put("/a.nt", "<http://x/a> <http://x/p> 1 .\n")
    result = harvest("check", "--online")
    assert result.exit_code == 0
    assert f"would harvest {provider.url}/caps.xml" in result.stdout


def test_a_large_description_is_summed_up_first(harvest: Command, provider: ProviderServer) -> None:
    """A description with thousands of datasets filled the terminal before anything was said."""
    many = "".join(dataset(f"{provider.url}/void.ttl#d{n}", "2026-01-01T00:00:00Z", [f"/{n}.nt"]) for n in range(30))
    provider.put("/void.ttl", VOID + many)
    for n in range(29):
        provider.put(f"/{n}.nt", "<http://x/b> <http://x/p> 1 .\n")
    result = harvest("check", "--online")
    first, *rest = result.stdout.splitlines()
    assert first.startswith("1 provider, 30 datasets, 30 dumps, 1 error, ")
    assert sum("would harvest" in line for line in rest) == 10
    assert "  and 20 more datasets; `--all` shows them" in rest
    assert "404" in rest[1]
    everything = harvest("check", "--online", "--all").stdout
    assert everything.count("would harvest") == 30
    report = harvest.json("check", "--online")
    assert isinstance(report, dict)
    assert {key: report["summary"][key] for key in ("providers", "datasets", "dumps", "errors")} == {
        "providers": 1,
        "datasets": 30,
        "dumps": 30,
        "errors": 1,
    }
    assert len(report["providers"][0]["datasets"]) == 30


def test_the_workflow_checks_online() -> None:
    """A pull request that names an address that is not there must not be called good."""
    from tests.test_cli import REPOSITORY

    workflow = (REPOSITORY / ".github/workflows/registry.yml").read_text()
    assert "check config/registry.yaml --online" in workflow


@given(st.sampled_from(Source), st.text("abc./:?#@%[]", max_size=30))
def test_any_address_is_judged(source: Source, rest: str) -> None:
    """The registry has refused what is no address at all before."""
    try:
        found = refusal(Provider("p", source, f"http://user:secret@h.example/{rest}"))
    except ValueError as error:
        raise AssertionError(rest) from error
    assert found is None or "secret" not in found[1]


def test_mail_that_nobody_delivers_is_named(harvest: Command) -> None:
    """It is no error: the provider would be harvested. With a mail server nothing is said."""
    registry = harvest.folder / "registry.yaml"
    registry.write_text("p:\n  void: http://x.example/void.ttl\n  notify: ann@example.org\n")
    result = harvest("check")
    assert result.exit_code == 0
    assert "mail is not delivered here" in " ".join(result.stdout.split())
    settings = harvest.folder / "harvest.yaml"
    settings.write_text(settings.read_text() + "notify:\n  smtp: mail.example:25\n")
    assert "mail is not delivered" not in " ".join(harvest("check").stdout.split())


@pytest.mark.parametrize(("dialect", "most"), [("auto", "500,000 on Oxigraph"), ("fuseki", "(500,000 on fuseki)")])
def test_what_an_engine_does_not_promise_is_named(harvest: Command, dialect: str, most: str) -> None:
    """It is no error: large versions get there in parts."""
    (harvest.folder / "registry.yaml").write_text("p:\n  void: http://x.example/void.ttl\n")
    settings = harvest.folder / "harvest.yaml"
    url = "http://127.0.0.1:9"
    settings.write_text(f"{settings.read_text()}store: {{query: {url}/q, update: {url}/u, dialect: {dialect}}}\n")
    result = harvest("check")
    assert result.exit_code == 0
    assert f"{most}" in (said := " ".join(result.stdout.split())) and "reaches the engine in parts" in said


def test_a_sitemap_is_good_if_it_lists_something(harvest: Command, provider: ProviderServer) -> None:
    """Offline by its kind; online it is read with all that it leads to, and its pages are asked for."""
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    page = provider.put("/a", "<http://x/a> <http://p> 1 .")
    sitemap = provider.put("/sitemap.xml", f"{head}<url><loc>{page}</loc></url></urlset>", "application/xml")
    register(harvest, f"sitemap: {sitemap}")
    assert harvest("check").exit_code == 0
    result = harvest("check", "--online", "--json")
    assert result.exit_code == 0
    [found] = json.loads(result.stdout)["providers"]
    assert found["datasets"][0]["dumps"] == [page]
    provider.put("/sitemap.xml", f"{head}</urlset>", "application/xml")
    result = harvest("check", "--online")
    assert result.exit_code == 1
    assert "lists no page and no dump" in result.stdout


def test_a_catalogue_is_good_if_it_has_a_dataset_in_rdf(harvest: Command, provider: ProviderServer) -> None:
    """Offline nobody knows, and that is said; online its pages are read and its dumps asked for."""
    dump = provider.put("/a.ttl", "<http://x/a> <http://p> 1 .")
    dcat = "@prefix dcat: <http://www.w3.org/ns/dcat#> . <http://x/A> a dcat:Dataset"
    catalogue = provider.put("/c.ttl", f"{dcat}; dcat:distribution [ dcat:downloadURL <{dump}> ] .")
    register(harvest, f"dcat: {catalogue}")
    result = harvest("check")
    assert result.exit_code == 0
    assert "nobody asked for them here" in " ".join(result.stdout.split())
    result = harvest("check", "--online", "--json")
    assert result.exit_code == 0, result.stdout
    [found] = json.loads(result.stdout)["providers"]
    assert [(each["iri"], each["dumps"]) for each in found["datasets"]] == [("http://x/A", [dump])]
    provider.put("/c.ttl", f"{dcat} .")
    result = harvest("check", "--online")
    assert result.exit_code == 1
    assert "has no distribution in RDF" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("auto", "5,000 on engines whose ways are not known) reaches the engine in parts"),
        ("fuseki", "(500,000 on fuseki) reaches the engine in parts"),
        ("other", "(5,000 on other) reaches the engine in parts"),
        ("virtuoso", "more than 1,000 statements is put into side graphs and moved by one request"),
    ],
)
def test_what_an_engine_cannot_promise_is_said(harvest: Command, dialect: str, said: str) -> None:
    """Who reads an engine itself knows what can be seen between two versions."""
    register(harvest, "dump: http://x.example/data.nt")
    settings = harvest.folder / "harvest.yaml"
    store = f"store: {{query: 'http://127.0.0.1:9/q', update: 'http://127.0.0.1:9/u', dialect: {dialect}}}\n"
    settings.write_text(settings.read_text() + store)
    result = harvest("check")
    assert result.exit_code == 0
    assert said in " ".join(result.stdout.split())
