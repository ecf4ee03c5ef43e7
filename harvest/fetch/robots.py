"""
robots.txt: what a site lets programs ask for, and how long they wait between two requests.

Each robots.txt goes the way of every other request (guard, limits, turns of a host), is kept in memory for an hour and
is not filed. Product token: `sparql-harvest`. Redirects are followed without asking again.

Source: RFC 9309; `Crawl-delay` is no part of it, and written by many sites.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from protego import Protego

from harvest.errors import FetchError, RefusedError, RobotsError, StatusError
from harvest.fetch.client import Client
from harvest.fetch.wire import without_userinfo
from harvest.model import Limits

AGENT: Final = "sparql-harvest"

READ: Final = 500 << 10
"""Bytes of a robots.txt that are read. Source: RFC 9309, section 2.5."""

LIMITS: Final = Limits(8 << 20, 30)
"""Bytes and seconds that a robots.txt may take."""

KEPT_S: Final = 3600.0
"""Seconds for which a robots.txt holds; a day is the most that RFC 9309 allows (section 2.4)."""

FAILED_S: Final = 300.0
"""Seconds until a robots.txt that could not be had is asked for again."""

MOST_DELAY_S: Final = 60.0
"""Seconds between two requests that a site may ask for; more count as this."""

MOST_SITES: Final = 10_000
"""Sites whose rules are kept in memory."""


@dataclass(slots=True)
class _Site:
    """
    The rules of an origin.

    Attributes:
        until: When they are to be asked for again (monotonic).
        rules: None where the site has none.
        trouble: Why they cannot be had, or None.
        free: When the next request may be sent (monotonic).
    """

    until: float = 0.0
    rules: Protego | None = None
    trouble: FetchError | None = None
    free: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Robots:
    """The rules of sites; may be used by any number of threads."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sites: dict[str, _Site] = {}
        self._guard = threading.Lock()

    def admit(self, url: str, folder: Path, stopping: threading.Event) -> None:
        """
        Return when a URL may be asked for, which is at once but for a `Crawl-delay`; `folder` is for temporary files.

        Raises:
            RobotsError: It may not be asked for, or the rules cannot be had now.
        """
        parts = urlsplit(without_userinfo(url))
        place = f"{parts.scheme}://{parts.netloc}/robots.txt"
        if parts.scheme not in ("http", "https") or parts.path == "/robots.txt":
            return
        site = self._site(place)
        with site.lock:
            if monotonic() >= site.until:
                self._ask(site, place, folder)
            wait = self._wait(site, url, place)
        if wait > 0:
            stopping.wait(wait)

    def _site(self, place: str) -> _Site:
        with self._guard:
            if place not in self._sites and len(self._sites) >= MOST_SITES:
                del self._sites[next(iter(self._sites))]
            return self._sites.setdefault(place, _Site())

    def _ask(self, site: _Site, place: str, folder: Path) -> None:
        site.rules, site.trouble, site.until = None, None, monotonic() + KEPT_S
        try:
            fetched = self._client.get(place, limits=LIMITS, accept="text/plain, */*;q=0.5", into=folder)
        except RefusedError:
            return  # what refuses it refuses the request itself, with the better reason
        except FetchError as error:
            # 4xx: there are no rules (section 2.3.1.3). Otherwise nothing may be asked for (2.3.1.4).
            if not isinstance(error, StatusError) or error.retriable:
                site.trouble, site.until = error, monotonic() + FAILED_S
            return
        assert fetched.path is not None
        try:
            with fetched.path.open("rb") as stream:
                site.rules = Protego.parse(stream.read(READ).decode("utf-8-sig", "replace"))
        finally:
            fetched.path.unlink(missing_ok=True)

    def _wait(self, site: _Site, url: str, place: str) -> float:
        """Seconds until a URL may be asked for; its turn is taken."""
        shown = without_userinfo(url)
        if site.trouble is not None:
            message = f"{shown} is not asked for, as {place} cannot be had: {site.trouble.message}"
            raise RobotsError(message, url=shown, retriable=True)
        if site.rules is None:
            return 0.0
        if not site.rules.can_fetch(url, AGENT):
            message = f"{shown} is not asked for: {place} forbids it; ask the site to allow `{AGENT}`"
            raise RobotsError(message, url=shown, retriable=False)
        delay = min(site.rules.crawl_delay(AGENT) or 0.0, MOST_DELAY_S)
        at = max(site.free, now := monotonic())
        site.free = at + delay
        return at - now
