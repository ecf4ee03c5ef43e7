"""
How many connections the front has, and whose go first when they run short.

The server takes a connection from the system as long as it has fewer than `most()`, and has no say in which one ends: a
client that keeps hundreds open and asks nothing would keep all others out. So this looks at the process's own sockets,
several times a second if there are many, and shuts those down that no request is on, the longest idle first. How long
one is idle the system counts.

Source: Linux, tcp(7) (TCP_INFO), proc(5) (/proc/self/fd).
"""

from __future__ import annotations

import os
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final

from sparql.web.address import Addresses

MOST: Final = 8192
"""Connections of the front, if the process may have the descriptors."""
EACH: Final = 512
"""Connections of one address that is not a trusted proxy's."""
KEPT: Final = 128
"""Descriptors that are for the store, the workers and the pages' own work."""
LOOK_S: Final = 0.25
"""Seconds between two looks."""
SHARE: Final = 0.05
"""Share of its time that looking may take."""
_SENT_AND_RECEIVED: Final = struct.Struct("=44xI4xI")
"""`tcpi_last_data_sent` and `tcpi_last_data_recv` of `struct tcp_info`, milliseconds ago. Source: linux/tcp.h."""

Peer = tuple[str, int]
"""Address and port of the other end."""


def get_descriptors() -> None:
    """Raise the soft limit on open files as far as `MOST` connections need it and the hard limit lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST + KEPT
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def most() -> int:
    """Connections that the front may have: each has a descriptor, and one more while it downloads a file."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else max(16, min(MOST, (soft - KEPT) // 2))


@dataclass(frozen=True, slots=True)
class _ClientConnection:
    """
    A connection to the front.

    Attributes:
        socket: A descriptor of its own for the socket, so that it is never another one's.
        peer: Who has the other end.
        idle_s: Seconds since a byte went one way or the other.
    """

    socket: socket.socket
    peer: Peer
    idle_s: float


class Connections:
    """
    Closes idle connections, the longest idle first, where one address or all together have too many.

    Attributes:
        busy: The peers of connections with a request that is not answered yet; kept by who answers.

    Args:
        addresses: Tells which addresses are one client's, and which are trusted proxies'.
        most: Connections in all that the server takes.
    """

    def __init__(self, addresses: Addresses, most: int) -> None:
        self.busy: set[Peer] = set()
        self._addresses = addresses
        self._plenty = most * 3 // 4
        self._each = max(1, min(EACH, most // 4))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="connections", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()

    def _watch(self) -> None:
        pause = LOOK_S
        while not self._over.wait(pause):
            began = time.thread_time()
            with suppress(OSError):  # No descriptor is left for a moment.
                self.look()
            pause = max(LOOK_S, (time.thread_time() - began) / SHARE)

    def look(self) -> int:
        """Close what there is too much of, and return how many that were."""
        if len(os.listdir("/proc/self/fd")) <= self._each:
            return 0
        with ExitStack() as stack:
            idle, of = [], dict[str, int]()
            total = 0
            for found in _connections(stack):
                total += 1
                client = self._addresses.client(found.peer[0])
                of[client] = of.get(client, 0) + 1
                if found.peer not in self.busy:
                    idle.append((found, client))
            idle.sort(key=lambda each: -each[0].idle_s)
            return self._close(idle, of, total)

    def _close(self, idle: list[tuple[_ClientConnection, str]], of: dict[str, int], total: int) -> int:
        closed = 0
        for found, client in idle:
            bounded = not self._addresses.trusts(found.peer[0])
            if total - closed > self._plenty or (bounded and of[client] > self._each):
                with suppress(OSError):  # The other end was quicker.
                    found.socket.shutdown(socket.SHUT_RDWR)
                of[client] -= 1
                closed += 1
        return closed


def _socket(descriptor: int) -> socket.socket:
    """
    Another descriptor of a socket.

    Raises:
        OSError: It is none.
    """
    copy = os.dup(descriptor)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _connections(stack: ExitStack) -> Iterator[_ClientConnection]:
    """Yield the TCP connections of this process to ports that it listens on; their descriptors are the stack's."""
    listening: set[int] = set()
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # It is no socket, or closed again.
            each = _socket(int(name))
            stack.enter_context(each)
            if each.family in (socket.AF_INET, socket.AF_INET6):
                if each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    listening.add(each.getsockname()[1])
                else:
                    found.append(each)
    for each in found:
        with suppress(OSError):
            if each.getsockname()[1] in listening:
                moved = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SENT_AND_RECEIVED.size)
                yield _ClientConnection(each, each.getpeername()[:2], min(_SENT_AND_RECEIVED.unpack(moved)) / 1000)
