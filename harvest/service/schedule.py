"""
The schedule: APScheduler jobs that look, harvest, export and log the state, every 60 seconds by default.

    update   every provider that is due is looked at, side by side; what is announced goes to the workers
    retry    what failed is tried again once its time has come, however long it is until the next tick
    export   the exports are brought to the current versions
    status   one line in the log
    inbox    what commands asked for is done
    notify   who is named by providers is sent what became of their dumps
    let_go   what is old and needed by nothing goes, a bounded part each time

The tick of `update` also begins with the seeds that are stale, and with the sitemaps of the seed list that are to be
read again, so many at once as `seeds.max_parallel` says.

    looking -> announced -> downloading -> downloaded -> harvesting -> done

Each of looking, downloading and harvesting has threads of its own, and none of them does another's work: a slow server
holds up no harvest, and a long harvest no download. A provider has one harvest at a time; what is announced meanwhile
is downloaded at once, so that a partial dump that is gone an hour later was taken.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial
from typing import Any

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor as JobThreads
from apscheduler.schedulers.background import BackgroundScheduler

from harvest.catalog.providers import SCHEDULE, Schedule
from harvest.catalog.queue import queue_report
from harvest.errors import HarvestError
from harvest.model import Provider
from harvest.pipeline import BATCH, LOOKS, Harvester, HostThreads, Retention, ThreadBounds, host_of, now_utc
from harvest.pipeline.priority import step_aside
from harvest.service.notifying import Notifier
from harvest.service.ongoing import Harvests, Ongoing
from harvest.service.orders import Inbox
from sparql.errors import SparqlError

log = structlog.get_logger()

HARVESTS = ThreadBounds(threads=2, per_host=1, per_owner=1, long_s=600, most=4)
"""Providers that are harvested at once: one that takes ten minutes makes room for another one, twice."""

RETRY_S = 5.0
"""Seconds between two looks at what failed and may be tried again: both are one query that finds nothing."""

KEEP_S = 600.0
"""Seconds between two times that the past is let go, a bounded part each time."""

INBOX_S = 0.5
"""Seconds between two looks at what commands asked for."""

JOBS = 10
"""Threads of the scheduler; each job has one at a time."""


class Scheduler:
    """The running schedule of an instance."""

    def __init__(self, harvester: Harvester) -> None:
        self.harvester = harvester
        settings = harvester.instance.settings
        self._schedule = Schedule(harvester.instance.clock(), settings.schedule.update)
        self._tick = 0
        self._looks = Ongoing("look")
        self._looked: dict[str, str] = {}
        """The address of each provider that this process has looked at."""
        self._seeds = Ongoing("seed")
        self._sitemaps = Ongoing("sitemap")
        self._harvests = Harvests(self._is_ready, self._harvest)
        self._stopping = threading.Event()
        ended = harvester.instance.ledger.database.close
        self._lookers = HostThreads("look", LOOKS, ended)
        self._workers = HostThreads("work", HARVESTS, ended)
        harvester.downloads.on_end(self._harvests.came)
        self._inbox = Inbox(harvester)
        self._past = Retention(harvester.instance)
        self._notifier = Notifier(harvester.instance)
        threads = JobThreads(JOBS, {"initializer": step_aside})
        self._jobs = BackgroundScheduler(executors={"default": threads}, timezone="UTC")

    def start(self) -> None:
        """Start all jobs; the first tick begins at once."""
        every = self.harvester.instance.settings.schedule
        now = now_utc()  # APScheduler has no other clock
        self.harvester.instance.ledger.set_meta(SCHEDULE, self._schedule.dump())
        for job, seconds, first in (
            (self.update, every.update, now),
            (self.retry, RETRY_S, None),
            (self.export, every.export, None),
            (self.status, every.status, None),
            (self.notify, RETRY_S, None),
            (self.let_go, KEEP_S, None),
            (self._inbox.serve, INBOX_S, now),
        ):
            options: dict[str, Any] = {"next_run_time": first} if first else {}
            self._jobs.add_job(
                job, "interval", seconds=seconds, max_instances=1, coalesce=True, misfire_grace_time=None, **options
            )
        self._jobs.start()

    def stop(self) -> None:
        """End all jobs; the harvests that run finish their step or are abandoned, and nothing is lost either way."""
        self._stopping.set()
        self.harvester.instance.give_up()
        self._jobs.shutdown(wait=False)
        self._inbox.stop()
        self._lookers.shutdown()
        self._workers.shutdown()
        self.harvester.close()

    def update(self) -> None:
        """
        One tick: begin to look at every provider that is due.

        A look that an earlier tick began and that still waits for its provider is not begun again, and no other
        provider waits for it. A log that could not be written is tried again first. A replica asks its origin.
        """
        self.harvester.instance.crawl.seal_again()
        if self.harvester.instance.settings.follow:
            self.harvester.maintenance.following.tick()
            return
        self.harvester.instance.roster.refresh()
        due = [provider.name for provider in self.harvester.instance.roster.all().values() if self._is_due(provider)]
        self._tick += 1
        self._begin(due)
        self._seed()

    def retry(self) -> None:
        """Begin to look where a look failed, and to harvest what could not be, once their times have come."""
        ledger, now = self.harvester.instance.ledger, self.harvester.instance.clock()
        self._begin([name for name in ledger.failed_looks(now) if self._is_enabled(name)])
        for name in ledger.announcements.failed(now):
            if self._is_enabled(name):
                self._send(name)

    def _begin(self, names: list[str]) -> None:
        """Begin to look at these providers, but for those that an earlier look still waits for."""
        for name in names:
            self._looks.begin(name, partial(self._submit_look, name))

    def _submit_look(self, name: str) -> Future[None]:
        provider = self.harvester.instance.roster.get(name)
        return self._lookers.submit(host_of(provider.url if provider else ""), name, partial(self._look, name))

    def _is_enabled(self, name: str) -> bool:
        provider = self.harvester.instance.roster.get(name)
        return provider is not None and provider.enabled

    def settle(self) -> None:
        """Return when the looks, sitemaps and seeds that were begun are done; what was announced may go on."""
        for each in (self._looks, self._sitemaps, self._seeds):
            each.wait()

    def _seed(self) -> None:
        """Begin with the sitemaps that are due and stale seeds, and publish the results of those of the last ticks."""
        seeding = self.harvester.seeding
        seeding.publish_now_or_later()
        for url in seeding.due_sitemaps():
            self._sitemaps.begin(url, partial(seeding.begin_sitemap, url))
        chosen = [hash for hash in seeding.due() if hash not in self._seeds][: BATCH - len(self._seeds)]
        for hash in chosen:
            self._seeds.begin(hash, partial(seeding.begin, hash))

    def _is_due(self, provider: Provider) -> bool:
        """At its ticks; one that is new, or that moved, at the next tick."""
        on_time = self._tick % self._schedule.ticks(provider) == 0
        return provider.enabled and (on_time or self._looked.get(provider.name) != provider.url)

    def _look(self, name: str) -> None:
        """Look at one provider, and send what waits for it on its way."""
        if self._stopping.is_set():
            return
        provider = self.harvester.instance.roster.get(name)
        url = provider.url if provider else None
        try:
            self.harvester.look(name, at_once=self._looked.get(name) != url, watching=False)
        except HarvestError as error:
            log.warning("not looked at", provider=name, reason=error.message)
            return
        if url is not None:
            self._looked[name] = url
        self._send(name)
        if self.harvester.is_watched(name):
            self.harvester.downloads.watch(name)
        if self.harvester.has_others(name):
            self.harvester.downloads.store_files(name)

    def _send(self, name: str) -> None:
        """Download what a provider has announced, and let a worker harvest what is downloaded."""
        if self._stopping.is_set():
            return
        self.harvester.downloads.begin(name)
        self._harvests.came(name)

    def _is_ready(self, name: str) -> bool:
        return not self._stopping.is_set() and self.harvester.is_ready(name)

    def _harvest(self, name: str) -> Future[Any]:
        return self._workers.submit(name, name, partial(self.harvester.harvest, name, at_once=True))

    def export(self) -> None:
        """Bring the exports to the current versions."""
        try:
            written = self.harvester.export()
        except (HarvestError, SparqlError) as error:
            log.error("not exported", reason=error.message)
            return
        if written:
            log.info("exported", files=len(written))

    def notify(self) -> None:
        """Send what is to be sent to those whom providers name."""
        try:
            self._notifier.send_due()
        except (HarvestError, SparqlError) as error:
            log.error("nobody is notified; it is tried again", reason=error.message)

    def let_go(self) -> None:
        """Let go what is old and needed by nothing."""
        try:
            rows = self._past.let_go()
        except (HarvestError, SparqlError) as error:
            log.error("the past is not let go; it is tried again", reason=error.message)
            return
        if rows:
            log.info("let go", rows=rows)

    def status(self) -> None:
        """Log the state of the instance in one line."""
        instance = self.harvester.instance
        registered = instance.roster.all()
        queue = queue_report(instance.ledger, instance.settings, registered, instance.clock())
        log.info(
            "status",
            providers=len(registered),
            triples=sum(record.triples for record in instance.ledger.providers()),
            harvesting=[f"{entry.provider}: {entry.step}" for entry in queue.harvesting],
            failing=sorted({entry.provider for entry in queue.failing}),
            held=sorted({entry.provider for entry in queue.held}),
            waiting=len(queue.waiting),
            oldest_s=max((entry.age_s for entry in queue.waiting), default=0),
            seeds=sum(count for state, count in queue.seeds.items() if state != "relative"),
            generation=queue.generation,
            exported=queue.exported,
        )
