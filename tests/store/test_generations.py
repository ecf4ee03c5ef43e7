"""Generations, with readers in processes of their own that end as they should or are killed."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyoxigraph
import pytest

from sparql.errors import StoreError
from sparql.store.embedded import EmbeddedStore
from sparql.store.generations import Generation, Generations
from tests.store.graphs import change, many

ROOT = Path(__file__).resolve().parents[2]
GRAPH = "http://example.org/graph/generations"
Reader = subprocess.Popen[bytes]

HOLD = """
import sys
from pathlib import Path
import pyoxigraph
from sparql.store.generations import Generations
generations = Generations(Path(sys.argv[1]))
with generations.hold(generations.current()) as lease:
    store = pyoxigraph.Store.read_only(str(lease.generation.path))
    print(lease.generation.number, flush=True)
    sys.stdin.read()
    print(len(store), flush=True)
"""

PUBLISH = """
import sys
from pathlib import Path
from sparql.store.embedded import EmbeddedStore
from sparql.store.generations import Generations
root = Path(sys.argv[1])
store = EmbeddedStore(root)
generations = Generations(root, keep=1)
generations.recover()
while True:
    print(generations.publish(store).number, flush=True)
    generations.collect()
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = EmbeddedStore(tmp_path)
    store.apply(GRAPH, change(tmp_path / "change", set(), set(many(GRAPH, 8))))
    yield store
    store.close()


@pytest.fixture
def generations(tmp_path: Path) -> Generations:
    return Generations(tmp_path, keep=2)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Callable[[], Reader]]:
    """Start processes that hold the current generation until their input ends."""
    started: list[Reader] = []

    def start() -> Reader:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def number(process: Reader) -> int:
    """The number a child printed."""
    assert process.stdout is not None
    return int(process.stdout.readline())


def test_there_is_no_current_generation_before_the_first(tmp_path: Path) -> None:
    """A web process may start before the writer ever published, and must write nothing."""
    generations = Generations(tmp_path / "nothing")
    assert generations.current() is None
    assert generations.collect() == []
    assert not (tmp_path / "nothing").exists()


def test_publishing_numbers_generations_and_switches_current(
    store: EmbeddedStore, generations: Generations, tmp_path: Path
) -> None:
    """Numbers rise by one, and `current` is a relative link, so the data directory can be moved."""
    assert generations.publish(store) == Generation(1, tmp_path / "generations" / "000001")
    second = generations.publish(store)
    assert generations.current() == second == Generation(2, tmp_path / "generations" / "000002")
    assert os.readlink(tmp_path / "current") == "generations/000002"
    assert len(pyoxigraph.Store.read_only(str(second.path))) == 8


def test_a_link_to_no_generation_is_none(store: EmbeddedStore, generations: Generations, tmp_path: Path) -> None:
    """Neither to one that is gone nor to anything else."""
    generations.publish(store)
    for target in ("generations/000009", "generations", "generations/1"):
        (tmp_path / "current").unlink()
        (tmp_path / "current").symlink_to(target)
        assert generations.current() is None


def test_a_generation_stays_as_it_was_published(store: EmbeddedStore, generations: Generations, tmp_path: Path) -> None:
    """A reader sees the whole old version while the new one is written and published."""
    first = generations.publish(store)
    opened = pyoxigraph.Store.read_only(str(first.path))
    store.drop(GRAPH)
    second = generations.publish(store)
    assert (len(opened), len(pyoxigraph.Store.read_only(str(second.path)))) == (8, 0)


def test_a_copy_that_fails_leaves_the_current_generation(generations: Generations, store: EmbeddedStore) -> None:
    """A full disk while publishing is reported, and readers keep what they have."""

    class Full:
        def publish(self, target: Path) -> None:
            target.mkdir()
            raise OSError(28, "No space left on device")

    first = generations.publish(store)
    with pytest.raises(StoreError, match="No space left"):
        generations.publish(Full())
    assert generations.current() == first
    assert generations.publish(store).number == 2


def test_the_newest_and_the_current_are_kept(store: EmbeddedStore, generations: Generations, tmp_path: Path) -> None:
    """`keep` counts from the newest; an older current one stays too."""
    made = [generations.publish(store) for _ in range(5)]
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("generations/000002")
    assert generations.collect() == [1, 3]
    assert [generation.path.is_dir() for generation in made] == [False, True, False, True, True]
    assert generations.collect() == []


def test_a_generation_that_a_process_reads_is_kept_until_it_ends(
    store: EmbeddedStore, generations: Generations, reader: Callable[[], Reader]
) -> None:
    """A query that runs over many publications finishes on the version it began with."""
    first = generations.publish(store)
    process = reader()
    assert number(process) == 1
    store.drop(GRAPH)
    for _ in range(3):
        generations.publish(store)
    assert generations.collect() == [2]
    assert first.path.is_dir()
    found, _ = process.communicate(b"")
    assert int(found) == 8
    assert generations.collect() == [1]


