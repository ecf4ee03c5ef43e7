"""Work in a process of its own ends in time, whatever it does, and leaves no process behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyoxigraph
import pytest

from harvest.errors import HarvestError, StatusError, StoppedError, StorageError, WashCrash, WashError, WashTimeout
from harvest.model import Document
from harvest.wash.canonical import wash
from harvest.wash.process import MEMORY, Bounds, call, report
from tests.processes import is_running
from tests.wash.documents import document

URL = "http://example.org/dump.nt"
SOON_S = 240.0
"""Seconds in which what takes less than one has come to pass on a busy machine too."""

ROOT = Path(__file__).resolve().parents[2]


def until(condition: Callable[[], bool], timeout_s: float = SOON_S) -> bool:
    """Whether a condition comes true in that time."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def gone(file: Path) -> bool:
    """Whether every process whose number is in a file has ended, at once or soon."""
    pids = [int(pid) for pid in file.read_text().split()]
    assert len(pids) == 2
    return until(lambda: not any(map(is_running, pids)), SOON_S)


def add(a: int, b: int = 0) -> int:
    return a + b


def pid_and_group() -> tuple[int, int]:
    return os.getpid(), os.getpgid(0)


def with_a_child(file: Path) -> subprocess.Popen[bytes]:
    """Start a process that would live for a minute, and file its number and ours."""
    child = subprocess.Popen(["sleep", "60"])
    written = file.with_suffix(".tmp")
    written.write_text(f"{os.getpid()} {child.pid}")
    written.rename(file)
    return child


def sleep_with_a_child(file: Path) -> None:
    with_a_child(file)
    time.sleep(60)


def loop_with_a_child(file: Path) -> None:
    """Never come back from a library that holds the interpreter."""
    with_a_child(file)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    while True:
        pass


def abort_with_a_child(file: Path) -> None:
    with_a_child(file)
    os.abort()


def kill_with_a_child(file: Path) -> None:
    with_a_child(file)
    os.kill(os.getpid(), signal.SIGKILL)


def leave_with_a_child(file: Path) -> None:
    with_a_child(file)
    os._exit(3)


def imported(names: tuple[str, ...]) -> bool:
    return all(name in sys.modules for name in names)


def fail(error: Exception) -> None:
    raise error


def limits() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_AS)[0], resource.getrlimit(resource.RLIMIT_CORE)[0]


def take(count: int) -> int:
    return len(bytearray(count))


