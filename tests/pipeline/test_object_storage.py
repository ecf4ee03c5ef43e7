"""A harvest whose bytes are in object storage, from the registry to the graph, and made again from there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import Store

from harvest.archive.content import ContentStore
from harvest.archive.history import Archive
from harvest.archive.objects import PLACE, at
from harvest.archive.verify import verify
from harvest.catalog.instance import InstanceCatalog
from harvest.errors import ClusterError
from harvest.pipeline.workers import cluster
from harvest.pipeline.workers.task import RemoteTask, WorkerAnswer, run
from harvest.wash import process
from sparql.errors import StoreError
from tests.objects import SECRET, ObjectFolder, ObjectServer, serving
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_rebuild import harvested, history
from tests.pipeline.test_semantics import A1, A2, B1, outcomes, release
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]
COUNT = "SELECT (COUNT(*) AS ?n) WHERE { GRAPH <%s> { ?s ?p ?o } }"


@pytest.fixture(params=["bucket", "folder"])
def storage(
    request: pytest.FixtureRequest, instance: TemporaryInstance, tmp_path: Path
) -> Iterator[ObjectServer | ObjectFolder]:
    """Both kinds of object storage, each the place of the instance's archive."""
    if request.param == "bucket":
        yield request.getfixturevalue("server")
        return
    folder = ObjectFolder(tmp_path / "share")
    folder.start()
    instance.settings = replace(instance.settings, content=folder.url)
    yield folder
    instance.close()


@pytest.fixture
def server(instance: TemporaryInstance, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with serving(monkeypatch) as running:
        instance.settings = replace(instance.settings, content=running.url)
        yield running
        instance.close()


def test_all_is_made_again_from_the_bucket_alone(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, storage: ObjectServer | ObjectFolder
) -> None:
    """The data directory and the provider are gone; versions, figures and graph are those of before."""
    registered()
    harvested(instance, provider)
    graph, before = instance.graph("p"), history(instance)
    assert instance.proven("p")
    instance.close()
    assert b"harvester" not in (instance.settings.layout.content / PLACE).read_bytes()
    assert not any(SECRET.encode() in path.read_bytes() for path in instance.folder.rglob("*") if path.is_file())
    shutil.rmtree(instance.settings.data_dir)
    provider.pages.clear()
    assert all(version.same for version in instance.harvester.rebuild("p"))
    assert instance.graph("p") == graph
    assert history(instance) == before
    assert instance.proven("p")
    instance.harvester.instance.publish()
    generation = instance.harvester.instance.generations.current()
    assert generation is not None
    rows = Store.read_only(str(generation.path)).query(COUNT % instance.settings.graph("p"))
    assert [row["n"].value for row in rows] == [str(len(graph))]


def test_verify_reads_the_bucket(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, storage: ObjectServer | ObjectFolder
) -> None:
    """An object that is gone fails, although its copy is in the folder; and the proof of the provider says so."""
    registered()
    release(provider, 1, A1, B1)
    assert outcomes(instance) == ["committed"]
    instance.harvester.export()
    root = instance.settings.layout.content
    assert {check.verdict for check in verify(Archive(root))} == {"OK"}
    digest = instance.harvester.instance.ledger.runs("p")[0].dumps[0].sha256
    at(storage.url).remove(digest)
    assert [check.iri for check in verify(Archive(root)) if check.verdict == "FAIL"] == [f"hash://sha256/{digest}"]
    assert not instance.proven("p")
    assert ContentStore(root).mend(digest)
    assert instance.proven("p")


def test_a_storage_that_is_away_costs_a_wait(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, storage: ObjectServer | ObjectFolder
) -> None:
    """As with a full disk: what was committed stays, the harvest fails with the reason, and the next one goes on."""
    registered()
    release(provider, 1, A1, B1)
    assert outcomes(instance) == ["committed"]
    storage.stop()
    release(provider, 2, A2)
    assert "committed" not in outcomes(instance, forced=True)
    assert instance.graph("p") == {A1, B1}
    catalog, digest = (
        InstanceCatalog(instance.settings),
        instance.harvester.instance.ledger.runs("p")[-1].dumps[0].sha256,
    )
    instance.harvester.instance.content.path(digest).unlink()
    with pytest.raises(StoreError) as away:
        catalog.content(digest)
    assert away.value.status == 503
    storage.start()
    assert catalog.content(digest) is not None
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1}
    assert instance.proven("p")


def test_an_instance_starts_while_its_storage_is_away(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, storage: ObjectServer | ObjectFolder
) -> None:
    """Its graphs are there, a harvest fails with the reason, and the next one goes on once the storage is back."""
    registered()
    release(provider, 1, A1, B1)
    assert outcomes(instance) == ["committed"]
    instance.close()
    storage.stop()
    assert instance.graph("p") == {A1, B1}
    release(provider, 2, A2)
    [result] = instance.tick("p", forced=True)
    assert result.finding is not None and storage.url in result.finding.message
    storage.start()
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1}
    assert instance.proven("p")


def test_workers_without_the_data_directory_exchange_by_the_bucket(
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    storage: ObjectServer | ObjectFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They find the dumps there, and leave what they make there; of that nothing stays, whoever dies."""
    seen: list[int] = []
    away = [False]

    def elsewhere(self: object, remote: RemoteTask[object], bounds: process.Bounds) -> WorkerAnswer[object]:
        seen.append(len(of_workers(storage)))
        results = Path("/gone", *remote.exchange.results.parts[1:])
        answer = run(
            replace(remote, exchange=replace(remote.exchange, content=tmp_path / "gone", results=results)),
            bounds,
            tmp_path,
        )
        if away[0]:
            seen.append(len(of_workers(storage)))
            raise ClusterError("the scheduler is away before it has answered", url=bounds.url)
        return answer

    monkeypatch.setattr(cluster.Cluster, "_answered", elsewhere)
    (tmp_path / "left").write_bytes(b"by an instance that was killed")
    at(storage.url).begin(instance.settings.layout.content)
    at(storage.url, "washed/task").put("0" * 64, tmp_path / "left")
    assert len(of_workers(storage)) == 1
    instance.settings = replace(instance.settings, workers="dask://127.0.0.1:1")
    registered()
    release(provider, 1, A1, B1, "_:b <http://p> _:c")
    assert outcomes(instance) == ["committed"]
    assert len(instance.graph("p")) == 3
    assert instance.proven("p")
    assert of_workers(storage) == [] and set(seen) == {0}
    away[0] = True
    release(provider, 2, A2)
    assert "committed" not in outcomes(instance, forced=True)
    assert seen[-1] > 0 and of_workers(storage) == []


def of_workers(storage: ObjectServer | ObjectFolder) -> list[str]:
    """What workers left in a storage."""
    return [name for name in storage.listed() if name.startswith("washed/")]


def test_credentials_that_are_refused_later_cost_a_wait(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, server: ObjectServer
) -> None:
    """A key that is taken back stops no provider for good, and no finding shows it."""
    registered()
    release(provider, 1, A1)
    assert outcomes(instance) == ["committed"]
    release(provider, 2, A2)
    server.refuse(all_keys=True)
    try:
        results = instance.tick("p", forced=True)
    finally:
        server.refuse(all_keys=False)
    assert "committed" not in [result.outcome.value for result in results]
    assert SECRET not in repr(results)
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2}
