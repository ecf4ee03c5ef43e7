"""
Sitemaps of the seed list, read again by a running instance.

Each is read with all that it leads to, by conditional requests, as robots.txt and the limits of hosts allow; all of
them are read or none. One that is as it was costs the requests alone.
"""

from __future__ import annotations

import hashlib

import structlog

from harvest.errors import HarvestError
from harvest.ledger import SitemapRecord
from harvest.model.seeds import public
from harvest.pipeline.harvest.sitemaps import Listed, Place, captured, items_of
from harvest.pipeline.instance import Instance
from harvest.pipeline.seeds.registering import SitemapListing, register_sitemap

log = structlog.get_logger()


def read_sitemap(instance: Instance, url: str) -> None:
    """Take up what a sitemap lists now; where it cannot be had or read, why is filed, and the list stays as it is."""
    record = instance.ledger.sitemaps.get(url)
    if record is None or instance.stopping.is_set():
        return  # it was removed before its turn came
    try:
        with instance.crawl.working():
            _read(instance, record)
    except HarvestError as error:
        if not instance.stopping.is_set():
            instance.ledger.sitemaps.failed(url, error.message, instance.clock())
            log.warning("sitemap not read", url=public(url), reason=error.message)


def _read(instance: Instance, record: SitemapRecord) -> None:
    sitemaps, digests = instance.ledger.sitemaps, list[str]()

    def ask(listed: Listed) -> Place:
        instance.crawl.admit(listed.url)
        capture = captured(instance, record.url, listed)
        assert capture.digest is not None
        digests.append(f"{listed.url} {capture.digest}")
        return instance.content.path(capture.digest), capture.final_url

    items, _ = items_of(ask, record.url, instance.stopping)
    state = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    listing = SitemapListing(record.url, items, state, record.interval)
    # A sitemap that is as it was is not written again: it may list 50,000 pages.
    if state == record.state:
        reading, now = record.reading, instance.clock()
        outdated = sitemaps.outdate(record.url, now)
        sitemaps.read(record.url, reading, now)
        added = 0
    else:
        report = register_sitemap(
            instance.ledger, listing, instance.settings.seeds.interval, instance.clock(), again=True
        )
        outdated, added = report.outdated, report.uris.added
    log.info("sitemap read", url=public(record.url), added=added, outdated=outdated, changed=state != record.state)
