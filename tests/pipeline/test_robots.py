"""robots.txt is obeyed for the pages of sitemaps and for seeds, and for all requests where the settings say so."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harvest.config.settings import HttpSettings
from harvest.errors import RobotsError
from harvest.fetch.client import Client
from harvest.fetch.robots import MOST_DELAY_S, Robots
from harvest.model import Outcome
from sparql.reports import to_json
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_sitemaps import PAGE, A, B, urls
from tests.provider import ProviderServer

FORBIDDING = "User-agent: *\nDisallow: /\n\nUser-agent: Sparql-Harvest\nDisallow: /private\n"


class Waits(threading.Event):
    """Remembers how long it was to be waited, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.asked.append(timeout or 0.0)
        return False


@pytest.fixture
def robots() -> Robots:
    return Robots(Client(HttpSettings(allow_loopback=True, retries=0), "http://h.example"))


def pages(provider: ProviderServer) -> str:
    listed = [provider.put(path, PAGE.format(name, name, name), "text/html") for path, name in PATHS]
    return provider.put("/sitemap.xml", urls(*((page, None) for page in listed)), "application/xml")


START = datetime(2026, 1, 1, tzinfo=UTC)
PATHS = (("/a", "a"), ("/private/b", "b"))


def test_a_forbidden_page_is_a_finding(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """It is not asked for, others are harvested; when it is allowed it is harvested with the next asking."""
    provider.put("/robots.txt", FORBIDDING, "text/plain")
    instance.register(f"p:\n  sitemap: {pages(provider)}\n")
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}
    assert provider.asked("/private/b") == []
    ledger = instance.harvester.instance.ledger
    [finding] = [finding for finding in ledger.runs("p", 1)[0].findings if finding.kind == "page"]
    assert finding.url == f"{provider.url}/private/b"
    assert f"{provider.url}/robots.txt forbids it" in finding.message
    provider.put("/robots.txt", "User-agent: *\nAllow: /\n", "text/plain")
    instance.close()  # what was read of robots.txt is kept in memory alone
    instance.clock.forward(days=1, hours=1)
    assert [result.outcome for result in instance.tick("p")] == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    assert instance.proven("p")


def test_a_site_that_forbids_all_pages_fails(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The reason is that of the harvest."""
    provider.put("/robots.txt", "User-agent: *\nDisallow: /\n", "text/plain")
    instance.register(f"p:\n  sitemap: {pages(provider)}\n")
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None
    assert (result.finding.kind, "forbids it" in result.finding.message) == ("robots", True)


def test_a_forbidden_seed_is_listed_with_the_reason(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """It is a problem of the seed, and recorded once however often it is tried."""
    instance.register("{}\n")
    provider.put("/robots.txt", FORBIDDING, "text/plain")
    url = provider.put("/private/a.ttl", f"{A} .")
    ledger = instance.harvester.instance.ledger
    ledger.seeds.add_all([url], instance.clock(), 60.0)
    for _ in range(2):
        [found] = to_json(instance.harvester.seeding.run([url]))
        assert "forbids it" in found["problem"]
        instance.clock.forward(hours=1)
    assert provider.asked("/private/a.ttl") == []
    last = ledger.downloads.last(url)
    assert last is not None
    assert last.began == START


@pytest.mark.parametrize(("setting", "expected"), [("pages", Outcome.COMMITTED), ("all", Outcome.FAILED)])
def test_dumps_of_the_registry_are_asked_for_unless_all_obeys(
    instance: TemporaryInstance, provider: ProviderServer, setting: str, expected: Outcome
) -> None:
    """Who registers a dump wants it to be harvested."""
    instance.settings = replace(instance.settings, http=replace(instance.settings.http, robots=setting))
    provider.put("/robots.txt", "User-agent: *\nDisallow: /\n", "text/plain")
    instance.register(f"p:\n  dump: {provider.put('/a.ttl', f'{A} .')}\n")
    assert [result.outcome for result in instance.tick("p")] == [expected]


def test_requests_keep_the_delay_that_a_site_asks_for(robots: Robots, provider: ProviderServer, tmp_path: Path) -> None:
    """Each waits for its turn after the ones before; of one site only, and never more than a minute for each."""
    provider.put("/robots.txt", "User-agent: *\nCrawl-delay: 900\n", "text/plain")
    waits = Waits()
    for name in "abc":
        robots.admit(f"{provider.url}/{name}", tmp_path, waits)
    first, second = waits.asked
    assert first <= MOST_DELAY_S < second <= 2 * MOST_DELAY_S
    assert provider.asked("/robots.txt") == [200]


@pytest.mark.parametrize(("status", "is_admitted"), [(404, True), (403, True), (429, False), (503, False)])
def test_a_robots_txt_that_is_not_there(
    robots: Robots, provider: ProviderServer, tmp_path: Path, status: int, is_admitted: bool
) -> None:
    """4xx means no rules, while an error of the server forbids all until it is mended (RFC 9309, section 2.3.1)."""
    provider.put("/robots.txt", "User-agent: *\nDisallow: /\n", "text/plain", status=status)
    if is_admitted:
        robots.admit(f"{provider.url}/a", tmp_path, Waits())
        return
    with pytest.raises(RobotsError, match="cannot be had") as caught:
        robots.admit(f"{provider.url}/a", tmp_path, Waits())
    assert caught.value.retriable
    assert list(tmp_path.iterdir()) == []
