"""Measuring: wall times of what is compared, taken in turn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from bench.machine import others, usage

PATIENCE_S = 60.0
"""What takes longer than this is measured once: its spread is small beside its length."""


@dataclass(slots=True)
class Sample:
    """
    One measured run.

    Attributes:
        seconds: Wall time.
        steps: Seconds of its parts, by name, where they are known.
        others: Share of the cores that other processes used meanwhile, from 0 to 1.
    """

    seconds: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    others: float = 0.0


@dataclass(slots=True)
class Series:
    """The runs of one thing that is measured."""

    samples: list[Sample] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The median of the wall times."""
        return median(sample.seconds for sample in self.samples)

    @property
    def others(self) -> float:
        """Share of the cores that other processes used in the run that they hindered most."""
        return max(sample.others for sample in self.samples)

    @property
    def shares(self) -> dict[str, float]:
        """Each step's share of the time of all runs, the largest first."""
        total = sum(sample.seconds for sample in self.samples)
        sums: dict[str, float] = {}
        for sample in self.samples:
            for name, seconds in sample.steps.items():
                sums[name] = sums.get(name, 0.0) + seconds
        shares = {name: seconds / total for name, seconds in sums.items()}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


@contextmanager
def clocked() -> Iterator[Sample]:
    """A sample whose seconds are those of the block. What earlier runs left unwritten is written first."""
    os.sync()
    sample = Sample()
    before, began = usage(), time.monotonic()
    yield sample
    sample.seconds = time.monotonic() - began
    sample.others = others(before, usage())


def interleaved(contestants: Mapping[str, Callable[[], Sample]], runs: int) -> dict[str, Series]:
    """Run everything in turn, `runs` times, so that a busy hour of the machine befalls all alike."""
    series = {name: Series() for name in contestants}
    for _ in range(runs):
        for name, run in contestants.items():
            if not any(sample.seconds > PATIENCE_S for sample in series[name].samples):
                series[name].samples.append(run())
    return series
