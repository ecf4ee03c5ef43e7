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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from SPARQLWrapper import JSON, SPARQLWrapper

from harvest.pipeline.priority import NICE
from sparql.worker.worker import NAME
from tests.elsewhere import answering
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.ports import free_port
from tests.processes import command_of, descendants, is_running, name_of, thread_priorities
from tests.provider import ProviderServer, serving

REPOSITORY = Path(__file__).resolve().parents[1]
WAIT_S = 240.0


class Served:
    """A running instance."""

    def __init__(self, folder: Path, port: int, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.process = process

    def get(self, path: str, accept: str = "application/json") -> bytes:
        request = urllib.request.Request(self.url + path, headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=240) as response:
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


def launch(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from harvest.cli.main import main; main()",
            *words,
            "--config",
            folder / "harvest.yaml",
        ],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def instance(folder: Path, provider: ProviderServer, query: str = "workers: 1") -> Iterator[Served]:
    port = free_port()
    (folder / "harvest.yaml").write_text(
        f"base_url: http://127.0.0.1:{port}\nbind: 127.0.0.1:{port}\ngraph_base: http://h.example/graph/\n"
        "data_dir: var\nexports_dir: exports\nhttp: {allow_loopback: true}\n"
        f"schedule: {{update: 1, export: 1}}\nquery: {{{query}}}\n"
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
        assert beside.returncode == 0 and json.loads(answer)["ok"], answer
        processes = descendants(served.process.pid)
        assert processes
        served.process.send_signal(signal.SIGTERM)
        said, _ = served.process.communicate(timeout=WAIT_S)
        assert served.process.returncode == 0, said
        served_until_gone(processes)


def served_until_gone(processes: set[int]) -> None:
    end = time.monotonic() + WAIT_S
    while any(map(is_running, processes)):
        assert time.monotonic() < end, f"left over: {processes}"
        time.sleep(0.05)


def test_a_killed_instance_leaves_no_process_behind(tmp_path: Path, provider: ProviderServer) -> None:
    """SIGKILL reaches no handler: web front, query workers and washing end because their parent is gone."""
    release(provider, 1, A1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        processes = descendants(served.process.pid)
        served.process.kill()
        served.process.wait()
        served_until_gone(processes)


def test_a_front_that_dies_is_started_again(tmp_path: Path, provider: ProviderServer) -> None:
    """The harvest goes on meanwhile."""
    release(provider, 1, A1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        fronts = [pid for pid in descendants(served.process.pid) if b"harvest.service.serve" in command_of(pid)]
        assert fronts
        for pid in fronts:
            with suppress(ProcessLookupError):  # one may have ended with another
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


def test_the_settings_say_which_endpoints_may_be_asked(tmp_path: Path, provider: ProviderServer) -> None:
    """From the file to the workers: the endpoint on the list answers, and is not asked at another address."""
    release(provider, 1, A1)
    with answering() as there, instance(tmp_path, provider, f"workers: 1, service: ['{there.url}']") as served:
        served.until(lambda: served.get("/healthz") != b"", "the first generation")

        def ask(endpoint: str) -> bytes:
            query = quote(f"SELECT ?x {{ SERVICE <{endpoint}> {{ ?s ?p ?x }} }}")
            return served.get(f"/sparql?query={query}", "text/csv")

        assert ask(there.url) == b"x\r\nfrom afar\r\n"
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(there.url.replace("/sparql", "/other"))
        with refused.value as answer:
            assert (answer.code, b"does not ask that one" in answer.read()) == (403, True)
        assert len(there.asked) == 1


def test_what_harvests_steps_aside_for_what_answers(tmp_path: Path, provider: ProviderServer) -> None:
    """The store's own threads compact for seconds after an import, washing takes a core: both made lookups late."""
    release(provider, 1, A1, B1)
    with instance(tmp_path, provider) as served:
        served.until(lambda: served.provider()["version"] == 1, "the first version")
        store = [nice for name, nice in thread_priorities(served.process.pid) if name.startswith("rocksdb")]
        assert store
        assert set(store) == {NICE}
        washing = [pid for pid in descendants(served.process.pid) if b"multiprocessing.forkserver" in command_of(pid)]
        assert washing
        assert {nice for pid in washing for _, nice in thread_priorities(pid)} == {NICE}
        workers = [pid for pid in descendants(served.process.pid) if name_of(pid) == NAME]
        assert workers
        assert {nice for pid in workers for _, nice in thread_priorities(pid)} == {os.nice(0)}
