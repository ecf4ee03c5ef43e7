"""`harvest web` over an engine that is the store, and over a replica that `harvest schedule` keeps."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.engines import ENGINES
from tests.engines import serving as engine_serving
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import serving
from tests.split import TOKEN, Split, entry, subjects
from tests.test_serve import Served


def updated(url: str) -> tuple[int, str]:
    """Status and text of the answer to an operator's update."""
    headers = {"Content-Type": "application/sparql-update", "Authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(f"{url}/sparql", b"CLEAR GRAPH <http://h.example/graph/p>", headers)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=240)
    with caught.value as answer:
        return answer.code, answer.read().decode()


@pytest.mark.parametrize("name", ENGINES)
def test_a_front_apart_asks_the_engine_that_is_the_store(name: str, tmp_path: Path) -> None:
    """It sees what the schedule has written there; while the engine is away queries get 503, and pages are shown."""
    with engine_serving(name, tmp_path / "engine") as engine, serving() as provider:
        at = engine.address
        store = f"store:\n  query: {at.query}\n  update: {at.update}\n"
        store += f"  graph_store: {at.graph_store}\n" if at.graph_store else ""
        split = Split(tmp_path, entry(provider.url), store)
        try:
            release(provider, 1, A1)
            split.start("schedule")
            front = split.served(split.start("web"))
            front.until(lambda: subjects(front) == ["http://x/a"], "the first version")
            release(provider, 2, A2, B1)
            front.until(lambda: subjects(front) == ["http://x/a", "http://x/b"], "the second version")
            front.until(lambda: front.provider()["version"] == 2, "the second version on its pages")
            engine.kill()
            with pytest.raises(urllib.error.HTTPError) as caught:
                front.get("/sparql?query=SELECT%20%3Fp%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D", "text/csv")
            with caught.value as answer:
                assert answer.code == 503, answer.read()
            assert front.provider()["version"] == 2
            engine.start()
            front.until(lambda: subjects(front) == ["http://x/a", "http://x/b"], "the engine is back")
        finally:
            split.close()


def test_a_replica_has_a_front_of_its_own(tmp_path: Path) -> None:
    """Schedule and front of a replica on another machine, whose origin is in two parts as well."""
    (tmp_path / "origin").mkdir()
    (tmp_path / "replica").mkdir()
    with serving() as provider:
        origin = Split(tmp_path / "origin", entry(provider.url))
        replica = Split(tmp_path / "replica", "{}\n")
        try:
            release(provider, 1, A1)
            origin.start("schedule")
            answering: Served = origin.served(origin.start("web"))
            answering.until(lambda: answering.provider()["version"] == 1, "the first version")
            replica.start("schedule", "--follow", origin.url)
            web = replica.start("web")
            front = replica.served(web)
            front.until(lambda: subjects(front) == ["http://x/a"], "the first version in the replica")
            release(provider, 2, A2, B1)
            front.until(lambda: subjects(front) == ["http://x/a", "http://x/b"], "the second version in the replica")
            front.until(lambda: front.provider()["version"] == 2, "the second version on its pages")
            assert json.loads(front.get("/follow.json")) is not None
            status, said = updated(replica.url)
            assert status == 403 and f"replica of {origin.url}" in said
            assert replica.end(web, signal.SIGTERM) == 0, replica.log()
        finally:
            replica.close()
            origin.close()
