"""The W3C's query syntax suites, SPARQL 1.0 and 1.1, asked over HTTP."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.w3c.endpoint import NOTHING, WAYS, Endpoint, Question
from tests.w3c.engine import takes
from tests.w3c.known import Cause, Problem, compare_with_known
from tests.w3c.manifests import Case, cases
from tests.w3c.suites import SYNTAX

KINDS: Final = {"PositiveSyntaxTest", "PositiveSyntaxTest11", "NegativeSyntaxTest", "NegativeSyntaxTest11"}
ACCEPT: Final = "application/sparql-results+json, text/turtle"
PLACE: Final = re.compile(r"near line \d+, column \d+")
DATASET: Final = (("default-graph-uri", NOTHING),)


@pytest.mark.parametrize(("suite", "count"), SYNTAX.items())
def test_a_query_is_answered_and_what_is_none_is_refused_with_its_place(
    endpoint: Endpoint, suite: str, count: int
) -> None:
    """200 for each positive test, 400 with line and column for each negative one, by all three operations."""
    run = [case for case in cases(suite) if case.kind in KINDS]
    assert len(run) == count
    problems = {case.id: found for case in run if (found := problem(endpoint, case)) is not None}
    compare_with_known({case.id for case in run}, problems)


def problem(endpoint: Endpoint, case: Case) -> Problem | None:
    """What is wrong with the responses to a text; None when nothing is."""
    positive = case.kind.startswith("Positive")
    for way in WAYS:
        answer = endpoint.ask(Question(case.query(), ACCEPT, way, DATASET))
        response = f"{way}: {answer.status_code} {answer.text[:300]}"
        if answer.status_code != (200 if positive else 400):
            return Problem(_cause(answer.status_code, case), response)
        if not positive and not PLACE.search(answer.json()["message"]):
            return Problem(Cause.OURS, f"no place in the message: {response}")
    return None


def _cause(status: int, case: Case) -> Cause:
    if status == 403:
        return Cause.REFUSED
    return Cause.ENGINE if takes(case.query()) == (status == 200) else Cause.OURS
