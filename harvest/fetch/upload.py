"""Files go out, by PUT, through the address guard."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from harvest.errors import FetchError, StatusError
from harvest.fetch.order import Means
from harvest.fetch.pacing import RETRY_AFTER_S, back_off_s, retry_after_s
from harvest.fetch.transfer import Transfer
from harvest.fetch.wire import spell


def upload(means: Means, url: str, source: Path, headers: Mapping[str, str], stop: threading.Event) -> None:
    """
    Have a server accept a file; tried again as the settings say where it is busy or the transfer breaks off.

    A redirect is not followed, as the headers have credentials, and no exchange is recorded, for the same reason.

    Args:
        means: Of the client.
        url: Where it is put.
        source: The file, which is read in pieces.
        headers: Of the request.
        stop: Ends it when it is set.

    Raises:
        RefusedError: The URL, an address or a certificate is not allowed.
        StatusError: A status other than 2xx, after the last try.
        TransferError: No answer, likewise.
    """
    for tries in range(1, means.settings.retries + 2):
        asked = 0.0
        try:
            status, asked = _put(means, url, source, headers, stop)
            if 200 <= status < 300:
                return
            raise StatusError(f"{url}: the server answered {status} to the upload", url=url, status=status)
        except FetchError as error:
            wait = max(back_off_s(tries, means.around.chance), asked)
            if not error.retriable or tries > means.settings.retries or wait > RETRY_AFTER_S or stop.is_set():
                raise
            means.around.pause(stop, wait)


def _put(means: Means, url: str, source: Path, headers: Mapping[str, str], stop: threading.Event) -> tuple[int, float]:
    """The status of one try, and the seconds after which the server wants the next."""
    wire = spell(url)
    transfer = Transfer(wire.url, wire.target, monotonic() + means.settings.total_s, stop)
    sent = {"User-Agent": means.user_agent, **headers}
    with source.open("rb") as body:
        # requests would send an empty file in chunks, without a Content-Length.
        content = body if source.stat().st_size else b""
        with means.transport.send(wire, sent, transfer, "PUT", content) as response:
            return response.status_code, retry_after_s(response.headers.get("Retry-After"), means.clock()) or 0.0
