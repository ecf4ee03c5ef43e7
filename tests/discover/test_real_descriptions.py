"""
Every VoID file among the real data, and what is read from it.

The table was written from the files themselves. Where a file has many datasets, `DATASETS` names each.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harvest.discover.void import read_description
from harvest.model import Coverage, Dataset
from tests.discover.describe import NOW, kinds
from tests.realdata import realdata

GITHUB = "https://raw.githubusercontent.com/"
VOCABULARY = "https://berlin.github.io/lod-vocabulary/"
HERITAGE = "http://heritagedata.org/live/seneschal_"
SCHEMES = "http://purl.org/heritagedata/schemes/"
TRANSPARENCY = "http://transparency.270a.info/"
WORLDBANK = "http://worldbank.270a.info/"


def day(text: str) -> datetime:
    """A date or a date and time, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    """
    What is read from one file.

    Attributes:
        file: Path among the real data.
        url: Where it is, or was, published.
        datasets: The IRI, the dumps and the date of each, sorted by IRI.
        findings: Their kinds, sorted.
        title: Of the first dataset.
    """

    file: str
    url: str
    datasets: tuple[tuple[str, tuple[str, ...], datetime | None], ...] = ()
    findings: tuple[str, ...] = ("no-dataset",)
    title: str | None = None


def berlin(name: str, *found: tuple[str, tuple[str, ...], datetime | None], title: str | None = None) -> Row:
    """A release of lod-vocabulary."""
    url = f"{GITHUB}berlin/lod-vocabulary/main/void.ttl"
    return Row(f"series/berlin-vocabulary/{name}.ttl", url, found, () if found else ("no-dataset",), title)


def yourself(name: str, modified: str | None, title: str = "Yourself to Science Dataset") -> Row:
    """A release of yourselftoscience, which lists JSON and CSV as dumps too."""
    site = "https://yourselftoscience.org/"
    dataset = (f"{site}resources.ttl#dataset", (f"{site}resources.ttl",), day(modified) if modified else None)
    findings = ("dump-not-rdf", "dump-not-rdf") + (() if modified else ("modified-absent",))
    return Row(f"series/yourselftoscience/{name}.ttl", f"{site}void.ttl", (dataset,), findings, title)


def uw(extension: str, finding: str = "no-dataset") -> Row:
    """The description of the University of Washington, which gives its files as dcterms:hasFormat, not as dumps."""
    name = "void_description_of_uwlswd_linked_open_cultural_heritage_datasets"
    url = f"https://uwlib-cams.github.io/uwlswd_datasets/void/{name}.{extension}"
    return Row(f"formats/uw/void_description.{extension}", url, (), (finding,))


def scheme(name: str, dump: str, modified: str | None) -> tuple[str, tuple[str, ...], datetime | None]:
    """One of the thesauri of heritagedata.org."""
    return SCHEMES + name, (f"{HERITAGE}{dump}_20130717.rdf",), day(modified) if modified else None


