"""A Dask scheduler with workers in processes of this machine."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from distributed import LocalCluster

from harvest.model import Document
from harvest.wash import tasks
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Terms


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


@dataclass(frozen=True)
class Attempt:
    """A washing that began: the worker, the process that it started for it, and the memory that this may have."""

    worker: int
    process: int
    memory: int


def stalled(documents: tuple[Document, ...], terms: Terms, *, folder: Path, **more: Any) -> Washed:
    """As `harvest.wash.tasks.union`, but the first attempt notes in a folder that it began, and does not end."""
    parent = multiprocessing.parent_process()
    assert parent is not None and parent.pid is not None
    attempt = (parent.pid, os.getpid(), resource.getrlimit(resource.RLIMIT_AS)[0])
    written = folder / f"{uuid4()}"
    written.write_text(json.dumps(attempt))
    for number in itertools.count(1):
        with suppress(FileExistsError):
            os.link(written, folder / f"attempt-{number}")
            break
    while number == 1:
        time.sleep(60)
    return tasks.union(documents, terms, **more)


def attempts(folder: Path) -> list[Attempt]:
    """The attempts that have begun, in order."""
    return [Attempt(*json.loads(path.read_text())) for path in sorted(folder.glob("attempt-*"))]


def until(condition: Callable[[], object]) -> None:
    """Return once something holds."""
    end = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)
