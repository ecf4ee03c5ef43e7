"""SIGKILL at every step of the pipeline and inside the load: nothing lost or doubled, readers saw whole versions."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyoxigraph
import pytest

from harvest.pipeline import STEPS
from sparql.store.generations import Generations
from tests.pipeline import crash
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import release
from tests.provider import ProviderServer
from tests.selection import mostly_long

OLD = {f'<http://x/{i}> <http://p> "{i}"' for i in range(40)}
NEW = {f'<http://x/{i}> <http://p> "{i if i % 3 else -i}"' for i in range(60)}


def published(instance: TemporaryInstance, name: str = "p") -> frozenset[str]:
    """A provider's graph in the current generation, as a reader sees it."""
    generations = Generations(instance.settings.data_dir / "store")
    current = generations.current()
    assert current is not None
    with generations.hold(current):
        store = pyoxigraph.Store.read_only(str(current.path))
        graph = pyoxigraph.NamedNode(instance.settings.graph(name))
        quads = store.quads_for_pattern(None, None, None, graph)
        return frozenset(f"{q.subject} {q.predicate} {q.object}" for q in quads)


@contextmanager
def reading(instance: TemporaryInstance) -> Iterator[set[frozenset[str]]]:
    """Read the current generation again and again in another thread; gives every graph that was seen."""
    seen: set[frozenset[str]] = set()
    stop = threading.Event()

    def read() -> None:
        # Opening a store is work: without a pause the reader takes a core from what it watches.
        while not stop.wait(0.02):
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
@pytest.mark.parametrize("step", mostly_long([*STEPS, "load+"], ("fetch", "wash", "file-version", "load+", "publish")))
def test_a_harvester_killed_at_a_step_ends_where_it_would_have(
    step: str, partial: bool, instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """After a restart and one more tick the graph is the new one, and `verify` holds for every filed byte."""
    registered("removals: mirror")
    release(provider, 1, *OLD)
    instance.tick("p")
    instance.close()
    release(provider, 2, *NEW, partial=partial)
    with reading(instance) as seen:
        assert run_and_die(instance, step) == -signal.SIGKILL
        instance.clock.forward(days=20)
        instance.tick("p")
    assert instance.graph("p") == NEW
    assert published(instance) == NEW
    assert seen <= {frozenset(OLD), frozenset(NEW)}
    versions = instance.harvester.instance.ledger.versions("p")
    assert [(v.n, v.state, v.triples) for v in versions] == [(1, "committed", 40), (2, "committed", 60)]
    assert instance.proven("p")
    assert not [run for run in instance.harvester.instance.ledger.runs("p") if run.ended is None]
    assert not list((instance.settings.data_dir / "content" / "incoming").iterdir())
    assert instance.tick("p") == []


def run_and_die(instance: TemporaryInstance, step: str) -> int | None:
    """The exit code of a harvester that dies at a step; the fork server starts it, which has imported all it needs."""
    harvester = multiprocessing.get_context("forkserver").Process(target=crash.main, args=(instance.folder, step))
    harvester.start()
    try:
        harvester.join(240)
        return harvester.exitcode
    finally:
        harvester.kill()


def test_a_harvester_killed_in_its_first_import_imports_it_again(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """There is no last version to fall back to: readers see an empty graph, then the whole one."""
    registered()
    release(provider, 1, *OLD)
    assert run_and_die(instance, "load+") == -signal.SIGKILL
    with reading(instance) as seen:
        instance.clock.forward(days=20)
        instance.tick("p")
        assert instance.graph("p") == OLD
    assert seen <= {frozenset(), frozenset(OLD)}
    assert instance.proven("p")
