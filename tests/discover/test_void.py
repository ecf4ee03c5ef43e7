"""Which datasets a description has, with what date, and why it may have none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harvest.errors import DescriptionError
from tests.discover.describe import NOW, URL, described, finding_of, kinds, only

DUMP = "void:dataDump <d.ttl>"
DATED = f"{DUMP} ; dcterms:modified '2020-01-01'"
GENID = URL + "/.well-known/genid/"

# The examples of the GeoLink document, which are broken in this way.
COMMENT_TRAP = """\
@prefix : <#> .

:#d1lodfull a void:Dataset ;
  dcterms:title "DataOne" ;
  void:feature <http://www.w3.org/ns/formats/Turtle> ;
  void:feature <http://schema.geolink.org/dev/voc/harvester#FullDump> ;
  void:dataDump <http://lod.dataone.org/dataone.ttl> ;
  dcterms:modified "2015-11-05"^^xsd:date ;
  .
"""
DOUBLE_FEATURE = """\
@prefix : <#> .

<#d1lodfull> a void:Dataset ;
  void:feature <http://www.w3.org/ns/formats/Turtle> ;
  void:feature void:feature <http://schema.geolink.org/dev/voc/harvester#FullDump> ;
  void:dataDump <http://lod.dataone.org/datasets.ttl> ;
  .
"""


def test_the_first_broken_example_of_the_geolink_document_is_explained(tmp_path: Path) -> None:
    """It parses and says nothing, because a comment begins where the dataset's name should go on."""
    description = described(tmp_path, COMMENT_TRAP)
    finding = finding_of(description, "no-dataset")
    assert finding.fatal
    assert (
        "`:#d1lodfull` is read as `:`, because `#` begins a comment, write <#d1lodfull> in its place" in finding.message
    )
    assert f"<{URL}#> has a void:dataDump but is no dataset" in finding.message
    assert (finding.line, finding.column) == (9, 1)
    assert ":#d1lodfull a void:Dataset ;" in str(finding.excerpt)


def test_the_second_broken_example_of_the_geolink_document_is_a_syntax_error(tmp_path: Path) -> None:
    """Nothing of a description that does not parse is used."""
    with pytest.raises(DescriptionError) as caught:
        described(tmp_path, DOUBLE_FEATURE)
    error = caught.value
    assert f"{URL} cannot be read as Turtle at line 11, column 29" in error.message
    assert (error.url, error.line, error.column) == (URL, 11, 29)
    assert "void:feature void:feature" in str(error.excerpt)


@pytest.mark.parametrize("kind", ["void:Dataset", "void:Linkset", "dcat:Dataset, void:Dataset"])
def test_a_typed_node_with_dumps_is_a_dataset(tmp_path: Path, kind: str) -> None:
    """void:Linkset is a subclass of void:Dataset."""
    assert only(described(tmp_path, f"<#d> a {kind} ; {DATED} .")).iri == URL + "#d"


def test_datasets_are_sorted_by_iri(tmp_path: Path) -> None:
    """The order of a file is its writer's whim."""
    body = "".join(f"<#{n}> a void:Dataset ; {DATED.replace('d.ttl', n)} ." for n in "cab")
    assert [d.iri[-1] for d in described(tmp_path, body).datasets] == ["a", "b", "c"]


def test_a_subset_counts_when_it_has_dumps(tmp_path: Path) -> None:
    """Typed or not, and however deep; what has no dumps only holds them together."""
    body = f"""
        <#whole> a void:Dataset ; void:subset <#a>, <#b>, 'not this' .
        <#a> a void:Dataset ; {DATED} .
        <#b> void:subset <#c> .
        <#c> {DATED.replace("d.ttl", "c.ttl")} .
    """
    assert [d.iri for d in described(tmp_path, body).datasets] == [URL + "#a", URL + "#c"]


