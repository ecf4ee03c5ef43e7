"""
The W3C's update suites, for those who may update: what an update does, and what is none.

Requests are carried out as the platform does, over the whole dataset of a test. Which graph they write is no matter
here: most of them write the default graph, which no instance has.
"""

from __future__ import annotations

from pyoxigraph import CanonicalizationAlgorithm, Dataset, NamedNode, Quad, Store

from sparql.errors import ForbiddenError, RequestError
from sparql.protocol.update import Update, carry_out, check, is_empty, read_update
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


def update_of(case: Case) -> Update:
    """The request of a test."""
    return read_update(case.query(), case.text)


def problem(case: Case, manifest: Manifest, entry: Node) -> str:
    """What is wrong with what an update did; empty when nothing is."""
    store = Store()
    store.extend(dataset(manifest, manifest.one(entry, f"{MF}action")))
    try:
        update = update_of(case)
        check(update)
        carry_out(update, store)
    except (ForbiddenError, RequestError) as error:
        return error.message
    after, expected = canonical(list(store)), dataset(manifest, manifest.one(entry, f"{MF}result"))
    return "" if after == expected else f"{after}\nexpected: {expected}"


def test_updates_do_what_the_specification_says() -> None:
    """Cut where it declares something anew, a request means what it did."""
    tests = evaluation()
    assert len(tests) == 94
    problems = {id: said for id, test in tests.items() if (said := problem(*test))}
    assert problems.keys() == REFUSED
    assert all("LOAD is refused" in said for said in problems.values())


def test_what_is_no_update_is_refused_and_what_is_one_is_not() -> None:
    """The syntax tests; LOAD is an update, but none that is carried out."""
    wrong = set()
    for suite in UPDATES:
        for case in cases(suite):
            if case.kind != "UpdateEvaluationTest":
                valid = case.kind == "PositiveUpdateSyntaxTest11"
                try:
                    check(update_of(case))
                except ForbiddenError as error:
                    assert "LOAD is refused" in error.message
                except RequestError:
                    wrong |= {case.id} if valid else set()
                else:
                    wrong |= set() if valid else {case.id}
    assert wrong == set()


def test_a_graph_that_an_update_changes_is_one_that_its_text_may_write() -> None:
    """All others are compared by whether they are empty alone."""
    changed = 0
    for case, manifest, entry in evaluation().values():
        data = dataset(manifest, manifest.one(entry, f"{MF}action"))
        before, after, update = Store(), Store(), update_of(case)
        before.extend(data)
        after.extend(data)
        if case.id in REFUSED:
            continue
        carry_out(update, after)
        for graph in {*before.named_graphs(), *after.named_graphs()}:
            assert isinstance(graph, NamedNode)
            is_same = set(before.quads_for_pattern(None, None, None, graph)) == set(
                after.quads_for_pattern(None, None, None, graph)
            )
            changed += not is_same
            emptied = is_empty(before, graph.value) != is_empty(after, graph.value)
            assert is_same or emptied or update.may_write(graph.value), case.id
    assert changed > 20
