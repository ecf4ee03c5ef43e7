"""An endpoint over the data of all suites, and the ways to ask it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import requests

from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore
from tests.w3c.manifests import Case, Graph, quads_of
from tests.web.instance import Server, serve
from tests.web.records import file_records, provider

NOTHING: Final = "https://w3c.github.io/rdf-tests/sparql/no-such-graph"
"""Names an empty dataset: a request that names none would get the endpoint's own."""

WAYS: Final = ("GET", "form", "direct")
"""The three query operations. Source: SPARQL 1.1 Protocol, section 2.1."""


@dataclass(frozen=True, slots=True)
class Question:
    """
    A query on its way to the endpoint.

    Attributes:
        text: The query.
        accept: The Accept header.
        way: One of WAYS.
        dataset: `default-graph-uri` and `named-graph-uri` parameters.
    """

    text: str
    accept: str
    way: str = "GET"
    dataset: tuple[tuple[str, str], ...] = ()


class Endpoint:
    """
    A running endpoint.

    Attributes:
        url: The address of queries.
        server: What answers there.
    """

    def __init__(self, server: Server) -> None:
        self.url = f"{server.url}/sparql"
        self.server = server
        self._session = requests.Session()

    def ask(self, question: Question) -> requests.Response:
        """The answer to a query."""
        headers = {"Accept": question.accept}
        parameters = [("query", question.text), *question.dataset]
        if question.way == "GET":
            return self._session.get(self.url, params=parameters, headers=headers, timeout=240)
        if question.way == "form":
            return self._session.post(self.url, data=parameters, headers=headers, timeout=240)
        headers["Content-Type"] = "application/sparql-query"
        body = question.text.encode()
        return self._session.post(self.url, body, params=question.dataset, headers=headers, timeout=240)

    def post(self, body: bytes, content_type: str) -> requests.Response:
        """The answer to a POST of these bytes."""
        return self._session.post(self.url, body, headers={"Content-Type": content_type}, timeout=240)

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> requests.Response:
        """The answer to a request that is described by a manifest."""
        url = self.url + path.removeprefix("/sparql/")
        return self._session.request(method, url, headers=headers, data=body, timeout=240)


def dataset_of(case: Case) -> tuple[tuple[str, str], ...]:
    """The parameters that give a test its dataset; none where its query names the dataset itself."""
    if case.names_dataset():
        return ()
    defaults = [("default-graph-uri", graph.name) for graph in case.default]
    named = [("named-graph-uri", graph.name) for graph in case.named]
    return (*defaults, *named) or (("default-graph-uri", NOTHING),)


def start(folder: Path, graphs: Iterable[Graph], union: bool = True) -> Endpoint:
    """
    Start an endpoint whose store has these graphs, and whose catalog lists them.

    Args:
        folder: For its files.
        graphs: Each under a name of its own.
        union: `union_default_graph`; true in the default settings of an instance.
    """
    listed = sorted(graphs, key=lambda graph: (graph.name, graph.source))
    names = [graph.name for graph in listed]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"several files are called {twice}"
    published = PublishedStore(folder / "store")
    published.add(quad for graph in listed for quad in quads_of(graph))
    records = [provider(f"p{n}", graph=name, version=1, triples=1) for n, name in enumerate(names)]
    file_records(folder, {"providers": records, "versions": {}, "runs": {}})
    return Endpoint(
        serve(folder, published.root, QueryLimits(workers=2, timeout_s=20, wait_s=240, union_default_graph=union))
    )
