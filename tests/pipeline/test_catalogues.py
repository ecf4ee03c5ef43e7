"""Providers that are registered by a DCAT catalogue: each dataset with a distribution in RDF is one dataset."""

from __future__ import annotations

import hashlib
import json

import pytest

from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer
from tests.realdata import realdata

PREFIXES = """@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix spdx: <http://spdx.org/rdf/terms#> . @prefix hydra: <http://www.w3.org/ns/hydra/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
A, B, C = (f'<http://x/{name}> <http://p> "{name}"' for name in "abc")
TURTLE = "<http://www.iana.org/assignments/media-types/text/turtle>"


def described(iri: str, url: str, *, date: str = "2025-01-01", of_file: str = "") -> str:
    return (
        f'<{iri}> a dcat:Dataset; dct:title "{iri}"; dct:modified "{date}"^^xsd:date; dcat:distribution '
        f"[ a dcat:Distribution; dcat:downloadURL <{url}>; dcat:mediaType {TURTLE} {of_file} ] .\n"
    )


def outcomes(instance: TemporaryInstance) -> list[Outcome]:
    return [result.outcome for result in instance.tick("p")]


def findings(instance: TemporaryInstance) -> dict[str, str]:
    return {each.kind: each.message for each in instance.harvester.instance.ledger.findings("p")}


def test_a_catalogue_of_pages_is_harvested(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each dataset by itself, from the registry to the graph; one with a newer date is harvested again, alone."""
    a, b = provider.put("/a.ttl", f"{A} ."), provider.put("/b", f"{B} .")
    second = provider.put("/c?page=2", PREFIXES + described("http://x/B", b))
    view = f"<{provider.url}/c?page=1> a hydra:PartialCollectionView; hydra:next <{second}> .\n"
    csv = f'<http://x/C> a dcat:Dataset; dcat:distribution [ dcat:downloadURL <{a}.csv>; dct:format "CSV" ] .\n'
    first = provider.put("/c?page=1", PREFIXES + view + csv + described("http://x/A", a))
    instance.register(f"p:\n  dcat: {first}\n")
    assert outcomes(instance) == [Outcome.COMMITTED, Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    assert "<http://x/C> has no distribution in RDF" in findings(instance)["no-dump"]
    assert outcomes(instance) == []
    provider.put("/b", f"{B} . {C} .")
    provider.put("/c?page=2", PREFIXES + described("http://x/B", b, date="2025-02-01"))
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B, C}
    assert provider.asked("/a.ttl") == [200]
    assert instance.proven("p")
    named = {each.dataset.iri: each.dataset.title for each in instance.harvester.instance.ledger.described.of("p")}
    assert named == {"http://x/A": "http://x/A", "http://x/B": "http://x/B"}


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        (
            "text/html",
            '<html><script type="application/ld+json">{{"@context": {{"dcat": "http://www.w3.org/ns/dcat#"}}, "@id":'
            ' "http://x/A", "@type": "dcat:Dataset", "dcat:distribution": {{"dcat:downloadURL": "{url}",'
            ' "dcat:mediaType": "text/turtle"}}}}</script></html>',
        ),
        (
            "application/rdf+xml",
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcat="http://www.w3.org/ns/dcat#"'
            ' xmlns:dct="http://purl.org/dc/terms/"><dcat:Dataset rdf:about="http://x/A"><dcat:distribution>'
            '<dcat:Distribution><dcat:accessURL rdf:resource="{url}"/><dct:format rdf:resource="'
            'http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE"/></dcat:Distribution>'
            "</dcat:distribution></dcat:Dataset></rdf:RDF>",
        ),
    ],
    ids=["page", "xml"],
)
def test_a_dataset_in_any_form(
    instance: TemporaryInstance, provider: ProviderServer, media_type: str, body: str
) -> None:
    """JSON-LD in a page, and RDF/XML with an access address and a format of the European vocabulary."""
    url = provider.put("/a", f"{A} .")
    instance.register(f"p:\n  dcat: {provider.put('/catalogue', body.format(url=url), media_type)}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}


def test_of_several_formats_one_is_taken(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """They are the same data, so blank nodes would double; all files of that format count."""
    one, two = provider.put("/1.nt", "<http://x/a> <http://p> _:b .\n"), provider.put("/2.nt", f"{B} .\n")
    turtle = "<http://www.w3.org/ns/formats/Turtle>"
    body = (
        f'<http://x/A> a dcat:Dataset; dcat:distribution [ dcat:downloadURL <{one}>; dct:format "N-Triples" ],'
        f" [ dcat:downloadURL <{two}> ], [ dcat:downloadURL <{provider.url}/all.ttl>; dct:format {turtle} ] ."
    )
    instance.register(f"p:\n  dcat: {provider.put('/catalogue.ttl', PREFIXES + body)}\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert len(instance.graph("p")) == 2
    assert provider.asked("/all.ttl") == []
    assert "other-format" in findings(instance)


def test_a_checksum_is_verified(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A file that is another one is not applied, until its catalogue says what it is."""
    url = provider.put("/a.ttl", f"{A} .")
    sums = [hashlib.sha256(text.encode()).hexdigest() for text in ("other", f"{A} .")]
    said = '; spdx:checksum [ spdx:algorithm spdx:checksumAlgorithm_sha256; spdx:checksumValue "{}" ]'
    for checksum, outcome in zip(sums, (Outcome.FAILED, Outcome.COMMITTED), strict=True):
        body = PREFIXES + described("http://x/A", url, of_file=said.format(checksum))
        instance.register(f"p:\n  dcat: {provider.put('/catalogue.ttl', body)}\n")
        assert outcomes(instance) == [outcome]
        instance.clock.forward(days=1)
    assert instance.graph("p") == {A}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<http://x/A> a dcat:Dataset; dcat:distribution [", "cannot be parsed"),
        ("<?page=1> hydra:next <?page=1> .", "leads back to"),
        ("<http://x/A> hydra:next <missing> .", "404"),
        ("<http://x/A> a <http://x/Other> .", "describes 0 datasets"),
    ],
    ids=["broken", "circle", "missing", "none"],
)
def test_a_bad_catalogue_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, body: str, reason: str
) -> None:
    """It is a finding, and when it is mended the harvest goes on."""
    url = provider.put("/a.ttl", f"{A} .")
    good = PREFIXES + described("http://x/A", url)
    instance.register(f"p:\n  dcat: {provider.put('/c?page=1', good)}\n  removals: mirror\n")
    assert outcomes(instance) == [Outcome.COMMITTED]
    provider.put("/c?page=1", PREFIXES + body)
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding and reason in result.finding.message
    assert instance.graph("p") == {A}
    provider.put("/a.ttl", f"{B} .")
    provider.put("/c?page=1", PREFIXES + described("http://x/A", url, date="2025-03-01"))
    instance.clock.forward(days=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {B}


def test_a_real_catalogue_without_rdf_says_why(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The data.gouv.fr catalogue of a town has tables and maps alone."""
    body = (realdata() / "platforms/dcat/udata-udata.xml").read_bytes()
    instance.register(f"p:\n  dcat: {provider.put('/catalog.rdf', body, 'application/rdf+xml')}\n")
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None
    assert "describes 2 datasets" in result.finding.message
    assert "has no distribution in RDF" in result.finding.message


def test_a_real_catalogue_with_a_remote_context_is_read(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A town's ArcGIS hub refers to the context of Project Open Data, which this server plays; it has no RDF."""
    address = "https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld"
    body = (realdata() / "platforms/dcat/udata-evian.json").read_bytes()
    body = body.replace(address.encode(), f"{provider.url}/catalog.jsonld".encode())
    iris = {name: {"@id": f"dcat:{name}", "@type": "@id"} for name in ("accessURL", "downloadURL", "landingPage")}
    terms = {name: f"dcat:{name}" for name in ("dataset", "distribution", "mediaType", "keyword")}
    words = {name: f"dct:{name}" for name in ("title", "description", "format", "modified", "license")}
    prefixes = {"dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/"}
    context = json.dumps({"@context": prefixes | iris | terms | words})
    provider.put("/catalog.jsonld", context, "application/ld+json")
    url = provider.put("/evian.json", body, "application/ld+json")
    instance.register(f"p:\n  dcat: {url}\n")
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None
    assert f"describes {body.count(b'dcat:Dataset')} datasets" in result.finding.message
    assert "has no distribution in RDF" in result.finding.message
    assert provider.asked("/catalog.jsonld") == [200]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("csw-geonetwork-dcat-page-1.xml", "the attribute timestamp has no namespace; what it belongs to was left out"),
        ("csw-geonetwork-dcat-page-5.xml", "the attribute timestamp has no namespace; what it belongs to was left out"),
        ("geonetwork.xml", "is no IRI: Invalid IRI code point ' '; what it belongs to was left out (line 12"),
        ("datara--5a26b0f6-0ccf-46ad-ac58-734054b91977.rdf.xml", "has no distribution in RDF"),
    ],
)
def test_real_pages_that_cannot_be_harvested_say_why(
    instance: TemporaryInstance, provider: ProviderServer, name: str, reason: str
) -> None:
    """Answers of a catalogue service, which are no RDF, an identifier with a blank in it, and a dataset without RDF."""
    body = (realdata() / "platforms/dcat" / f"udata-{name}").read_bytes()
    instance.register(f"p:\n  dcat: {provider.put('/catalog.rdf', body, 'application/rdf+xml')}\n")
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None
    assert reason in result.finding.message
