"""One query worker, seen from the front: started, given a query, ended; all on the event loop's thread."""

from __future__ import annotations

import math
import signal
import time
from collections import deque
from typing import Final

from sparql.errors import ClientGone, QueryCrash, SparqlError
from sparql.query.channel import Channel, Frame
from sparql.query.child import Child
from sparql.query.frames import HEAD, STARTED, Kind, query
from sparql.query.meter import Meter
from sparql.query.ticket import Events, First, Place
from sparql.query.worker import GIVE_WAY, SOON_S, STEP_BACK

AHEAD: Final = 8
"""Queries that a worker may have at once."""
AHEAD_S: Final = 0.002
"""Processor time that they may take together, as far as the last ones tell."""
LEFT_S: Final = 0.02
"""How long a query may take that nobody waits for any more when it begins."""


class WorkerProcess:
    """
    A worker and what it is doing: one query, and maybe some behind it that it has been sent ahead of time.

    Attributes:
        wanted: The generation that was the current one when it was started.
        generation: The generation it last said it reads; 0 for none.
        since: Monotonic time of its start, or of when its query began.
        deadline: Monotonic time at which its query has to be done; None while it has none.
        timeout_s: Seconds that its query may take.
        ready: Whether it has opened its generation.
        client: Whose query it has.
        long: Whether its query is taken for a long one; if it is not done soon, it runs at the lowest priority.
        proved: Whether there is no doubt that its query is long.
        on_trial: Whether its query seemed long, and is tried once more.
        paused: Monotonic time at which it was stopped to let others go on; None while it runs.
        turn: Monotonic time at which its query began or went on.
        asked: The text of its query.
        meter: Measures the processor time of its queries.
        new_bytes: Bytes of memory that it had when it was ready.
        slim: Bytes of memory that it had when its first long query turned out to be one; before that, infinite.
    """

    def __init__(self, child: Child, events: Events, wanted: int) -> None:
        self._child = child
        self.wanted = wanted
        child.connection.setblocking(False)
        self._channel = Channel(child.connection, self._heard)
        self._events = events
        self._place: Place | None = None
        self._behind: deque[Place] = deque()
        self._answers = 0
        self._verdict: SparqlError | None = None
        self.generation = 0
        self.since = time.monotonic()
        self.deadline: float | None = None
        self.timeout_s = 0.0
        self.ready = False
        self.client = ""
        self.long = self.proved = self.on_trial = self._gave_way = self._stepped_back = False
        self.paused: float | None = None
        self.turn = 0.0
        self.asked = ""
        self._waited = 0.0
        self.meter = Meter(child, AHEAD_S)
        self.new_bytes = 0
        self.slim = math.inf

    def start(self, place: Place) -> None:
        """Hand a query over; its place is told how the answer begins, or that there is none."""
        if self.deadline is None:
            self._begin(place)
        else:
            self._behind.append(place)
            place.ticket.leave = place.leave
        self._channel.send(query(self._answers, place.job))

    def takes_more(self) -> bool:
        """Whether it is busy, and would soon answer what it is sent now."""
        return (
            self.deadline is not None
            and not self.long
            and len(self._behind) + 2 <= min(AHEAD, AHEAD_S / self.meter.usual_s)
            and self._verdict is None
        )

    def take_back(self) -> list[Place]:
        """The places of the queries behind the one it has; whatever it answers to them is not listened to."""
        places = [place for place in self._behind if not place.first.done()]
        self._behind = deque(place.given_up() for place in self._behind)
        return places

    def held_up(self, now: float) -> list[Place]:
        """The same, if they wait for one that is not done soon; else none. The worker will not begin with them."""
        if self._behind and now > self.since + 2 * SOON_S:
            return self.take_back()
        return []

    async def read(self) -> Frame:
        """
        The next frame of an answer that comes in chunks.

        Raises:
            SparqlError: The worker was ended, for the reason given to `end`, or broke down.
        """
        found = await self._channel.read()
        if found is None:
            raise self._ended()
        if found[0] != Kind.CHUNK:
            self._answers += 1
            self._channel.go_on()
        return found

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._child.pid

    @property
    def ended(self) -> bool:
        """Whether the worker is ended, or about to be."""
        return self._verdict is not None

    def finish(self) -> bool:
        """Take the query off, and go on with the one behind it; whether the worker can be given another."""
        if self.paused is not None:  # It was done just before it was stopped.
            self.resume(time.monotonic())
        if self._place is not None:  # Its client may go now, and the worker may have another's query.
            self._place.ticket.leave = _stay
            self._place = None
        self.deadline = None
        self.long = self.proved = self.on_trial = self._gave_way = self._stepped_back = False
        if self._verdict is not None:
            return False
        if self._behind:
            self._begin(self._behind.popleft())
        return True

    def slow(self) -> None:
        """Tell the client's side that its query is not answered soon."""
        if self._place is not None:
            self._place.ticket.slow()

    def give_way(self) -> None:
        """Run its query at a lower priority until it is done."""
        if not self._gave_way:
            self._gave_way = True
            self._child.tell(GIVE_WAY)

    def step_back(self) -> None:
        """Take its query for a long one, and run it at the lowest priority."""
        if not self._stepped_back:
            self._stepped_back = True
            self._child.tell(STEP_BACK)
            self.be_long()

    def be_long(self) -> None:
        """Take its query for a long one, to run at the lowest priority if it is not done soon."""
        self.long, self.on_trial = True, False
        self.slim = min(self.slim, self.memory())

    def put_on_trial(self) -> None:
        """Do not take its query for a long one before it has proved that it is."""
        self.on_trial = True
        self.give_way()

    def pause(self, now: float) -> None:
        """Stop it, so that others can go on; its time stands still."""
        self.paused = now
        self._child.tell(signal.SIGSTOP)

    def resume(self, now: float) -> None:
        """Let it go on."""
        if self.paused is not None and self.deadline is not None:
            self._waited += now - self.paused
            self.deadline += now - self.paused
        self.paused, self.turn = None, now
        self._child.tell(signal.SIGCONT)

    def waited(self, now: float) -> float:
        """Seconds that its query was stopped, in all."""
        return self._waited + (0.0 if self.paused is None else now - self.paused)

    def can_wait(self) -> bool:
        """Whether its query could be begun again later: its client has nothing of the answer."""
        return self._place is not None and not self._place.first.done()

    def postpone(self, reason: SparqlError) -> Place | None:
        """Kill the worker; its query, for another one, if it can wait, else its client is told the reason."""
        place = None
        if self.can_wait():
            place, self._place = self._place, None
        self.end(reason)
        return place

    def end(self, reason: SparqlError) -> None:
        """Kill the worker; the client of its query is told the reason."""
        if self._verdict is None:
            self._verdict = reason
            self._child.tell(signal.SIGKILL)

    def memory(self) -> int:
        """Bytes that the worker has written to, or its fork server before; 0 where the system does not tell."""
        return self._child.memory() if self.ready else 0

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

    def _begin(self, place: Place) -> None:
        """Note that it goes on with a query that it has been sent, or is sent now."""
        self._place = place
        nobody = place.first.done()
        if not nobody:
            place.ticket.leave = self.end
        self.client, self.asked = place.ticket.client, place.asked
        self.since = self.turn = time.monotonic()
        self.timeout_s = LEFT_S if nobody else place.timeout_s
        self.deadline = self.since + self.timeout_s
        self._waited = 0.0
        self.meter.begin()

    def _heard(self, found: Frame | None) -> None:
        """Hand on what came to whoever waits for it; a worker that is done is offered to the next before."""
        place = self._place
        if found is None:
            self._lost(place)
            return
        kind, payload = found
        if kind == Kind.READY:
            self.generation, pid = STARTED.unpack(payload)
            self._child.called(pid)
            self.ready = True
            self.new_bytes = self.memory()
            self._events.ready(self)
        elif place is not None:
            if kind == Kind.BACK:
                self._back(place)
                return
            if kind != Kind.FAIL:
                self.generation, _, _ = HEAD.unpack_from(payload)
            self._begin_answer(place, First(kind, payload, self.since, self))

    def _lost(self, place: Place | None) -> None:
        error = self._ended()
        self._events.done(self)
        if place is not None:
            place.leave(error)

    def _back(self, place: Place) -> None:
        self._answers += 1
        if not place.first.done():
            self._events.returned([place])
        self._events.done(self)

    def _begin_answer(self, place: Place, answer: First) -> None:
        first = place.first
        if answer.kind == Kind.HEAD and not first.done():
            self._channel.hold()  # From here on it is read when its client has read.
        else:
            if answer.kind == Kind.HEAD:  # Nobody wants what follows.
                self.end(ClientGone("The client went away."))
            else:
                self._answers += 1
            self._events.done(self)
        if not first.done():
            first.set_result(answer)

    def _ended(self) -> SparqlError:
        self.end(QueryCrash("The query brought its worker down; it may be nested too deeply."))
        assert self._verdict is not None
        return self._verdict


def _stay(_: SparqlError) -> None:
    """Leave a worker to whoever has it now."""
