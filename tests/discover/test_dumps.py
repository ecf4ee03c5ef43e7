"""Of what a dataset names as its dumps, what may be RDF is harvested."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.discover.dumps import NOT_RDF, extension
from sparql.rdf import FORMATS
from tests.discover.describe import URL, described, finding_of, kinds, only

HEAD = "<#d> a void:Dataset ; dcterms:modified '2020-01-01' ; void:dataDump "
SITE = "http://provider.example/"


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("<http://other.example/d.ttl>", "http://other.example/d.ttl"),
        ("<HTTPS://other.example/d.ttl>", "HTTPS://other.example/d.ttl"),
        ("<d.ttl>", SITE + "data/d.ttl"),
        ("</d.ttl.gz>", SITE + "d.ttl.gz"),
        ("<../x/d.nt.bz2>", SITE + "x/d.nt.bz2"),
        ("<d.ttl#dataset>", SITE + "data/d.ttl"),
        ("<d?format=ttl&part=1>", SITE + "data/d?format=ttl&part=1"),
        ("<http://other.example/?all>", "http://other.example/?all"),
        ("<http://other.example/people>", "http://other.example/people"),
        ("<http://other.example/v1.2/people>", "http://other.example/v1.2/people"),
        ("<d.tar.gz>", SITE + "data/d.tar.gz"),
        ("<d.zip>", SITE + "data/d.zip"),
        ("<d.txt>", SITE + "data/d.txt"),
        ("<d.xml.xz>", SITE + "data/d.xml.xz"),
        ("<d.csv.ttl>", SITE + "data/d.csv.ttl"),
        ("<r\u00e4ume.ttl>", SITE + "data/r\u00e4ume.ttl"),
    ],
)
def test_an_address_is_kept(tmp_path: Path, written: str, url: str) -> None:
    """Relative ones are resolved against the description; what may hold RDF is looked at by washing."""
    description = described(tmp_path, f"{HEAD}{written} .")
    assert only(description).dumps == (url,)
    assert kinds(description) == []


@pytest.mark.parametrize(
    ("written", "kind", "said"),
    [
        ("<d.csv>", "dump-not-rdf", "it is a table"),
        ("<d.csv.gz>", "dump-not-rdf", "it is a table"),
        ("<D.JSON?x=1.ttl>", "dump-not-rdf", "publish it as .jsonld"),
        ("<d.hdt>", "dump-not-rdf", "HDT"),
        ("<d.html>", "dump-not-rdf", "a page"),
        ("<files/>", "dump-directory", "list the files in it"),
        ("<http://other.example>", "dump-directory", "list the files in it"),
        ("<ftp://other.example/d.ttl>", "dump-scheme", "only http and https"),
        ("<file:///etc/passwd>", "dump-scheme", "only http and https"),
        ("<urn:isbn:1>", "dump-scheme", "only http and https"),
        ("'ftp://other.example/d.ttl'", "dump-scheme", "only http and https"),
        ("'test'", "dump-unusable", "the text 'test'"),
        ("'see our site'", "dump-unusable", "the text"),
        ("'http://[/d.ttl'", "dump-unusable", "the text"),
        ("''", "dump-unusable", "the text ''"),
        ("[]", "dump-unusable", "a blank node"),
    ],
)
def test_what_cannot_be_harvested_is_left_out_and_reported(tmp_path: Path, written: str, kind: str, said: str) -> None:
    """The rest of the dataset is harvested."""
    description = described(tmp_path, f"{HEAD}{written}, <d.ttl> .")
    assert only(description).dumps == (SITE + "data/d.ttl",)
    assert said in finding_of(description, kind).message
    assert not finding_of(description, kind).fatal


def test_a_finding_about_a_dump_has_its_place(tmp_path: Path) -> None:
    """In a long description a message alone leads nowhere."""
    finding = finding_of(described(tmp_path, f"{HEAD}\n  <http://other.example/d.csv>, <d.ttl> ."), "dump-not-rdf")
    assert (finding.url, finding.line, finding.column) == (URL, 8, 3)
    assert "<http://other.example/d.csv>" in str(finding.excerpt)


@pytest.mark.parametrize(
    ("literal", "url"),
    [
        ("'http://other.example/d.ttl'", "http://other.example/d.ttl"),
        ('" http://other.example/d.ttl "^^xsd:anyURI', "http://other.example/d.ttl"),
        ("'d.ttl'@en", SITE + "data/d.ttl"),
        ("'/d'", SITE + "d"),
    ],
)
def test_text_that_is_an_address_is_taken_as_one(tmp_path: Path, literal: str, url: str) -> None:
    """Several providers put quotes where angle brackets belong."""
    description = described(tmp_path, f"{HEAD}{literal} .")
    assert only(description).dumps == (url,)
    assert kinds(description) == ["dump-literal"]


def test_order_is_kept_and_repeats_are_not(tmp_path: Path) -> None:
    """The same file twice would be downloaded twice."""
    body = f"{HEAD}<b.ttl>, <a.ttl>, <b.ttl#x>, 'a.ttl', <c.ttl> ."
    assert [url[-5:] for url in only(described(tmp_path, body)).dumps] == ["b.ttl", "a.ttl", "c.ttl"]


def test_the_description_itself_may_be_a_dump(tmp_path: Path) -> None:
    """The description is harvested like another dump, and reported, because it may be a slip."""
    description = described(tmp_path, f"{HEAD}<>, <d.ttl> .")
    assert only(description).dumps == (URL, SITE + "data/d.ttl")
    assert kinds(description) == ["dump-is-description"]


def test_a_dataset_that_keeps_no_dump_is_reported(tmp_path: Path) -> None:
    """The other datasets are harvested; without any the description is of no use."""
    lost = f"{HEAD}<d.csv>, <d.json> ."
    both = described(tmp_path, lost + "<#e> a void:Dataset ; dcterms:modified '2020' ; void:dataDump <e.ttl> .")
    assert only(both).iri == URL + "#e"
    assert kinds(both) == ["dump-not-rdf", "dump-not-rdf", "no-dump"]
    alone = described(tmp_path, lost)
    assert alone.datasets == ()
    assert kinds(alone) == ["dump-not-rdf", "dump-not-rdf", "no-dataset", "no-dump"]
    assert finding_of(alone, "no-dataset").fatal


def test_a_dump_of_two_datasets_is_reported(tmp_path: Path) -> None:
    """The dump is downloaded for both, which is seldom meant."""
    body = f"{HEAD}<d.ttl> .\n<#e> a void:Dataset ; dcterms:modified '2020' ; void:dataDump <d.ttl>, <e.ttl> ."
    description = described(tmp_path, body)
    assert len(description.datasets) == 2
    assert "#d> and by <" in finding_of(description, "dump-shared").message


def test_no_rdf_format_is_left_out() -> None:
    """The list of what is no RDF must not grow into the table of formats."""
    assert not set(NOT_RDF) & {each for form in FORMATS for each in form.extensions}


@pytest.mark.parametrize(
    "name", ["a.hdt", "a.hdt.gz", "a.hdt.index.v1-1", "a.HDT.index.v1-2", "a.nt.idx", "a.nt.gz.md5"]
)
def test_binary_files_and_what_stands_beside_them_are_no_dumps(tmp_path: Path, name: str) -> None:
    """Their bytes cost a download, and fail the dataset."""
    description = described(tmp_path, f"{HEAD}<{name}>, <d.ttl> .")
    assert only(description).dumps == (SITE + "data/d.ttl",)
    assert kinds(description) == ["dump-not-rdf"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h/a.ttl", "ttl"),
        ("http://h/a.NT.GZ", "nt"),
        ("http://h/a.nt.gz.bz2", "nt"),
        ("http://h/gz", ""),
        ("http://h/a.gz", ""),
        ("http://h.org", ""),
        ("http://h/v1.0/a?b=c.csv#d.csv", ""),
    ],
)
def test_the_extension_is_that_of_the_path(url: str, expected: str) -> None:
    """Hosts, folders, queries and compression have dots too."""
    assert extension(url) == expected
