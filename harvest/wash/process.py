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
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Final, ParamSpec, TypeVar, cast

from harvest.errors import HarvestError, StorageError, WashError, WashTimeout

P = ParamSpec("P")
T = TypeVar("T")

MEMORY: Final = 4 << 30
"""
Bytes of address space that the process, and each one it starts, may have.

Washing stays far below. The limit is for documents made to explode: nested XML entities of 700 bytes are 12 GB of text,
which pyoxigraph expands before it parses.
"""

# forkserver: fork is unsafe beside threads, spawn costs 0.2 s of imports each time. Each process runs the main script
# again, and where that is the `harvest` command its imports would take 0.1 s each time.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["harvest.wash.canonical", "harvest.cli"])


def call(function: Callable[P, T], timeout_s: float, url: str, *args: P.args, **kwargs: P.kwargs) -> T:
    """
    What `function(*args, **kwargs)` returns, computed in another process that is killed after `timeout_s` seconds.

    Raises:
        WashTimeout: It took longer, or wanted more than `MEMORY`.
        WashError: The process died without an answer (a crash of the parser, also when it is out of memory).
        HarvestError: Whatever the function raised.
    """
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_run, args=(theirs, function, args, kwargs), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(timeout_s):
            raise WashTimeout(
                f"washing {url} took longer than {timeout_s:g} s (setting wash.timeout_s) and was ended", url=url
            )
        return cast(T, _answer(ours, process, url))
    finally:
        _end(process)
        ours.close()


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
    connection: Connection, function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
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
        connection.send((False, WashTimeout(f"washing needs more than {MEMORY >> 30} GiB of memory and was ended")))


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
