"""Every broken file of real providers: what is read of it, what is not, and what the command says."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pyoxigraph
import pytest
from click.testing import CliRunner

from harvest.cli.main import main
from harvest.model import Document, Part
from sparql.rdf import by_extension
from tests.realdata import realdata
from tests.wash.documents import BASE
from tests.wash.soundness import answered

Row = tuple[str | None, str | None, int, int, dict[str, int]]
"""Format, encoding, statements kept, dropped, and problems by kind."""

_DCAT = "SEMICeu__DCAT-AP__releases_"
_BEES = f"{_DCAT}3.0.0_html_examples_example-bee-population-dataset-series-combined.jsonld"
_ARTS = "culturecreates__artsdata-data-model__"
_BERLIN = "series/berlin-vocabulary/berorgs_"

MESSY: dict[str, tuple[Row, ...]] = {
    f"messy/{_DCAT}1.1_shacl-201608.zip": (
        (None, "utf-8", 0, 0, {"no-rdf": 1}),
        ("Turtle", "utf-8", 72, 0, {}),
        ("Turtle", "utf-8", 320, 0, {}),
        ("Turtle", "utf-8", 368, 0, {}),
        (None, None, 0, 0, {}),
    ),
    f"messy/{_DCAT}1.2_Draft_dcat-ap_1.2.rdf": (("RDF/XML", "cp1252", 548, 0, {"recoded": 1}),),
    f"messy/{_DCAT}1.2_dcat-ap_1.2.rdf": (("RDF/XML", "utf-8", 548, 0, {}),),
    f"messy/{_DCAT}2.0.0_dcat-ap_2.0.0.rdf": (("RDF/XML", "utf-8", 770, 2, {"fallback": 1, "invalid-iri": 2}),),
    f"messy/{_DCAT}2.1.0_dcat-ap_2.1.0.rdf": (("RDF/XML", "utf-8", 749, 4, {"syntax": 4, "cut-off": 1}),),
    f"messy/{_BEES}": (("JSON-LD", "utf-8", 0, 0, {"context": 1, "cut-off": 1}),),
    f"messy/{_ARTS}_gabarits-jsonld_Event_event.jsonld": (("JSON-LD", "utf-8", 0, 1, {"syntax": 1, "cut-off": 1}),),
    f"messy/{_ARTS}_triples_dbpedia_2016-10.nq": (("RDF/XML", "utf-8", 31050, 0, {"format": 1}),),
    f"messy/{_ARTS}_triples_dbpedia_agent.nq": (("N-Quads", "utf-8", 6, 1, {"syntax": 1}),),
    "messy/dcmi__vocabtool__build_dcelements.rdf": (("RDF/XML", "utf-8", 138, 0, {"fallback": 1}),),
    "messy/dcmi__vocabtool__build_dcterms.rdf": (("RDF/XML", "utf-8", 866, 0, {"fallback": 1}),),
    "messy/silvinabcn__landvoc.org__void.ttl": (("Turtle", "utf-8", 74, 0, {}),),
    f"{_BERLIN}00_2023-10-12_e8602d3a.ttl": (("Turtle", "utf-8", 111, 14, {"syntax": 14}),),
    f"{_BERLIN}03_2023-11-14_acbca745.ttl": (("Turtle", "utf-8", 306, 3, {"syntax": 3}),),
    f"{_BERLIN}04_2023-11-15_c6d47816.ttl": (("Turtle", "utf-8", 306, 3, {"syntax": 3}),),
    f"{_BERLIN}05_2023-11-17_5871dca5.ttl": (("Turtle", "utf-8", 306, 3, {"syntax": 3}),),
    f"{_BERLIN}06_2023-11-23_35d5f73c.ttl": (("Turtle", "utf-8", 313, 3, {"syntax": 3}),),
    f"{_BERLIN}07_2024-01-15_58bbcce5.ttl": (("Turtle", "utf-8", 306, 2, {"syntax": 2}),),
    f"{_BERLIN}08_2024-01-15_3f771343.ttl": (("Turtle", "utf-8", 306, 3, {"syntax": 3}),),
    f"{_BERLIN}09_2024-01-15_a07f36c5.ttl": (("Turtle", "utf-8", 306, 3, {"syntax": 3}),),
    f"{_BERLIN}11_2024-02-01_a0606ac1.ttl": (("Turtle", "utf-8", 242, 1, {"syntax": 1}),),
    f"{_BERLIN}14_2024-02-06_28da45e9.ttl": (("Turtle", "utf-8", 247, 1, {"syntax": 1}),),
    f"{_BERLIN}15_2024-02-06_d3077767.ttl": (("Turtle", "utf-8", 246, 1, {"syntax": 1}),),
    f"{_BERLIN}16_2024-02-06_31f7334a.ttl": (("Turtle", "utf-8", 246, 1, {"syntax": 1}),),
}
"""What becomes of each file, of an archive in the order of its entries."""

LOST = {
    f"{_BERLIN}00_2023-10-12_e8602d3a.ttl": 86,
    f"{_BERLIN}03_2023-11-14_acbca745.ttl": 11,
    f"{_BERLIN}04_2023-11-15_c6d47816.ttl": 11,
    f"{_BERLIN}05_2023-11-17_5871dca5.ttl": 11,
    f"{_BERLIN}06_2023-11-23_35d5f73c.ttl": 11,
    f"{_BERLIN}07_2024-01-15_58bbcce5.ttl": 10,
    f"{_BERLIN}08_2024-01-15_3f771343.ttl": 11,
    f"{_BERLIN}09_2024-01-15_a07f36c5.ttl": 11,
}
"""Triples that are lost where they are more than the statements that are dropped: objects of these, counted."""

PLACES = {
    f"messy/{_DCAT}2.0.0_dcat-ap_2.0.0.rdf": (676, 3),
    f"messy/{_DCAT}2.1.0_dcat-ap_2.1.0.rdf": (1485, 5),
    f"messy/{_ARTS}_gabarits-jsonld_Event_event.jsonld": (40, 162),
    f"messy/{_ARTS}_triples_dbpedia_agent.nq": (2, 137),
    "messy/dcmi__vocabtool__build_dcterms.rdf": (11, 1),
    f"{_BERLIN}00_2023-10-12_e8602d3a.ttl": (17, 5),
    f"{_BERLIN}07_2024-01-15_58bbcce5.ttl": (23, 19),
    f"{_BERLIN}11_2024-02-01_a0606ac1.ttl": (312, 5),
}
"""Line and column of the first problem."""

CODES = {
    f"messy/{_DCAT}2.0.0_dcat-ap_2.0.0.rdf": 3,
    f"messy/{_DCAT}2.1.0_dcat-ap_2.1.0.rdf": 1,
    f"messy/{_ARTS}_gabarits-jsonld_Event_event.jsonld": 1,
    f"messy/{_ARTS}_triples_dbpedia_agent.nq": 1,
}
"""Exit codes of `harvest wash` that are not 0: 3 for bad statements, 1 for too many or an end too early."""


@cache
def parts(name: str) -> tuple[Part, ...]:
    """What becomes of a file whose contexts cannot be had."""
    path = realdata() / name
    return answered(Document(path, BASE + path.name), io.BytesIO(), io.BytesIO())


def test_every_broken_file_is_in_the_table() -> None:
    """All of `messy`, and of the series each file that pyoxigraph refuses."""
    found = {f"messy/{path.name}" for path in (realdata() / "messy").iterdir()}
    for path in (realdata() / "series").rglob("*.*"):
        format = by_extension(path.name)
        assert format is not None, path
        try:
            for _ in pyoxigraph.parse(path=path, format=format.parser, base_iri=BASE):
                pass
        except SyntaxError:
            found.add(str(path.relative_to(realdata())))
    assert found == MESSY.keys()


@pytest.mark.parametrize("name", MESSY)
def test_what_is_good_in_a_broken_file_is_kept_and_the_rest_is_reported(name: str) -> None:
    """Format, encoding and figures, which are known for each."""
    found = []
    for part in parts(name):
        encoding = part.content.encoding if part.content else None
        found.append((part.format, encoding, part.statements, part.dropped, dict(part.counts)))
    assert tuple(found) == MESSY[name]


@pytest.mark.parametrize("name", PLACES)
def test_the_first_problem_has_its_place(name: str) -> None:
    """Line and column in the file as it is, and the text there."""
    first = parts(name)[0].problems[0]
    assert (first.line, first.column) == PLACES[name]
    line = (realdata() / name).read_bytes().splitlines()[PLACES[name][0] - 1].decode()
    assert first.excerpt and first.excerpt in line


@pytest.mark.sampled(2)
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", [name for name in MESSY if name != f"messy/{_BEES}"])
def test_the_command_ends_with_the_right_code(name: str, tmp_path: Path) -> None:
    """What is good is written whatever the code is."""
    out = tmp_path / "out.nq"
    ran = CliRunner().invoke(main, ["wash", str(realdata() / name), "--json", "-o", str(out)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    report = json.loads(ran.stderr)
    kept, dropped = (sum(row[index] for row in MESSY[name]) for index in (2, 3))
    lost = LOST.get(name, dropped)
    assert (report["statements"], report["dropped"], report["lost"]) == (kept, dropped, lost)
    assert len(out.read_bytes().splitlines()) == report["triples"] <= kept
    assert ran.exit_code == report["exit_code"] == CODES.get(name, _code(kept, lost))


def _code(kept: int, lost: int) -> int:
    """What the figures make: 3 up to one lost triple in a hundred, the default of the threshold, and 1 beyond."""
    return 0 if not lost else 3 if lost <= 0.01 * (kept + lost) else 1


@pytest.mark.long
def test_the_command_prints_no_traceback(tmp_path: Path) -> None:
    """Not from itself, nor from the process that washes: of the file that breaks off, the reason is printed."""
    name = f"messy/{_DCAT}2.1.0_dcat-ap_2.1.0.rdf"
    command = Path(sys.executable).with_name("harvest")
    words = ["wash", realdata() / name, "-o", tmp_path / "out.nq"]
    ran = subprocess.run([command, *words], capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 1
    assert "mismatched tag" in ran.stderr
    assert "Traceback" not in ran.stderr