TABLE = [
    Row(
        "void/DataONEorg__slinky__d1lod_void.ttl",
        "http://dataone.org/void.ttl",
        (("http://dataone.org/void.ttl/.well-known/genid/dataset", ("http://dataone.org/void.ttl",), None),),
        ("dump-is-description", "modified-unreadable"),
    ),
    Row(
        "void/DataONEorg__slinky__www_void.ttl",
        "http://dataone.org/void.ttl",
        (
            (
                "http://dataone.org/void.ttl/.well-known/genid/dataset",
                ("http://dataone.org/d1lod.ttl",),
                day("2011-01-11T19:44:08.328"),
            ),
        ),
        (),
    ),
    Row(
        "void/berlin__lod-budget__void.ttl",
        f"{GITHUB}berlin/lod-budget/main/void.ttl",
        (
            (
                "https://berlin.github.io/lod-budget/",
                (f"{GITHUB}berlin/lod-budget/refs/heads/main/data/haushalt-be.ttl",),
                day("2025-05-13"),
            ),
        ),
        (),
        "LOD-Budget",
    ),
    Row(
        "void/berlin__lod-organigram__void.ttl",
        f"{GITHUB}berlin/lod-organigram/main/void.ttl",
        (
            (
                "https://berlin.github.io/lod-organigram/",
                (
                    f"{GITHUB}berlin/lod-organigram/refs/heads/main/data/static/SenFin.ttl",
                    f"{GITHUB}berlin/lod-organigram/refs/heads/main/data/static/SenWGP.ttl",
                ),
                day("2024-11-18"),
            ),
        ),
        (),
        "LOD-Organizational Charts",
    ),
    Row(
        "void/berlinonline__lod-berlin-lor__void.ttl",
        f"{GITHUB}berlinonline/lod-berlin-lor/main/void.ttl",
        (
            (
                "https://berlinonline.github.io/lod-berlin-lor/",
                (f"{GITHUB}berlinonline/lod-berlin-lor/main/data/target/lors.ttl",),
                day("2024-03-19"),
            ),
        ),
        (),
        "'Lebensweltlich Orientierte Räume' (LOR) as RDF (LOR version 01.01.2021)",
    ),
    Row(
        "void/cbinding__SENESCHAL__void.ttl",
        f"{GITHUB}cbinding/SENESCHAL/HEAD/void.ttl",
        (
            scheme("1", "rc_1", "2012-12-04T11:48:39"),
            scheme("10", "rc_10", "2007-04-05T11:33:47"),
            scheme("11", "rc_11", "2010-08-05T14:36:44"),
            scheme("2", "rc_2", "2013-02-12T10:12:29"),
            scheme("3", "rc_3", "2012-12-04T11:48:39"),
            scheme("560", "eh_560", "2013-07-17T09:02:44"),
            scheme("agl_et", "agl_et", "2013-07-17T08:43:37"),
            scheme("eh_com", "eh_com", "2013-07-17T09:07:49"),
            scheme("eh_evd", "eh_evd", None),
            scheme("eh_period", "eh_period", "2013-12-06T16:44:37"),
            scheme("eh_tbm", "eh_tbm", "2013-07-17T09:02:16"),
            scheme("eh_tmc", "eh_tmc", "2013-07-17T09:01:42"),
            scheme("eh_tmt2", "eh_tmt2", "2013-07-17T08:43:50"),
            scheme("mda_obj", "mda_obj", None),
        ),
        ("modified-absent", "modified-absent"),
        "Monument Type Thesaurus (Scotland)",
    ),
    # Its only dumps are commented out.
    Row("void/csarven__270a.info__void.ttl", "http://270a.info/void.ttl"),
    Row(
        "void/csarven__transparency.270a.info__void.ttl",
        f"{TRANSPARENCY}void.ttl",
        (
            (
                f"{TRANSPARENCY}dataset/corruption-perceptions-index",
                (f"{TRANSPARENCY}data/corruption-perceptions-index.tar.gz",),
                day("2012-10-07"),
            ),
            (f"{TRANSPARENCY}dataset/meta", (f"{TRANSPARENCY}data/meta.tar.gz",), day("2012-10-07")),
            # The subset has no date; the dataset around it has.
            (f"{TRANSPARENCY}dataset/void", (f"{TRANSPARENCY}void.ttl",), day("2013-10-13")),
        ),
        ("dump-is-description", "modified-inherited"),
        "Corruption Perceptions Index dataset",
    ),
    Row(
        "void/csarven__worldbank.270a.info__void.ttl",
        f"{WORLDBANK}void.ttl",
        (
            (f"{WORLDBANK}dataset/meta", (f"{WORLDBANK}data/meta.tar.gz",), day("2013-04-18")),
            (f"{WORLDBANK}dataset/void", (f"{WORLDBANK}void.ttl",), day("2014-06-23")),
            *(
                (f"{WORLDBANK}dataset/{name}", (f"{WORLDBANK}data/{dump}.tar.gz",), day(modified))
                for name, dump, modified in (
                    ("world-bank-climates", "world-bank-climates", "2012-04-02"),
                    ("world-bank-finances", "world-bank-finances", "2012-08-10"),
                    ("world-bank-indicators", "world-development-indicators.en", "2014-06-23"),
                    (*["world-bank-projects-and-operations"] * 2, "2012-08-10"),
                )
            ),
        ),
        ("dump-is-description", "modified-inherited"),
        "Metadata and complimentary data used for all the data in the worldbank-dataset:worldbank dataset",
    ),
    berlin(
        "void_00_2023-09-25_e0970726",
        (
            "https://berlinonline.github.io/lod-sg/",
            (f"{GITHUB}berlinonline/lod-sg/main/data/static/vocab.ttl",),
            day("2023-03-28"),
        ),
        title="LOD-SG example dataset and vocabulary",
    ),
    berlin(
        "void_01_2023-11-08_b6b77377",
        (
            f"{VOCABULARY}berorgs#",
            (f"{GITHUB}berlinonline/lod-vocabulary/main/data/static/berorgs.ttl",),
            day("2023-03-27"),
        ),
        title="Berlin organizational structures as linked open data",
    ),
    berlin(
        "void_02_2024-02-06_86f459fc",
        (VOCABULARY, (f"{GITHUB}berlinonline/lod-vocabulary/main/data/static/lodvocab.ttl",), day("2024-02-05")),
        title="Berlin LOD vocabularies",
    ),
    berlin(
        "void_03_2024-02-06_a3cca751",
        (VOCABULARY, (f"{GITHUB}berlinonline/lod-vocabulary/main/data/static/lodvocab.ttl",), day("2024-02-05")),
        title="Berlin LOD vocabularies",
    ),
    # From here on the dump is commented out, and then gone.
    berlin("void_04_2024-02-06_28fabf0b"),
    berlin("void_05_2024-02-06_2dd4a062"),
    berlin("void_06_2025-11-11_acb75824"),
    berlin("void_07_2025-11-13_7bfdfe0d"),
    berlin("void_08_2025-11-17_e4ece70d"),
    berlin("void_09_2025-11-17_87d88ca8"),
    berlin("void_10_2025-11-17_0ab30377"),
    berlin("void_11_2025-11-17_8fc3363c"),
    berlin("void_12_2026-01-13_3d5d9f51"),
    berlin("void_13_2026-07-01_4858ac81"),
    yourself("void_00_2025-07-31_570c187e", None, "Yourself To Science Dataset"),
    yourself("void_01_2025-11-19_3a8ec8bb", None),
    yourself("void_02_2026-04-06_ba7626e3", "2026-04-06"),
    yourself("void_03_2026-04-07_7d7d704c", "2026-04-06"),
    yourself("void_04_2026-04-16_5591edce", "2026-04-15"),
    yourself("void_05_2026-06-10_aff9d293", "2026-05-05"),
    uw("ttl"),
    uw("nt"),
    uw("rdf"),
    uw("jsonld"),
    uw("html", "html-page"),
    Row(
        "messy/silvinabcn__landvoc.org__void.ttl",
        f"{GITHUB}silvinabcn/landvoc.org/HEAD/void.ttl",
        (),
        ("byte-order-mark", "no-dataset"),
    ),
]


