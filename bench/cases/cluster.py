"""Washing on a cluster: many documents beside as many processes here, one large dump beside washing it whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from distributed import LocalCluster

from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.measure import Sample, clocked, interleaved
from bench.stage import GRAPH
from bench.table import Row, Target, compared
from harvest.archive.content import ContentStore
from harvest.archive.layout import digest_of
from harvest.config.settings import WashSettings
from harvest.model import Document, Snapshot
from harvest.pipeline.harvest.washing import terms
from harvest.pipeline.workers import side_by_side
from harvest.pipeline.workers.cluster import Cluster
from harvest.pipeline.workers.local import LocalWorkers, Workers
from harvest.pipeline.workers.task import Task
from harvest.wash import process, tasks

DOCUMENTS = 64
WORKERS = 2
BESIDE_PROCESSES = Target(0.9, "faster")

WAITING = 2 * WORKERS
"""Documents that are asked for at once: a worker that is done has the next one at hand."""


def run(ground: Ground) -> Iterator[Row]:
    """A row for many documents, one for a large one."""
    with (
        ground.room("cluster") as room,
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=str(room / "dask"),
            memory_limit=0,
        ) as running,
    ):
        content = ContentStore(room / "content")
        content.prepare()
        cluster = Cluster(str(running.scheduler_address).replace("tcp://", "dask://"), content)
        try:
            yield _many(ground, content, cluster)
            yield _large(ground, content, cluster)
        finally:
            cluster.close()


def _many(ground: Ground, content: ContentStore, cluster: Cluster) -> Row:
    ground.say(f"washing {DOCUMENTS} documents on {WORKERS} workers")
    source = ground.source(Recipe(ground.scale.triples))
    documents = [_filed(content, part) for part in _parts(source)]
    found: dict[str, list[str]] = {}

    def contestant(name: str, workers: Workers, at_once: int) -> Callable[[], Sample]:
        def measured() -> Sample:
            with ground.room(name) as room, ThreadPoolExecutor(at_once) as threads:
                list(threads.map(partial(_washed, workers, room / "warm"), documents[:at_once], range(at_once)))
                with clocked() as sample:
                    washed = list(threads.map(partial(_washed, workers, room), documents, range(DOCUMENTS)))
            found[name] = [snapshot.digest for snapshot in washed]
            return sample

        return measured

    contestants = {"ours": contestant("ours", cluster, WAITING), "peer": contestant("peer", LocalWorkers(), WORKERS)}
    series = interleaved(contestants, ground.scale.runs)
    if found["ours"] != found["peer"]:
        raise Disagreement("the cluster gives other snapshots than this machine")
    data = f"{DOCUMENTS} documents, {millions(ground.scale.triples)}, {WORKERS} Dask workers beside {WORKERS} processes"
    return compared("washing on a cluster", data, series["ours"], series["peer"], BESIDE_PROCESSES)


def _large(ground: Ground, content: ContentStore, cluster: Cluster) -> Row:
    ground.say(f"washing one dump on {WORKERS} workers")
    document = _filed(content, ground.source(Recipe(ground.scale.triples)).read_bytes())
    found: dict[str, str] = {}

    def contestant(name: str, workers: Workers) -> Callable[[], Sample]:
        def measured() -> Sample:
            with ground.room(name) as room:
                task = Task(partial(tasks.union, graph=GRAPH), (document,), terms(WashSettings(), room))
                bounds = process.Bounds(WashSettings().timeout_s, document.url)
                with clocked() as sample:
                    found[name] = side_by_side.union(workers, task, GRAPH, bounds, room).snapshot.digest
            return sample

        return measured

    contestants = {"ours": contestant("ours", cluster), "peer": contestant("peer", LocalWorkers())}
    series = interleaved(contestants, ground.scale.runs)
    if found["ours"] != found["peer"]:
        raise Disagreement("the pieces of a dump give another snapshot than the whole")
    data = f"one dump of {millions(ground.scale.triples)}, in pieces on {WORKERS} Dask workers beside whole here"
    return compared("washing on a cluster", data, series["ours"], series["peer"], None)


def _parts(source: Path) -> Sequence[bytes]:
    """The lines of a file as so many documents of about one size."""
    lines = source.read_bytes().splitlines(keepends=True)
    return [b"".join(lines[n::DOCUMENTS]) for n in range(DOCUMENTS)]


def _filed(content: ContentStore, data: bytes) -> Document:
    path = content.incoming / "document"
    path.write_bytes(data)
    digest, _ = digest_of(path)
    return Document(content.file(path, digest), f"http://x.example/{digest}.nt", "application/n-triples")


def _washed(workers: Workers, room: Path, document: Document, number: int) -> Snapshot:
    folder = room / f"{number}"
    folder.mkdir(parents=True)
    task = Task(partial(tasks.union, graph=GRAPH), (document,), terms(WashSettings(), folder))
    return workers.call(task, process.Bounds(WashSettings().timeout_s, document.url), folder).snapshot
