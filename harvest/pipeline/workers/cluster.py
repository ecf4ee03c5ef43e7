"""
Washing on a cluster: tasks go to the workers of a Dask scheduler.

A task names its documents by SHA-256, and the worker finds them in the archive's folder, which it shares, or in its
object storage; what it gives comes back as files named by SHA-256, too. The worker starts the same process with the
same limits as this machine would. A worker that dies costs one retry: the scheduler gives what it had to another one.
Where the scheduler or all workers are away, the call ends with a ClusterError, and the harvest is tried again later.

Source: dask.distributed, "Client", "Resilience", `ClientExecutor`.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from uuid import uuid4

from harvest.archive.content import ContentStore
from harvest.errors import ClusterError, HarvestError, SettingsError, StoppedError, StorageError, WashCrash
from harvest.model import Status
from harvest.pipeline.workers.exchange import clear, exchange
from harvest.pipeline.workers.local import LocalWorkers
from harvest.pipeline.workers.task import RemoteTask, Task, WorkerAnswer, placed, portable, run
from harvest.wash import process
from harvest.wash.leaves import Progress

T = TypeVar("T")

ANSWER_S: Final = 10
"""Seconds that the scheduler may take to answer."""

WORKERS_S: Final = 60.0
"""Seconds after which a cluster without any worker is given up."""

LOOK_S: Final = 0.5
"""Seconds between two looks at whether there are workers."""

TOPIC: Final = "sparql-harvest washing"
"""Under which the workers of a scheduler report how far they are."""


class Cluster:
    """The workers of one scheduler; connected at the first task, and again after a loss."""

    def __init__(self, address: str, content: ContentStore) -> None:
        """
        Args:
            address: `dask://host:port`.
            content: The archive, whose folder the workers have under the same path.

        Raises:
            SettingsError: The library is not installed.
        """
        try:
            import distributed
        except ImportError as error:
            raise SettingsError(
                f"workers: {address} needs dask.distributed, which is not installed: pip install 'sparql-harvest[dask]'"
            ) from error
        self._library: Any = distributed
        self._address = address
        self._content = content
        self._client: Any = None
        self._executor: Executor | None = None
        self._guard = threading.Lock()
        self._cleared = False
        self._heard: dict[str, queue.SimpleQueue[Progress]] = {}

    def call(self, task: Task[T], bounds: process.Bounds, room: Path) -> T:
        """As `Workers` has it; documents that are not filed are washed on this machine."""
        given = portable(task, self._content)
        if given is None:
            return LocalWorkers().call(task, bounds, room)
        with self._guard:
            if not self._cleared:
                clear(self._content)
                self._cleared = True
        shared = exchange(self._content, room)
        try:
            answer = self._answered(RemoteTask(given, bounds.timeout_s, shared), bounds)
            if answer.progress is not None:
                bounds.on_report(answer.progress)
            return placed(answer, shared)
        except HarvestError:
            with suppress(StorageError):
                shared.discard()
            raise

    def width(self, bounds: process.Bounds) -> int:
        """As `Workers` has it: the threads of all workers."""
        with self._explained(bounds.url):
            client, _ = self._connected()
            return sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())

    def close(self) -> None:
        """As `Workers` has it."""
        with self._guard:
            self._disconnect()

    def _answered(self, remote: RemoteTask[T], bounds: process.Bounds) -> WorkerAnswer[T]:
        """What a worker answers; whoever waits hears meanwhile how far it is."""
        name = uuid4().hex
        heard = self._heard[name] = queue.SimpleQueue()
        future: Future[WorkerAnswer[T]] | None = None
        try:
            with self._explained(bounds.url):
                client, executor = self._connected()
                future = executor.submit(_on_worker, remote, name, bounds.url)
                self._await(future, client, bounds, heard)
                return future.result()
        finally:
            del self._heard[name]
            if future is not None:
                future.cancel()

    def _await(
        self, future: Future[WorkerAnswer[T]], client: Any, bounds: process.Bounds, heard: queue.SimpleQueue[Progress]
    ) -> None:
        """Return when a worker has answered."""
        seen = looked = time.monotonic()
        while not wait([future], process.STOP_S).done:
            with suppress(queue.Empty):
                while True:
                    bounds.on_report(heard.get_nowait())
            if bounds.stop.is_set():
                raise StoppedError(f"washing {bounds.url} was given up: the instance is shutting down", url=bounds.url)
            now = time.monotonic()
            if now - looked >= LOOK_S:
                seen, looked = now if _workers(client) else seen, now
                if now - seen > WORKERS_S:
                    raise ClusterError(
                        f"the scheduler {self._address} has had no worker for {WORKERS_S:g} s; washing {bounds.url} "
                        "is tried again later",
                        url=bounds.url,
                    )

    def _connected(self) -> tuple[Any, Executor]:
        with self._guard:
            if self._client is not None and self._client.status != "running":
                self._disconnect()
            if self._client is None or self._executor is None:
                address = self._address.replace("dask://", "tcp://")
                self._client = self._library.Client(address, timeout=ANSWER_S, set_as_default=False)
                self._client.subscribe_topic(TOPIC, self._hear)
                self._executor = cast(Executor, self._client.get_executor(pure=False))
            return self._client, self._executor

    def _disconnect(self) -> None:
        client, self._client, self._executor = self._client, None, None
        if client is not None:
            with suppress(OSError, TimeoutError, RuntimeError):  # it may be gone
                client.close(timeout=ANSWER_S)

    def _hear(self, event: tuple[float, Any]) -> None:
        """Hand on what a worker reports; called in the thread of the library."""
        name, url, names, status = event[1]
        if name in self._heard:
            self._heard[name].put(Progress(url, tuple(names), Status(status)))

    @contextmanager
    def _explained(self, url: str) -> Iterator[None]:
        """Errors of the library as those of `Workers.call`."""
        try:
            yield
        except HarvestError:
            raise
        except self._library.scheduler.KilledWorker as error:
            raise WashCrash(f"washing {url} ended several workers of {self._address}: {error}", url=url) from error
        except (OSError, TimeoutError, RuntimeError, CancelledError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise ClusterError(
                f"the scheduler {self._address} cannot be used ({reason}); washing {url} is tried again later", url=url
            ) from error


class _Released:
    """Set once nobody wants the result of a task any more: the scheduler had the worker forget it."""

    def __init__(self, worker: Any, key: object) -> None:
        self._worker = worker
        self._key = key

    def is_set(self) -> bool:
        """Whether the task is to be given up."""
        task = self._worker.state.tasks.get(self._key)
        return task is None or task.state != "executing"


def _on_worker(remote: RemoteTask[T], name: str, url: str) -> WorkerAnswer[T]:
    """Do a task in a worker of Dask."""
    from distributed import get_worker

    worker = get_worker()

    def report(progress: Progress) -> None:
        worker.log_event(TOPIC, (name, progress.url, progress.names, progress.status.value))

    bounds = process.Bounds(remote.timeout_s, url, _Released(worker, worker.get_current_task()), report)
    return run(remote, bounds, Path(worker.local_directory))


def _workers(client: Any) -> int:
    return len(client.scheduler_info(n_workers=1)["workers"])
