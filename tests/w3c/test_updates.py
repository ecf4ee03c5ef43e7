"""The W3C's update suites: every update is refused alike, whether it is valid or not."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from sparql.protocol.request import FORM, NO_UPDATES, UPDATE
from tests.w3c.endpoint import Endpoint, Question
from tests.w3c.manifests import Case, cases
from tests.w3c.suites import UPDATES


@pytest.mark.parametrize(("suite", "count"), UPDATES.items())
def test_an_update_is_refused_and_changes_nothing(endpoint: Endpoint, suite: str, count: int) -> None:
    """403 with the reason, however it is sent; 400 where it is sent as a query."""
    before = _statements(endpoint)
    run = cases(suite)
    assert len(run) == count
    assert {case.id: wrong for case in run if (wrong := problem(endpoint, case))} == {}
    assert _statements(endpoint) == before


def problem(endpoint: Endpoint, case: Case) -> str:
    """What is wrong with the responses to an update; empty when nothing is."""
    text = case.query()
    form = endpoint.send("POST", "/sparql/", {"Content-Type": FORM}, _form(text))
    for answer in (endpoint.post(text.encode(), UPDATE), form):
        if (answer.status_code, answer.text.strip()) != (403, NO_UPDATES):
            return f"as an update: {answer.status_code} {answer.text[:300]}"
    answer = endpoint.ask(Question(text, "text/plain", "direct"))
    return "" if answer.status_code == 400 else f"as a query: {answer.status_code} {answer.text[:300]}"


def _form(text: str) -> bytes:
    return urlencode({"update": text}).encode()


def _statements(endpoint: Endpoint) -> str:
    return endpoint.ask(Question("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", "text/csv")).text
