"""
One document, from the first try to the last.

    run       tries, with pauses between them
    _walk     one try: from the URL asked for through its redirects
    _hop      one request and its answer
    _answer   what the last answer means: a body, the rest of one, nothing new, or an error
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final

import requests

from harvest.errors import FetchError, RefusedError, TooSlowError, TransferError
from harvest.fetch.answer import (
    Head,
    announced,
    conditional_headers,
    head_of,
    hop_of,
    range_headers,
    rest_total,
    status_error,
    validators_of,
)
from harvest.fetch.body import Body
from harvest.fetch.order import Fetched, Means, Order
from harvest.fetch.pacing import RETRY_AFTER_S, asked_pause_s, back_off_s
from harvest.fetch.recording import recorded
from harvest.fetch.tokens import token_header
from harvest.fetch.transfer import Transfer
from harvest.fetch.wire import Wire, base_iri, follow, spell, without_userinfo
from harvest.model import Capture, Finding, Hop, Validators

OnBytes = Callable[[str, int, int | None], None]
"""Called with what was asked for, the bytes of it that came so far, and how many there are if the server says so."""

REDIRECTS: Final = 10
HOPS: Final = 100
"""Answers of one order that are remembered, the last ones."""
_Outcome = Fetched | Wire | None
_REDIRECT: Final = (301, 302, 303, 307, 308)
_PERMANENT: Final = (301, 308)
_PIECE: Final = 1 << 18
"""Most bytes of one read; more than a socket buffer holds makes nothing faster."""
_SKIM: Final = 1 << 14
_SKIM_S: Final = 2.0
"""What reading the page of a redirect or an error is worth, in bytes and seconds."""


def ignored(url: str, received: int, total: int | None) -> None:
    """Nobody counts."""


class Exchange:
    """The state of one order between its tries."""

    def __init__(self, order: Order, means: Means, on_bytes: OnBytes = ignored) -> None:
        self._order = order
        self._on_bytes = on_bytes
        self._means = means
        self._start = spell(order.url)
        limits, settings = order.limits, means.settings
        self._total_s = settings.total_s if limits.total_s is None else limits.total_s
        most = settings.max_bytes if limits.max_bytes is None else limits.max_bytes
        self._body = Body(order.into, most, self._start.url)
        self._began = monotonic()
        self._deadline = self._began + self._total_s
        self._tries = 0
        self._head: Head | None = None
        self._ranged = False
        self._retry_after_s: float | None = None
        self._notes: list[Finding] = []
        self._hops: deque[Hop] = deque(maxlen=HOPS)

    def run(self) -> Fetched:
        """
        The answer, once there is one; no file is left behind when there is none.

        Raises:
            RefusedError: The settings forbid it.
            StatusError: The last try was answered with a status other than 2xx or 304.
            TransferError: The last try did not bring a whole body in time.
            StorageError: The body cannot be written.
        """
        try:
            return replace(self._until_answered(), http=tuple(self._hops))
        except FetchError as error:
            if error.url not in (self._order.url, self._start.url):
                _add(error, f"asked for as {without_userinfo(self._order.url)}")
            error.http = tuple(self._hops)
            error.asked = self._order.url
            raise
        finally:
            self._body.discard()

    def _until_answered(self) -> Fetched:
        while True:
            self._tries += 1
            self._retry_after_s = None
            try:
                return self._walk()
            except FetchError as error:
                if not error.retriable or isinstance(error, TooSlowError):
                    raise
                self._pause(error)

    def _pause(self, error: FetchError) -> None:
        """Wait before the next try, or raise the error when there is to be none."""
        if self._order.stop.is_set():
            raise error
        if monotonic() >= self._deadline:
            raise self._late(error) from error
        most = self._means.settings.retries + 1
        if self._tries >= most:
            raise _add(error, f"given up at try {self._tries} of {most}, with {self._progress()}")
        asked = self._retry_after_s or 0.0
        if asked > RETRY_AFTER_S:
            raise _add(error, f"it asks to come back in {asked:,.0f} s, more than the {RETRY_AFTER_S:.0f} s waited for")
        wait = max(asked, back_off_s(self._tries, self._means.around.chance))
        if monotonic() + wait >= self._deadline:
            raise self._late(error) from error
        self._means.around.pause(self._order.stop, wait)
        if self._order.stop.is_set():
            raise TransferError(f"{self._start.url}: the transfer was stopped", url=self._start.url)

    def _late(self, error: FetchError) -> TransferError:
        message = (
            f"{self._start.url}: not done within total_s of {self._total_s:g} s (try {self._tries}, {self._progress()};"
            f" last: {error.message}); raise the limit if it is meant to take so long"
        )
        return TransferError(message, url=self._start.url)

    def _progress(self) -> str:
        total = self._head.total if self._head else None
        return f"{self._body.received:,} bytes" + (f" of {total:,}" if total is not None else "")

    def _walk(self) -> Fetched:
        passed: list[str] = []
        wire = self._start
        while True:
            outcome = self._hop(wire, passed)
            if isinstance(outcome, Fetched):
                return outcome
            if outcome is None:
                # The rest of the body is not to be had. Without a body begun there is no such answer, so this ends.
                self._head = None
                self._body.reset()
                passed, wire = [], self._start
            else:
                passed.append(wire.url)
                wire = outcome

    def _hop(self, wire: Wire, passed: list[str]) -> _Outcome:
        order, means = self._order, self._means
        with order.lane.slot(wire.host, wire.url, order.stop) as place:
            self._deadline += place.waited_s  # waiting for a turn is not the server's doing
            place.transfer = transfer = Transfer(wire.url, wire.target, self._deadline, order.stop, means.floor)
            with recorded(means.recorder, order.into, wire.url, means.clock()) as transfer.recording:
                return self._asked(wire, transfer, passed)

    def _asked(self, wire: Wire, transfer: Transfer, passed: list[str]) -> _Outcome:
        sent = monotonic()
        response = self._means.transport.send(wire, self._headers(wire), transfer, self._order.method)
        try:
            return self._answer(response, transfer, wire, passed)
        finally:
            response.close()
            self._hops.append(hop_of(response, wire.url, monotonic() - sent))

    def _headers(self, wire: Wire) -> dict[str, str]:
        headers = token_header(self._means.settings.tokens, wire)
        headers |= {"User-Agent": self._means.user_agent, "Accept": self._order.accept or "*/*"}
        headers["Accept-Encoding"] = "gzip"
        if self._start.authorization and wire.origin == self._start.origin:
            headers["Authorization"] = self._start.authorization
        rest = range_headers(self._head, self._body.received)
        self._ranged = bool(rest)
        return headers | (rest or conditional_headers(self._order.validators))

    def _answer(self, response: requests.Response, transfer: Transfer, wire: Wire, passed: list[str]) -> _Outcome:
        status = response.status_code
        if status in _REDIRECT and "Location" in response.headers:
            self._skim(response, transfer)
            return self._onward(response, wire, passed)
        if status == 304 and not self._ranged and conditional_headers(self._order.validators):
            # It is empty, but only a body that was read to its end gives the connection back.
            deque(self._means.transport.read(response, _SKIM, transfer), maxlen=0)
            return self._unchanged(response, wire, passed)
        if status in (206, 416) and self._ranged:
            if not self._goes_on(response):
                return None
        elif 200 <= status < 300 and status != 206:
            self._head = head_of(response, self._means.clock())
            self._body.begin(response.headers, self._head.total)
        else:
            self._retry_after_s = asked_pause_s(response.headers, self._means.clock())
            raise status_error(response, wire.url, self._skim(response, transfer))
        total = self._head.total if self._head else None
        for piece in self._means.transport.read(response, _PIECE, transfer):
            self._body.feed(piece)
            self._on_bytes(self._order.url, self._body.received, total)
        return self._arrived(wire, passed)

    def _goes_on(self, response: requests.Response) -> bool:
        received = self._body.received
        assert self._head is not None
        total = rest_total(response, self._head, received) if response.status_code == 206 else None
        if total is None:
            return False
        self._head = replace(self._head, total=total)
        self._body.resume(announced(response))
        self._note("resumed", f"The transfer broke off after {received:,} of {total:,} bytes, and was continued.")
        return True

    def _arrived(self, wire: Wire, passed: list[str]) -> Fetched:
        head = self._head
        assert head is not None
        if head.total is not None and self._body.received != head.total:
            raise TransferError(f"{wire.url}: the body ended too early; it is tried again later", url=wire.url)
        if not head.framed:
            self._note("unframed-body", "The server does not say how long the body is: a truncation stays unnoticed.")
        if head.status not in (200, 203):
            self._note("unusual-status", f"The body came with status {head.status}.")
        body = self._body.finish(head.framed)
        capture = self._capture(wire, passed, head)
        return self._fetched(replace(capture, digest=body.digest, length=body.length), body.path)

    def _unchanged(self, response: requests.Response, wire: Wire, passed: list[str]) -> Fetched:
        """A 304 may bring new validators. Source: RFC 9111, section 4.3.4."""
        head, sent = head_of(response, self._means.clock()), self._order.validators
        now = validators_of(response.headers)
        kept = Validators(now.etag or sent.etag, now.last_modified or sent.last_modified)
        return self._fetched(self._capture(wire, passed, replace(head, validators=kept)), None)

    def _capture(self, wire: Wire, passed: list[str], head: Head) -> Capture:
        return Capture(
            url=self._order.url,
            final_url=wire.url if passed else base_iri(self._order.url, wire),
            at=head.at,
            status=head.status,
            digest=None,
            length=0,
            media_type=head.media_type,
            redirects=tuple(passed),
            validators=head.validators,
        )

    def _fetched(self, capture: Capture, path: Path | None) -> Fetched:
        return Fetched(capture, path, self._tries, monotonic() - self._began, tuple(self._notes))

    def _onward(self, response: requests.Response, wire: Wire, passed: list[str]) -> Wire:
        """Where a redirect leads, if it may be followed."""
        location = response.headers["Location"]
        try:
            target = follow(wire, location)
        except RefusedError as error:
            raise RefusedError(f"{wire.url} redirects to no usable URL: {error.message}", url=wire.url) from error
        way = [*passed, wire.url, target.url]
        if target.url in way[:-1]:
            raise RefusedError(f"{wire.url}: a redirect loop: {' -> '.join(way)}; tell its owner", url=wire.url)
        if len(way) - 1 > REDIRECTS:
            raise RefusedError(f"{wire.url}: more than {REDIRECTS} redirects: {' -> '.join(way)}", url=wire.url)
        if response.status_code in _PERMANENT:
            self._note("moved-permanently", f"{wire.url} has moved for good to {target.url}; use that URL.")
        if (wire.scheme, target.scheme) == ("https", "http"):
            self._note("insecure-redirect", f"{wire.url} redirects to {target.url}, which is not encrypted.")
        return target

    def _skim(self, response: requests.Response, transfer: Transfer) -> bytes:
        """The begin of a body that is not wanted; reading all of a small one leaves the connection usable."""
        skimmed = b""
        transfer.deadline = min(transfer.deadline, monotonic() + _SKIM_S)
        with suppress(TransferError):
            for piece in self._means.transport.read(response, _SKIM, transfer):
                skimmed += piece
                if len(skimmed) >= _SKIM:
                    break
        return skimmed

    def _note(self, kind: str, message: str) -> None:
        note = Finding(kind, message, url=self._start.url)
        if note not in self._notes:
            self._notes.append(note)


def _add(error: FetchError, text: str) -> FetchError:
    """The error, with more in its message."""
    error.message = f"{error.message} ({text})"
    error.args = (error.message,)
    return error
