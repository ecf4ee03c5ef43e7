"""The client that all threads share: one per instance, from the settings."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from types import TracebackType
from urllib.parse import quote
from weakref import WeakSet

from harvest.config.settings import HttpSettings
from harvest.errors import StatusError
from harvest.fetch.exchange import Exchange, OnBytes, ignored
from harvest.fetch.guard import Gate
from harvest.fetch.lanes import CHECKS_PER_HOST, Lane
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS, THE_MACHINE, Fetched, Means, Order, Surroundings
from harvest.fetch.pacing import now_utc
from harvest.fetch.recording import Recorder
from harvest.fetch.transfer import Floor, Transfer
from harvest.fetch.transport import Transport
from harvest.fetch.wire import follow, spell, without_userinfo
from harvest.model import Limits, Validators

__all__ = ["Client", "Fetched", "Surroundings", "now_utc"]


class Client:
    """
    Asks for documents; may be used by any number of threads.

    Proxies, .netrc and certificate settings of the environment are not used, cookies are not kept, and certificates
    are always verified.

    Attributes:
        downloads: The lane of bodies that are expected to be large: `http.parallel` at once, `http.per_host` of them
            from one host.
        parallel: `http.parallel`.
        checks: The lane of small documents: CHECKS_PER_HOST at once from one host.
        means: What all its exchanges share.
    """

    def __init__(
        self,
        settings: HttpSettings,
        base_url: str,
        clock: Callable[[], datetime] = now_utc,
        around: Surroundings = THE_MACHINE,
        recorder: Recorder | None = None,
    ) -> None:
        self.downloads = Lane(settings.per_host, settings.parallel)
        self.parallel = settings.parallel
        self.checks = Lane(CHECKS_PER_HOST)
        gate = Gate(settings.allow_loopback, around.resolve)
        kept = CHECKS_PER_HOST + settings.per_host
        transport = Transport(gate, (settings.connect_s, settings.read_s), kept, around.ca_bundle)
        floor = Floor(settings.min_rate, max(settings.min_rate_s, settings.read_s))
        agent = user_agent(settings.contact or base_url)
        self.means = Means(settings, agent, clock, around, transport, floor, recorder)
        self._on_bytes: OnBytes = ignored
        self._closing = threading.Event()
        self._stops: WeakSet[threading.Event] = WeakSet((self._closing,))
        self._lock = threading.Lock()

    def get(
        self,
        url: str,
        validators: Validators = NO_VALIDATORS,
        limits: Limits = NO_LIMITS,
        *,
        accept: str | None = None,
        into: Path,
    ) -> Fetched:
        """
        The answer to one GET, its body in a temporary file in the folder `into`.

        At most CHECKS_PER_HOST of these run at once to one host; for dumps use `harvest.fetch.download.download_all`.

        Raises:
            RefusedError: The URL, an address, a redirect, a certificate or the size is not allowed.
            StatusError: A status other than 2xx or 304, after the tries that the settings give it.
            TransferError: No whole body in time, after those tries.
            StorageError: The body cannot be written.
        """
        return self.fetch(Order(url, into, self.checks, self._closing, validators, limits, accept))

    def post(self, url: str, body: bytes, headers: Mapping[str, str], within_s: float) -> None:
        """
        Have a server accept a body; a redirect is not followed, and the answer's body not read.

        Raises:
            RefusedError: The URL, an address or a certificate is not allowed.
            StatusError: A status other than 2xx.
            TransferError: No answer in time.
        """
        wire, shown = spell(url), without_userinfo(url)
        transfer = Transfer(shown, wire.target, monotonic() + within_s, self._closing)
        sent = {"User-Agent": self.means.user_agent, **headers}
        if wire.authorization:
            sent["Authorization"] = wire.authorization
        with self.means.transport.send(wire, sent, transfer, "POST", body) as response:
            if not 200 <= response.status_code < 300:
                status = response.status_code
                raise StatusError(f"{shown}: the server answered {status}", url=shown, status=status)

    def link(self, url: str, relation: str, within_s: float) -> str | None:
        """
        Where a Link header of a URL's HEAD points with this relation, absolute; None without one.

        Raises:
            FetchError: As `post`.
        """
        wire, shown = spell(url), without_userinfo(url)
        transfer = Transfer(shown, wire.target, monotonic() + within_s, self._closing)
        with self.means.transport.send(wire, {"User-Agent": self.means.user_agent}, transfer, "HEAD") as response:
            found = response.links.get(relation, {}).get("url")
            return None if found is None else follow(wire, found).url

    def fetch(self, order: Order) -> Fetched:
        """
        The answer to an order; `get` says what is raised.

        Its `lane` is one of this client's, its `stop` made by `new_stop`.
        """
        return Exchange(order, self.means, self._on_bytes).run()

    def reporting(self, on_bytes: OnBytes) -> Client:
        """This client, for orders whose bytes somebody counts as they come."""
        other = copy.copy(self)
        other._on_bytes = on_bytes
        return other

    def new_stop(self) -> threading.Event:
        """An event that ends its orders when it is set, within POLL_S; closing the client sets it."""
        stop = threading.Event()
        with self._lock:
            self._stops.add(stop)
            if self._closing.is_set():
                stop.set()
        return stop

    def close(self) -> None:
        """End all orders, with a TransferError where they run, and close all connections."""
        with self._lock:
            stops = list(self._stops)
        for stop in stops:
            stop.set()
        self.means.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def user_agent(contact: str) -> str:
    """The User-Agent header: product, version, and whom to ask. Source: RFC 9110, section 10.1.5."""
    try:
        release = version("sparql-harvest")
    except PackageNotFoundError:
        # Run from a checkout that was not installed.
        release = "0"
    return f"sparql-harvest/{release} (+{quote(contact, safe=':/@?&=#%+,;!*~ ')})"
