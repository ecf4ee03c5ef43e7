"""
The HTTP server: Granian, one process, ASGI.

Measured with 8 connections on point lookups: two to three times the requests per second of the same as WSGI, under
gunicorn's threads or Granian's. And unlike Granian's WSGI side, its ASGI side breaks the connection off when a response
fails on its way, and reports when a client is gone. With uvloop, it answers a tenth more of them.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.log import LogLevels

from sparql.log import of_server
from sparql.web.connections import get_descriptors, most
from sparql.worker.sandbox import die_with_parent

STOP_S = 5
"""How long running requests may take after the server is asked to stop."""

LOOK_S = 0.5
"""Seconds after which the main thread looks for signals while it waits."""

BACKLOG = 4096
"""Connections that the system keeps until they are taken; it may be set to fewer (`net.core.somaxconn`)."""


def reserve(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """
    A socket that is bound to an address and does not listen.

    Where it is `shared`, others may listen there who share it as well: the system gives each connection to one of those
    that listen. Source: Linux, socket(7), SO_REUSEPORT.

    Raises:
        OSError: The address is taken, or it is none of this machine.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


class Interrupt(threading.Event):
    """
    What the main thread waits for until a signal comes, whichever thread the kernel gave the signal to.

    A signal that comes just before the main thread begins to wait, or to another thread, interrupts no wait without a
    limit. Source: CPython, `signal`, "Execution of Python signal handlers".
    """

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, or so many seconds; whether it is set."""
        if timeout is not None:
            return super().wait(timeout)
        while not super().wait(LOOK_S):
            pass
        return True


def run(target: str, host: str, port: int, parent: int | None = None, *, shared: bool = False) -> None:
    """
    Serve until SIGTERM or SIGINT, by a child process that ends with this one; to be called in the main thread.

    Args:
        target: `module:function`; the function takes nothing and returns what `create_app` made.
        host: Address to listen on, at the TCP port `port`.
        parent: Id of the process that started this one, if it is to end with it however that ends.
        shared: Whether others may listen there, too.

    Raises:
        OSError: The address cannot be listened on.
        SystemExit: The child process failed.
    """
    if parent is not None:
        die_with_parent(parent)
    get_descriptors()
    # Granian shares a port that another instance of it has, and panics at one that another program has.
    reserve(host, port, shared=shared).close()
    server = Granian(
        target,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=1,
        backlog=BACKLOG,
        backpressure=most(),  # What Granian takes at once are connections, idle or not.
        http=HTTPModes.http1,
        loop=Loops.uvloop,
        websockets=False,
        log_level=LogLevels.warning,
        log_dictconfig=of_server(),
        workers_kill_timeout=STOP_S,
    )
    server.main_loop_interrupt = Interrupt()
    # What is imported now is shared with the child, as long as neither's collector of garbage writes to it.
    gc.collect()
    gc.freeze()
    server.serve(target_loader=partial(_load, os.getpid()))


def _load(parent: int, target: str) -> Callable[..., Any]:
    die_with_parent(parent)
    module, _, function = target.partition(":")
    application: Callable[..., Any] = getattr(importlib.import_module(module), function)()
    return application