def test_a_node_with_dumps_that_is_no_dataset_is_reported(tmp_path: Path) -> None:
    """The node is not harvested, and its provider would wait for it in vain."""
    description = described(tmp_path, f"<#d> a void:Dataset ; {DATED} .\n<#e> a dcat:Dataset ; void:dataDump <e.ttl> .")
    assert only(description).iri == URL + "#d"
    finding = finding_of(description, "dump-without-dataset")
    assert f"<{URL}#e> has a void:dataDump but is no dataset" in finding.message
    assert not finding.fatal


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "it holds no statement at all (read as Turtle)"),
        ("# <#d> a void:Dataset .", "it holds no statement at all"),
        ("<#d> a void:Dataset .", f"1 dataset has no dump that can be harvested, such as <{URL}#d>"),
        ("<#d> a void:Dataset . <#e> a void:Dataset .", "2 datasets have no dump that can be harvested"),
        (f"<#d> {DUMP} .", "has a void:dataDump but is no dataset, say `a void:Dataset` of it"),
        ("<#d> a dcat:Dataset .", "<http://www.w3.org/ns/dcat#Dataset> is not void:Dataset"),
        ("<#d> a <http://rdfs.org/ns/void/Dataset> .", "<http://rdfs.org/ns/void/Dataset> is not void:Dataset"),
        ("<#d> a void:Dataset ; void:datadump <d.ttl> .", "<http://rdfs.org/ns/void#datadump> is not void:dataDump"),
        ("<#d> rdfs:label 'x' .", "no dataset with a dump was found"),
    ],
)
def test_a_description_without_a_dataset_says_why(tmp_path: Path, body: str, said: str) -> None:
    """Never "0 datasets, OK"."""
    description = described(tmp_path, body)
    assert description.datasets == ()
    assert [f.kind for f in description.findings if f.fatal] == ["no-dataset"]
    assert said in finding_of(description, "no-dataset").message


def test_a_lone_blank_node_keeps_its_iri(tmp_path: Path) -> None:
    """A new date, another dump or a title must not make another dataset of it."""
    first = only(described(tmp_path, f"[] a void:Dataset ; {DATED} ."))
    body = "<#x> a <#y> . [] dcterms:title 'T' ; a void:Dataset ; void:dataDump <e.ttl> ; dcterms:modified '21' ."
    assert first.iri == only(described(tmp_path, body)).iri == GENID + "dataset"


def test_several_blank_nodes_are_told_apart_by_their_dumps(tmp_path: Path) -> None:
    """Their order in the file says nothing."""
    one, two = (f"[] a void:Dataset ; {DATED.replace('d.ttl', name)} ." for name in ("one.ttl", "two.ttl"))
    there = {d.dumps: d.iri for d in described(tmp_path, one + two).datasets}
    back = {d.dumps: d.iri for d in described(tmp_path, two + one).datasets}
    assert there == back
    assert len(set(there.values())) == 2
    assert all(iri.startswith(GENID) for iri in there.values())
    assert len({d.iri for d in described(tmp_path, one + one).datasets}) == 2


def test_the_query_of_an_address_is_not_in_the_iri_of_a_blank_node(tmp_path: Path) -> None:
    """Redirects lead to addresses with a signature that is new each time."""
    description = described(tmp_path, f"[] a void:Dataset ; {DATED} .", url=URL + "?signature=1#x")
    assert only(description).iri == GENID + "dataset"


@pytest.mark.parametrize(
    "written",
    [
        "'2015-12-04'^^xsd:date",
        "'2015-12-04T00:00:00Z'^^xsd:dateTime",
        "'2015-12-04T00:00:00.0'^^xsd:datetime",
        "'2015-12-04 00:00:00'",
        "'2015-12-04'@en",
        "'2015-12-03', '2015-12-04', '2014'^^xsd:gYear",
        "'2015-12-04', 'soon'",
    ],
)
def test_the_latest_readable_date_counts(tmp_path: Path, written: str) -> None:
    """Whatever its datatype says."""
    description = described(tmp_path, f"<#d> a void:Dataset ; {DUMP} ; dcterms:modified {written} .")
    assert only(description).modified == datetime(2015, 12, 4, tzinfo=UTC)
    assert kinds(description) == (["modified-unreadable"] if "soon" in written else [])


