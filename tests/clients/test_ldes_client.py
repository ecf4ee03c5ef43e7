"""The independent client of event streams, `ldes-client`, reads those of an instance to their end and follows them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests
from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, Triple, parse

from sparql.rdf import DCTERMS, PROV
from tests.clients.growing import Served, growing
from tests.pipeline.test_semantics import A1, A2, B1, C1

CLIENT = Path(__file__).parents[1] / "node/ldes-client/node_modules/ldes-client/dist/bin/cli.js"
OF, AT = NamedNode(f"{DCTERMS}isVersionOf"), NamedNode(f"{PROV}generatedAtTime")
PATIENCE_S = 240


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with growing(tmp_path / "instance") as served:
        yield served


class Reader:
    """A client that runs, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._printed: list[bytes] = []
        self._news = threading.Condition()
        self._collecting = threading.Thread(target=self._collect, daemon=True)
        self._collecting.start()

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self._printed.append(line)
                self._news.notify_all()

    def ended(self) -> list[bytes]:
        """All that a client printed that ended by itself, without a complaint."""
        assert self.process.wait(PATIENCE_S) == 0
        self._collecting.join(PATIENCE_S)
        return list(self._printed)

    def reaches(self, graph: frozenset[Triple]) -> bool:
        """Whether the newest members become this graph, within some time."""
        with self._news:
            return self._news.wait_for(lambda: newest(self._printed) == graph, PATIENCE_S)


@contextmanager
def reading(served: Served, *options: str) -> Iterator[Reader]:
    """The client on the stream of an instance."""
    node = Path(sys.executable).with_name("node")
    for path in (node, CLIENT):
        if not path.exists():
            pytest.fail(f"{path} is not there; `make setup` installs it")
    words = [node, CLIENT, f"{served.url}/providers/p/ldes", *options]
    environ = os.environ | {"NODE_OPTIONS": "", "NO_COLOR": "1"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, start_new_session=True
    ) as process:
        try:
            yield Reader(process)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the command `node` starts another process


def newest(printed: list[bytes]) -> frozenset[Triple]:
    """What the newest member of each entity says."""
    quads = list(parse(b"".join(printed), RdfFormat.N_QUADS))
    default = [quad for quad in quads if quad.graph_name == DefaultGraph()]
    times = {quad.subject: quad.object.value for quad in default if quad.predicate == AT}
    members = [quad for quad in default if quad.predicate == OF and quad.subject in times]
    last = {quad.object: quad.subject for quad in sorted(members, key=lambda quad: times[quad.subject])}
    newest = set(last.values())
    return frozenset(quad.triple for quad in quads if quad.graph_name in newest)


def version(served: Served, n: int) -> frozenset[Triple]:
    answer = requests.get(f"{served.url}/providers/p/versions/{n}.nq", timeout=240)
    return frozenset(quad.triple for quad in parse(answer.content, RdfFormat.N_QUADS))


def test_a_stream_is_read_to_its_end(served: Served) -> None:
    """By its relations, in the order of time: the newest members are the graph, and the client ends."""
    served.harvest(1, A1, B1)
    served.harvest(2, A2, B1, f"<http://x/a> <{OF.value}> <http://x/other>")
    served.harvest(3, A2, C1)
    with reading(served, "--ordered", "ascending") as reader:
        printed = reader.ended()
    assert newest(printed) == version(served, 3)
    times = [line.split(b'"')[1] for line in printed if b" " + str(AT).encode() + b" " in line]
    assert len(times) == 6
    assert times == sorted(times)


def test_a_stream_is_followed(served: Served) -> None:
    """What is harvested while the client runs comes to it, additions, changes and deletions."""
    served.harvest(1, A1, B1)
    with reading(served, "--follow", "--poll-interval", "200") as reader:
        assert reader.reaches(version(served, 1))
        for n, triples in enumerate(((A2, B1), (A2, C1), (B1,)), start=2):
            served.harvest(n, *triples)
            assert reader.reaches(version(served, n))
        assert reader.process.poll() is None


@pytest.mark.long
def test_pages_of_a_version_are_read(served: Served) -> None:
    """The second page of a version is found from the first, and what came before a time is left out on demand."""
    served.harvest(1, *(f'<http://x/{n}> <http://p> "{n}"' for n in range(10_001)))
    with reading(served) as reader:
        assert newest(reader.ended()) == version(served, 1)
    served.harvest(2, A1, partial=True)
    with reading(served, "--after", "2026-01-01T00:01:30Z") as reader:
        assert len([line for line in reader.ended() if str(AT).encode() in line]) == 1
