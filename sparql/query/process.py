"""One query worker, seen from the front: started, given a query, ended; all on the event loop's thread."""

from __future__ import annotations

import math
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sparql.errors import ClientGone, QueryCrash, SparqlError
from sparql.query.answer import QueryAnswer, read_failure
from sparql.query.state import AFTER, BUSY, WorkerState
from sparql.query.ticket import QueryPlace
from sparql.worker.channel import Channel, Frame
from sparql.worker.child import Child
from sparql.worker.frames import HEAD, STARTED, FrameKind, frame
from sparql.worker.worker import LOWER

AHEAD: Final = 8
"""Queries that a worker may have at once."""
AHEAD_S: Final = 0.002
"""Processor time that these may take together, judged by the last ones."""
HELD_UP_S: Final = 0.006
"""How long the queries behind another one are left to the worker that has it."""
LEFT_S: Final = 0.02
"""Processor time that a query may take for which nobody waits any more when it begins."""
WEIGHT: Final = 0.1
"""How much the last query says of how long the next will take."""
HIGHEST_S: Final = 0.01
"""What the last query counts for at most: one long query does not make those after it long."""


@dataclass(frozen=True, slots=True)
class Events:
    """
    What is to happen when something happens to a worker.

    Attributes:
        ready: It has opened the current generation and can be given a query.
        done: Its query is answered, or it has ended.
        returned: It has ended, and these queries were sent behind the one that it had.
    """

    ready: Callable[[WorkerProcess], None]
    done: Callable[[WorkerProcess], None]
    returned: Callable[[Sequence[QueryPlace]], None]


