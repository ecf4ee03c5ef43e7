"""Exchanges byte by byte as they went over the wire, for who keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from harvest.model import WireExchange

Recorder = Callable[[WireExchange], None]
"""Keeps an exchange; called from several threads. Its file is closed afterwards."""

_IN_MEMORY: Final = 4 << 20
"""Bytes of an answer that are kept in memory; with more it is a file."""
_SECRET: Final = (b"authorization:", b"proxy-authorization:", b"cookie:", b"x-")
"""Headers with credentials, in lower case; those that begin with X- are sent as tokens alone."""


class Recording:
    """
    One exchange while it goes on.

    Attributes:
        answer: The file of what came.
        is_whole: Whether the answer came to its end.
    """

    def __init__(self, answer: IO[bytes]) -> None:
        self.answer = answer
        self.is_whole = False
        self._request = bytearray()

    def sent(self, data: bytes) -> None:
        """Take in bytes of the request."""
        self._request += data

    def received(self, data: bytes | memoryview) -> None:
        """Take in bytes of the answer."""
        self.answer.write(data)

    @property
    def request(self) -> bytes:
        """The request, without the lines that hold credentials."""
        head, end, body = bytes(self._request).partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(_SECRET)]
        return b"\r\n".join(lines) + end + body


@contextmanager
def recorded(recorder: Recorder | None, into: Path, url: str, at: datetime) -> Iterator[Recording | None]:
    """
    What takes in an exchange, which is handed to the recorder at the end, if anything came; None without a recorder.

    `into` is the folder of the temporary file, `at` the time at which the request is sent.
    """
    if recorder is None:
        yield None
        return
    with SpooledTemporaryFile(_IN_MEMORY, dir=str(into)) as answer:
        recording = Recording(answer)
        try:
            yield recording
        finally:
            if answer.tell():
                recorder(WireExchange(url, at, recording.request, answer, recording.is_whole))