def test_the_table_has_every_file() -> None:
    """A file that comes to the real data later needs its row."""
    data = realdata()
    patterns = ["void/*", "series/*/void*", "formats/uw/void_description.*", "messy/*void*"]
    found = {path.relative_to(data).as_posix() for pattern in patterns for path in data.glob(pattern)}
    assert found == {row.file for row in TABLE}
    assert len(TABLE) == len(found)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: Path(row.file).name)
def test_a_real_description_is_read(row: Row) -> None:
    """The datasets, dumps, dates and findings are those that a person finds in the file."""
    description = read_description(realdata() / row.file, row.url, "text/plain; charset=utf-8", {}, NOW)
    expected = tuple(Dataset(iri, dumps, Coverage.FULL, modified) for iri, dumps, modified in row.datasets)
    assert tuple(Dataset(d.iri, d.dumps, d.coverage, d.modified) for d in description.datasets) == expected
    found = kinds(description)
    assert [kind for kind in found if kind != "feature-absent"] == list(row.findings)
    says = "DataONEorg__slinky" in row.file
    assert ("feature-absent" in found) is (bool(row.datasets) and not says), "the others say neither full nor partial"
    assert (description.datasets[0].title if description.datasets else None) == row.title
    assert [f.fatal for f in description.findings if f.kind in ("no-dataset", "html-page")] == [True] * (not expected)
    assert all(f.url == row.url and f.message for f in description.findings)


def test_all_formats_of_one_description_say_the_same() -> None:
    """The University of Washington publishes one in five formats; four are RDF."""
    messages = set()
    for row in (row for row in TABLE if "/uw/" in row.file and not row.file.endswith("html")):
        description = read_description(realdata() / row.file, row.url, None, {}, NOW)
        messages.add(description.findings[0].message)
    assert len(messages) == 1


def test_a_page_in_place_of_a_description_leads_to_it() -> None:
    """The page of the University of Washington links the description in three RDF formats."""
    row = next(row for row in TABLE if row.file.endswith(".html"))
    (finding,) = read_description(realdata() / row.file, row.url, "text/html", {}, NOW).findings
    assert row.url.replace(".html", ".ttl") in finding.message


def test_large_descriptions_are_read_quickly() -> None:
    """A tick over many providers reads many of them."""
    for row in (row for row in TABLE if "270a" in row.file or "SENESCHAL" in row.file):
        started = time.process_time()
        read_description(realdata() / row.file, row.url, "text/turtle", {}, NOW)
        assert time.process_time() - started < 0.2, row.file
