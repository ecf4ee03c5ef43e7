"""Comparing results: a comparison that cannot fail would pass every suite."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Dataset, Literal, NamedNode, QueryResultsFormat, RdfFormat

from sparql.rdf import XSD
from tests.w3c.manifests import Node
from tests.w3c.solutions import Row, Table, folded, read_csv, read_graph, read_result_set, read_table, same

A, B, C = BlankNode("a"), BlankNode("b"), BlankNode("c")
ONE, TWO = Literal("1"), Literal("2")
P = NamedNode("http://example.org/p")


def _table(*rows: Row) -> Table:
    return Table(frozenset({"x", "y"}), list(rows))


def _rows(*values: Node) -> Table:
    return _table(*({"x": value} for value in values))


def test_blank_nodes_are_the_same_wherever_they_stand() -> None:
    """Their labels say nothing; which rows share one does."""
    assert same(_table({"x": A, "y": B}, {"x": B}), _table({"x": C, "y": A}, {"x": A}), ordered=False, lax=False)
    assert not same(_table({"x": A, "y": B}, {"x": B}), _table({"x": A, "y": B}, {"x": A}), ordered=False, lax=False)
    assert not same(_table({"x": A, "y": A}), _table({"x": A, "y": B}), ordered=False, lax=False)
    assert not same(_rows(A, A), _rows(A, B), ordered=False, lax=False)


def test_rows_count_and_have_an_order_only_where_the_query_gives_one() -> None:
    """A result is a multiset, or a sequence."""
    assert same(_rows(ONE, TWO), _rows(TWO, ONE), ordered=False, lax=False)
    assert not same(_rows(ONE, TWO), _rows(TWO, ONE), ordered=True, lax=False)
    assert same(_rows(ONE, A), _rows(ONE, B), ordered=True, lax=False)
    assert not same(_rows(ONE, ONE), _rows(ONE), ordered=False, lax=False)
    assert not same(_table({}), _table({}, {}), ordered=False, lax=False)


def test_reduced_rows_may_come_less_often_but_must_come() -> None:
    """Source: SPARQL 1.1 Query Language, section 18.2.5.4."""
    assert same(_rows(ONE, TWO), _rows(ONE, ONE, TWO), ordered=False, lax=True)
    assert not same(_rows(ONE, ONE, ONE), _rows(ONE, ONE), ordered=False, lax=True)
    assert not same(_rows(ONE), _rows(ONE, TWO), ordered=False, lax=True)


def test_variables_values_and_kinds_of_result_are_told_apart() -> None:
    """A boolean is not a table either, nor true false."""
    assert not same(Table(frozenset({"x"}), []), Table(frozenset({"y"}), []), ordered=False, lax=False)
    assert not same(_table({"x": ONE}), _table({"y": ONE}), ordered=False, lax=False)
    assert not same(_rows(ONE), _rows(Literal("1", language="en")), ordered=False, lax=False)
    assert not same(True, False, ordered=False, lax=False)
    assert not same(True, _rows(), ordered=False, lax=False)
    assert not same(Dataset(), _rows(), ordered=False, lax=False)


def test_graphs_are_compared_by_their_shape() -> None:
    """Isomorphism. Source: RDF 1.1 Concepts, section 3.6."""
    ring = read_graph(b"_:a <p:> _:b . _:b <p:> _:a .", RdfFormat.TURTLE, "a:b")
    other = read_graph(b"_:y <p:> _:x . _:x <p:> _:y .", RdfFormat.TURTLE, "a:b")
    loops = read_graph(b"_:a <p:> _:a . _:b <p:> _:b .", RdfFormat.TURTLE, "a:b")
    assert same(ring, other, ordered=False, lax=False)
    assert not same(ring, loops, ordered=False, lax=False)


@pytest.mark.parametrize(("one", "other"), [("01", "1"), ("+1", "1")])
def test_only_folding_makes_spellings_equal(one: str, other: str) -> None:
    """Folding tells a failure by spelling from one by value."""
    integer = NamedNode(f"{XSD}integer")
    left, right = _rows(Literal(one, datatype=integer)), _rows(Literal(other, datatype=integer))
    assert not same(left, right, ordered=False, lax=False)
    assert same(folded(left), folded(right), ordered=False, lax=False)
    assert not same(folded(left), folded(_rows(Literal("2", datatype=integer))), ordered=False, lax=False)


def test_a_csv_result_has_texts_and_blank_nodes() -> None:
    """A CSV result has no datatypes: a number can only be recognised by its look, and only when folding."""
    found = read_csv(b'x,y\r\n_:a,"1,5"\r\n_:a,1.0E6\r\n')
    assert found.rows[0]["x"] == found.rows[1]["x"] == A
    wanted = read_csv(b'x,y\r\n_:b,"1,5"\r\n_:b,1000000\r\n')
    assert not same(found, wanted, ordered=False, lax=False)
    assert same(folded(found), folded(wanted), ordered=False, lax=False)


def test_a_described_result_is_read_as_what_it_describes() -> None:
    """The published results of SPARQL 1.0 are graphs in a vocabulary of their own; others are graphs as such."""
    head = b"@prefix rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> . [] a rs:ResultSet ; "
    rows = b"rs:resultVariable 'x' ; rs:solution [ rs:index 2 ; rs:binding [ rs:variable 'x' ; rs:value 2 ] ] , "
    rows += b"[ rs:index 1 ; rs:binding [ rs:variable 'x' ; rs:value <http://example.org/p> ] ] ."
    table = read_result_set(read_graph(head + rows, RdfFormat.TURTLE, "a:b"))
    assert isinstance(table, Table)
    assert [row["x"] for row in table.rows] == [P, Literal(2)]
    assert read_result_set(read_graph(head + b"rs:boolean true .", RdfFormat.TURTLE, "a:b")) is True
    assert read_result_set(read_graph(b"<a:s> <a:p> 1 .", RdfFormat.TURTLE, "a:b")) is None
    assert read_table(b'{"head":{},"boolean":false}', QueryResultsFormat.JSON) is False
