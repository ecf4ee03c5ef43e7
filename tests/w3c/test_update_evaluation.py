"""
The W3C's update suites, for those who may update: what an update does, and what is none.

Requests are carried out as the platform does, operation by operation, over the whole dataset of a test. Which graph
they write is no matter here: most of them write the default graph, which no instance has.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, NamedNode, Quad, Store
from rdflib import URIRef, Variable
from rdflib.plugins.sparql.parser import parseUpdate
from rdflib.plugins.sparql.parserutils import CompValue

from sparql.errors import ForbiddenError, RequestError
from sparql.query.targets import Operation, operations
from sparql.query.updating import Update, carry_out, check
from tests.w3c.manifests import MF, UT, Case, Graph, Manifest, Node, case_id, cases, graph_of, quads_of
from tests.w3c.suites import UPDATES

REFUSED = {"sparql11/update-silent#load-into-silent", "sparql11/update-silent#load-silent"}
"""LOAD is refused whatever it says."""


def evaluation() -> dict[str, tuple[Case, Manifest, Node]]:
    """The evaluation tests of all suites by their ids."""
    found = {}
    for suite in UPDATES:
        manifest = Manifest(suite)
        entries = {case_id(suite, entry): entry for entry in manifest.entries()}
        for case in cases(suite):
            if case.kind == "UpdateEvaluationTest":
                found[case.id] = case, manifest, entries[case.id]
    return found


def dataset(manifest: Manifest, node: Node | None) -> Dataset:
    """The data of an action or a result, with canonical blank nodes."""
    found: list[Quad] = []
    if node is not None:
        for data in manifest.all(node, f"{UT}data"):
            assert isinstance(data, NamedNode)
            found += (Quad(q.subject, q.predicate, q.object) for q in quads_of(Graph(data.value, data.value)))
        for named in manifest.all(node, f"{UT}graphData"):
            found += quads_of(graph_of(manifest, named))
    return canonical(found)


def canonical(quads: list[Quad]) -> Dataset:
    made = Dataset(quads)
    made.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return made


def any_update(case: Case) -> Update:
    """The request of a test, whatever it writes to."""
    text = case.query()
    return Update(text, case.text, "http://example.org/none", tuple(operations(text)))


def problem(case: Case, manifest: Manifest, entry: Node) -> str:
    """What is wrong with what an update did; empty when nothing is."""
    store = Store()
    store.extend(dataset(manifest, manifest.one(entry, f"{MF}action")))
    try:
        update = any_update(case)
        check(update)
        carry_out(update, store)
    except (ForbiddenError, RequestError) as error:
        return error.message
    after, expected = canonical(list(store)), dataset(manifest, manifest.one(entry, f"{MF}result"))
    return "" if after == expected else f"{after}\nexpected: {expected}"


def test_updates_do_what_the_specification_says() -> None:
    """Cut into operations, each with the declarations before it, a request means what it did."""
    tests = evaluation()
    assert len(tests) == 94
    told = {id: said for id, test in tests.items() if (said := problem(*test))}
    assert told.keys() == REFUSED
    assert all("LOAD is refused" in said for said in told.values())


def test_what_is_no_update_is_refused_and_what_is_one_is_not() -> None:
    """The syntax tests; LOAD is an update, but none that is carried out."""
    wrong = set()
    for suite in UPDATES:
        for case in cases(suite):
            if case.kind != "UpdateEvaluationTest":
                valid = case.kind == "PositiveUpdateSyntaxTest11"
                try:
                    check(any_update(case))
                except ForbiddenError as error:
                    assert "LOAD is refused" in error.message
                except RequestError:
                    wrong |= {case.id} if valid else set()
                else:
                    wrong |= set() if valid else {case.id}
    assert wrong == set()


def told_by_rdflib(text: str) -> Iterator[set[str]]:
    """The graphs that each operation writes to, as another parser reads them."""
    for request in parseUpdate(text).request or []:
        kind = request.name
        if kind in ("Clear", "Drop", "Create"):
            yield {written(request.graphiri)}
        elif kind in ("Add", "Copy", "Move"):
            yield {written(graph) for graph in request.graph[0 if kind == "Move" else 1 :]}
        else:
            given = [request.quads] if kind != "Modify" else [request.delete, request.insert]
            parts = [part.quads if kind == "Modify" else part for part in given if part]
            with_ = {written(request.withClause)} if request.withClause else {"DEFAULT"}
            named = {written(block.term) for part in parts for block in part.quadsNotTriples or []}
            yield named | (with_ if any(part.triples for part in parts) else set())


def written(term: object) -> str:
    """A term of rdflib's parser as it stands in the text."""
    if isinstance(term, CompValue):
        return f"{term.prefix or ''}:{term.localname or ''}"
    if isinstance(term, Variable):
        return f"?{term}"
    return f"<{term}>" if isinstance(term, URIRef) else str(term)


def targets(operation: Operation) -> set[str]:
    return {target.word or target.text for target in operation.targets}


@pytest.mark.parametrize("suite", UPDATES)
def test_the_graphs_that_are_written_are_those_that_another_parser_finds(suite: str) -> None:
    """The reader of tokens is ours, and this is what it is for."""
    for case in cases(suite):
        text = case.query()
        if case.kind.startswith("Negative") or "LOAD" in text.upper():
            continue
        assert [targets(operation) for operation in operations(text)] == list(told_by_rdflib(text)), case.id
