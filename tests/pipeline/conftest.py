"""An instance in a temporary folder, with a clock that the test turns, and a provider beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harvest.config.engine import EngineSettings
from harvest.config.settings import GuardSettings, HttpSettings, Settings
from harvest.model import Outcome
from harvest.pipeline import Harvester, HarvestResult, opened
from tests.provider import ProviderServer, serving


class Clock:
    """The time, which stands until a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **delta: float) -> None:
        self.now += timedelta(**delta)


def _engine(folder: Path) -> EngineSettings | None:
    """The engine whose addresses a test wrote to `engine`, also for a harvester in another process."""
    try:
        lines = (folder / "engine").read_text().splitlines()
    except FileNotFoundError:
        return None
    return EngineSettings(*lines)


class TemporaryInstance:
    """An instance that can be closed and opened again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.steps: list[tuple[str, str]] = []
        self.at_step: Callable[[str, str], None] = lambda name, step: None
        self.settings = Settings(
            base_url="http://h.example",
            graph_base="http://h.example/graph/",
            registry=folder / "registry.yaml",
            data_dir=folder / "var",
            exports_dir=folder / "exports",
            http=HttpSettings(allow_loopback=True, retries=0),
            store=_engine(folder),
        )
        self._stack = ExitStack()
        self._harvester: Harvester | None = None

    @property
    def harvester(self) -> Harvester:
        if self._harvester is None:
            running = opened(self.settings, self.clock, self._step)
            self._harvester = Harvester(self._stack.enter_context(running))
        return self._harvester

    def _step(self, name: str, step: str) -> None:
        self.steps.append((name, step))
        self.at_step(name, step)

    def close(self) -> None:
        self._harvester = None
        self._stack.close()

    def guard(self, floor: int, share: float) -> None:
        self.settings = replace(self.settings, guard=GuardSettings(floor, share))

    def register(self, text: str) -> None:
        self.settings.registry.write_text(text)
        if self._harvester is not None:
            self._harvester.instance.roster.refresh()

    def tick(self, name: str, *, forced: bool = False) -> list[HarvestResult]:
        """Look at a provider and work off what was announced."""
        look = self.harvester.look(name, forced=forced)
        if look.failed:
            return [HarvestResult(name, Outcome.FAILED, look.failed)]
        return self.harvester.work(name)

    def graph(self, name: str) -> set[str]:
        """The provider's graph in the working store, as lines without the graph."""
        graph = self.settings.graph(name)
        ending = f" <{graph}> .\n"
        return {line.decode().removesuffix(ending) for line in self.harvester.instance.store.dump(graph)}

    def proven(self, name: str) -> bool:
        """Whether `verify` holds; the export is brought up to date first."""
        self.harvester.export()
        proofs = self.harvester.prove(name)
        assert {proof.what for proof in proofs} == {"content", "changes", "snapshot", "store", "export", "feed"}
        return all(proof.holds for proof in proofs)


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[TemporaryInstance]:
    made = TemporaryInstance(tmp_path)
    yield made
    made.close()


@pytest.fixture
def registered(instance: TemporaryInstance, provider: ProviderServer) -> Callable[..., None]:
    """Registers a provider `p` by VoID at /void.ttl, with further keys."""

    def register(*keys: str) -> None:
        extra = "".join(f"  {key}\n" for key in keys)
        instance.register(f"p:\n  void: {provider.url}/void.ttl\n{extra}")

    return register
