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
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Final, ParamSpec, TypeVar, cast

from harvest.errors import HarvestError, StoppedError, StorageError, WashError, WashTimeout

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
_CONTEXT.set_forkserver_preload(["harvest.wash.canonical", "harvest.cli"])


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    What ends a call.

    Attributes:
        timeout_s: Seconds it may take.
        url: What it works on, for messages.
        stop: Set by another thread to give it up.
    """

    timeout_s: float
    url: str
    stop: threading.Event = field(default_factory=threading.Event)


def call(function: Callable[P, T], bounds: Bounds, *args: P.args, **kwargs: P.kwargs) -> T:
    """
    What `function(*args, **kwargs)` returns, computed in another process that is killed at its bounds.

    Raises:
        WashTimeout: It took longer, or wanted more than `MEMORY`.
        StoppedError: `bounds.stop` was set meanwhile.
        WashError: The process died without an answer (a crash of the parser, also when it is out of memory).
        HarvestError: Whatever the function raised.
    """
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_run, args=(theirs, bounds.url, function, args, kwargs), daemon=True)
    process.start()
    theirs.close()
    try:
        _await(ours, bounds)
        return cast(T, _answer(ours, process, bounds.url))
    finally:
        _end(process)
        ours.close()


def _await(connection: Connection, bounds: Bounds) -> None:
    """Return when there is an answer, or when there will be none because the process is gone."""
    end = time.monotonic() + bounds.timeout_s
    while not connection.poll(min(STOP_S, max(0.0, end - time.monotonic()))):
        if bounds.stop.is_set():
            raise StoppedError(f"washing {bounds.url} was given up: the instance is shutting down", url=bounds.url)
        if time.monotonic() >= end:
            raise WashTimeout(
                f"washing {bounds.url} took longer than {bounds.timeout_s:g} s (setting wash.timeout_s) and was ended",
                url=bounds.url,
            )


def _answer(connection: Connection, process: multiprocessing.context.ForkServerProcess, url: str) -> object:
    try:
        done, value = connection.recv()
    except EOFError:
        process.join(10)
        raise WashError(
            f"washing {url} ended its process (exit status {process.exitcode}): out of memory, or a fault of the "
            "parser",
            url=url,
        ) from None
    if done:
        return value
    raise cast(HarvestError, value)


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
    os.setpgid(0, 0)
    _end_with_parent()
    _limit()
    try:
        connection.send((True, function(*args, **kwargs)))
    except HarvestError as error:
        connection.send((False, error))
    except OSError as error:
        connection.send((False, StorageError(f"washing could not write: {error}", url=error.filename)))
    except MemoryError:
        message = f"washing {url} needs more than {MEMORY >> 30} GiB of memory and was ended"
        connection.send((False, WashTimeout(message, url=url)))


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
