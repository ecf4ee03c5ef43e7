"""Sitemaps that fill the seed list are read again by the running instance."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from harvest.ledger import SeedRecord, SitemapRecord
from harvest.model.seeds import seed_hash
from harvest.pipeline import in_sitemap
from harvest.pipeline.seeds.registering import SitemapImport, SitemapListing, register_sitemap
from harvest.service.schedule import Scheduler
from sparql.reports import SeedResult
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer

HEAD = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
DAY = 86400.0


class Site:
    """A site whose sitemap is imported once, and then read by the ticks of a scheduler."""

    def __init__(self, instance: TemporaryInstance, server: ProviderServer) -> None:
        self.instance = instance
        self.server = server
        self.url = f"{server.url}/sitemap.xml"
        instance.register("{}\n")
        self.scheduler = Scheduler(instance.harvester)
        for name in "abc":
            server.put(f"/{name}", f'<http://x/{name}> <http://p> "1" .')

    def lists(self, *entries: tuple[str, str | None, str | None]) -> None:
        """Put a sitemap: the name, `lastmod` and `changefreq` of each page."""
        body = "".join(
            f"<url><loc>{self.server.url}/{name}</loc>{_element('lastmod', day)}{_element('changefreq', often)}</url>"
            for name, day, often in entries
        )
        self.server.put("/sitemap.xml", f"{HEAD}{body}</urlset>", "application/xml")

    def imported(self, interval: float | None = None) -> SitemapImport:
        instance = self.instance.harvester.instance
        listing = SitemapListing(self.url, in_sitemap(self.instance.settings, self.url), interval=interval)
        return register_sitemap(instance.ledger, listing, 100 * DAY, self.instance.clock())

    def tick(self) -> None:
        """One tick, with all that it begins."""
        self.scheduler.update()
        self.scheduler.settle()

    def seed(self, name: str) -> SeedRecord:
        found = self.instance.harvester.instance.ledger.seeds.get(seed_hash(f"{self.server.url}/{name}"))
        assert found is not None
        return found

    def sitemap(self) -> SitemapRecord:
        found = self.instance.harvester.instance.ledger.sitemaps.get(self.url)
        assert found is not None
        return found


def _element(name: str, text: str | None) -> str:
    return "" if text is None else f"<{name}>{text}</{name}>"


@pytest.fixture
def site(instance: TemporaryInstance, provider: ProviderServer) -> Site:
    return Site(instance, provider)


def test_a_sitemap_is_read_again_when_it_is_due(site: Site) -> None:
    """New entries become seeds, a newer `lastmod` makes one stale, `changefreq` is its interval, the gone are noted."""
    site.lists(("a", "2025-12-01", "weekly"), ("b", "2025-12-01", None))
    site.imported()
    site.tick()
    assert site.server.asked("/a") == site.server.asked("/b") == [200]
    asked = len(site.server.asked("/sitemap.xml"))
    site.lists(("a", "2025-12-30", "daily"), ("c", None, None))
    site.instance.clock.forward(hours=23)
    site.tick()
    assert len(site.server.asked("/sitemap.xml")) == asked
    site.lists(("a", "2026-01-01T12:00:00Z", "hourly"), ("c", None, None))
    site.instance.clock.forward(hours=2)
    site.tick()
    assert site.seed("a").interval == 3600 and site.seed("c").interval == 100 * DAY
    assert site.seed("b").vanished == site.instance.clock() and site.seed("b").listed
    assert (site.sitemap().entries, site.sitemap().vanished, site.sitemap().every) == (2, 1, 3600)
    site.tick()
    assert (len(site.server.asked("/a")), len(site.server.asked("/b")), len(site.server.asked("/c"))) == (2, 1, 1)
    site.lists(("a", "2026-01-01T12:00:00Z", "hourly"), ("b", "2025-12-01", None), ("c", None, None))
    site.instance.clock.forward(hours=1)
    site.tick()
    assert site.seed("b").vanished is None and site.sitemap().vanished == 0


def test_a_sitemap_that_is_as_it_was_costs_a_request(site: Site) -> None:
    """Of an index only what its dates say is newer is asked for, and 304 is an answer."""
    site.lists(("a", None, None))
    below = site.server.put("/1.xml.gz", gzip.compress(f"{HEAD}<url><loc>/b</loc></url></urlset>".encode()))
    entries = f"<sitemap><loc>{site.url}</loc></sitemap><sitemap><loc>{below}</loc><lastmod>2025-01-01</lastmod>"
    site.url = site.server.put("/index.xml", f"{INDEX}{entries}</sitemap></sitemapindex>", "text/xml")
    site.imported()
    for _ in range(3):
        site.instance.clock.forward(days=1)
        site.tick()
    assert site.server.asked("/index.xml") == site.server.asked("/sitemap.xml") == [200, 200, 304, 304]
    assert site.server.asked("/1.xml.gz") == [200, 200]
    assert site.sitemap().read == site.instance.clock() and site.sitemap().entries == 2


def test_a_broken_sitemap_leaves_the_list_as_it_is(site: Site) -> None:
    """Why is filed, and the next try waits; when it is mended, reading goes on."""
    site.lists(("a", None, None))
    site.imported()
    site.server.put("/sitemap.xml", f"{HEAD}<url>", "application/xml")
    site.instance.clock.forward(days=1)
    site.tick()
    found = site.sitemap()
    assert found.failures == 1 and found.trouble and "cannot be read on" in found.trouble
    assert site.seed("a").vanished is None and found.next_read > site.instance.clock()
    tried = len(site.server.asked("/sitemap.xml"))
    site.tick()
    assert len(site.server.asked("/sitemap.xml")) == tried
    site.lists(("c", None, None))
    site.instance.clock.forward(minutes=2)
    site.tick()
    assert (site.sitemap().failures, site.sitemap().trouble) == (0, None)
    assert site.seed("a").vanished and site.seed("c").listed


def test_seeds_that_are_run_by_a_command_have_their_sitemaps_read_first(site: Site) -> None:
    """All that are stale; not where a seed is named."""
    site.lists(("a", None, None))
    site.imported()
    seeding = site.instance.harvester.seeding
    assert len(seeding.run([])) == 1
    site.lists(("a", None, None), ("b", None, None))
    site.instance.clock.forward(days=1)
    assert len(seeding.run([f"{site.server.url}/a"])) == 1
    assert [result.seed.uri for result in seeding.run([]) if isinstance(result, SeedResult)] == [site.seed("b").uri]


def test_a_date_is_the_whole_of_its_day(site: Site) -> None:
    """A seed downloaded on the day of its `lastmod` is downloaded once more when the day is over, and no more."""
    site.lists(("a", "2026-01-01", "hourly"))
    site.imported(interval=30 * DAY)
    for _ in range(6):
        site.tick()
        site.instance.clock.forward(days=1)
    assert site.server.asked("/a") == [200, 200]


def test_what_was_taken_off_the_list_stays_off(site: Site) -> None:
    """Until somebody imports the sitemap again; a sitemap that was taken off is read no more."""
    ledger = site.instance.harvester.instance.ledger
    site.lists(("a", None, None))
    site.imported()
    assert ledger.seeds.remove(site.seed("a").hash)
    site.lists(("a", None, None), ("b", None, None))
    site.instance.clock.forward(days=1)
    site.tick()
    assert not site.seed("a").listed and site.seed("b").listed
    assert site.imported().uris.added == 1 and site.seed("a").listed
    assert ledger.sitemaps.remove(site.url) and not ledger.sitemaps.remove(site.url)
    site.instance.clock.forward(days=2)
    asked = len(site.server.asked("/sitemap.xml"))
    site.tick()
    assert len(site.server.asked("/sitemap.xml")) == asked


def test_robots_may_forbid_a_sitemap(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """As it may a seed, with `http.robots: pages`."""
    instance.settings = replace(instance.settings, http=replace(instance.settings.http, robots="pages"))
    site = Site(instance, provider)
    site.lists(("a", None, None))
    site.imported()
    provider.put("/robots.txt", "User-agent: *\nDisallow: /sitemap.xml\n", "text/plain")
    instance.clock.forward(days=1)
    asked = len(provider.asked("/sitemap.xml"))
    site.tick()
    assert len(provider.asked("/sitemap.xml")) == asked
    trouble = site.sitemap().trouble
    assert trouble and "forbids it" in trouble
