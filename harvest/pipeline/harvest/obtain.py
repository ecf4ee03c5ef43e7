"""Obtaining: the dumps of an announcement are downloaded and filed, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence

from harvest.errors import HarvestError
from harvest.fetch.client import Fetched
from harvest.ledger import Database, RunFacts
from harvest.ledger.runs import SKIPPED
from harvest.model import Announcement, Capture, Finding, Outcome, Provider, Source
from harvest.pipeline.harvest import pages
from harvest.pipeline.harvest.look import as_finding
from harvest.pipeline.harvest.watch import led_to
from harvest.pipeline.instance import Instance
from harvest.pipeline.resourcesync.files import as_listed, store_others
from harvest.pipeline.run_progress import RunProgress
from harvest.pipeline.seeds.dump_records import DumpRecords


def obtain(instance: Instance, announcement: Announcement, provider: Provider) -> Finding | None:
    """
    File the dumps of an announcement in the archive and the ledger; returns what went wrong, or None.

    A dump whose server says that it did not change since the last harvest, or since it failed to be washed, is not
    downloaded again.
    """
    if provider.source is Source.UPDATES:
        # What an update made cannot be downloaded; its sender knows that it failed.
        instance.ledger.announcements.settle(announcement.id, "failed")
        return None
    run = instance.ledger.start_run(announcement.provider, instance.clock(), announcement, "fetch")
    progress = RunProgress(instance, announcement.provider, run)
    progress.begun("fetch")
    try:
        captures = _captures(instance, announcement, provider, progress)
    except HarvestError as error:
        if instance.stopping.is_set():
            instance.ledger.drop_run(run)  # nothing is wrong with the dump, and nothing was done
        instance.check_stopping()
        return _failed(instance, announcement, error, run)
    progress.step("file")
    if stored := store_others(instance, provider, announcement.dataset):
        progress.record(**stored)
    instance.ledger.announcements.fetched(announcement.id, captures)
    progress.step("wait")
    state = instance.ledger.announcements.state(announcement.id)
    if state == "superseded":
        instance.ledger.end_overtaken(announcement.provider, instance.clock())
    elif state == "skipped":
        instance.ledger.end_run(run, Outcome.UNCHANGED, instance.clock(), RunFacts(findings=(SKIPPED,)))
    return None


def _captures(
    instance: Instance, announcement: Announcement, provider: Provider, progress: RunProgress
) -> tuple[Capture, ...]:
    last = instance.ledger.dataset(announcement.provider, announcement.dataset.iri)
    before = (*(last.captures if last else ()), *announcement.captures)
    known = {c.url: c for c in before if c.digest and instance.content.holds(c.digest)}
    if announcement.dataset.lastmods:
        return pages.obtain(instance, provider, announcement.dataset, known, progress)
    urls = announcement.dataset.dumps
    validators = {url: known[url].validators for url in urls if url in known}
    with DumpRecords(instance, provider.name).downloading(urls) as filed:
        informed = led_to(instance, provider, urls[0])
        arriving = _Arriving(progress, len(urls), instance.ledger.database)
        fetched = instance.crawl.download_all(urls, provider.limits, validators, informed, arriving.received)
        progress.record(**_figures(fetched))
        captures = []
        for url, answer in zip(urls, fetched, strict=True):
            captures.append(known[url] if answer.capture.digest is None else answer.capture)
            filed(url, captures[-1], answer.http)
    return as_listed(instance, announcement.dataset, tuple(captures))


class _Arriving:
    """
    Dumps on their way: how many bytes came, and of how many.

    It is called in threads that live for one download: what these open of the ledger is closed at once.
    """

    def __init__(self, progress: RunProgress, dumps: int, database: Database) -> None:
        self._progress = progress
        self._database = database
        self._dumps = dumps
        self._bytes: dict[str, int] = {}
        self._totals: dict[str, int] = {}

    def received(self, url: str, received: int, total: int | None) -> None:
        """More of a dump came."""
        self._bytes[url] = received
        if total is not None:
            self._totals[url] = total
        figures = {"dumps": self._dumps, "bytes": sum(list(self._bytes.values()))}
        if len(self._totals) == self._dumps:
            figures["of_bytes"] = sum(list(self._totals.values()))
        if self._progress.record_if_due(**figures):
            self._database.close()


def _figures(fetched: Sequence[Fetched]) -> dict[str, int]:
    """What a download brought."""
    came = [answer for answer in fetched if answer.capture.digest is not None]
    tries = sum(answer.tries for answer in fetched)
    figures = {"dumps": len(fetched), "bytes": sum(answer.capture.length for answer in came)}
    same = len(fetched) - len(came)
    return figures | ({"unchanged": same} if same else {}) | ({"tries": tries} if tries > len(fetched) else {})


def _failed(instance: Instance, announcement: Announcement, error: HarvestError, run: int) -> Finding:
    """File a download that failed; it is tried again, later and later."""
    finding = as_finding(error)
    now = instance.clock()
    instance.ledger.announcements.postpone(announcement.id, now, finding)
    instance.ledger.end_run(run, "failed", now, RunFacts(findings=(finding,)))
    return finding
