"""
A browser before a whole instance: Debian's Chromium by Playwright, nothing but loopback reachable.

A test fails at its end for what the page complained of: a message of the console at the level of an error, an
exception, a breach of the content security policy, a request to any other host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, expect, sync_playwright

from harvest.config.settings import Settings
from tests.browser.instance import Place, running
from tests.debian import require

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
Open = Callable[..., Page]


class Watch:
    """
    What pages complained of.

    Attributes:
        complaints: In order; a test that expects some takes them off by `allow`.
    """

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self._allowed: list[re.Pattern[str]] = []

    def allow(self, pattern: str) -> None:
        """Let complaints pass in which a regular expression is found, such as `status of 404`."""
        self._allowed.append(re.compile(pattern))

    def left(self) -> list[str]:
        """The complaints that the test did not expect."""
        return [said for said in self.complaints if not any(pattern.search(said) for pattern in self._allowed)]

    def over(self, context: BrowserContext) -> None:
        """Listen to a context, and keep it from all hosts but this one."""
        context.route("**/*", self._route)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(f"exception: {error.error}"))

    def _route(self, route: Route) -> None:
        host = urlsplit(route.request.url).hostname
        if host in ("127.0.0.1", "localhost", "::1"):
            route.continue_()
            return
        self.complaints.append(f"request to {route.request.url}")
        route.abort("addressunreachable")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            place = message.location
            self.complaints.append(f"console: {message.text} ({place.get('url')}:{place.get('lineNumber')})")


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The settings of a running instance that was harvested; made once in each test process."""
    with running(Place(tmp_path_factory.mktemp("instance"))) as made:
        yield made


@pytest.fixture(scope="session")
def instance(settings: Settings) -> str:
    """Its address, without a slash at the end."""
    return settings.base_url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """
    A browser for a module: as long as it is there its event loop is in the way of tests that have their own.
    """
    require("chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What pages complain of; what the test did not allow fails it at its end."""
    watch = Watch()
    yield watch
    left = watch.left()
    if left:
        pytest.fail("the pages complained:\n" + "\n".join(left), pytrace=False)


@pytest.fixture
def open_page(browser: Browser, instance: str, watch: Watch) -> Iterator[Open]:
    """
    Opens pages, each in a context of its own, with the options of Playwright's `new_context`.

    Addresses are relative to the instance. Closed, and so all heard, before `watch` judges.
    """
    with ExitStack() as contexts:

        def opened(**options: object) -> Page:
            values: dict[str, object] = {"base_url": instance, "locale": "en-GB", "timezone_id": "UTC"} | options
            context = browser.new_context(service_workers="block", **values)  # type: ignore[arg-type] # by name
            contexts.callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            watch.over(context)
            return context.new_page()

        yield opened


@pytest.fixture
def page(open_page: Open) -> Page:
    """A page of 1280 by 800 in light colours; `page.goto("/")` opens the dashboard."""
    return open_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
