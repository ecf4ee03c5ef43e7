"""
A function in a process of its own, with an end.

Washing runs here because no limit can be put on a parser inside a thread: a document that makes it loop or eat
memory ends this process and nothing else. It ends with the process that asked for it, too.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Final, ParamSpec, Protocol, TypeVar, cast

from harvest.errors import HarvestError, StoppedError, StorageError, WashCrash, WashTimeout, bare

P = ParamSpec("P")
T = TypeVar("T")

MEMORY: Final = 4 << 30
"""
Bytes of address space that the process, and each one it starts, may have.

Washing stays far below. The limit is for documents made to explode: nested XML entities of 700 bytes are 12 GB of text,
which pyoxigraph expands before it parses.
"""

STOP_S: Final = 0.2
"""Seconds after which a call notices that it is to be given up."""

# forkserver: fork is unsafe beside threads, spawn costs 0.2 s of imports each time. Each process runs the main script
# again, and where that is the `harvest` command its imports would take 0.1 s each time.
_CONTEXT = multiprocessing.get_context("forkserver")
_PRELOADED: Final = ("harvest.wash.canonical", "harvest.cli.main")
_PRELOADED_WHERE_USED: Final = (
    "harvest.discover.void",
    "harvest.discover.sitemap",
    "harvest.pipeline",
    "dask.__main__",
)
"""
Modules whose functions are called, and which the fork server has if the caller has them when it starts.

A process that imports `harvest.pipeline` itself, as one for an update, takes 0.4 s for it, and 0.3 s for the script of
a Dask worker, which each process that this starts imports again.
"""


_send_report: Callable[[object], None] | None = None
"""Where `report` sends in a process of this module; None elsewhere."""


def _ignored(value: object) -> None:
    """Nobody listens."""


def report(value: object) -> None:
    """Send something to the caller of this process; outside of such a process it is lost."""
    if _send_report is not None:
        _send_report(value)


class Stop(Protocol):
    """Whether something is to be given up; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether it is."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    What ends a call.

    Attributes:
        timeout_s: Seconds it may take.
        url: What it works on, for messages.
        stop: Set to give it up.
        on_report: Called with what the function reports on its way, in the thread that called.
    """

    timeout_s: float
    url: str
    stop: Stop = field(default_factory=threading.Event)
    on_report: Callable[[Any], None] = _ignored


def call(function: Callable[P, T], bounds: Bounds, *args: P.args, **kwargs: P.kwargs) -> T:
    """
    What `function(*args, **kwargs)` returns, computed in another process that is killed at its bounds.

    Raises:
        WashTimeout: It took longer, or wanted more than `MEMORY`.
        StoppedError: `bounds.stop` was set meanwhile.
        WashCrash: The process died without an answer (a crash of the parser, also when it is out of memory).
        HarvestError: Whatever the function raised.
    """
    _CONTEXT.set_forkserver_preload([*_PRELOADED, *(name for name in _PRELOADED_WHERE_USED if name in sys.modules)])
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_run, args=(theirs, bounds.url, function, args, kwargs), daemon=True)
    process.start()
    theirs.close()
    try:
        return cast(T, _await(ours, process, bounds))
    finally:
        _end(process)
        ours.close()


def _await(connection: Connection, process: multiprocessing.context.ForkServerProcess, bounds: Bounds) -> object:
    """The answer, or why there is none; what is reported before is passed on."""
    end = time.monotonic() + bounds.timeout_s
    while True:
        while not connection.poll(min(STOP_S, max(0.0, end - time.monotonic()))):
            _check(bounds, end)
        what, value = _received(connection, process, bounds.url)
        if what == "report":
            bounds.on_report(value)
            _check(bounds, end)
        elif what == "failed":
            raise cast(HarvestError, value)
        else:
            return value


def _check(bounds: Bounds, end: float) -> None:
    """Raise what ends a call that is to be given up."""
    if bounds.stop.is_set():
        raise StoppedError(f"washing {bounds.url} was given up: the instance is shutting down", url=bounds.url)
    if time.monotonic() >= end:
        raise WashTimeout(
            f"washing {bounds.url} took longer than {bounds.timeout_s:g} s (setting wash.timeout_s) and was ended",
            url=bounds.url,
        )


def _received(
    connection: Connection, process: multiprocessing.context.ForkServerProcess, url: str
) -> tuple[str, object]:
    try:
        return cast(tuple[str, object], connection.recv())
    except (EOFError, OSError):  # OSError where it died within its answer
        process.join(10)
        raise WashCrash(
            f"washing {url} ended its process (exit status {process.exitcode}): out of memory, or a fault of the "
            "parser",
            url=url,
        ) from None


def _end(process: multiprocessing.context.ForkServerProcess) -> None:
    """Kill the process and all it started, which share its process group, unless it came to a good end."""
    if process.pid is not None and (process.is_alive() or process.exitcode != 0):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
    process.join()


def _run(
    connection: Connection,
    url: str,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> None:
    global _send_report  # one process, one call
    os.setpgid(0, 0)
    _end_with_parent()
    _limit()

    def send(value: object) -> None:
        connection.send(("report", value))

    _send_report = send
    try:
        connection.send(("done", function(*args, **kwargs)))
    except HarvestError as error:
        connection.send(("failed", bare(error)))
    except OSError as error:
        connection.send(("failed", StorageError(f"washing could not write: {error}", url=error.filename)))
    except MemoryError:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        message = f"washing {url} needs more than {limit / (1 << 30):.3g} GiB of memory and was ended"
        connection.send(("failed", WashTimeout(message, url=url)))


def _end_with_parent() -> None:
    """
    Have the kernel kill this process group once the process that asked is gone.

    Its end of a pipe closes then, and the reader of the pipe gets a signal. PR_SET_PDEATHSIG would not do: the parent
    of this process is the fork server, and that lives as long as any of its children.

    Source: fcntl(2), "Managing signals".
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([parent.sentinel], 0):
        os._exit(1)


def _limit() -> None:
    """Limit the memory, and have a crash leave no core file."""
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
