"""A Dask scheduler with workers in processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import LocalCluster


@contextmanager
def running_cluster(workers: int, folder: Path, port: int = 0) -> Iterator[LocalCluster]:
    """A running cluster of so many workers, each of one thread, whose temporary files are in a folder."""
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        scheduler_port=port,
        dashboard_address=":0",
        local_directory=str(folder),
        memory_limit=0,
    ) as running:
        yield running


def address(running: LocalCluster) -> str:
    """The setting `workers` for a cluster."""
    return str(running.scheduler_address).replace("tcp://", "dask://")
