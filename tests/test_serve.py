"""`harvest serve` as an operator runs it: one command, a web front beside it, a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from SPARQLWrapper import JSON, SPARQLWrapper

from harvest.serve import free_port
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import ProviderServer, serving

REPOSITORY = Path(__file__).resolve().parents[1]
WAIT_S = 60.0


class Served:
    """A running instance."""

    def __init__(self, folder: Path, port: int, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.process = process

    def get(self, path: str, accept: str = "application/json") -> bytes:
        request = urllib.request.Request(self.url + path, headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=20) as response:
            body: bytes = response.read()
            return body

    def provider(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get("/providers/p.json"))
        return found

    def until(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + WAIT_S
        while True:
            try:
                if condition():
                    return
            except (urllib.error.URLError, ConnectionError):
                assert self.process.poll() is None, "the instance ended"
            assert time.monotonic() < end, f"not within {WAIT_S:g} s: {what}"
            time.sleep(0.05)

    def descendants(self) -> set[int]:
        """The processes that it started, and theirs."""
        found: set[int] = set()
        waiting = [self.process.pid]
        while waiting:
            children = Path(f"/proc/{waiting.pop()}/task").glob("*/children")
            for child in (int(pid) for path in children for pid in path.read_text().split()):
                found.add(child)
                waiting.append(child)
        return found


def launch(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from harvest.cli import main; main()", *words, "--config", folder / "harvest.yaml"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def instance(folder: Path, provider: ProviderServer) -> Iterator[Served]:
    port = free_port()
    (folder / "harvest.yaml").write_text(
        f"base_url: http://127.0.0.1:{port}\nbind: 127.0.0.1:{port}\ngraph_base: http://h.example/graph/\n"
        "data_dir: var\nexports_dir: exports\nhttp: {allow_loopback: true}\n"
        "schedule: {update: 1, export: 1}\nquery: {workers: 1}\n"
    )
    (folder / "registry.yaml").write_text(f"p:\n  void: {provider.url}/void.ttl\n")
    process = launch(folder, "serve")
    try:
        yield Served(folder, port, process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


def gone(processes: set[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in processes)


def test_an_instance_harvests_answers_and_ends(tmp_path: Path, provider: ProviderServer) -> None:
    """Harvest, SPARQLWrapper, change, version, export, a command beside it; then SIGTERM, and nothing is left."""
    release(provider, 1, A1, B1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        client = SPARQLWrapper(f"{served.url}/sparql")
        client.setReturnFormat(JSON)
        client.setQuery("SELECT ?s { GRAPH <http://h.example/graph/p> { ?s ?p ?o } } ORDER BY ?s")
        served.until(
            lambda: (
                [row["s"]["value"] for row in client.queryAndConvert()["results"]["bindings"]]
                == ["http://x/a", "http://x/b"]
            ),
            "the published generation",
        )
        release(provider, 2, A2)
        served.until(lambda: served.provider()["version"] == 2, "the second version")
        assert served.get("/providers/p/changes/2.nqud").decode().splitlines() == [
            f"-{A1} <http://h.example/graph/p> .",
            f"+{A2} <http://h.example/graph/p> .",
        ]
        assert served.get("/providers/p/versions/1.nq").decode().splitlines() == [
            f"{A1} <http://h.example/graph/p> .",
            f"{B1} <http://h.example/graph/p> .",
        ]
        served.until(lambda: served.get("/exports/p.nq.gz.sha256") != b"", "the export")
        beside = launch(tmp_path, "verify", "--json")
        answer, _ = beside.communicate(timeout=WAIT_S)
        assert beside.returncode == 0 and json.loads(answer)["ok"]
        processes = served.descendants()
        assert processes
        served.process.send_signal(signal.SIGTERM)
        said, _ = served.process.communicate(timeout=WAIT_S)
        assert served.process.returncode == 0, said
        served_until_gone(processes)


def served_until_gone(processes: set[int]) -> None:
    end = time.monotonic() + WAIT_S
    while not gone(processes):
        assert time.monotonic() < end, f"left over: {processes}"
        time.sleep(0.05)


def test_a_killed_instance_leaves_no_process_behind(tmp_path: Path, provider: ProviderServer) -> None:
    """SIGKILL reaches no handler: web front, query workers and washing end because their parent is gone."""
    release(provider, 1, A1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        processes = served.descendants()
        served.process.kill()
        served.process.wait()
        served_until_gone(processes)


def test_a_front_that_dies_is_started_again(tmp_path: Path, provider: ProviderServer) -> None:
    """The harvest goes on meanwhile."""
    release(provider, 1, A1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        fronts = [pid for pid in served.descendants() if b"harvest.serve" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        for pid in fronts:
            os.kill(pid, signal.SIGKILL)
        release(provider, 2, A2)
        served.until(lambda: served.provider()["version"] == 2, "the front again, and the second version")


def test_a_second_instance_on_the_same_data_is_refused(tmp_path: Path, provider: ProviderServer) -> None:
    """It names the process that has the data directory, and exits with 1."""
    release(provider, 1, A1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        settings = (tmp_path / "harvest.yaml").read_text()
        other = tmp_path / "other"
        other.mkdir()
        (other / "harvest.yaml").write_text(
            settings.replace(served.url.rsplit(":", 1)[1], str(free_port())).replace("var", "../var")
        )
        (other / "registry.yaml").write_text("{}\n")
        second = launch(other, "serve")
        said, _ = second.communicate(timeout=WAIT_S)
        assert second.returncode == 1
        assert f"process {served.process.pid}" in said
