"""Washing on this machine, and what every kind of workers can be asked."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from harvest.pipeline.workers.task import Task
from harvest.wash import process

T = TypeVar("T")


class Workers(Protocol):
    """Those who wash documents; safe to use from several threads."""

    def call(self, task: Task[T], bounds: process.Bounds, room: Path) -> T:
        """
        What a task gives, its snapshots in `room`.

        Raises:
            WashTimeout: It went past its limit of time or memory.
            WashCrash: Its process died.
            StoppedError: `bounds.stop` was set meanwhile.
            ClusterError: There is nobody who could do it now.
            HarvestError: What its function raises.
        """

    def width(self, bounds: process.Bounds) -> int:
        """
        How many tasks they do at once.

        Raises:
            ClusterError: It cannot be asked now.
        """

    def close(self) -> None:
        """Let go of the workers; what they still do is given up."""


class LocalWorkers:
    """Processes of this machine, one for each call."""

    def call(self, task: Task[T], bounds: process.Bounds, room: Path) -> T:
        """As `Workers` has it."""
        return process.call(task.function, bounds, task.documents, replace(task.terms, scratch=room))

    def width(self, bounds: process.Bounds) -> int:
        """Half of the processors: one task has a parser and a sorter, each of which takes one."""
        return max(1, len(os.sched_getaffinity(0)) // 2)

    def close(self) -> None:
        """Nothing is left between two calls."""
