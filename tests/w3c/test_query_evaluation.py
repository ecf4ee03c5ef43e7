"""The W3C's query evaluation suites, SPARQL 1.0 and 1.1, asked over HTTP."""

from __future__ import annotations

import re
from functools import partial
from itertools import cycle
from typing import Final

import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat

from sparql.protocol import results
from tests.w3c.endpoint import WAYS, Endpoint, Question, dataset_of
from tests.w3c.engine import answer_of
from tests.w3c.known import Cause, Problem, compare_with_known
from tests.w3c.manifests import Case, cases, file_of
from tests.w3c.solutions import Result, Table, folded, is_ordered, read_graph, read_result_set, read_table, same, show
from tests.w3c.suites import EVALUATION

Form = QueryResultsFormat | RdfFormat
SOLUTIONS: Final = (QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.TSV)
GRAPHS: Final = tuple(form.writer for form in results.GRAPHS if isinstance(form.writer, RdfFormat))
CSV: Final = "text/csv"
_TAIL: Final = re.compile(r"ORDER\s+BY[^{}]*$", re.IGNORECASE)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("suite", "count"), EVALUATION.items())
def test_every_query_has_its_published_result(endpoint: Endpoint, suite: str, count: int) -> None:
    """In every format that can be read back, by each query operation; what fails is listed in known.toml."""
    run = [case for case in cases(suite) if case.kind == "QueryEvaluationTest"]
    assert len(run) == count
    problems = {case.id: found for case in run if (found := problem(endpoint, case)) is not None}
    compare_with_known({case.id for case in run}, problems)


@pytest.mark.parametrize("suite", ["sparql10/dataset", "sparql10/graph", "sparql11/construct", "sparql11/exists"])
def test_a_dataset_that_is_named_is_no_matter_of_settings(endpoint_without_union: Endpoint, suite: str) -> None:
    """Where the request or the query names it, `union_default_graph` says nothing."""
    run = [case for case in cases(suite) if case.kind == "QueryEvaluationTest"]
    problems = {case.id: found for case in run if (found := problem(endpoint_without_union, case)) is not None}
    compare_with_known({case.id for case in run}, problems)


def test_a_dataset_that_is_not_named_is_the_one_of_the_settings(
    endpoint: Endpoint, endpoint_without_union: Endpoint
) -> None:
    """All graphs as named graphs; as default graph their union, or nothing."""
    text = "SELECT (COUNT(*) AS ?n) { ?s <http://example/p> ?o }"
    inside = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <http://example/p> ?o } }"
    with_union, without = endpoint.ask(Question(text, CSV)), endpoint_without_union.ask(Question(text, CSV))
    assert int(with_union.text.split()[1]) > 50
    assert without.text.split()[1] == "0"
    both = [one.ask(Question(inside, CSV)).text for one in (endpoint, endpoint_without_union)]
    assert both[0] == both[1] and int(both[0].split()[1]) > 50


def problem(endpoint: Endpoint, case: Case) -> Problem | None:
    """What is wrong with the answers to a test's query; None when nothing is."""
    wanted, ordered = expected(case)
    question = partial(Question, f"BASE <{case.text}>\n{case.query()}", dataset=dataset_of(case))
    forms: tuple[Form, ...] = SOLUTIONS if isinstance(wanted, Table | bool) else GRAPHS
    for way, form in zip(cycle(WAYS), forms, strict=False):
        answer = endpoint.ask(question(form.media_type, way=way))
        if answer.status_code != 200:
            return Problem(_cause_of_refusal(answer.status_code, case), f"{answer.status_code} {answer.text.strip()}")
        found = read(answer.content, form, case.text)
        if not same(found, wanted, ordered, case.lax):
            comparison = f"in {form.media_type}:\n  found    {show(found)}\n  expected {show(wanted)}"
            if same(folded(found), folded(wanted), ordered, case.lax):
                return Problem(Cause.SPELLING, comparison)
            alone = answer_of(case)
            is_engine = alone is not None and same(found, alone, ordered, case.lax)
            return Problem(Cause.ENGINE if is_engine else Cause.OURS, comparison)
    return None


def _cause_of_refusal(status: int, case: Case) -> Cause:
    if status == 403:
        return Cause.REFUSED
    return Cause.ENGINE if answer_of(case) is None else Cause.OURS


def expected(case: Case) -> tuple[Result, bool]:
    """The published result of a test, and whether its rows have an order."""
    assert case.result is not None
    extension, data = case.result.rpartition(".")[2], file_of(case.result).read_bytes()
    by_query = _TAIL.search(case.query()) is not None
    table = QueryResultsFormat.from_extension(extension)
    if table is not None:
        return read_table(data, table), by_query
    format = RdfFormat.from_extension(extension)
    assert format is not None
    graph = read_graph(data, format, case.result)
    described = read_result_set(graph)
    return (graph, False) if described is None else (described, is_ordered(graph))


def read(data: bytes, form: Form, base_iri: str) -> Result:
    """An answer of the endpoint."""
    return read_table(data, form) if isinstance(form, QueryResultsFormat) else read_graph(data, form, base_iri)
