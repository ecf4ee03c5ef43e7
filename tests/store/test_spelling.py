"""What the store makes of literals, all of it written down, and the same by every way of writing."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import BaseDirection, Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse

from sparql.rdf import XSD
from sparql.store.literal import insertion
from sparql.store.spelling import VALUED, stored, surviving, written
from tests.store.graphs import filed, held

GRAPH = "http://example.org/graph/spelling"
N_QUADS = RdfFormat.N_QUADS

AS_WRITTEN = {
    "integer": ["0", "1", "-5", "9223372036854775807", "9223372036854775808", "1" * 30, "abc", "", " 1", "1 "],
    "decimal": ["0.5", "1", "123456789012345678901234567890.5", "0.1234567890123456789", "1e0"],
    "double": ["NaN", "INF", "-INF", "0.1", "123456789.123", "-0", "1.5e", "ten"],
    "float": ["NaN", "0.5", "16777216"],
    "boolean": ["true", "false", "TRUE", "2"],
    "date": ["2020-01-01", "2020-01-01Z", "2020-01-01+14:00", "-0001-01-01", "2020-1-1", "2020-02-30"],
    "dateTime": ["2020-01-01T00:00:00", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:60Z", "yesterday"],
    "time": ["00:00:00", "12:00:00.1", "25:00:00"],
    "gYear": ["2020", "2020Z"],
    "gYearMonth": ["2020-01", "2020-13"],
    "duration": ["P1Y", "PT0S", "-P1D", "P1Y2M3DT4H5M6.7S"],
    "string": ["", "01", "x" * 17, "\\u0041", "\x00\x01\x0b\x7f\x80\x85", '"\n\r\t\b\f\\', "\u2028\ufffe\U0001f600"],
    "anyURI": ["http://example.org/", "%7E"],
    "token": ["  "],
    "hexBinary": ["0a"],
}
"""Spellings that come back as they are, by datatype."""

FOLDED = {
    ("01", "integer"): ("1", "integer"),
    ("+1", "integer"): ("1", "integer"),
    ("-0", "integer"): ("0", "integer"),
    ("5", "int"): ("5", "integer"),
    ("5", "long"): ("5", "integer"),
    ("5", "short"): ("5", "integer"),
    ("5", "byte"): ("5", "integer"),
    ("5", "unsignedInt"): ("5", "integer"),
    ("5", "nonNegativeInteger"): ("5", "integer"),
    ("-5", "positiveInteger"): ("-5", "integer"),
    ("1.0", "decimal"): ("1", "decimal"),
    (".5", "decimal"): ("0.5", "decimal"),
    ("1e0", "double"): ("1", "double"),
    ("1.5E10", "double"): ("15000000000", "double"),
    ("+INF", "double"): ("INF", "double"),
    ("1e400", "double"): ("INF", "double"),
    ("16777217", "float"): ("16777216", "float"),
    ("1", "boolean"): ("true", "boolean"),
    ("2020-01-01+00:00", "date"): ("2020-01-01Z", "date"),
    ("2020-01-01T00:00:00.0", "dateTime"): ("2020-01-01T00:00:00", "dateTime"),
    ("2020-01-01T00:00:00+00:00", "dateTime"): ("2020-01-01T00:00:00Z", "dateTime"),
    ("2020-01-01T24:00:00", "dateTime"): ("2020-01-02T00:00:00", "dateTime"),
    ("2020-01-01T00:00:00Z", "dateTimeStamp"): ("2020-01-01T00:00:00Z", "dateTime"),
    ("12:00:00.10", "time"): ("12:00:00.1", "time"),
    ("2020+00:00", "gYear"): ("2020Z", "gYear"),
    ("P12M", "duration"): ("P1Y", "duration"),
    ("PT24H", "dayTimeDuration"): ("P1D", "dayTimeDuration"),
}
"""Spellings that come back as another one."""


def literal(value: str, datatype: str) -> Literal:
    return Literal(value, datatype=NamedNode(XSD + datatype))


def line(value: object, subject: str = "s") -> bytes:
    quad = Quad(NamedNode(f"http://example.org/{subject}"), NamedNode("http://example.org/p"), value, NamedNode(GRAPH))
    return written([quad])[0]


OTHERS = [
    Literal("v"),
    Literal("v", language="en"),
    Literal("v", language="de-latn-at"),
    Literal("v", language="ar", direction=BaseDirection.RTL),
    Literal("01", datatype=NamedNode("http://example.org/datatype")),
    Literal("<a/>", datatype=NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral")),
    NamedNode("http://exämple.org/\U0001f600?a=%7E#f'"),
    NamedNode("HTTP://EXAMPLE.org:80/../a"),
    Triple(NamedNode("x:s"), NamedNode("x:p"), Literal("v")),
]
UNCHANGED = [line(o) for o in OTHERS] + [line(literal(v, name)) for name, values in AS_WRITTEN.items() for v in values]
CHANGED = {line(literal(*before)): line(literal(*after)) for before, after in FOLDED.items()}
CHANGED[line(Triple(NamedNode("x:s"), NamedNode("x:p"), literal("01", "integer")))] = line(
    Triple(NamedNode("x:s"), NamedNode("x:p"), literal("1", "integer"))
)


def in_bulk(store: Store, lines: list[bytes]) -> None:
    store.bulk_load(b"".join(lines), N_QUADS, lenient=True)


def in_a_transaction(store: Store, lines: list[bytes]) -> None:
    store.load(b"".join(lines), N_QUADS, lenient=True)


def as_quads(store: Store, lines: list[bytes]) -> None:
    store.extend(parse(b"".join(lines), N_QUADS))


def by_update(store: Store, lines: list[bytes]) -> None:
    store.update(insertion(GRAPH, lines))


WAYS = [in_bulk, in_a_transaction, as_quads, by_update]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("on_disk", [False, True])
def test_every_way_of_writing_keeps_and_folds_the_same_spellings(tmp_path: Path, way, on_disk: bool) -> None:
    """The table is complete for the datatypes it names; an upgrade of the store that changes one shows here."""
    store = Store(str(tmp_path / "store")) if on_disk else Store()
    way(store, UNCHANGED)
    assert set(written(store)) == set(UNCHANGED)
    for before, after in CHANGED.items():
        store.clear()
        way(store, [before])
        assert written(store) == [after]


def test_what_is_removed_by_one_spelling_is_gone() -> None:
    """A store removes by value, so the spelling of the delta finds what the store holds."""
    store = Store()
    in_bulk(store, [*UNCHANGED, *CHANGED])
    for quad in parse(b"".join([*UNCHANGED, *CHANGED]), N_QUADS):
        store.remove(quad)
    assert len(store) == 0


def test_only_lines_with_a_value_of_xml_schema_may_change() -> None:
    """`stored` passes all other lines by, which is what makes it fast."""
    assert all(VALUED in before for before in CHANGED)
    assert set(stored([*UNCHANGED, *CHANGED])) == {*UNCHANGED, *CHANGED.values()}


def test_the_other_spellings_of_a_removed_value_survive(tmp_path: Path) -> None:
    """Removing "01" must not take "1" out of the store while the graph still has it."""
    spellings = [
        line(literal(v, n)) for v, n in [("01", "integer"), ("1", "integer"), ("1", "int"), ("1.0", "decimal")]
    ]
    neighbours = [line(literal("1", "integer"), subject) for subject in ("r", "s0", "t")]
    after = {*spellings[1:], *neighbours, line(NamedNode("x:o"))}
    found = surviving(filed(tmp_path / "removed.nq", spellings[:1]), filed(tmp_path / "after.nq", after))
    assert sorted(found) == sorted(spellings[1:3])


@pytest.mark.parametrize("position", [0, 57, 199])
def test_survivors_are_found_wherever_they_stand(tmp_path: Path, position: int) -> None:
    """The file is halved to find them, so the first and last line are the hard ones."""
    lines = sorted(line(literal("1", "integer"), f"s{i}") for i in range(200))
    removed = filed(tmp_path / "removed.nq", [lines[position].replace(b'"1"', b'"01"')])
    assert list(surviving(removed, filed(tmp_path / "after.nq", lines))) == [lines[position]]


def test_nothing_survives_in_an_empty_graph(tmp_path: Path) -> None:
    """An empty file cannot be mapped into memory."""
    removed = filed(tmp_path / "removed.nq", [line(literal("01", "integer"))])
    assert list(surviving(removed, filed(tmp_path / "after.nq", []))) == []


def test_canonical_lines_are_read_and_written_alike() -> None:
    """The lines of the tables are canonical themselves."""
    lines = sorted({*UNCHANGED, *CHANGED})
    assert written(parse(b"".join(lines), N_QUADS)) == lines
    assert held(UNCHANGED) == set(UNCHANGED)
