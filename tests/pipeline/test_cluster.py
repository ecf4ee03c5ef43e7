"""Washing by the workers of a Dask scheduler, from the registry to the graph."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import sys
import threading
import types
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from distributed import LocalCluster

from harvest.errors import SettingsError
from harvest.model import Outcome
from harvest.pipeline.harvest import washing
from harvest.pipeline.workers import cluster, side_by_side
from harvest.pipeline.workers.local import LocalWorkers
from harvest.pipeline.workers.task import Task
from harvest.wash import process
from tests.cluster import Attempt, address, attempts, running_cluster, stalled, until
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import outcomes
from tests.ports import free_port
from tests.processes import is_running
from tests.provider import ProviderServer

Begun = Callable[[Callable[[Attempt], object] | None], threading.Thread]
FIRST = '<http://x/a> <http://p> "1" .\nthis is no statement .\n_:b <http://p> _:c .\n_:c <http://q> "\\u00e9" .\n'
SECOND = '@prefix x: <http://x/> .\nx:b x:p [ x:q "2" ; x:r _:c ] .\n'


@contextmanager
def instance_of(folder: Path, provider: ProviderServer, workers: str) -> Iterator[TemporaryInstance]:
    """An instance with the provider `p`, whose documents are washed by these workers."""
    folder.mkdir()
    made = TemporaryInstance(folder)
    made.settings = replace(made.settings, workers=workers, wash=replace(made.settings.wash, threshold=0.5))
    made.register(f"p:\n  void: {provider.url}/void.ttl\n")
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may keep a scheduler and its workers waiting for long."""
    monkeypatch.setattr(cluster, "ANSWER_S", 120)
    monkeypatch.setattr(cluster, "WORKERS_S", 240.0)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with running_cluster(3, tmp_path_factory.mktemp("dask")) as made:
        yield made


def release(provider: ProviderServer) -> None:
    """Publish a dataset of three dumps: two share a label, one has a line that is none, one needs a remote context."""
    provider.put("/1.nt", FIRST)
    provider.put("/2.ttl", SECOND)
    context = {"@context": {"name": "http://schema.example/name"}}
    provider.put("/context.jsonld", json.dumps(context), "application/ld+json")
    third = {"@context": provider.url + "/context.jsonld", "@id": "http://x/a", "name": "third"}
    provider.put("/3.jsonld", json.dumps(third), "application/ld+json")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.nt", "/2.ttl", "/3.jsonld"])


