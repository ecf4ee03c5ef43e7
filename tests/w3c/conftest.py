"""One endpoint for all suites; no test changes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.w3c.endpoint import Endpoint, start
from tests.w3c.manifests import Graph, cases, graphs_of
from tests.w3c.suites import EVALUATION, FORMATS, REQUESTS, SYNTAX


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """An endpoint over the data of every suite, each file a graph of its own name; its default graph is their union."""
    running = start(tmp_path_factory.mktemp("w3c"), _graphs())
    yield running
    running.server.stop()


@pytest.fixture(scope="session")
def endpoint_without_union(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """The same with `union_default_graph: false`: its default graph is empty."""
    running = start(tmp_path_factory.mktemp("w3c"), _graphs(), union=False)
    yield running
    running.server.stop()


def _graphs() -> set[Graph]:
    suites = {**EVALUATION, **FORMATS, **SYNTAX, **REQUESTS}
    return graphs_of(case for suite in suites for case in cases(suite))