class WorkerProcess:
    """
    A worker, the query that it has, and those behind it that it was sent ahead of time.

    Attributes:
        state: What it is doing.
        wanted: The generation that was the current one when it was started.
        generation: The generation that it last said it reads; 0 for none.
        since: Monotonic time of its start, of when its query began, or of when it became idle.
        timeout_s: Seconds of processor time that its query may take.
        wall_s: Seconds of wall time that its query may take, sending the result included.
        client: Whose query it has, or had last.
        asked: The text of that query.
        usual_s: Processor time of one of its queries, judged by the last ones.
        new_bytes: Bytes of memory that it had when it was ready; None before.
    """

    def __init__(self, child: Child, events: Events, wanted: int) -> None:
        child.connection.setblocking(False)
        self._child = child
        self._channel = Channel(child.connection, self._receive)
        self._events = events
        self._place: QueryPlace | None = None
        self._behind: deque[QueryPlace | None] = deque()
        self._reason: SparqlError | None = None
        self._clock_s: float | None = None
        self.state = WorkerState.STARTING
        self.wanted = wanted
        self.generation = 0
        self.since = time.monotonic()
        self.timeout_s = self.wall_s = 0.0
        self.client = self.asked = ""
        self.usual_s = AHEAD_S
        self.new_bytes: int | None = None

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._child.pid

    @property
    def busy(self) -> bool:
        """Whether it has a query."""
        return self.state in BUSY

    @property
    def ahead(self) -> int:
        """How many queries it was sent behind the one that it has."""
        return len(self._behind)

    def start(self, place: QueryPlace, long: bool = False) -> None:
        """Send it a query: now, or behind the one that it has; the place gets the beginning of the answer."""
        if self.state is WorkerState.IDLE:
            self._begin(place)
            if long:
                self.become_long()
        else:
            self._behind.append(place)
            place.ticket.leave = place.leave
        self._channel.send(frame(FrameKind.QUERY, place.job))

    def takes_more(self) -> bool:
        """Whether it would soon answer a query that it is sent now, behind the one that it has."""
        return self.state is WorkerState.SHORT and len(self._behind) + 2 <= min(AHEAD, AHEAD_S / self.usual_s)

    def take_back(self) -> list[QueryPlace]:
        """The places behind the query that it has; nobody waits any more for what it answers to them."""
        places = [place for place in self._behind if place is not None and not place.first.done()]
        if places:
            self._behind = deque([None] * len(self._behind))
        return places

    def held_up(self, now: float) -> list[QueryPlace]:
        """The places behind a query that is not done soon, taken back; else none."""
        return self.take_back() if now > self.since + HELD_UP_S else []

    def finish(self) -> None:
        """Take off the query that is answered, and go on with the one behind it."""
        if self._place is not None:  # Its client may go now, and the worker may have another's query.
            self._place.ticket.leave = _stay
            self._place = None
        if self._behind and self.busy:
            self._begin(self._behind.popleft())
        elif self.busy:
            self._enter(WorkerState.IDLE)
            self.since = time.monotonic()

    def lower(self) -> None:
        """Go on with its query at the lowest priority."""
        self._enter(WorkerState.LOWERED)
        self._child.send_signal(LOWER)

    def become_long(self) -> None:
        """Take its query for a long one."""
        if self.state is WorkerState.SHORT:
            self.lower()
        self._enter(WorkerState.LONG)

    def spent(self) -> float:
        """Seconds of processor time that its query has taken."""
        return 0.0 if self._clock_s is None else self._child.clock() - self._clock_s

    def waits(self) -> bool:
        """Whether somebody waits for the first of its answer; such a query could be begun again later."""
        return self._place is not None and not self._place.first.done()

    def slow(self) -> None:
        """Have the client watched: its query is not answered soon."""
        if self._place is not None:
            self._place.ticket.slow()

    def postpone(self, reason: SparqlError) -> QueryPlace | None:
        """Kill the worker; its query, for another one, if that can wait, else its client gets the reason."""
        place = None
        if self.waits():
            place, self._place = self._place, None
        self.end(reason)
        return place

    def end(self, reason: SparqlError) -> None:
        """Kill the worker; the client of its query gets the reason."""
        if self.state is not WorkerState.ENDED:
            self._reason = reason
            self._enter(WorkerState.ENDED)
            self._child.send_signal(signal.SIGKILL)

    async def read(self) -> Frame:
        """
        The next frame of an answer that comes in chunks.

        Raises:
            SparqlError: The worker was ended, for the reason given to `end`, or died.
        """
        found = await self._channel.read()
        if found is None:
            raise self._ended()
        if found[0] != FrameKind.CHUNK:
            self._channel.go_on()
            self._events.done(self)
        return found

    def abandon(self) -> None:
        """End a query of whose answer nobody wants more."""
        self.end(ClientGone("The client went away."))
        self._events.done(self)

    def memory(self) -> int:
        """Bytes that the worker has written to, or its fork server before; 0 where the system does not say."""
        return self._child.memory() if self.state is WorkerState.IDLE or self.busy else 0

    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._child.is_over()

    def close(self) -> None:
        """Kill the process, wait for it, and let go of the socket."""
        if self._child.is_over():
            self._ended()  # Nobody has read yet that it is.
        self.end(QueryCrash("The query service is closing."))
        self._child.wait()
        self._channel.close()
        if self._place is not None:
            self._place.leave(self._ended())
        self._events.returned(self.take_back())

    def _enter(self, state: WorkerState) -> None:
        assert state in AFTER[self.state], f"{self.state} to {state}"
        self.state = state

    def _begin(self, place: QueryPlace | None) -> None:
        """Note that it goes on with a query that it was sent, or is sent now; None is one that was taken back."""
        self._enter(WorkerState.SHORT)
        self._place = place
        self.timeout_s, self.wall_s = LEFT_S, math.inf
        if place is not None and not place.first.done():
            place.ticket.leave = self.end
            self.timeout_s, self.wall_s = place.timeout_s, place.wall_s
            self.client, self.asked = place.ticket.client, place.asked
        self.since = time.monotonic()
        now = self._child.clock()
        if self._clock_s is not None:  # Before the first query it has warmed up, which is no measure.
            self.usual_s += (min(now - self._clock_s, HIGHEST_S) - self.usual_s) * WEIGHT
        self._clock_s = now

    def _receive(self, found: Frame | None) -> None:
        """Hand on a frame to whoever waits for it; a worker that is done is given the next query before."""
        place = self._place
        if found is None:
            error = self._ended()
            self._events.done(self)
            if place is not None:
                place.leave(error)
            return
        kind, payload = found
        if kind == FrameKind.READY and self.state is WorkerState.STARTING:
            (self.generation,) = STARTED.unpack(payload)
            self._enter(WorkerState.IDLE)
            self.since, self.new_bytes = time.monotonic(), self.memory()
            self._events.ready(self)
        elif kind != FrameKind.READY:
            self._begin_answer(place, kind, payload)

    def _begin_answer(self, place: QueryPlace | None, kind: int, payload: bytes) -> None:
        since = self.since
        if kind != FrameKind.FAIL:
            self.generation, _, _ = HEAD.unpack_from(payload)
        if kind == FrameKind.HEAD and self.waits():
            self._channel.hold()  # From here on frames are read when the client has read.
        elif kind == FrameKind.HEAD:
            self.abandon()
        else:
            self._events.done(self)
        if place is None or place.first.done():
            return
        if kind == FrameKind.FAIL:
            place.leave(read_failure(payload))
        else:
            place.first.set_result(QueryAnswer(payload, since, self if kind == FrameKind.HEAD else None))

    def _ended(self) -> SparqlError:
        self.end(QueryCrash("The query brought its worker down."))
        assert self._reason is not None
        return self._reason


def _stay(_: SparqlError) -> None:
    """Leave a worker to whoever has it now."""
