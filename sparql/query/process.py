"""One query worker, seen from the front: started, given a query, ended; all on the event loop's thread."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import sparql
from sparql.errors import ClientGone, QueryCrash, SparqlError
from sparql.query.frames import CHUNK_BYTES, HEAD, READ_BYTES, FrameBuffer, Kind, frame
from sparql.query.ticket import First, Place, Ticket
from sparql.query.worker import STEP_BACK, Options

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_SCHEDULED: Final = 2
"""What marks the clock of a process that counts in nanoseconds. Source: Linux, clock_getcpuclockid(3)."""
_PACKAGES: Final = str(Path(sparql.__file__).resolve().parents[1])


@dataclass(frozen=True, slots=True)
class Events:
    """
    What happens to a worker.

    Attributes:
        ready: It has opened the current generation and can be given a query.
        done: Its query is answered, or it has ended.
    """

    ready: Callable[[WorkerProcess], None]
    done: Callable[[WorkerProcess], None]


class WorkerProcess:
    """
    A worker and what it is doing.

    Attributes:
        generation: The generation it last said it reads; 0 for none.
        since: Monotonic time of its start, or of the last query or refresh given to it.
        deadline: Monotonic time at which its query has to be done; None while it has none.
        timeout_s: Seconds that its query may take.
        ready: Whether it has opened its generation.
        client: Whose query it has.
        long: Whether its query has run so long that it runs at the lowest priority.
        paused: Monotonic time at which it was stopped to let others go on; None while it runs.
        turn: Monotonic time at which its query began or went on.
        asked: The text of its query.
    """

    def __init__(self, options: Callable[[int], Options], events: Events) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = _start(options(theirs.fileno()))
        self._connection.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self._frames = FrameBuffer()
        self._events = events
        self._first: asyncio.Future[First] | None = None
        self._rest: asyncio.Task[None] | None = None
        self._verdict: SparqlError | None = None
        self.generation = 0
        self.since = time.monotonic()
        self.deadline: float | None = None
        self.timeout_s = 0.0
        self.ready = False
        self._ticket: Ticket | None = None
        self.client = ""
        self.long = False
        self.paused: float | None = None
        self.turn = 0.0
        self.asked = ""
        self._waited = 0.0
        self._spent = 0.0
        self._loop.add_reader(self._connection, self._readable)

    def start(self, place: Place) -> None:
        """Hand a query over; its place is told how the answer begins, or that there is none."""
        self._ticket = ticket = place.ticket
        ticket.leave = self.end
        self.client, self.asked = ticket.client, place.asked
        self.since = self.turn = time.monotonic()
        self.timeout_s = place.timeout_s
        self.deadline = self.since + place.timeout_s
        self._waited = 0.0
        self._spent = self._clock()
        self._first = place.first
        self._send(place.job)

    async def read(self) -> tuple[int, bytes]:
        """
        The next frame of an answer that comes in chunks.

        Raises:
            SparqlError: The worker was ended, for the reason given to `end`, or broke down.
        """
        while (found := self._frames.take()) is None:
            try:
                data = await self._loop.sock_recv(self._connection, 2 * CHUNK_BYTES)
            except ConnectionError:
                data = b""
            if not data:
                raise self._ended()
            self._frames.put(data)
        if found[0] != Kind.CHUNK:
            self._loop.add_reader(self._connection, self._readable)
        return found

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the worker is ended, or about to be."""
        return self._verdict is not None

    def finish(self) -> bool:
        """Take the query off; whether the worker can be given another."""
        if self.paused is not None:  # It was done just before it was stopped.
            self.resume(time.monotonic())
        if self._ticket is not None:  # Its client may go now, and the worker may have another's query.
            self._ticket.leave = _stay
            self._ticket = None
        self.deadline = None
        self.long = False
        return self._verdict is None

    def slow(self) -> None:
        """Tell the client's side that its query is not answered soon."""
        if self._ticket is not None:
            self._ticket.slow()

    def spent(self) -> float:
        """Seconds of processor time that its query has taken."""
        return self._clock() - self._spent

    def step_back(self) -> None:
        """Run its query at the lowest priority until it is done."""
        self.long = True
        self._tell(STEP_BACK)

    def pause(self, now: float) -> None:
        """Stop it, so that others can go on; its time stands still."""
        self.paused = now
        self._tell(signal.SIGSTOP)

    def resume(self, now: float) -> None:
        """Let it go on."""
        if self.paused is not None and self.deadline is not None:
            self._waited += now - self.paused
            self.deadline += now - self.paused
        self.paused, self.turn = None, now
        self._tell(signal.SIGCONT)

    def waited(self, now: float) -> float:
        """Seconds that its query was stopped, in all."""
        return self._waited + (0.0 if self.paused is None else now - self.paused)

    def end(self, reason: SparqlError) -> None:
        """Kill the worker; the client of its query is told the reason."""
        if self._verdict is None:
            self._verdict = reason
            self._process.kill()

    def refresh(self) -> None:
        """Have an idle worker move to the current generation."""
        self.ready = False
        self.since = time.monotonic()
        self._send(frame(Kind.REFRESH))

    def memory(self) -> int:
        """Bytes that the worker has of its own: resident and not shared. 0 where the system does not tell."""
        try:
            with open(f"/proc/{self._process.pid}/statm", "rb") as sizes:
                _, resident, shared, *_ = sizes.read().split()
        except OSError:
            return 0
        return (int(resident) - int(shared)) * _PAGE

    def is_over(self) -> bool:
        """Whether the process has ended; its remains are then taken away."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Kill the process, wait for it, and let go of the socket."""
        self.end(QueryCrash("The query service is closing."))
        self._process.wait()
        if self._connection.fileno() >= 0:
            self._loop.remove_reader(self._connection)
        if self._first is not None and not self._first.done():
            self._first.set_exception(self._ended())
        if self._rest is not None:
            self._rest.cancel()
        self._connection.close()

    def _send(self, data: bytes) -> None:
        try:
            sent = self._connection.send(data)  # All of it, but for queries that are longer than the socket's buffer.
        except BlockingIOError:
            sent = 0
        except OSError:
            self._settle(self._ended())
            return
        if sent < len(data):
            self._rest = self._loop.create_task(self._send_rest(data[sent:]))

    async def _send_rest(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # Its end is seen where it is read.
            await self._loop.sock_sendall(self._connection, data)

    def _readable(self) -> None:
        try:
            data = self._connection.recv(READ_BYTES)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._loop.remove_reader(self._connection)
            self._settle(self._ended())
            return
        self._frames.put(data)
        found = self._frames.take()
        if found is not None:
            self._settle(found)

    def _clock(self) -> float:
        """Processor time of the process in seconds; wall time where the system does not tell."""
        try:
            return time.clock_gettime(~self._process.pid << 3 | _SCHEDULED)
        except OSError:
            return time.monotonic()

    def _tell(self, number: int) -> None:
        with contextlib.suppress(OSError):  # It has just ended.
            self._process.send_signal(number)

    def _settle(self, found: tuple[int, bytes] | SparqlError) -> None:
        """Hand on what came to whoever waits for it; a worker that is done is offered to the next before."""
        first, self._first = self._first, None
        if first is None:
            if not isinstance(found, SparqlError) and found[0] == Kind.READY:
                self.generation, _, _ = HEAD.unpack(found[1])
                self.ready = True
                self._events.ready(self)
        elif isinstance(found, SparqlError):
            self._events.done(self)
            if not first.done():
                first.set_exception(found)
        else:
            kind, payload = found
            if kind != Kind.FAIL:
                self.generation, _, _ = HEAD.unpack_from(payload)
            self._begin_answer(first, First(kind, payload, self.since, self))

    def _begin_answer(self, first: asyncio.Future[First], answer: First) -> None:
        if answer.kind == Kind.HEAD and not first.done():
            self._loop.remove_reader(self._connection)  # From here on it is read when its client has read.
        else:
            if answer.kind == Kind.HEAD:  # Nobody wants what follows.
                self.end(ClientGone("The client went away."))
            self._events.done(self)
        if not first.done():
            first.set_result(answer)

    def _ended(self) -> SparqlError:
        self.end(QueryCrash("The query brought its worker down; it may be nested too deeply."))
        assert self._verdict is not None
        return self._verdict


def _stay(_: SparqlError) -> None:
    """Leave a worker to whoever has it now."""


def _start(options: Options) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (_PACKAGES, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", "sparql.query.worker", json.dumps(asdict(options))],
        pass_fds=[options.descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
