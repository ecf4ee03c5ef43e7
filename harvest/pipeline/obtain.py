"""Obtaining: the dumps of an announcement are downloaded and filed, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence

from harvest.errors import HarvestError
from harvest.fetch.client import Fetched
from harvest.ledger import Database
from harvest.ledger.announcements import backoff
from harvest.model import Announcement, Capture, Finding, Provider, Source
from harvest.pipeline.course import Course
from harvest.pipeline.look import as_finding, led_to
from harvest.pipeline.register import Register
from harvest.pipeline.workshop import Workshop


def obtain(workshop: Workshop, announcement: Announcement, provider: Provider) -> Finding | None:
    """
    File the dumps of an announcement in the archive and the ledger; returns what went wrong, or None.

    A dump whose server says that it did not change since the last harvest is not downloaded again.
    """
    if provider.source is Source.UPDATES:
        # What an update made cannot be downloaded; whoever sent it was told that it failed.
        workshop.ledger.announcements.settle(announcement.id, "failed")
        return None
    run = workshop.ledger.start_run(announcement.provider, workshop.clock(), announcement, "fetch")
    course = Course(workshop, announcement.provider, run)
    course.begun("fetch")
    try:
        captures = _captures(workshop, announcement, provider, course)
    except HarvestError as error:
        if workshop.stopping.is_set():
            workshop.ledger.drop_run(run)  # nothing is wrong with the dump, and nothing was done
        workshop.check_stopping()
        return _failed(workshop, announcement, error, run)
    course.step("file")
    workshop.ledger.announcements.fetched(announcement.id, captures)
    course.step("wait")
    if workshop.ledger.announcements.state(announcement.id) == "superseded":
        workshop.ledger.end_overtaken(announcement.provider, workshop.clock())
    return None


def _captures(
    workshop: Workshop, announcement: Announcement, provider: Provider, course: Course
) -> tuple[Capture, ...]:
    last = workshop.ledger.dataset(announcement.provider, announcement.dataset.iri)
    known = {c.url: c for c in (last.captures if last else ()) if c.digest and workshop.content.holds(c.digest)}
    urls = announcement.dataset.dumps
    validators = {url: known[url].validators for url in urls if url in known}
    with Register(workshop, provider.name).downloading(urls) as filed:
        informed = led_to(workshop, provider, urls[0])
        arriving = _Arriving(course, len(urls), workshop.ledger.database)
        fetched = workshop.crawl.download_all(urls, provider.limits, validators, informed, arriving.hear)
        course.tell(**_told(fetched))
        captures = []
        for url, answer in zip(urls, fetched, strict=True):
            captures.append(known[url] if answer.capture.digest is None else answer.capture)
            filed(url, captures[-1], answer.http)
        return tuple(captures)


class _Arriving:
    """
    Dumps on their way: how many bytes came, and of how many.

    It hears of them in threads that live for one download: what these open of the ledger is closed at once.
    """

    def __init__(self, course: Course, dumps: int, database: Database) -> None:
        self._course = course
        self._database = database
        self._dumps = dumps
        self._received: dict[str, int] = {}
        self._totals: dict[str, int] = {}

    def hear(self, url: str, received: int, total: int | None) -> None:
        """More of a dump came."""
        self._received[url] = received
        if total is not None:
            self._totals[url] = total
        figures = {"dumps": self._dumps, "bytes": sum(list(self._received.values()))}
        if len(self._totals) == self._dumps:
            figures["of_bytes"] = sum(list(self._totals.values()))
        if self._course.hear(**figures):
            self._database.close()


def _told(fetched: Sequence[Fetched]) -> dict[str, int]:
    """What a download brought."""
    came = [answer for answer in fetched if answer.capture.digest is not None]
    tries = sum(answer.tries for answer in fetched)
    told = {"dumps": len(fetched), "bytes": sum(answer.capture.length for answer in came)}
    same = len(fetched) - len(came)
    return told | ({"unchanged": same} if same else {}) | ({"tries": tries} if tries > len(fetched) else {})


def _failed(workshop: Workshop, announcement: Announcement, error: HarvestError, run: int) -> Finding:
    """File a download that failed; it is tried again, later and later."""
    finding = as_finding(error)
    now = workshop.clock()
    failures = workshop.ledger.announcements.failures(announcement.id)
    workshop.ledger.announcements.postpone(announcement.id, now + backoff(failures))
    workshop.ledger.end_run(run, "failed", now, findings=(finding,))
    return finding
