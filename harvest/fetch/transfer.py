"""
One request under way: its deadline, the throughput it must bring, and whether it is still wanted.

A time-out of the socket starts anew with every byte, so a server that drips one byte a second, in a header or in a
body, would hold a thread for days. So a transfer is checked before each read, and no read waits longer than `POLL_S`.
"""

from __future__ import annotations

import io
import math
import socket
import threading
from dataclasses import dataclass
from time import monotonic
from typing import Final

from harvest.errors import TooSlowError, TransferError
from harvest.fetch.recording import Recording

POLL_S: Final = 0.2
"""Longest wait for a byte or a connection before the transfer is checked again."""


@dataclass(frozen=True, slots=True)
class Floor:
    """
    What a transfer must bring at least.

    Attributes:
        rate: Bytes a second; 0 is content with none.
        over_s: Seconds over which that is measured.
    """

    rate: int = 0
    over_s: float = math.inf


class Transfer:
    """
    What one request has brought, and until when it may go on.

    Attributes:
        url: What is asked for, for messages.
        target: Path and query of the request line, sent as they are.
        deadline: When it ends, by time.monotonic().
        received: Bytes of the answer that came so far, its header included.
        recording: What takes in the bytes of both directions, or None.
    """

    def __init__(self, url: str, target: str, deadline: float, stop: threading.Event, floor: Floor = Floor()) -> None:
        self.url = url
        self.target = target
        self.deadline = deadline
        self.received = 0
        self.recording: Recording | None = None
        self._stop = stop
        self._floor = floor
        self._mark = (monotonic(), 0)

    def check(self) -> None:
        """
        Nothing, while the transfer may go on.

        Raises:
            TooSlowError: It brought less than the floor asks for.
            TransferError: It was stopped, or its deadline is over.
        """
        now = monotonic()
        if self._stop.is_set():
            raise TransferError(f"{self.url}: the transfer was stopped", url=self.url)
        if now >= self.deadline:
            raise TransferError(f"{self.url}: the total time limit is over", url=self.url)
        since, before = self._mark
        rate, over_s = self._floor.rate, self._floor.over_s
        if rate and now >= since + over_s:
            came = self.received - before
            self._mark = (now, self.received)
            if came < rate * over_s:
                raise TooSlowError(
                    f"{self.url}: too slow: {came:,} bytes came in {over_s:g} s, and http.min_rate asks for {rate:,} a"
                    " second; it is tried again later, and a lower http.min_rate waits for such a server",
                    url=self.url,
                )


class Incoming(io.RawIOBase):
    """The bytes of an answer as they come, for as long as its transfer may go on; closes `inner`, the socket's file."""

    def __init__(self, inner: io.RawIOBase, sock: socket.socket, transfer: Transfer) -> None:
        self._inner = inner
        self._sock = sock
        self._transfer = transfer
        self._silence_s = sock.gettimeout() or math.inf
        sock.settimeout(min(POLL_S, self._silence_s))

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        """The next bytes; 0 at the end."""
        until = monotonic() + self._silence_s
        while True:
            self._transfer.check()
            try:
                came = self._sock.recv_into(buffer)
            except TimeoutError:
                if monotonic() >= until:
                    raise
            else:
                self._transfer.received += came
                if self._transfer.recording is not None:
                    self._transfer.recording.received(buffer[:came])
                return came

    def close(self) -> None:
        """Let go of the socket."""
        super().close()
        self._inner.close()
