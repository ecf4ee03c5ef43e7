"""Threads by host: how much is done at once, whose turn it is, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future

import pytest

from harvest.pipeline.threads import HostThreads, ThreadBounds, host_of

WAIT_S = 240.0


class Work:
    """Things that go on until they are ended, and what began in which order."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._ends: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._made: list[HostThreads] = []

    def threads(self, bounds: ThreadBounds) -> HostThreads:
        made = HostThreads("test", bounds)
        self._made.append(made)
        return made

    def on(self, threads: HostThreads, host: str, owner: str, *, times: int = 1) -> list[Future[str]]:
        """Submit something so many times."""
        return [threads.submit(host, owner, lambda: self._do(f"{host} {owner}")) for _ in range(times)]

    def _do(self, name: str) -> str:
        with self._lock:
            self.begun.append(name)
            end = self._ends.setdefault(name, threading.Event())
        end.wait(2 * WAIT_S)
        return name

    def end(self, name: str) -> None:
        """Let everything of this name end."""
        with self._lock:
            end = self._ends.setdefault(name, threading.Event())
        end.set()

    def until(self, begun: list[str]) -> None:
        """Wait until these and no others have begun; of threads that begin side by side, any may be the first."""
        end = time.monotonic() + WAIT_S
        while sorted(self.begun) != sorted(begun):
            assert time.monotonic() < end, (self.begun, begun)
            time.sleep(0.002)

    def close(self) -> None:
        for name in (*self.begun, *list(self._ends)):
            self.end(name)
        for threads in self._made:
            threads.shutdown()


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work()
    yield made
    made.close()


def test_one_host_cannot_have_all_threads(work: Work) -> None:
    """Hundreds of descriptions of one slow host wait, and none of them holds a thread meanwhile."""
    threads = work.threads(ThreadBounds(4, 2, 10))
    work.on(threads, "slow", "a", times=300)
    work.on(threads, "quick", "b")
    work.until(["slow a", "slow a", "quick b"])
    assert sum(thread.name.startswith("test") for thread in threading.enumerate()) == 3


def test_one_owner_cannot_have_all_threads(work: Work) -> None:
    """On one host or on several."""
    threads = work.threads(ThreadBounds(4, 4, 1))
    for host in ("x", "y", "z"):
        work.on(threads, host, "a", times=3)
    work.on(threads, "x", "b")
    work.until(["x a", "x b"])


def test_hosts_and_owners_take_turns(work: Work) -> None:
    """Who has submitted much comes no more often than who has submitted little."""
    threads = work.threads(ThreadBounds(1, 1, 1))
    work.on(threads, "x", "a", times=4)
    work.on(threads, "x", "b")
    work.on(threads, "y", "c")
    for name in ("x a", "y c", "x b"):
        work.end(name)
    turns = ["x a", "x a", "y c", "x b", "x a", "x a"]
    work.until(turns)
    assert work.begun == turns


def test_what_takes_long_makes_room_for_others(work: Work) -> None:
    """Up to a bound, and without anybody asking for it."""
    threads = work.threads(ThreadBounds(1, 1, 1, long_s=0.1, most=2))
    for host in ("x", "y", "z"):
        work.on(threads, host, host)
    work.until(["x x", "y y"])
    time.sleep(0.4)
    assert sorted(work.begun) == ["x x", "y y"]
    work.end("y y")
    work.until(["x x", "y y", "z z"])


def test_results_and_errors_come_back(work: Work) -> None:
    """An error of one thing stops no other."""
    threads = work.threads(ThreadBounds(1, 1, 1))

    def fail() -> None:
        raise KeyError("x")

    failed = threads.submit("x", "a", fail)
    done = threads.submit("x", "a", lambda: 5)
    assert done.result(WAIT_S) == 5
    assert isinstance(failed.exception(WAIT_S), KeyError)


def test_threads_end_with_the_work() -> None:
    """Each has a connection to the ledger open, which it closes."""
    ended = threading.Semaphore(0)
    threads = HostThreads("test", ThreadBounds(3, 3, 3), ended.release)
    futures = [threads.submit("x", "a", lambda: None) for _ in range(20)]
    for future in futures:
        future.result(WAIT_S)
    assert ended.acquire(timeout=WAIT_S)
    threads.shutdown()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test")]


def test_what_was_not_begun_is_cancelled_at_the_end(work: Work) -> None:
    """What was begun is waited for; what comes later is not begun."""
    threads = work.threads(ThreadBounds(1, 1, 1))
    [running] = work.on(threads, "x", "a")
    [waiting] = work.on(threads, "x", "b")
    work.until(["x a"])
    threading.Timer(0.1, work.end, ["x a"]).start()
    threads.shutdown()
    assert running.result(0) == "x a"
    late = threads.submit("y", "c", lambda: None)
    for future in (waiting, late):
        with pytest.raises(CancelledError):
            future.result(0)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://X.example:80/a", "x.example"),
        ("http://[fe80::1%25eth0]/", "fe80::1%25eth0"),
        ("http://[bad/x", "http://[bad/x"),
        ("hash://sha256/ab", "sha256"),
        ("", ""),
    ],
)
def test_any_url_has_a_host_to_take_turns_by(url: str, host: str) -> None:
    """Also one that will be refused."""
    assert host_of(url) == host