def test_years_and_months_are_dates(tmp_path: Path) -> None:
    """A bare year is better than nothing."""
    year = only(described(tmp_path, f"<#d> a void:Dataset ; {DUMP} ; dcterms:modified '2018'^^xsd:gYear ."))
    month = only(described(tmp_path, f"<#d> a void:Dataset ; {DUMP} ; dcterms:modified '2018-03'^^xsd:gYearMonth ."))
    assert (year.modified, month.modified) == (datetime(2018, 1, 1, tzinfo=UTC), datetime(2018, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize("written", ["'test'", "<http://example.org/2020>", "[]", "''"])
def test_an_unreadable_date_is_reported_and_stops_nothing(tmp_path: Path, written: str) -> None:
    """One provider's mistake must not stop the tick."""
    description = described(tmp_path, f"<#d> a void:Dataset ; {DUMP} ; dcterms:modified {written} .")
    assert only(description).modified is None
    assert kinds(description) == ["modified-unreadable"]
    if written == "'test'":
        assert finding_of(description, "modified-unreadable").line == 7


def test_no_date_is_reported_with_what_looks_like_one(tmp_path: Path) -> None:
    """A misspelt namespace is easily overlooked."""
    plain = finding_of(described(tmp_path, f"<#d> a void:Dataset ; {DUMP} ."), "modified-absent")
    assert plain.message == f"<{URL}#d> has no dcterms:modified"
    misspelt = f"<#d> a void:Dataset ; {DUMP} ; <http://purl.org/dc/terms#modified> '2020-01-01' ."
    description = described(tmp_path, misspelt)
    assert only(description).modified is None
    assert (
        "<http://purl.org/dc/terms#modified> is not dcterms:modified"
        in finding_of(description, "modified-absent").message
    )


@pytest.mark.parametrize(
    "around",
    [
        "<#whole> void:subset <#d> ; dcterms:modified '2021-02-03' .",
        "<#whole> void:subset <#part> ; dcterms:modified '2021-02-03' . <#part> void:subset <#d> .",
        "<> a void:DatasetDescription ; dcterms:modified '2021-02-03' .",
        "<http://other.example/void> a void:DatasetDescription ; dcterms:modified '2021-02-03' .",
        "<> dcterms:modified '2021-02-03' .",
    ],
)
def test_a_dataset_without_a_date_takes_one_from_around_it(tmp_path: Path, around: str) -> None:
    """When the whole or its description changes, the part may have."""
    description = described(tmp_path, f"<#d> a void:Dataset ; {DUMP} . {around}")
    assert only(description).modified == datetime(2021, 2, 3, tzinfo=UTC)
    assert kinds(description) == ["modified-inherited"]


def test_a_date_of_its_own_wins(tmp_path: Path) -> None:
    """An older part of a newer whole did not change."""
    body = f"<#d> a void:Dataset ; {DATED} . <#whole> void:subset <#d> ; dcterms:modified '2021-02-03' ."
    description = described(tmp_path, body)
    assert only(description).modified == datetime(2020, 1, 1, tzinfo=UTC)
    assert kinds(description) == []


@pytest.mark.parametrize(
    ("ahead", "expected"), [(timedelta(hours=20), []), (timedelta(days=2), ["modified-in-future"])]
)
def test_a_date_far_in_the_future_is_reported_and_does_not_count(
    tmp_path: Path, ahead: timedelta, expected: list[str]
) -> None:
    """Until then no new date of that provider would be newer."""
    date = NOW + ahead
    said = f"<#d> a void:Dataset ; {DUMP} ; dcterms:modified '{date.isoformat()}'"
    description = described(tmp_path, f"{said} .")
    assert only(description).modified == (None if expected else date)
    assert kinds(description) == expected
    both = described(tmp_path, f"{said} , '2020-01-01' .")
    assert only(both).modified == (datetime(2020, 1, 1, tzinfo=UTC) if expected else date)
    assert kinds(both) == expected


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ("dcterms:title 'eins'@de, 'one'@en-GB, 'plain'", "one"),
        ("dcterms:title 'eins'@de, 'plain'", "plain"),
        ("dcterms:title 'eins'@de, 'un'@fr", "eins"),
        ("rdfs:label 'label' ; dcterms:title 'title'", "title"),
        ("rdfs:label 'label' ; dcterms:title <#x>", "label"),
        ("rdfs:comment 'none'", None),
    ],
)
def test_the_title_is_english_where_there_is_a_choice(tmp_path: Path, titles: str, expected: str | None) -> None:
    """The pages are in English."""
    assert only(described(tmp_path, f"<#d> a void:Dataset ; {DATED} ; {titles} .")).title == expected


def test_a_page_is_reported_with_what_it_links(tmp_path: Path) -> None:
    """The landing page is what people copy out of the address bar."""
    page = """<!DOCTYPE html><html><head><link rel="alternate" type="text/turtle" href="/void.ttl">
        <link rel=stylesheet type="text/css" href="x.css"></head><body><br></body></html>"""
    description = described(tmp_path, page.encode(), media_type="text/html")
    finding = finding_of(description, "html-page")
    assert finding.fatal
    assert "<http://provider.example/void.ttl>" in finding.message
    assert "x.css" not in finding.message
