"""The harvester that is measured: an instance in a folder, opened in this process as `harvest serve` opens it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from bench.errors import BenchError, Disagreement
from bench.measure import Sample, clocked
from harvest.config.engine import EngineSettings
from harvest.config.settings import HttpSettings, Settings
from harvest.model import Outcome
from harvest.pipeline import Harvester, now_utc, opened
from harvest.wash import process


def settings_in(folder: Path) -> Settings:
    """The settings of an instance that keeps everything in `folder`, and has defaults otherwise."""
    return Settings(
        base_url="http://bench.example",
        graph_base="http://bench.example/graph/",
        registry=folder / "registry.yaml",
        data_dir=folder / "var",
        exports_dir=folder / "exports",
        http=HttpSettings(allow_loopback=True, retries=0),
    )


@dataclass(slots=True)
class Instance:
    """
    An opened instance.

    Attributes:
        settings: Its settings.
        harvester: What is asked.
        began: Name and start of each step of the pipeline so far, in seconds of a monotonic clock.
    """

    settings: Settings
    harvester: Harvester
    began: list[tuple[str, float]] = field(default_factory=list)

    def harvest(self, name: str, expected: Outcome = Outcome.COMMITTED) -> Sample:
        """
        Look at a provider and harvest what it announced; the time ends when the new generation is published.

        Raises:
            Disagreement: It ended otherwise than expected.
        """
        self.began.clear()
        with clocked() as sample:
            look = self.harvester.look(name)
            results = [] if look.failed else self.harvester.work(name)
        if [result.outcome for result in results] != [expected]:
            said = look.failed or next((result.finding for result in results if result.finding), None)
            raise Disagreement(f"harvesting {name} did not end {expected}: {said.message if said else results}")
        ended = [*self.began, ("", time.monotonic())]
        for (step, start), (_, end) in pairwise(ended):
            sample.steps[step] = sample.steps.get(step, 0.0) + end - start
        return sample

    def count(self, name: str) -> int:
        """How many triples the provider's graph has in the store."""
        return self.harvester.instance.store.count(self.settings.graph(name))


@contextmanager
def instance(
    folder: Path,
    providers: dict[str, str],
    clock: Callable[[], datetime] = now_utc,
    store: EngineSettings | None = None,
) -> Iterator[Instance]:
    """
    An instance in `folder` with providers, each registered by the URL of its VoID file; closed with the block.

    Args:
        folder: Made where it is not there.
        providers: URLs by name.
        clock: The time now (aware, UTC).
        store: The engine that is its store; None for the embedded one.
    """
    settings = replace(settings_in(folder), store=store)
    folder.mkdir(parents=True, exist_ok=True)
    settings.registry.write_text("".join(f"{name}:\n  void: {url}\n" for name, url in providers.items()))
    # A running instance has the process that washing processes are forked from; here the first run would start it.
    if process.call(len, process.Bounds(60, "warm-up"), "ready") != 5:
        raise BenchError("the washing process does not answer")
    began: list[tuple[str, float]] = []
    with opened(settings, clock, on_step=lambda _, step: began.append((step, time.monotonic()))) as instance:
        yield Instance(settings, Harvester(instance), began)
