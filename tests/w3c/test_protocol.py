"""The W3C's SPARQL 1.1 Protocol suite: the requests that its manifest describes, sent as they stand there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import requests
from pyoxigraph import Dataset, QueryResultsFormat, RdfFormat

from sparql.protocol.request import NO_UPDATES
from tests.w3c.endpoint import Endpoint
from tests.w3c.known import Cause, Problem, compare_with_known
from tests.w3c.manifests import MF, Manifest, Node, case_id
from tests.w3c.solutions import read_graph, read_table
from tests.w3c.suites import REQUESTS

SUITE: Final = "sparql11/protocol"
HT: Final = "http://www.w3.org/2011/http#"
CNT: Final = "http://www.w3.org/2011/content#"


@dataclass(frozen=True, slots=True)
class Exchange:
    """
    A request, and what is expected of its response.

    Attributes:
        method: Upper case.
        path: Begins with `/sparql/`, which stands for the address of the endpoint.
        headers: As described; nothing is added.
        body: Encoded, or None.
        statuses: First digits of the statuses that are right.
        format: `boolean`, `tabular`, `RDF`, or empty.
        boolean: The answer to an ASK, or None.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None
    statuses: frozenset[int]
    format: str
    boolean: bool | None

    def problem(self, answer: requests.Response) -> Problem | None:
        """What is wrong with a response; None when nothing is."""
        response = f"{answer.status_code} {answer.headers.get('Content-Type')} {answer.text[:300]}"
        if answer.status_code // 100 not in self.statuses:
            return Problem(Cause.REFUSED if answer.status_code == 403 else Cause.OURS, response)
        if self.format and not _fits(self, answer):
            return Problem(Cause.OURS, f"not {self.format}: {response}")
        return None


def test_every_exchange_goes_as_described(endpoint: Endpoint) -> None:
    """The tests that read go as published; those that update are listed in known.toml, for they are refused."""
    exchanges = dict(_exchanges())
    assert len(exchanges) == REQUESTS[SUITE]
    problems = {id: problem for id, steps in exchanges.items() if (problem := _run(endpoint, steps)) is not None}
    compare_with_known(set(exchanges), problems)


def test_every_update_of_the_suite_is_forbidden_with_the_reason(endpoint: Endpoint) -> None:
    """So that a client learns that it is no mistake of its own."""
    updates = {id: steps[0] for id, steps in _exchanges() if id.partition("#")[2].startswith("update_")}
    answers = {id: _send(endpoint, step) for id, step in updates.items()}
    assert {answer.status_code for answer in answers.values()} == {403}
    assert {answer.text.strip() for answer in answers.values()} == {NO_UPDATES}
    assert len(answers) == 7


def _run(endpoint: Endpoint, steps: list[Exchange]) -> Problem | None:
    """The first problem of a test's exchanges."""
    problems = (step.problem(_send(endpoint, step)) for step in steps)
    return next((problem for problem in problems if problem is not None), None)


def _send(endpoint: Endpoint, step: Exchange) -> requests.Response:
    return endpoint.send(step.method, step.path, step.headers, step.body)


def _fits(step: Exchange, answer: requests.Response) -> bool:
    media_type = answer.headers["Content-Type"].partition(";")[0]
    if step.format == "RDF":
        graph = RdfFormat.from_media_type(media_type)
        return graph is not None and isinstance(read_graph(answer.content, graph, answer.url), Dataset)
    table = QueryResultsFormat.from_media_type(media_type)
    if table is None:
        return False
    found = read_table(answer.content, table)
    if step.format == "boolean":
        return isinstance(found, bool) and step.boolean in (None, found)
    return not isinstance(found, bool)


def _exchanges() -> Iterator[tuple[str, list[Exchange]]]:
    manifest = Manifest(SUITE)
    for entry in manifest.entries():
        connection = manifest.one(entry, f"{MF}action")
        head = manifest.one(connection, f"{HT}requests") if connection is not None else None
        assert head is not None
        yield case_id(SUITE, entry), [_exchange(manifest, node) for node in manifest.list(head)]


def _exchange(manifest: Manifest, node: Node) -> Exchange:
    response = manifest.one(node, f"{HT}resp")
    assert response is not None
    statuses = manifest.all(response, f"{MF}expectedStatus")
    boolean = manifest.text(response, f"{MF}expectedBoolean")
    return Exchange(
        method=manifest.text(node, f"{HT}methodName"),
        path=manifest.text(node, f"{HT}absolutePath"),
        headers=_headers(manifest, node),
        body=_body(manifest, node),
        statuses=frozenset(int(str(status).rpartition("#StatusCode")[2][0]) for status in statuses),
        format=manifest.text(response, f"{MF}expectedFormat"),
        boolean=boolean == "true" if boolean else None,
    )


def _headers(manifest: Manifest, node: Node) -> dict[str, str]:
    head = manifest.one(node, f"{HT}headers")
    listed = manifest.list(head) if head is not None else ()
    return {manifest.text(one, f"{HT}fieldName"): manifest.text(one, f"{HT}fieldValue") for one in listed}


def _body(manifest: Manifest, node: Node) -> bytes | None:
    content = manifest.one(node, f"{HT}body")
    if content is None:
        return None
    return manifest.text(content, f"{CNT}chars").encode(manifest.text(content, f"{CNT}characterEncoding"))
