"""
The schedule: APScheduler jobs that look, harvest, export and tell, every 60 seconds by default.

    update   every provider that is due is looked at, side by side; what is announced goes to the workers
    export   the exports are brought to the current versions
    status   one line in the log
    inbox    what commands asked for is done

The tick of `update` also begins with the seeds that are stale, so many at once as `seeds.max_parallel` says.

A provider has one harvest at a time; a tick that finds it busy still looks, so that nothing announced meanwhile is
missed, and downloads announced dumps at once, so that a partial dump that is gone an hour later was taken.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor as JobThreads
from apscheduler.schedulers.background import BackgroundScheduler

from harvest.errors import HarvestError
from harvest.model import Coverage, Provider
from harvest.orders import Inbox
from harvest.pipeline import BATCH, Desk
from harvest.priority import step_aside
from harvest.status import SCHEDULE, Schedule

log = structlog.get_logger()

LOOKERS = 32
"""Threads that ask for descriptions; they wait for the network most of the time."""

INBOX_S = 0.5
"""Seconds between two looks at what commands asked for."""

JOBS = 10
"""Threads of the scheduler; each job has one at a time."""


class Scheduler:
    """The running schedule of an instance."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        settings = desk.workshop.settings
        self._schedule = Schedule(desk.workshop.clock(), settings.schedule.update)
        self._tick = 0
        self._looks: dict[str, Future[None]] = {}
        self._busy: set[str] = set()
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._lookers = ThreadPoolExecutor(LOOKERS, "look", initializer=step_aside)
        self._fetchers = ThreadPoolExecutor(settings.http.parallel, "fetch", initializer=step_aside)
        self._workers = ThreadPoolExecutor(2, "work", initializer=step_aside)
        self._seeders = ThreadPoolExecutor(settings.seeds.max_parallel, "seed", initializer=step_aside)
        self._seeds: dict[str, Future[Any]] = {}
        self._inbox = Inbox(desk)
        threads = JobThreads(JOBS, {"initializer": step_aside})
        self._jobs = BackgroundScheduler(executors={"default": threads}, timezone="UTC")

    def start(self) -> None:
        """Start all jobs; the first tick begins at once."""
        every = self.desk.workshop.settings.schedule
        now = self.desk.workshop.clock()
        self.desk.workshop.ledger.set_meta(SCHEDULE, self._schedule.dump())
        for job, seconds, first in (
            (self.update, every.update, now),
            (self.export, every.export, None),
            (self.status, every.status, None),
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
        self.desk.workshop.give_up()
        self._jobs.shutdown(wait=False)
        self._inbox.stop()
        self._lookers.shutdown(wait=True, cancel_futures=True)
        self._fetchers.shutdown(wait=True, cancel_futures=True)
        self._seeders.shutdown(wait=True, cancel_futures=True)
        self._workers.shutdown(wait=True, cancel_futures=True)

    def update(self) -> None:
        """
        One tick: begin to look at every provider that is due.

        A look that an earlier tick began and that still waits for its provider is not begun again, and no other
        provider waits for it.
        """
        self.desk.workshop.roster.refresh()
        due = [provider.name for provider in self.desk.workshop.roster.all().values() if self._is_due(provider)]
        self._tick += 1
        self._looks = {name: look for name, look in self._looks.items() if not look.done()}
        self._looks |= {name: self._lookers.submit(self._look, name) for name in due if name not in self._looks}
        self._seed()

    def settle(self) -> None:
        """Return when all looks that were begun are done; what they announced may still be harvested."""
        wait(list(self._looks.values()))

    def _seed(self) -> None:
        """Begin with the seeds that are stale, and have queries see what became of those of the last ticks."""
        seeding = self.desk.seeding
        for hash, future in self._seeds.items():
            if future.done() and not future.cancelled() and (error := future.exception()) is not None:
                log.error("seed failed", seed=hash, reason=repr(error))
        self._seeds = {hash: future for hash, future in self._seeds.items() if not future.done()}
        seeding.publish_now_or_later()
        chosen = [hash for hash in seeding.due() if hash not in self._seeds][: BATCH - len(self._seeds)]
        self._seeds |= {hash: self._seeders.submit(seeding.work, hash) for hash in chosen}

    def _is_due(self, provider: Provider) -> bool:
        return provider.enabled and self._tick % self._schedule.ticks(provider) == 0

    def _look(self, name: str) -> None:
        """Look at one provider, and send what waits for it on its way."""
        if self._stopping.is_set():
            return
        try:
            self.desk.look(name)
        except HarvestError as error:
            log.warning("not looked at", provider=name, reason=error.message)
            return
        waiting = self.desk.workshop.ledger.announcements.waiting(self.desk.workshop.clock(), name)
        if any(version.provider == name for version in self.desk.workshop.ledger.loading()) or waiting:
            self._dispatch(name)
        for announcement, state in waiting:
            if state == "seen" and announcement.dataset.coverage is Coverage.PARTIAL and self._is_busy(name):
                self._fetchers.submit(self.desk.fetch, announcement)

    def _is_busy(self, name: str) -> bool:
        with self._guard:
            return name in self._busy

    def _dispatch(self, name: str) -> None:
        """Let a worker harvest a provider, unless one does."""
        with self._guard:
            if name in self._busy or self._stopping.is_set():
                return
            self._busy.add(name)
        self._workers.submit(self.desk.work, name).add_done_callback(self._freed(name))

    def _freed(self, name: str) -> Callable[[Future[Any]], None]:
        def done(future: Future[Any]) -> None:
            with self._guard:
                self._busy.discard(name)
            if not future.cancelled() and (error := future.exception()) is not None:
                log.error("harvest failed", provider=name, reason=repr(error))

        return done

    def export(self) -> None:
        """Bring the exports to the current versions."""
        try:
            written = self.desk.export()
        except HarvestError as error:
            log.error("not exported", reason=error.message)
            return
        if written:
            log.info("exported", files=len(written))

    def status(self) -> None:
        """Tell the state of the instance in one line."""
        records = self.desk.workshop.ledger.providers()
        with self._guard:
            busy = sorted(self._busy)
        triples = sum(record.triples for record in records)
        log.info("status", providers=len(self.desk.workshop.roster.all()), triples=triples, harvesting=busy)
