"""
The seed list at work: stale seeds are downloaded and filed, and described in the metadata graph.

    fetch    downloading -> filed, or why not
    wash     filed -> depleted or parsed, with an entry for each file in an archive and a clean document for each that
             holds RDF
    describe the records go to the metadata graph

One seed's trouble is filed with it and stops no other. What a crash cuts short is taken up again: a download begins
anew, a filed one is washed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from harvest.catalog.documents import is_stale, seed_report
from harvest.errors import FetchError, HarvestError, UnknownName
from harvest.ledger import SeedRecord
from harvest.model import Problem, Status
from harvest.model.seeds import public, seed_hash
from harvest.pipeline.instance import Instance
from harvest.pipeline.seeds import graphs as seedgraphs
from harvest.pipeline.seeds import seed_metadata
from harvest.pipeline.seeds import washing as seedwash
from harvest.pipeline.seeds.sitemap_reading import read_sitemap
from harvest.pipeline.threads import HostThreads, ThreadBounds, host_of
from sparql.reports import RemovedSeed, SeedResult

log = structlog.get_logger()

BATCH: Final = 200
"""Seeds that one tick of the schedule begins with; a long list must not keep a shutdown waiting."""

LONG_S: Final = 30.0
"""Seconds after which a seed makes room for another one."""

MOST: Final = 32
"""Seeds that are worked on at once, those that made room included."""

WASHES: Final = 2
"""Downloads that are washed at once on this machine; each may use several times `wash.memory`."""


class Seeding:
    """What can be asked for the seeds of an instance; safe to use from several threads."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._busy: set[str] = set()
        self._guard = threading.Lock()
        self._unpublished = threading.Event()
        self._washing = threading.Semaphore(WASHES if instance.settings.workers == "local" else MOST)
        most = instance.settings.seeds.max_parallel
        # One host never has them all, unless there is but one to have.
        bounds = ThreadBounds(most, max(1, most - 1), max(1, most - 1), LONG_S, max(most, MOST))
        self._threads = HostThreads("seed", bounds, ended=instance.ledger.database.close)

    def due(self) -> list[str]:
        """The hashes of the seeds that something is to be done for now, and that nobody works on."""
        now, ledger = self._instance.clock(), self._instance.ledger
        found = [seed.hash for seed in ledger.seeds.due(now, BATCH)]
        found += [download.seed for download in ledger.documents.unwashed(now, BATCH)]
        found += [seed.hash for seed in ledger.seeds.unsettled(now, BATCH)]
        with self._guard:
            return [hash for hash in dict.fromkeys(found) if hash not in self._busy]

    def begin(self, hash: str, *, forced: bool = False) -> Future[None]:
        """Have `work` done for a seed in its turn: `seeds.max_parallel` at once, and hosts take turns."""
        seed = self._instance.ledger.seeds.get(hash)
        host = host_of(seed.uri) if seed else ""
        return self._threads.submit(host, host, partial(self.work, hash, forced=forced))

    def due_sitemaps(self) -> list[str]:
        """The addresses of the sitemaps that are to be read again."""
        return self._instance.ledger.sitemaps.due(self._instance.clock())

    def begin_sitemap(self, url: str) -> Future[None]:
        """Have a sitemap read in its turn, as seeds are downloaded."""
        host = host_of(url)
        return self._threads.submit(host, host, partial(read_sitemap, self._instance, url))

    def stop(self) -> None:
        """Cancel the seeds that wait, and wait for those that run."""
        self._threads.shutdown()

    def work(self, hash: str, *, forced: bool = False) -> None:
        """
        Download a seed that is stale, or whatever its dates say where `forced`, and wash what was not washed yet.

        Nothing is done for a seed that another thread works on, or that was removed.
        """
        with self._claimed(hash) as mine:
            seed = self._instance.ledger.seeds.get(hash) if mine else None
            if seed is None or self._instance.stopping.is_set():
                return
            try:
                with self._instance.crawl.working():
                    if forced or is_stale(seed, self._instance.clock()):
                        self._download(seed)
                    self._wash(hash)
            finally:
                self._write_metadata(hash)
            self._settle(hash)

    def run(self, uris: Sequence[str]) -> list[SeedResult | RemovedSeed]:
        """
        Download these seeds, or all that are stale, side by side; returns what became of each.

        Before the latter the sitemaps are read that are due; what one lists that cannot be read stays as it is.

        Raises:
            UnknownName: One of them is not in the list.
            HarvestError: One of them is a relative URI.
        """
        for reading in () if uris else [self.begin_sitemap(url) for url in self.due_sitemaps()]:
            reading.result()
        chosen = [self._seed(uri).hash for uri in uris] or self._stale()
        futures = [(hash, self.begin(hash, forced=bool(uris))) for hash in chosen]
        found = [self._result(hash, future) for hash, future in futures]
        self.publish()
        return found

    def load(self, hash: str) -> list[str]:
        """
        Put the clean documents of a hash into graphs of their own; returns the graphs.

        Raises:
            UnknownName: There are none.
        """
        return seedgraphs.load(self._instance, hash)

    def unload(self, hash: str) -> list[str]:
        """
        Take the clean documents of a hash out of their graphs; returns the graphs.

        Raises:
            UnknownName: None is loaded.
        """
        return seedgraphs.unload(self._instance, hash)

    def publish(self) -> None:
        """Have queries see what was written since the last time; many seeds share one generation."""
        if self._unpublished.is_set():
            with self._instance.writing:
                self._unpublished.clear()
                self._instance.publish()

    def publish_now_or_later(self) -> None:
        """Publish as `publish` does, unless something large is being written: then at the next call."""
        if self._instance.writing.acquire(blocking=False):
            try:
                self.publish()
            finally:
                self._instance.writing.release()

    def _stale(self) -> list[str]:
        now, ledger = self._instance.clock(), self._instance.ledger
        found = [seed.hash for seed in (*ledger.seeds.stale(now), *ledger.seeds.unsettled(now, -1))]
        return list(dict.fromkeys([*found, *(download.seed for download in ledger.documents.unwashed(now, -1))]))

    def _seed(self, uri: str) -> SeedRecord:
        seed = self._instance.ledger.seeds.get(seed_hash(uri))
        if seed is None or not seed.listed:
            raise UnknownName(f"{public(uri)} is not in the seed list; `harvest seeds add` puts it there")
        if seed.relative:
            raise HarvestError(f"{uri} is a relative URI: nobody knows where to download it")
        return seed

    @contextmanager
    def _claimed(self, hash: str) -> Iterator[bool]:
        """Whether the seed is ours, until the block ends."""
        with self._guard:
            mine = hash not in self._busy
            self._busy.add(hash)
        try:
            yield mine
        finally:
            if mine:
                with self._guard:
                    self._busy.discard(hash)

    def _download(self, seed: SeedRecord) -> None:
        """File the bytes of a seed, or why there are none."""
        instance, ledger = self._instance, self._instance.ledger
        instance.on_step(public(seed.uri), "fetch")
        began = instance.clock()
        ledger.seeds.tried(seed.hash, began)
        download = ledger.documents.downloading(seed.hash, began)
        try:
            instance.crawl.admit(seed.uri)
            [fetched] = instance.crawl.download_all([seed.uri])
        except HarvestError as error:
            instance.check_stopping()
            http = error.http if isinstance(error, FetchError) else ()
            ledger.documents.failed(download, http, _problem(error), instance.clock())
            log.info("seed not downloaded", uri=public(seed.uri), reason=error.message)
            return
        now = instance.clock()
        ledger.documents.filed(download, fetched.capture, fetched.http, now)
        ledger.seeds.processed(seed.hash, now)

    def _wash(self, hash: str) -> None:
        """Wash the latest download of a seed, unless that is done or it gave no bytes."""
        instance, ledger = self._instance, self._instance.ledger
        seed = ledger.seeds.get(hash)
        download = ledger.documents.get(seed.download) if seed and seed.download else None
        if seed is None or download is None or download.sha256 is None or download.whole is not None:
            return
        ledger.seeds.tried(hash, instance.clock())
        with self._washing:
            instance.check_stopping()
            instance.on_step(public(seed.uri), "wash")
            seedwash.wash(instance, download)

    def _settle(self, hash: str) -> None:
        """File that nothing is left to do for a seed, unless it failed and stays stale."""
        seed = self._instance.ledger.seeds.get(hash)
        if seed is not None and seed.failures and not is_stale(seed, self._instance.clock()):
            self._instance.ledger.seeds.settled(hash)

    def _write_metadata(self, hash: str) -> None:
        """Write what is known of a seed and of its latest download to the metadata graph."""
        seed_metadata.write_seed(self._instance, hash)
        self._unpublished.set()

    def _result(self, hash: str, future: Future[None]) -> SeedResult | RemovedSeed:
        """What became of a seed; trouble that nobody foresaw is filed with it, and stops no other seed."""
        error = future.exception()
        found = self._reported(hash)
        if error is None:
            return found
        log.error("seed failed", seed=hash, reason=repr(error))
        message = error.message if isinstance(error, HarvestError) else f"{type(error).__name__}: {error}"
        return replace(found, problem=message)

    def _reported(self, hash: str) -> SeedResult | RemovedSeed:
        seed = self._instance.ledger.seeds.get(hash)
        if seed is None:
            return RemovedSeed(hash)
        documents = self._instance.ledger.documents
        problems = documents.problems(seed.download) if seed.download else ()
        failed = problems and seed.status not in (Status.PARSED, Status.DEPLETED)
        report = seed_report(seed, self._instance.clock())
        return SeedResult(report, problems[0].message if failed else None, **documents.figures(seed.download or ""))


def _problem(error: HarvestError) -> Problem:
    """Why a download gave no bytes."""
    return Problem("download", error.message, error.line, error.column, error.excerpt[:200] if error.excerpt else None)