def test_a_reader_that_was_killed_holds_nothing_back(
    store: EmbeddedStore, generations: Generations, reader: Callable[[], Reader]
) -> None:
    """The kernel ends the lease of a process that got SIGKILL; one of two readers still counts."""
    generations.publish(store)
    killed, living = reader(), reader()
    assert (number(killed), number(living)) == (1, 1)
    for _ in range(2):
        generations.publish(store)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert generations.collect() == []
    living.send_signal(signal.SIGKILL)
    living.wait()
    assert generations.collect() == [1]


def test_holding_what_was_collected_is_refused(store: EmbeddedStore, generations: Generations) -> None:
    """A reader that was slow between `current` and `hold` looks again."""
    first = generations.publish(store)
    for _ in range(2):
        generations.publish(store)
    generations.collect()
    with pytest.raises(FileNotFoundError):
        generations.hold(first)


def test_the_current_generation_is_held_though_one_is_collected_meanwhile(
    store: EmbeddedStore, generations: Generations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking it up and holding it another one may be published; only a generation without its lock is lost."""
    assert generations.hold_current() is None
    old = generations.publish(store)
    new = [generations.publish(store) for _ in range(2)][-1]
    generations.collect()
    seen = iter((old, old, new))
    with monkeypatch.context() as patched:
        patched.setattr(generations, "current", lambda: next(seen))
        lease = generations.hold_current()
    assert lease is not None
    with lease:
        assert lease.generation == new
    new.path.with_suffix(".lock").unlink()
    with pytest.raises(StoreError, match="its lock file is missing"):
        generations.hold_current()


def test_a_reader_that_waits_for_a_collector_learns_that_the_generation_is_gone(
    store: EmbeddedStore, generations: Generations
) -> None:
    """Whoever opened the lock file before its removal gets a lock that guards nothing, and no lease."""
    first = generations.publish(store)
    lock = first.path.with_suffix(".lock")
    collector = os.open(lock, os.O_RDWR)
    fcntl.flock(collector, fcntl.LOCK_EX)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(generations.hold, first)
        with pytest.raises(TimeoutError):
            held.result(0.1)
        lock.unlink()
        os.close(collector)
        with pytest.raises(FileNotFoundError, match="was collected"):
            held.result(10)


def test_a_lease_can_be_released_twice(store: EmbeddedStore, generations: Generations) -> None:
    """`with` and an explicit release may both happen."""
    first = generations.publish(store)
    with generations.hold(first) as lease:
        assert lease.generation == first
        lease.release()
    lease.release()


def test_recovery_removes_what_a_crash_left(store: EmbeddedStore, generations: Generations, tmp_path: Path) -> None:
    """Half-made and half-removed generations and locks of nothing go; whole generations stay."""
    first = generations.publish(store)
    (first.path.with_name("000002.tmp")).mkdir()
    (first.path.with_name("000002.tmp") / "CURRENT").touch()
    (first.path.with_name("000002.lock")).touch()
    generations.recover()
    assert sorted(path.name for path in first.path.parent.iterdir()) == ["000001", "000001.lock", "000001.sha256"]
    assert generations.current() == first


@pytest.mark.parametrize("target", [None, "generations/000009", "elsewhere"])
def test_recovery_points_current_to_the_newest_whole_generation(
    store: EmbeddedStore, generations: Generations, tmp_path: Path, target: str | None
) -> None:
    """A crash between the rename and the switch, or a link that points nowhere, leaves no instance without data."""
    generations.publish(store)
    second = generations.publish(store)
    (tmp_path / "current").unlink()
    if target is not None:
        (tmp_path / "current").symlink_to(target)
        assert generations.current() is None
    generations.recover()
    assert generations.current() == second


def test_recovery_without_any_generation_removes_the_link(tmp_path: Path) -> None:
    """Somebody removed the generations by hand: there is none, and no link that says otherwise."""
    (tmp_path / "current").symlink_to("generations/000001")
    Generations(tmp_path).recover()
    assert not (tmp_path / "current").is_symlink()
    (tmp_path / "generations").mkdir()
    (tmp_path / "current").symlink_to("generations/000001")
    Generations(tmp_path).recover()
    assert not (tmp_path / "current").is_symlink()


def test_a_writer_killed_while_it_publishes_leaves_a_whole_current_generation(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    """SIGKILL at moments all over publication and collection: what `current` names always opens whole."""
    store.close()
    last = 0
    for delay_s in (0.0, 0.003, 0.007, 0.012, 0.02):
        writer = subprocess.Popen(
            [sys.executable, "-c", PUBLISH, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert writer.stdout is not None
        with writer:
            assert int(writer.stdout.readline()) > last
            time.sleep(delay_s)  # the moment of death, not a wait for anything
            writer.kill()
            last = max([last, *(int(line) for line in writer.stdout.read().splitlines())])
        current = Generations(tmp_path).current()
        assert current is not None and current.number >= last
        assert len(pyoxigraph.Store.read_only(str(current.path))) == 8
