"""Rows counted in the bytes of a result."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat, Store

from sparql.worker.counting import RowCounter

SOLUTIONS = (QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.CSV, QueryResultsFormat.TSV)
VALUES = st.lists(st.text(st.sampled_from('},{":<result>\n\r\\a'), max_size=12), min_size=1, max_size=8, unique=True)


def pieces(whole: bytes, cuts: list[int]) -> list[bytes]:
    """The bytes, cut at some places."""
    places = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
    return [whole[a:b] for a, b in pairwise(places)]


def counted(whole: bytes, kind: QueryResultsFormat | RdfFormat, cuts: list[int]) -> int:
    counter = RowCounter(kind)
    for piece in pieces(whole, cuts):
        counter.feed(piece)
    return counter.rows


def filled(values: list[str]) -> Store:
    store = Store()
    store.extend(Quad(NamedNode("a:s"), NamedNode("a:p"), Literal(value)) for value in values)
    return store


@given(VALUES, st.sampled_from(SOLUTIONS), st.lists(st.integers(0, 5000), max_size=12))
def test_rows_are_counted_whatever_literals_hold(values: list[str], kind: QueryResultsFormat, cuts: list[int]) -> None:
    """Literals hold what separates rows, and pieces end anywhere."""
    result = filled(values).query("SELECT ?o ?p { ?s ?p ?o }").serialize(format=kind)  # type: ignore[union-attr, call-arg]  # a SELECT
    assert counted(result, kind, cuts) == len(values)


@given(VALUES, st.lists(st.integers(0, 5000), max_size=12))
def test_statements_are_counted_by_lines(values: list[str], cuts: list[int]) -> None:
    """N-Triples escapes line breaks."""
    triples = filled(values).query("CONSTRUCT WHERE { ?s ?p ?o }").serialize(format=RdfFormat.N_TRIPLES)  # type: ignore[union-attr, call-arg]  # a CONSTRUCT
    assert counted(triples, RdfFormat.N_TRIPLES, cuts) == len(values)


@given(st.integers(2, 40), st.lists(st.integers(0, 5000), max_size=12))
def test_rows_without_bindings_count(rows: int, cuts: list[int]) -> None:
    """Otherwise a cross product of nothing would never reach the limit."""
    text = "SELECT ?x { " + " UNION ".join(["{}"] * rows) + " }"
    for kind in SOLUTIONS[1:]:
        assert counted(Store().query(text).serialize(format=kind), kind, cuts) == rows  # type: ignore[union-attr, call-arg, arg-type]  # a SELECT


def test_rows_without_bindings_count_in_json_from_the_second_piece() -> None:
    """The first holds the variables, in quotes; it is small against the limit."""
    counter = RowCounter(QueryResultsFormat.JSON)
    counter.feed(b'{"head":{"vars":["x"]},"results":{"bindings":[{},{},{')
    assert counter.feed(b"},{},{},{") == 4
    assert counter.feed(b"}]}}") == 5


@given(
    VALUES,
    st.sampled_from([QueryResultsFormat.CSV, QueryResultsFormat.TSV, RdfFormat.N_TRIPLES]),
    st.integers(0, 5000),
    st.integers(0, 8),
)
def test_a_result_is_cut_between_rows_only(
    values: list[str], kind: QueryResultsFormat | RdfFormat, place: int, rows: int
) -> None:
    """Wherever a piece ends, the rows in it are found; wherever a limit is, the row that meets it."""
    query = ("CONSTRUCT" if isinstance(kind, RdfFormat) else "SELECT *") + " WHERE { ?s ?p ?o }"
    whole = filled(values).query(query).serialize(format=kind)  # type: ignore[union-attr, call-arg]  # no ASK
    ends = row_ends(whole, kind)
    piece = whole[: place % (len(whole) + 1)]
    counter = RowCounter(kind)
    assert counter.last_end(piece) == max(end for end in ends if end <= len(piece))
    assert counter.end_of(whole, min(rows, len(ends) - 1)) == ends[min(rows, len(ends) - 1)]


def row_ends(whole: bytes, kind: QueryResultsFormat | RdfFormat) -> list[int]:
    """Where rows end, character by character."""
    ends, quoted = [0], False
    for place, character in enumerate(whole):
        quoted ^= character == ord('"') and kind == QueryResultsFormat.CSV
        if character == ord("\n") and not quoted:
            ends.append(place + 1)
    return ends


def test_what_is_no_line_is_never_cut() -> None:
    """Half of a JSON or XML document is none."""
    for kind in (QueryResultsFormat.JSON, QueryResultsFormat.XML):
        assert not RowCounter(kind).by_line
        assert RowCounter(kind).last_end(b"a\nb") == 3
