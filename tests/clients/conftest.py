"""Two fronts for all clients; no test changes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sparql.worker.limits import QueryLimits
from tests.clients.instance import distances, everything, front
from tests.clients.programs import Node
from tests.web.instance import Server

STRICT_ROWS = 20_000


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An instance of four graphs, with the limits of an operator who has set none but time."""
    limits = QueryLimits(workers=2, timeout_s=20, wait_s=240, cache_bytes=1 << 28)
    server = front(tmp_path_factory.mktemp("clients"), limits, everything)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Another one, of three graphs, that gives no more than STRICT_ROWS rows."""
    limits = QueryLimits(workers=1, timeout_s=20, wait_s=240, max_rows=STRICT_ROWS)
    server = front(tmp_path_factory.mktemp("strict"), limits, distances)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """Node.js with the packages of tests/node."""
    return Node(tmp_path_factory.mktemp("node"))
