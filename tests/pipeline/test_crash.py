"""SIGKILL at every step of the pipeline and inside the load: nothing lost or doubled, readers saw whole versions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyoxigraph
import pytest

from harvest.pipeline import STEPS
from sparql.store.generations import Generations
from tests.pipeline.conftest import Instance
from tests.pipeline.test_semantics import release
from tests.provider import ProviderServer

OLD = {f'<http://x/{i}> <http://p> "{i}"' for i in range(40)}
NEW = {f'<http://x/{i}> <http://p> "{i if i % 3 else -i}"' for i in range(60)}
REPOSITORY = Path(__file__).resolve().parents[2]


def published(instance: Instance) -> frozenset[str]:
    """The provider's graph in the current generation, as a reader sees it."""
    generations = Generations(instance.settings.data_dir / "store")
    current = generations.current()
    assert current is not None
    with generations.hold(current):
        store = pyoxigraph.Store.read_only(str(current.path))
        graph = pyoxigraph.NamedNode(instance.settings.graph("p"))
        quads = store.quads_for_pattern(None, None, None, graph)
        return frozenset(f"{q.subject} {q.predicate} {q.object}" for q in quads)


@contextmanager
def reading(instance: Instance) -> Iterator[set[frozenset[str]]]:
    """Read the current generation again and again in another thread; gives every graph that was seen."""
    seen: set[frozenset[str]] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                seen.add(published(instance))
            except FileNotFoundError:
                continue  # collected between looking and opening: a reader looks again

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
@pytest.mark.parametrize("step", [*STEPS, "load+"])
def test_a_harvester_killed_at_a_step_ends_where_it_would_have(
    step: str, partial: bool, instance: Instance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """After a restart and one more tick the graph is the new one, and `verify` holds for every filed byte."""
    registered("removals: mirror")
    release(provider, 1, *OLD)
    instance.tick("p")
    instance.close()
    release(provider, 2, *NEW, partial=partial)
    with reading(instance) as seen:
        killed = run_and_die(instance, step)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        instance.clock.forward(days=20)
        instance.tick("p")
    assert instance.graph("p") == NEW
    assert published(instance) == NEW
    assert seen <= {frozenset(OLD), frozenset(NEW)}
    versions = instance.desk.workshop.ledger.versions("p")
    assert [(v.n, v.state, v.triples) for v in versions] == [(1, "committed", 40), (2, "committed", 60)]
    assert instance.proven("p")
    assert not [run for run in instance.desk.workshop.ledger.runs("p") if run.ended is None]
    assert not list((instance.settings.data_dir / "content" / "incoming").iterdir())
    assert instance.tick("p") == []


def run_and_die(instance: Instance, step: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.pipeline.crash", str(instance.folder), step],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_harvester_killed_in_its_first_import_imports_it_again(
    instance: Instance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """There is no last version to fall back to: readers see an empty graph, then the whole one."""
    registered()
    release(provider, 1, *OLD)
    assert run_and_die(instance, "load+").returncode == -signal.SIGKILL
    with reading(instance) as seen:
        instance.clock.forward(days=20)
        instance.tick("p")
        assert instance.graph("p") == OLD
    assert seen <= {frozenset(), frozenset(OLD)}
    assert instance.proven("p")
