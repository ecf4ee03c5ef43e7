"""Requests, and what was answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import IO


@dataclass(frozen=True, slots=True)
class Validators:
    """
    What makes the next request for a URL conditional.

    Attributes:
        etag: The ETag header as received, or None.
        last_modified: The Last-Modified header as received, or None.

    Source: RFC 9110, section 8.8.
    """

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """
    One request and what was answered: a redirect, a try that failed, or the last answer.

    Attributes:
        uri: What was asked for, without user and password.
        status: HTTP status.
        version: HTTP version, major and minor.
        headers: Those of the answer, names in lower case, values as received but cut where they are long; without
            cookies, which may stand for a login.
        walltime_s: Seconds from the request to the end of its body.

    Source: LOD Laundromat 2, "Downloading the file stream" (HTTP_META).
    """

    uri: str
    status: int
    version: tuple[int, int]
    headers: tuple[tuple[str, str], ...]
    walltime_s: float


@dataclass(frozen=True, slots=True)
class WireExchange:
    """
    One request and what came back, byte by byte.

    Attributes:
        url: What was asked for, without user and password.
        at: When the request was sent (aware, UTC).
        request: The request as it was sent, without the lines that hold credentials.
        answer: File of what came from the status line on, chunks and content-encoding as they were.
        is_whole: Whether the answer came to its end.
    """

    url: str
    at: datetime
    request: bytes
    answer: IO[bytes]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Capture:
    """
    One answered request.

    Attributes:
        url: As asked for.
        final_url: After redirects; the base IRI of the body.
        redirects: The URLs passed through, in order, without `final_url`.
        at: When the response headers arrived (aware, UTC).
        status: HTTP status of the final answer.
        digest: SHA-256 of the body after content-encoding was undone, 64 lower-case hex digits; None when the
            server answered 304.
        length: Size of that body in bytes.
        media_type: The Content-Type header as received, or None.
        validators: For the next request.

    Source: ISO 28500 (WARC), "revisit" records; RFC 9110, section 15.4.5.
    """

    url: str
    final_url: str
    at: datetime
    status: int
    digest: str | None
    length: int
    media_type: str | None = None
    redirects: tuple[str, ...] = ()
    validators: Validators = Validators()
