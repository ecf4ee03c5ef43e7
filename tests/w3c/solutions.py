"""Results of queries, published or answered, and whether two are equal."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyoxigraph
from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    Store,
)

from sparql.rdf import XSD
from tests.w3c.manifests import Node

RS: Final = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
Row = dict[str, Node]

_UNTYPED: Final = NamedNode("urn:csv")
"""Stands for the datatype that a CSV result does not have."""
_DOUBLE: Final = NamedNode(f"{XSD}double")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Table:
    """
    The solutions of a SELECT.

    Attributes:
        variables: Without `?`.
        rows: In their order.
    """

    variables: frozenset[str]
    rows: list[Row]


Result = Table | Dataset | bool


def read_table(data: bytes, format: QueryResultsFormat) -> Result:
    """A result in one of the formats for SELECT and ASK."""
    found = pyoxigraph.parse_query_results(data, format)
    if isinstance(found, QueryBoolean):
        return bool(found)
    names = [variable.value for variable in found.variables]
    rows = [{name: row[name] for name in names if row[name] is not None} for row in found]
    return Table(frozenset(names), rows)


def read_csv(data: bytes) -> Table:
    """A CSV result, whose values are texts; only blank nodes can still be told from others."""
    head, *lines = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
    rows = [{name: _csv_value(text) for name, text in zip(head, line, strict=True)} for line in lines]
    return Table(frozenset(head), rows)


def read_graph(data: bytes, format: RdfFormat, base_iri: str) -> Dataset:
    """The triples of a document."""
    return Dataset(pyoxigraph.parse(data, format, base_iri=base_iri))


def read_result_set(graph: Dataset) -> Result | None:
    """The result that a graph describes in the vocabulary of 2001, or None when it is a graph for its own sake."""
    head = next(iter(graph.quads_for_object(NamedNode(f"{RS}ResultSet"))), None)
    if head is None:
        return None
    answer = _values(graph, head.subject, "boolean")
    if answer:
        return answer[0].value == "true"
    variables = frozenset(name.value for name in _values(graph, head.subject, "resultVariable"))
    solutions = sorted(_values(graph, head.subject, "solution"), key=lambda node: _index(graph, node))
    return Table(variables, [_row(graph, node) for node in solutions])


def is_ordered(graph: Dataset) -> bool:
    """Whether a described result numbers its solutions."""
    return any(quad.predicate == NamedNode(f"{RS}index") for quad in graph)


def same(found: Result, expected: Result, ordered: bool, lax: bool) -> bool:
    """Whether two results are equal, blank nodes being the same wherever they stand."""
    if isinstance(found, Table) and isinstance(expected, Table):
        if found.variables != expected.variables:
            return False
        if lax:
            return _within(_counted(found.rows), _counted(expected.rows))
        return _canonical(_as_graph(found.rows, ordered)) == _canonical(_as_graph(expected.rows, ordered))
    if isinstance(found, Dataset) and isinstance(expected, Dataset):
        return _canonical(found) == _canonical(expected)
    return type(found) is type(expected) and found == expected


def folded(result: Result) -> Result:
    """A result as a store would give it back: numbers, dates and booleans in the store's own spelling."""
    if isinstance(result, Table):
        return Table(result.variables, [{name: _folded(value) for name, value in row.items()} for row in result.rows])
    if isinstance(result, Dataset):
        return Dataset(Quad(quad.subject, quad.predicate, _folded(quad.object)) for quad in result)
    return result


def show(result: Result) -> str:
    """A result for people, cut."""
    if isinstance(result, Table):
        rows = sorted(", ".join(f"?{name}={value}" for name, value in sorted(row.items())) for row in result.rows)
        return f"{sorted(result.variables)} {len(rows)} rows: {' | '.join(rows)}"[:600]
    return str(result)[:600]


def _folded(value: Node) -> Node:
    if isinstance(value, Literal) and value.datatype == _UNTYPED and _NUMBER.fullmatch(value.value):
        value = Literal(value.value, datatype=_DOUBLE)
    store = Store()
    store.add(Quad(BlankNode(), NamedNode("urn:value"), value))
    stored: Node = next(iter(store)).object
    return stored


def _csv_value(text: str) -> Node:
    return BlankNode(text[2:]) if text.startswith("_:") else Literal(text, datatype=_UNTYPED)


def _values(graph: Dataset, subject: Node, name: str) -> list[NamedNode | BlankNode | Literal]:
    assert isinstance(subject, NamedNode | BlankNode)
    quads = (quad for quad in graph.quads_for_subject(subject) if quad.predicate == NamedNode(RS + name))
    return [quad.object for quad in quads if isinstance(quad.object, NamedNode | BlankNode | Literal)]


def _index(graph: Dataset, solution: Node) -> int:
    return next((int(index.value) for index in _values(graph, solution, "index")), 0)


def _row(graph: Dataset, solution: Node) -> Row:
    bindings = _values(graph, solution, "binding")
    return {_values(graph, node, "variable")[0].value: _values(graph, node, "value")[0] for node in bindings}


def _counted(rows: Iterable[Row]) -> Counter[frozenset[tuple[str, Node]]]:
    return Counter(frozenset(row.items()) for row in rows)


def _within(found: Counter[frozenset[tuple[str, Node]]], expected: Counter[frozenset[tuple[str, Node]]]) -> bool:
    return set(found) == set(expected) and found <= expected


def _as_graph(rows: list[Row], ordered: bool) -> Dataset:
    """The rows as a graph: each is a node that has its values, and its place or how often it comes."""
    graph = Dataset()
    numbered = [(frozenset(row.items()), place) for place, row in enumerate(rows)] if ordered else None
    for values, number in numbered if numbered is not None else _counted(rows).items():
        node = BlankNode()
        graph.add(Quad(node, NamedNode("urn:number"), Literal(number)))
        for name, value in values:
            graph.add(Quad(node, NamedNode(f"urn:variable:{name}"), value))
    return graph


def _canonical(graph: Dataset) -> Dataset:
    copy = Dataset(graph)
    copy.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return copy
