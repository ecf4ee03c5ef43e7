"""Changes of a graph over HTTP, with a real `harvest serve`."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import requests

from sparql.rdf import NQUD
from sparql.web import openapi
from tests.web.test_updates import TOKEN, WAIT_S, Served, start

LIMIT = 8 << 20


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An instance with an operator's token, whose guard holds what removes more than half of a graph."""
    running = start(tmp_path_factory.mktemp("instance"), TOKEN, more="guard: {floor: 0, share: 0.5}\n")
    try:
        yield running
    finally:
        running.process.terminate()
        running.process.communicate(timeout=WAIT_S)


def post(served: Served, data: bytes, url: str | None = None, **headers: str) -> requests.Response:
    """Send a change of the graph that updates write."""
    given = {"Content-Type": NQUD, "Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    target = url or f"{served.url}/graphs?graph={served.graph}"
    return requests.post(target, data=data, headers=given, timeout=WAIT_S)


def line(sign: str, subject: str, value: object) -> bytes:
    return f'{sign}<http://x/{subject}> <http://p> "{value}" .\n'.encode()


def said(answer: requests.Response) -> tuple[int, Any]:
    return answer.status_code, answer.json()["message"]


def test_a_session(served: Served) -> None:
    """Applied, seen by queries, listed with its change and receipt; refused twice; held, in the way of no reader."""
    first = post(served, b"".join(line("+", "a", n) for n in range(4)))
    assert first.status_code == 200, first.text
    record = first.json()
    schema = openapi.document(served.url, "")["components"]["schemas"]
    jsonschema.validate(record, {**schema["Updated"], "components": {"schemas": schema}})
    assert (record["outcome"], record["version"], record["added"], record["triples"]) == ("committed", 1, 4, 4)
    assert served.count() == 4

    change = line("-", "a", 1) + line("+", "a", "one")
    by_address = post(served, gzip.compress(change), served.graph, Content_Encoding="gzip")
    assert by_address.status_code == 200, by_address.text
    page = f"{served.url}/providers/notes"
    lines = requests.get(f"{page}/changes/2.nqud", timeout=WAIT_S).text.splitlines()
    assert sorted(each[0] for each in lines if each[0] in "+-" and each[1] != each[0]) == ["+", "-"]
    dump = requests.get(f"{page}/runs.json", timeout=WAIT_S).json()["runs"][0]["dumps"][0]
    assert requests.get(f"{page}/receipts/{dump['sha256']}", timeout=WAIT_S).status_code == 200

    status, message = said(post(served, change))
    assert status == 409 and "does not fit the graph" in message and "http://x/a" in message
    status, message = said(post(served, b"+<http://x/a> nonsense .\n"))
    assert status == 422 and "line 1" in message
    assert served.count() == 4

    held = post(served, b"".join(line("-", "a", n) for n in (0, 2, 3)))
    assert (held.status_code, held.json()["outcome"], held.json()["version"]) == (202, "held", 2)
    status, message = said(post(served, line("+", "b", 1)))
    assert status == 409 and "harvest approve notes" in message
    assert served.count() == 4


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 403),
        ({"Content_Type": "text/turtle"}, 415),
        ({"Content_Type": "application/octet-stream"}, 415),
        ({"Content_Encoding": "br"}, 415),
    ],
)
def test_what_is_no_change_of_an_operator_is_refused(served: Served, headers: dict[str, str], status: int) -> None:
    """Before anything is read of it."""
    assert post(served, line("+", "c", 1), **headers).status_code == status


def test_the_name_of_a_file_says_what_it_is(served: Served) -> None:
    """Where its type says nothing, as a client sends it that knows no type; 403 is of a graph that is switched off."""
    named = {"Content_Type": "application/octet-stream", "Content_Disposition": "attachment; filename=c.nqud.gz"}
    answer = post(served, gzip.compress(line("+", "c", 1)), f"{served.url}/graph/off", **named)
    assert answer.status_code == 403 and "disabled" in answer.text


@pytest.mark.parametrize(
    ("query", "status"), [("?default", 400), ("", 400), ("?graph=no-iri", 400), ("?graph=http://n.example/n", 404)]
)
def test_a_graph_must_be_named(served: Served, query: str, status: int) -> None:
    """A change names one graph that there is."""
    assert post(served, line("+", "c", 1), f"{served.url}/graphs{query}").status_code == status


def test_a_change_that_is_too_large_is_refused(served: Served) -> None:
    """The limit of a change is that of any body of a request."""
    assert post(served, b"+" * (LIMIT + 1)).status_code == 413


def test_the_methods_of_a_graph_are_said(served: Served) -> None:
    """A client may ask."""
    assert requests.options(served.graph, timeout=WAIT_S).headers["Allow"] == "GET, HEAD, POST, OPTIONS"
