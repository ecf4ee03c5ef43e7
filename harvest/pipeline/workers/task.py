"""Washing as a value: what is to be done, and what came of it, with files named by their SHA-256."""

from __future__ import annotations

import multiprocessing
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Generic, TypeVar, cast

from harvest.archive.content import ContentStore
from harvest.errors import HarvestError, StorageError, bare
from harvest.model import Document
from harvest.pipeline.workers.exchange import FileExchange, files_of, found, named
from harvest.wash import process
from harvest.wash.leaves import Progress, Terms
from harvest.wash.tasks import moved

T = TypeVar("T")

EVERY_S: Final = 1.0
"""Seconds between two reports of a worker about one document."""

Function = Callable[[tuple[Document, ...], Terms], T]
"""A function of `harvest.wash.tasks`, its further arguments given; its files are in the scratch folder of the terms."""


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """
    Washing that is to be done.

    Attributes:
        function: What is done.
        documents: With what; on the way to a worker `path` and contexts are the SHA-256 of their bytes.
        terms: On what terms; its scratch folder is that of whoever does it.
    """

    function: Function[T]
    documents: tuple[Document, ...]
    terms: Terms


@dataclass(frozen=True, slots=True)
class RemoteTask(Generic[T]):
    """
    A task as a worker gets it.

    Attributes:
        task: What is to be done.
        timeout_s: Seconds that it may take there.
        exchange: Where documents are found, and what it gives is left.
    """

    task: Task[T]
    timeout_s: float
    exchange: FileExchange


@dataclass(frozen=True, slots=True)
class WorkerAnswer(Generic[T]):
    """
    What a worker answers.

    Attributes:
        value: What the function returned, the path of each snapshot being its digest; None where it failed.
        error: Why it failed.
        progress: How far it was at last.
    """

    value: T | None
    error: HarvestError | None = None
    progress: Progress | None = None


@dataclass(slots=True)
class _Reports:
    """What the washing process reports, passed on once in a while; the last one is kept."""

    pass_on: Callable[[Progress], None]
    last: Progress | None = None
    passed_at: float = field(default_factory=time.monotonic)

    def hear(self, progress: Progress) -> None:
        self.last, now = progress, time.monotonic()
        if now - self.passed_at >= EVERY_S:
            self.passed_at = now
            self.pass_on(progress)


def run(remote: RemoteTask[T], bounds: process.Bounds, folder: Path | None) -> WorkerAnswer[T]:
    """
    Do what a worker was sent, in a process with the limits of any washing; whatever goes wrong is in the answer.

    Args:
        remote: What is to be done.
        bounds: What ends it; hears how far it is.
        folder: Where temporary files go; None: where those of the system are.
    """
    # A worker of Dask is a daemonic process to the one that watches it, and such a process may start none itself.
    multiprocessing.current_process().daemon = False
    reports = _Reports(bounds.on_report)
    try:
        with TemporaryDirectory(prefix="harvest-wash-", dir=folder) as room:
            task, content = remote.task, remote.exchange.archive(Path(room))
            documents = tuple(found(each, content) for each in task.documents)
            guarded = replace(bounds, on_report=reports.hear)
            value = process.call(task.function, guarded, documents, replace(task.terms, scratch=Path(room)))
            return WorkerAnswer(moved(value, remote.exchange.put), progress=reports.last)
    except HarvestError as error:
        return WorkerAnswer(None, bare(error), reports.last)
    except OSError as error:
        message = f"a worker on {socket.gethostname()} cannot read or write what it shares: {error}"
        return WorkerAnswer(None, StorageError(message, url=error.filename), reports.last)


def portable(task: Task[T], content: ContentStore) -> Task[T] | None:
    """The task with its files named by digest; None where some are not filed, so that no worker could find them."""
    if any(content.root not in path.parents for document in task.documents for path in files_of(document)):
        return None
    return replace(task, documents=tuple(map(named, task.documents)))


def placed(answer: WorkerAnswer[T], exchange: FileExchange) -> T:
    """
    What a worker's function returned, with its snapshots where they are here.

    Raises:
        HarvestError: What it raised there.
    """
    if answer.error is not None:
        raise answer.error
    return cast(T, moved(cast(Any, answer.value), exchange.take))
