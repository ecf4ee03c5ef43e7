"""Whether a document can be had: its head is asked for, or its first bytes where a server answers no HEAD."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import requests

from harvest.errors import FetchError, StatusError, TransferError
from harvest.fetch.answer import status_error
from harvest.fetch.client import Client
from harvest.fetch.exchange import Exchange
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS, Fetched, Order
from harvest.fetch.transfer import Transfer
from harvest.fetch.wire import Wire
from harvest.model import Capture, Limits

_FIRST: Final = "bytes=0-1023"


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """
    What a server says of a document.

    Attributes:
        final_url: Where redirects led.
        media_type: The Content-Type header as received, or None.
        total: Its size in bytes, or None where the server does not say.
    """

    final_url: str
    media_type: str | None
    total: int | None


def probe(client: Client, url: str, accept: str, limits: Limits = NO_LIMITS) -> ProbeAnswer:
    """
    What the server says of a document, without more than its first bytes.

    Raises:
        RefusedError: The URL, an address, a redirect or a certificate is not allowed.
        StatusError: A status other than 2xx, to a GET.
        TransferError: There was no answer.
    """
    try:
        return _asked(client, url, accept, limits, "HEAD")
    except (StatusError, TransferError):
        # Many servers refuse HEAD, some with 404, and answer GET.
        return _asked(client, url, accept, limits, "GET")


def _asked(client: Client, url: str, accept: str, limits: Limits, method: str) -> ProbeAnswer:
    order = Order(url, Path(), client.checks, client.new_stop(), NO_VALIDATORS, limits, accept, method)
    exchange = _Probe(order, client.means)
    capture = exchange.run().capture
    return ProbeAnswer(capture.final_url, capture.media_type, exchange.total)


class _Probe(Exchange):
    """
    An exchange that is over when the answer begins.

    Attributes:
        total: Size of the document, where the server says it.
    """

    total: int | None = None

    def _pause(self, error: FetchError) -> None:
        """A HEAD that fails is not tried again: a GET is."""
        if self._order.method == "HEAD":
            raise error
        super()._pause(error)

    def _headers(self, wire: Wire) -> dict[str, str]:
        headers = super()._headers(wire) | {"Accept-Encoding": "identity"}
        return headers | {"Range": _FIRST} if self._order.method == "GET" else headers

    def _answer(
        self, response: requests.Response, transfer: Transfer, wire: Wire, passed: list[str]
    ) -> Fetched | Wire | None:
        status, headers = response.status_code, response.headers
        if status in (301, 302, 303, 307, 308) and "Location" in headers:
            return self._onward(response, wire, passed)
        if not 200 <= status < 300:
            raise status_error(response, wire.url, self._skim(response, transfer))
        length = headers.get("Content-Range", "").rpartition("/")[2] if status == 206 else headers.get("Content-Length")
        self.total = int(length) if length and length.isascii() and length.isdigit() and len(length) < 19 else None
        now, media_type = self._means.clock(), headers.get("Content-Type")
        capture = Capture(self._order.url, wire.url, now, status, None, 0, media_type, tuple(passed))
        return self._fetched(capture, None)
