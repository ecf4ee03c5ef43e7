"""Washing on this machine, and what every kind of workers can be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from harvest.model import Part
from harvest.pipeline.workers.task import Task
from harvest.wash import process
from harvest.wash.canonical import Washed

T = TypeVar("T", Washed, tuple[Part, ...])


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

    def close(self) -> None:
        """Let go of the workers; what they still do is given up."""


class LocalWorkers:
    """Processes of this machine, one for each call."""

    def call(self, task: Task[T], bounds: process.Bounds, room: Path) -> T:
        """As `Workers` has it."""
        return process.call(task.function, bounds, task.documents, replace(task.terms, scratch=room))

    def close(self) -> None:
        """Nothing is left between two calls."""
