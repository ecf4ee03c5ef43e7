"""What an answer says of its body, and whether another answer goes on with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import unescape
from typing import Any, Final

import requests

from harvest.errors import StatusError
from harvest.fetch.coding import CodingError, decode, decoders
from harvest.fetch.pacing import http_date
from harvest.model import Hop, Validators

EXCERPT: Final = 1000
"""Characters of an error body that are kept. Source: shared LOD Laundromat document."""

TITLE: Final = 200
"""Characters of the title of an error page that are kept; the rest of such a page helps nobody."""

HEADERS: Final = 64
"""Headers of one answer that are kept."""

HEADER: Final = 1000
"""Characters of one header that are kept."""

_COOKIES: Final = ("set-cookie", "set-cookie2")
_STRONG: Final = re.compile(r'"[^"]*"')
_CONTENT_RANGE: Final = re.compile(r"bytes\s+([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)\s*", re.IGNORECASE)
_PAGE: Final = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{1,2000})", re.IGNORECASE)
_FOLD: Final = re.compile(r"\s*[\r\n]\s*")
_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([A-Za-z0-9_.:-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Head:
    """
    What the answer that began a body says of it.

    Attributes:
        at: When it arrived (aware, UTC).
        status: HTTP status.
        media_type: The Content-Type header, or None.
        validators: For the next request.
        coding: The Content-Encoding header, or None.
        total: Size of the whole body as sent, in bytes, where known.
        if_range: What an If-Range header may say, or None where the body has no strong validator.
        framed: Whether the answer says where its body ends.
    """

    at: datetime
    status: int
    media_type: str | None
    validators: Validators
    coding: str | None
    total: int | None
    if_range: str | None
    framed: bool


def announced(response: requests.Response) -> int | None:
    """The bytes that this answer says it brings, or None."""
    raw: Any = response.raw
    length: int | None = raw.length_remaining
    return length


def head_of(response: requests.Response, at: datetime) -> Head:
    """The head of an answer that brings a body from its first byte."""
    raw: Any = response.raw
    total = announced(response)
    return Head(
        at=at,
        status=response.status_code,
        media_type=_line(response.headers.get("Content-Type")),
        validators=validators_of(response.headers),
        coding=response.headers.get("Content-Encoding"),
        total=total,
        if_range=_if_range(response.headers),
        framed=total is not None or bool(raw.chunked),
    )


def hop_of(response: requests.Response, uri: str, walltime_s: float) -> Hop:
    """What is remembered of an answer that took so long."""
    raw: Any = response.raw
    named = ((name.lower(), value[:HEADER]) for name, value in response.headers.items())
    headers = tuple((name, value) for name, value in named if name not in _COOKIES)
    version = divmod(raw.version or 0, 10)
    return Hop(uri, response.status_code, version, headers[:HEADERS], round(walltime_s, 6))


def validators_of(headers: Mapping[str, str]) -> Validators:
    """ETag and Last-Modified of an answer."""
    return Validators(etag=_line(headers.get("ETag")), last_modified=_line(headers.get("Last-Modified")))


def conditional_headers(validators: Validators) -> dict[str, str]:
    """The headers that let a server answer 304. Source: RFC 9110, sections 13.1.2 and 13.1.3."""
    pairs = (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified))
    return {name: value for name, value in pairs if value}


def range_headers(head: Head | None, received: int) -> dict[str, str]:
    """
    The headers that ask for the rest of a body; none when it can't be asked for.

    Source: RFC 9110, sections 13.1.5 and 14.2.
    """
    if head is None or head.if_range is None or received == 0:
        return {}
    return {"Range": f"bytes={received}-", "If-Range": head.if_range}


def rest_total(response: requests.Response, head: Head, received: int) -> int | None:
    """
    The size of the whole body, when a 206 answer goes on at byte `received` of the body that `head` began; None when
    it does not: the range is another one, or the entity has changed though If-Range should have noticed.

    Source: RFC 9110, sections 14.4 and 15.3.7.3.
    """
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
    if not match or not _same_entity(response.headers, head):
        return None
    first, last = int(match[1]), int(match[2])
    total = head.total if match[3] == "*" else int(match[3])
    length = announced(response)
    fits = first == received and (length is None or length == last - first + 1) and total is not None and last < total
    return total if fits and head.total in (None, total) else None


def status_error(response: requests.Response, url: str, body: bytes) -> StatusError:
    """The error that an answer other than 2xx or 304 stands for, with the begin of its body."""
    status = response.status_code
    reason = f"{status} {response.reason}".strip()
    error = StatusError(f"{url} answered {reason}; {_advice(status)}", url=url, status=status)
    error.excerpt = _said(response.headers, body)
    return error


def _said(headers: Mapping[str, str], body: bytes) -> str | None:
    """What the body of an error says: the title of a page, of anything else the beginning."""
    text = _text(headers, body)
    if "html" not in headers.get("Content-Type", "").lower() and not _PAGE.match(text):
        return text[:EXCERPT] or None
    title = _TITLE.search(text)
    return None if title is None else " ".join(unescape(title[1]).split())[:TITLE] or None


def _advice(status: int) -> str:
    if status in (401, 403, 407, 451):
        return "ask its owner for access"
    if status in (404, 410):
        return "correct the URL, or ask its owner where the document is now"
    if status in (408, 425, 429) or status >= 500:
        return "it is tried again later"
    return "look at the body of the answer"


def _text(headers: Mapping[str, str], body: bytes) -> str:
    pieces: list[bytes] = []
    try:
        pieces.extend(decode(decoders(headers.get("Content-Encoding")), body))
    except CodingError:
        pieces = pieces or [body]
    charset = _CHARSET.search(headers.get("Content-Type", ""))
    try:
        return b"".join(pieces).decode(charset[1] if charset else "utf-8", "replace")
    except LookupError:
        return b"".join(pieces).decode("utf-8", "replace")


def _same_entity(headers: Mapping[str, str], head: Head) -> bool:
    now = validators_of(headers)
    pairs = ((now.etag, head.validators.etag), (now.last_modified, head.validators.last_modified))
    same_coding = (headers.get("Content-Encoding") or "identity") == (head.coding or "identity")
    return same_coding and all(here is None or here == there for here, there in pairs)


def _if_range(headers: Mapping[str, str]) -> str | None:
    """A date counts only where there is no entity tag, and when it lies before the answer: RFC 9110, 8.8.2.2."""
    known = validators_of(headers)
    if known.etag is not None:
        return known.etag if _STRONG.fullmatch(known.etag) else None
    modified, sent = http_date(known.last_modified), http_date(headers.get("Date"))
    strong = modified is not None and sent is not None and sent - modified >= timedelta(seconds=1)
    return known.last_modified if strong else None


def _line(value: str | None) -> str | None:
    """A header value as one line: a folded one could not be sent back."""
    return _FOLD.sub(" ", value).strip() if value else None