def explode(limit_bytes: int) -> None:
    """Have pyoxigraph expand nested entities, as it does before the text that refers to them comes."""
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))
    entities = b"".join(b'<!ENTITY a%d "%b">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 12))
    list(pyoxigraph.parse(b'<!DOCTYPE r [<!ENTITY a0 "lol">' + entities + b"]>", format=pyoxigraph.RdfFormat.RDF_XML))


def test_a_function_gives_its_value() -> None:
    """Arguments go in by place and by name."""
    assert call(add, Bounds(240, URL), 1, b=2) == 3


def test_it_runs_in_another_process_that_leads_its_group() -> None:
    """What the function starts can be ended with it, and Ctrl-C on a terminal does not reach it."""
    pid, group = call(pid_and_group, Bounds(240, URL))
    assert pid == group != os.getpid()
    assert until(lambda: not is_running(pid))


@pytest.mark.parametrize(
    "error",
    [
        WashError("not RDF", url=URL, line=3, column=4, excerpt="x"),
        StatusError("gone", url=URL, status=410),
        StorageError("full", url="/var"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_comes_back_with_all_its_values(error: HarvestError) -> None:
    """The finding on the provider's page needs line, column and excerpt."""
    with pytest.raises(type(error)) as caught:
        call(fail, Bounds(240, URL), error)
    assert type(caught.value) is type(error)
    assert vars(caught.value) == vars(error)
    assert str(caught.value) == str(error)


def test_an_error_of_the_system_is_trouble_of_storage() -> None:
    """The function reads and writes files; what the system says of them is not the provider's fault."""
    with pytest.raises(StorageError, match="No space left on device") as caught:
        call(fail, Bounds(240, URL), OSError(28, "No space left on device", "/var/x"))
    assert caught.value.url == "/var/x"


def test_a_fault_of_ours_is_an_error_too() -> None:
    """Nothing but errors of the tree comes out, so one provider never stops another."""
    with pytest.raises(WashError, match="exit status 1") as caught:
        call(fail, Bounds(240, URL), ZeroDivisionError("of ours"))
    assert caught.value.url == URL


@pytest.mark.parametrize("work", [sleep_with_a_child, loop_with_a_child], ids=["waiting", "looping"])
def test_work_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path, work: Callable[[Path], None]) -> None:
    """Sorting is a process of its own, and would go on for hours."""
    pids = tmp_path / "pids"
    for limit in (3, 12, 48):
        start = time.monotonic()
        with pytest.raises(WashTimeout, match=rf"took longer than {limit} s") as caught:
            call(work, Bounds(limit, URL), pids)
        assert time.monotonic() - start < SOON_S
        assert caught.value.url == URL
        if pids.exists():  # a busy machine may have ended it before it had begun
            break
    assert gone(pids)


@pytest.mark.parametrize(
    ("work", "status"),
    [(abort_with_a_child, -signal.SIGABRT), (kill_with_a_child, -signal.SIGKILL), (leave_with_a_child, 3)],
    ids=["abort", "kill", "exit"],
)
def test_a_crash_is_an_error_and_ends_what_was_started(
    tmp_path: Path, work: Callable[[Path], None], status: int
) -> None:
    """A fault of the parser, or the kernel for want of memory."""
    pids = tmp_path / "pids"
    with pytest.raises(WashError, match=rf"exit status {int(status)}\)") as caught:
        call(work, Bounds(240, URL), pids)
    assert type(caught.value) is WashCrash
    assert caught.value.url == URL
    assert gone(pids)


def test_it_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    """A harvester that is killed and started again must not find the old washing still writing beside the new."""
    pids = tmp_path / "pids"
    script = f"""
        from pathlib import Path
        from harvest.wash.process import Bounds, call
        from tests.wash.test_process import loop_with_a_child

        if __name__ == "__main__":
            call(loop_with_a_child, Bounds(240, "http://example.org/"), Path({str(pids)!r}))
    """
    (tmp_path / "asks.py").write_text(textwrap.dedent(script))
    harvester = subprocess.Popen(
        [sys.executable, tmp_path / "asks.py"], env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True
    )
    try:
        assert until(pids.exists, 240)
    finally:
        harvester.kill()
        harvester.wait()
    assert gone(pids)


def test_memory_and_core_files_are_limited() -> None:
    """One document must not take the machine's memory, nor leave its image on the disk."""
    assert call(limits, Bounds(240, URL)) == (MEMORY, 0)


def test_work_that_wants_more_memory_is_reported_as_such() -> None:
    """More than the limit is refused by the kernel at once, whatever the machine has."""
    assert call(take, Bounds(240, URL), 1 << 20) == 1 << 20
    with pytest.raises(WashTimeout, match=f"{URL} needs more than 4 GiB of memory"):
        call(take, Bounds(240, URL), MEMORY + 1)


def test_nested_entities_end_at_the_limit() -> None:
    """pyoxigraph has none of its own: 600 bytes become 300 GB. Here it may have 300 MB, for the test's sake."""
    with pytest.raises(WashError, match=f"exit status {-int(signal.SIGABRT)}"):
        call(explode, Bounds(240, URL), 300 << 20)


def test_nested_entities_in_a_dump_are_an_error_of_the_dump(tmp_path: Path) -> None:
    """The whole way, with the definitions so far from the text that pyoxigraph sees them before expat can count."""
    entities = b"".join(b'<!ENTITY a%d "%b">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 4))
    start = b'<!DOCTYPE r [<!ENTITY a0 "lol">' + entities + b"]>" + b" " * 600_000
    text = (
        b'<r xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/">' + b"&a3;" * 100_000
    )
    source = document(tmp_path, start + text, "a.rdf")
    done = call(wash, Bounds(240, URL), [source], "http://g/", tmp_path / "out", 1 << 26)
    ((part,),) = done.documents
    assert not part.whole
    assert any("amplification" in problem.message and problem.line == 1 for problem in part.problems)


def test_several_threads_may_ask_at_once() -> None:
    """Providers are harvested side by side."""
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(lambda n: call(add, Bounds(240, URL), n, n), range(12))) == [2 * n for n in range(12)]


def test_it_goes_on_when_the_process_that_forks_was_killed() -> None:
    """The kernel may choose it when memory is short; the next harvest must not fail for that."""
    parent = call(os.getppid, Bounds(240, URL))
    assert parent != os.getpid()
    os.kill(parent, signal.SIGKILL)
    assert until(lambda: not is_running(parent))
    assert call(add, Bounds(240, URL), 1) == 1


def test_what_work_needs_is_imported_beforehand() -> None:
    """A thousand descriptions are read in one tick: 8 ms each, and 120 ms if each process imports for itself."""
    assert call(imported, Bounds(240, URL), ("harvest.wash.canonical", "harvest.cli.main"))


def test_washing_passes_through(tmp_path: Path) -> None:
    """What washing takes and gives crosses between the processes."""
    path = tmp_path / "dump"
    path.write_bytes(b"<http://example.org/s> <http://example.org/p> <http://example.org/o> .\n")
    bounds, target = Bounds(240, URL), tmp_path / "snapshot.nq"
    done = call(wash, bounds, [Document(path, URL)], "http://example.org/g", target, 1 << 26)
    assert done.snapshot.triples == 1
    assert done.documents[0][0].format == "N-Triples"


def test_a_call_that_is_given_up_ends_at_once_with_its_process(tmp_path: Path) -> None:
    """A shutdown does not wait for a dump that takes hours."""
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(StoppedError, match="shutting down"):
        call(time.sleep, Bounds(240, URL, stop), 60)
    assert time.monotonic() - began < SOON_S
    timer.join()


def _counted(most: int) -> int:
    for number in range(most):
        report(number)
    return most


def test_what_is_reported_on_the_way_is_heard_in_order() -> None:
    """The states of a document are shown while it is washed, and the last one says where a crash happened."""
    heard: list[object] = []
    assert call(_counted, Bounds(240, URL, on_report=heard.append), 1000) == 1000
    assert heard == list(range(1000))


def test_reporting_outside_of_a_washing_process_is_no_error() -> None:
    """The same code runs in tests and tools without one."""
    assert _counted(3) == 3
