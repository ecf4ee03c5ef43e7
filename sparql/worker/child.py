"""The processes of query workers: started, measured, signalled and ended."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from sparql.worker.forkserver import MOVE, ORDER, START
from sparql.worker.limits import QueryLimits

log = logging.getLogger(__name__)

COMMAND: Sequence[str] = ("-m", "sparql.worker.forkserver")
NAME_S: Final = 10.0
"""How long is waited for the id of a worker."""
CLOSE_S: Final = 1.0
"""How long a fork server may take to end by itself."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_STATM_BYTES: Final = 256
_SCHEDULED: Final = 2
"""What marks the clock of a process that counts in nanoseconds. Source: Linux, clock_getcpuclockid(3)."""
_TUNABLES: Final = "glibc.malloc.tcache_count=128"
"""
How many pieces of memory of each size a worker's thread has at hand. An evaluation takes and gives back many of few
sizes, and with the usual seven a fifth of the time of a point lookup is looking for them.

Source: the GNU C Library, "Memory Allocation Tunables". Other libraries do not read this.
"""
_PACKAGES: Final = str(Path(__file__).resolve().parents[2])


class ForkServer:
    """
    The front's side of a fork server; the server is started with it.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, root: Path, limits: QueryLimits, base_iri: str) -> None:
        path = os.pathsep.join(filter(None, (_PACKAGES, os.environ.get("PYTHONPATH"))))
        self._connection, theirs = socket.socketpair()
        self._connection.settimeout(NAME_S)
        with theirs:
            given = [str(theirs.fileno()), str(os.getpid()), str(root), base_iri, json.dumps(asdict(limits))]
            self._process = subprocess.Popen(
                [sys.executable, *COMMAND, *given],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={"GLIBC_TUNABLES": _TUNABLES, **os.environ, "PYTHONPATH": path},
            )
        self._answers = select.poll()
        self._answers.register(self._connection, select.POLLIN)
        self._nameless: deque[Child] = deque()
        self._closed = False

    def is_over(self) -> bool:
        """Whether it can start no more workers; those that it has started have ended then, or will."""
        return self._closed or self._process.poll() is not None

    def start(self) -> Child:
        """
        Have a worker started, and do not wait for it.

        Raises:
            OSError: None can be started now.
        """
        self.name()
        ours, theirs = socket.socketpair()
        child = Child(ours, self)
        try:
            with theirs:
                socket.send_fds(self._connection, [ORDER.pack(START)], [theirs.fileno()])
        except OSError:
            ours.close()
            self.close()
            raise
        self._nameless.append(child)
        return child

    def name(self, child: Child | None = None) -> None:
        """Learn the ids of a worker and those before it, or those that are known by now; 0 for what was not started."""
        while self._nameless and (child in self._nameless or self._closed or self._answers.poll(0)):
            try:
                answer = self._connection.recv(ORDER.size)
            except OSError:
                answer = b""
            (pid,) = ORDER.unpack(answer) if answer else (0,)
            if pid < 0:
                log.error("No query worker could be started: %s", os.strerror(-pid))
            self._nameless.popleft().named(max(pid, 0))
            if not answer:
                self.close()

    def move(self) -> None:
        """Have the server open the current generation, and let go of the one before."""
        self._send(MOVE)

    def forget(self, pid: int) -> None:
        """Have the remains of a worker taken away that has ended; its id means nothing from then on."""
        self._send(pid)

    def close(self) -> None:
        """End the server, and with it all workers that it has started."""
        if self._closed:
            return
        self._closed = True
        self._connection.close()
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.name()

    def _send(self, order: int) -> None:
        with contextlib.suppress(OSError):  # It has ended: its workers have another parent then, or have ended too.
            self._connection.send(ORDER.pack(order))


class Child:
    """
    A process that answers queries.

    Attributes:
        connection: The front's end of the socket pair. The other end is closed when the process ends, and not before.
    """

    def __init__(self, connection: socket.socket, server: ForkServer) -> None:
        self.connection = connection
        self._server = server
        self._pid: int | None = None
        self._sizes: int | None = None
        self._poll = select.poll()
        self._poll.register(connection, 0)  # An end that is closed is always reported.

    @property
    def pid(self) -> int:
        """Its id, which is waited for; 0 when it could not be started, or has been waited for."""
        if self._pid is None:
            self._server.name(self)
        return self._pid or 0

    def named(self, pid: int) -> None:
        """Note its id; 0 when it could not be started."""
        self._pid = pid

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if pid := self.pid:  # 0 would be this process and all its relatives.
            with contextlib.suppress(OSError):  # It has just ended, and its server too.
                os.kill(pid, number)

    def wait(self) -> None:
        """Return when it has ended; its remains are then taken away."""
        if pid := self.pid:
            self._poll.poll()
            self._pid = 0
            if self._sizes is not None:
                os.close(self._sizes)
                self._sizes = None
            self._server.forget(pid)

    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._pid == 0 or bool(self._poll.poll(0))

    def clock(self) -> float:
        """Its processor time in seconds; wall time where the system does not say."""
        try:
            return time.clock_gettime(~(self.pid or os.getpid()) << 3 | _SCHEDULED)
        except OSError:
            return time.monotonic()

    def memory(self) -> int:
        """
        Bytes that it has written to, with what it had written before it was forked; 0 where the system does not say.
        """
        try:
            if self._sizes is None:  # Kept open: this is asked a hundred times a second.
                self._sizes = os.open(f"/proc/{self.pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
            _, resident, shared, *_ = os.pread(self._sizes, _STATM_BYTES, 0).split()
        except OSError:
            return 0
        return (int(resident) - int(shared)) * _PAGE