def test_a_cluster_gives_what_this_machine_gives(
    provider: ProviderServer, running: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snapshot, counts and findings are the same if its workers read the dumps side by side."""
    release(provider)
    monkeypatch.setattr(side_by_side, "PIECE", 1)
    monkeypatch.setattr(LocalWorkers, "width", lambda self, bounds: 1)
    found = []
    for workers in ("local", address(running)):
        with instance_of(tmp_path / workers[:4], provider, workers) as instance:
            assert outcomes(instance) == ["committed"]
            ledger = instance.harvester.instance.ledger
            run, record = ledger.runs("p")[0], ledger.provider("p")
            assert record is not None
            snapshot = instance.harvester.instance.files("p").snapshot_file(1).read_bytes()
            dumps = [replace(each, url="") for each in run.findings]
            found.append((snapshot, record.triples, run.added, dumps))
            assert instance.proven("p")
            assert list(instance.settings.layout.scratch.iterdir()) == []
    assert found[0] == found[1]
    assert (found[0][1], found[0][3][0].line) == (7, 2)


def test_a_large_dump_of_lines_is_washed_in_pieces(
    provider: ProviderServer, running: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers have a piece each, and so have three processes here; all is as if it were washed whole."""
    lines = [f'<http://x/{n % 70}> <http://p> "{n}" .' for n in range(200)]
    lines[::9] = [f"_:b{n % 4} <http://p> _:b{n} ." for n in range(0, 200, 9)]
    lines[40] = lines[170] = "this is no statement ."
    provider.put("/1.nt", gzip.compress("\n".join(lines).encode()), "application/n-triples")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.nt"])
    tasks: list[str] = []
    found = []
    for name, workers, piece in (("whole", "local", None), ("local", "local", 500), ("dask", address(running), 500)):
        with instance_of(tmp_path / name, provider, workers) as instance, monkeypatch.context() as patched:
            patched.setattr(LocalWorkers, "width", lambda self, bounds: 3)
            if piece is not None:
                patched.setattr(side_by_side, "PIECE", piece)
            for kind in (LocalWorkers, cluster.Cluster):
                patched.setattr(kind, "call", noting(kind.call, tasks))
            assert outcomes(instance) == ["committed"]
            [run] = instance.harvester.instance.ledger.runs("p")
            snapshot = instance.harvester.instance.files("p").snapshot_file(1).read_bytes()
            found.append((snapshot, [(each.line, each.excerpt, each.message) for each in run.findings]))
            assert list(instance.settings.layout.scratch.iterdir()) == []
    assert found[0] == found[1] == found[2]
    assert [line for line, *_ in found[0][1]][:2] == [41, 171]
    assert tasks == ["union", "cut", *["read_piece"] * 3, "join", "cut", *["read_piece"] * 3, "join"]


def noting(call: Callable[..., object], tasks: list[str]) -> Callable[..., object]:
    """A method that calls workers, and notes what they are asked for."""

    def noted(workers: object, task: Task[object], *rest: object) -> object:
        assert isinstance(task.function, partial | types.FunctionType)
        tasks.append(getattr(task.function, "func", task.function).__name__)
        return call(workers, task, *rest)

    return noted


@pytest.mark.long
def test_documents_of_an_archive_are_washed_there_one_by_one(
    provider: ProviderServer, running: LocalCluster, tmp_path: Path
) -> None:
    """Seeds have a clean document for each part; what is the same on this machine is the same there."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.nt", FIRST)
        archive.writestr("folder/b.ttl", SECOND)
        archive.writestr("c.txt", "hello")
    url = provider.put("/all.zip", packed.getvalue(), "application/zip")
    found = []
    for workers in ("local", address(running)):
        with instance_of(tmp_path / workers[:4], provider, workers) as instance:
            ledger = instance.harvester.instance.ledger
            [(hash, _)] = ledger.seeds.add_all([url], instance.clock(), 86400.0)
            instance.harvester.seeding.run([])
            [download] = ledger.documents.of_seed(hash)
            tree = ledger.documents.tree(download.hash)
            found.append([(each.name, each.status, each.sha256, each.statements) for each in tree])
    assert found[0] == found[1]
    assert sum(status == "cleaned" for _, status, _, _ in found[0]) == 2


def test_a_scheduler_that_is_away_costs_a_wait(
    provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finding names it; the harvest is tried again, and goes on once there is one, and workers."""
    port = free_port()
    release(provider)
    with instance_of(tmp_path / "instance", provider, f"dask://127.0.0.1:{port}") as instance:
        for workers, words in ((None, "cannot be used"), (0, "no worker"), (1, "")):
            running = running_cluster(workers, tmp_path / str(workers), port) if workers is not None else nullcontext()
            with running, monkeypatch.context() as patched:
                if words:
                    patched.setattr(cluster, "ANSWER_S" if workers is None else "WORKERS_S", 1)
                [result] = instance.tick("p")
            assert result.outcome is (Outcome.FAILED if words else Outcome.COMMITTED)
            if words:
                assert result.finding is not None and result.finding.kind == "cluster"
                assert words in result.finding.message and f"dask://127.0.0.1:{port}" in result.finding.message
                assert "tried again" in result.finding.message
            instance.clock.forward(days=1)
        assert instance.proven("p")


def test_the_library_is_asked_for_by_its_name(
    provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not installed with the platform."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        instance_of(tmp_path / "instance", provider, "dask://scheduler:8786") as instance,
        pytest.raises(SettingsError, match=r"pip install 'sparql-harvest\[dask\]'"),
    ):
        instance.tick("p")


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begun:
    """Have the first washing stall; what is given is called in a thread once it does."""
    monkeypatch.setattr(washing.tasks, "union", partial(stalled, folder=tmp_path))

    def end(act: Callable[[Attempt], object] | None) -> threading.Thread:
        def wait() -> None:
            if act is not None:
                until(lambda: attempts(tmp_path))
                act(attempts(tmp_path)[0])

        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    return end


def test_a_worker_that_dies_costs_one_retry(
    provider: ProviderServer, running: LocalCluster, tmp_path: Path, begun: Begun
) -> None:
    """One of three is killed in the middle of washing: its process there ends, and another worker does it again."""
    release(provider)
    with instance_of(tmp_path / "instance", provider, address(running)) as instance:
        killing = begun(lambda attempt: os.kill(attempt.worker, signal.SIGKILL))
        assert outcomes(instance) == ["committed"]
        killing.join()
        assert [run.outcome for run in instance.harvester.instance.ledger.runs("p")] == ["committed"]
        assert len(instance.graph("p")) == 7
        assert instance.proven("p")
    # Another one for the remote context, which the first attempt did not come to ask for.
    assert len(attempts(tmp_path)) == 3
    assert attempts(tmp_path)[0].worker not in [attempt.worker for attempt in attempts(tmp_path)[1:]]
    until(lambda: not is_running(attempts(tmp_path)[0].process))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["crash", "time", "shutdown"])
def test_a_limit_or_a_kill_ends_the_process_there_and_nothing_else(
    provider: ProviderServer, running: LocalCluster, tmp_path: Path, begun: Begun, end: str
) -> None:
    """The worker goes on, the finding says why, and the process had the memory that it may have on this machine."""
    release(provider)
    acts = {
        "crash": lambda attempt: os.kill(attempt.process, signal.SIGKILL),
        "shutdown": lambda attempt: instance.harvester.instance.stopping.set(),
    }
    with instance_of(tmp_path / "instance", provider, address(running)) as instance:
        acting = begun(acts.get(end))
        if end == "time":
            instance.settings = replace(instance.settings, wash=replace(instance.settings.wash, timeout_s=2))
        instance.tick("p")
        acting.join()
        [run] = instance.harvester.instance.ledger.runs("p")
        kinds = {"crash": "wash-crash", "time": "wash-timeout", "shutdown": "interrupted"}
        assert [finding.kind for finding in run.findings] == [kinds[end]]
        assert run.outcome == "failed"
    for attempt in attempts(tmp_path):  # one at most: its time may be over before it gets to work
        until(lambda: not is_running(attempts(tmp_path)[0].process))
        assert is_running(attempt.worker)
        assert attempt.memory == process.MEMORY
    assert len(attempts(tmp_path)) == 1 or end == "time"
