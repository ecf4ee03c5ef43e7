"""Obtaining: the dumps of an announcement are downloaded and filed, all of them or none."""

from __future__ import annotations

from harvest.errors import HarvestError
from harvest.ledger.announcements import backoff
from harvest.model import Announcement, Capture, Finding, Provider
from harvest.pipeline.look import as_finding, led_to
from harvest.pipeline.register import Register
from harvest.pipeline.workshop import Workshop


def obtain(workshop: Workshop, announcement: Announcement, provider: Provider) -> Finding | None:
    """
    File the dumps of an announcement in the archive and the ledger; returns what went wrong, or None.

    A dump whose server says that it did not change since the last harvest is not downloaded again.
    """
    workshop.on_step(announcement.provider, "fetch")
    try:
        captures = _captures(workshop, announcement, provider)
    except HarvestError as error:
        workshop.check_stopping()
        return _failed(workshop, announcement, error)
    workshop.on_step(announcement.provider, "file")
    workshop.ledger.announcements.fetched(announcement.id, captures)
    return None


def _captures(workshop: Workshop, announcement: Announcement, provider: Provider) -> tuple[Capture, ...]:
    last = workshop.ledger.dataset(announcement.provider, announcement.dataset.iri)
    known = {c.url: c for c in (last.captures if last else ()) if c.digest and workshop.content.holds(c.digest)}
    urls = announcement.dataset.dumps
    validators = {url: known[url].validators for url in urls if url in known}
    with Register(workshop, provider.name).downloading(urls) as filed:
        fetched = workshop.crawl.download_all(urls, provider.limits, validators, led_to(workshop, provider, urls[0]))
        captures = []
        for url, answer in zip(urls, fetched, strict=True):
            captures.append(known[url] if answer.capture.digest is None else answer.capture)
            filed(url, captures[-1], answer.http)
        return tuple(captures)


def _failed(workshop: Workshop, announcement: Announcement, error: HarvestError) -> Finding:
    """File a download that failed; it is tried again, later and later."""
    finding = as_finding(error)
    now = workshop.clock()
    failures = workshop.ledger.announcements.failures(announcement.id)
    workshop.ledger.announcements.postpone(announcement.id, now + backoff(failures))
    run = workshop.ledger.start_run(announcement.provider, now, announcement)
    workshop.ledger.end_run(run, "failed", now, findings=(finding,))
    return finding
