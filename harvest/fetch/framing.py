"""
Answers whose framing must be right: status line, lengths, chunks.

http.client takes what it cannot read for absent: a body whose length is "abc" is read to the end of the connection, and
a cut one is filed as whole. Here what says where a body ends is read strictly, or the answer is broken.
"""

from __future__ import annotations

import io
import re
import socket
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from typing import Final

from harvest.fetch.transfer import Incoming, Transfer

BUFFER: Final = 1 << 16
"""Bytes read ahead; with the usual 8 KiB, a body in small chunks takes half as long again."""

_LINE: Final = 1 << 16
"""Longest status line, and longest line between chunks, in bytes."""

_SHOWN: Final = 40
"""Characters of a broken value that a message shows."""

_STATUS_LINE: Final = re.compile(rb"(HTTP/1\.\d)[ \t]+([1-9]\d\d)(?:[ \t]+([^\r\n]*))?[ \t]*\r?\n")
_LENGTH: Final = re.compile(r"[ \t]*[0-9]{1,18}[ \t]*")
_CHUNK: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_FRAMING: Final = re.compile(r"^[ \t]*(content-length|transfer-encoding)\b", re.IGNORECASE | re.MULTILINE)


class BrokenAnswer(HTTPException):
    """An answer that does not say where its body ends, or says it in no known way."""


class WholeLines(io.BufferedReader):
    """
    A reader that distinguishes a cut line from a whole one.

    Attributes:
        header: Whether the header is being read, where the end of the stream is a cut too.
    """

    header = True

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line; a cut one is an error."""
        line = super().readline(size)
        if not line.endswith(b"\n") and (line or self.header) and len(line) != size:
            raise RemoteDisconnected("the connection ended inside a line or the header")
        return line


class FramedResponse(HTTPResponse):
    """
    A response whose header must be complete and whose framing must be readable.

    http.client takes the end of the connection for the end of the header: a Location would be followed half, and a
    200 without its Content-Length would be an empty body.
    """

    chunk_left: int | None

    def __init__(self, sock: socket.socket, method: str | None = None, *, transfer: Transfer) -> None:
        super().__init__(sock, method=method)
        self._sock = sock
        self._transfer = transfer

    def begin(self) -> None:
        """Read the header; a broken one is an error."""
        if self.headers is not None:
            return
        self.fp = lines = WholeLines(Incoming(self.fp.detach(), self._sock, self._transfer), BUFFER)
        super().begin()
        lines.header = False
        self._check_length()
        self._check_coding()

    def _read_status(self) -> tuple[str, int, str]:
        """
        The status line of the final answer; interim ones (103 Early Hints) are passed over, which http.client does
        for 100 alone.

        Source: RFC 9112, section 4; RFC 9110, section 15.2.
        """
        while True:
            line = self.fp.readline(_LINE)
            match = _STATUS_LINE.fullmatch(line)
            if match is None:
                raise BrokenAnswer(f"its first line is no status line of HTTP/1 ({_shown(repr(line)[1:])})")
            status = int(match[2])
            if not 100 <= status < 200 or status == 101:
                return match[1].decode("ascii"), status, (match[3] or b"").decode("latin-1")
            while self.fp.readline(_LINE) not in (b"\r\n", b"\n"):
                pass

    def _check_length(self) -> None:
        """Source: RFC 9110, section 8.6: digits alone; a list of lengths may be refused, whatever it holds."""
        lengths = self.headers.get_all("Content-Length", [])
        text = ", ".join(lengths)
        if lengths and not _LENGTH.fullmatch(text):
            raise BrokenAnswer(f"its Content-Length is no number of bytes ({_shown(text)})")
        rest = self.headers.get_payload()
        if isinstance(rest, str) and (lost := _FRAMING.search(rest)):
            # The parser of email takes a line that is no header for the end of the headers.
            raise BrokenAnswer(f"its {lost[1]} stands behind a line that is no header ({_shown(rest.strip())})")

    def _check_coding(self) -> None:
        """Source: RFC 9112, sections 6.1 and 7: no other coding was asked for, and this one may be applied once."""
        text = ", ".join(self.headers.get_all("Transfer-Encoding", []))
        if text and text.strip().lower() not in ("chunked", "identity"):
            raise BrokenAnswer(f"its Transfer-Encoding is one that nobody asked for ({_shown(text)})")
        if text.strip().lower() == "chunked" and not self.chunked:  # http.client stumbles over a space behind it
            self.chunked, self.chunk_left, self.length = True, None, None
            self.will_close = self._check_close()  # type: ignore[attr-defined]  # http.client's own

    def _get_chunk_left(self) -> int | None:
        """Bytes left of the current chunk, or of the next one; None after the last."""
        if self.chunk_left:
            return self.chunk_left
        if self.chunk_left is not None and (end := self._line()) not in (b"\r\n", b"\n"):
            raise BrokenAnswer(f"a chunk is longer than it says ({_shown(repr(end)[1:])} follows)")
        line = self._line()
        match = _CHUNK.fullmatch(line)
        if match is None:
            raise BrokenAnswer(f"the size of a chunk is no number ({_shown(repr(line)[1:])})")
        self.chunk_left = int(match[1], 16) or None
        if self.chunk_left is None:
            while self.fp.readline(_LINE) not in (b"\r\n", b"\n", b""):
                pass
            self._close_conn()  # type: ignore[attr-defined]  # http.client's own: the body has ended
        return self.chunk_left

    def _line(self) -> bytes:
        """The next line, which there must be."""
        if not (line := self.fp.readline(_LINE)):
            raise RemoteDisconnected("the connection ended between two chunks")
        return line


def _shown(text: str) -> str:
    """The begin of a value, for a message."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}... of {len(text):,} characters"
