"""
A round: providers are looked at, downloaded and harvested once.

    looking -> downloading -> harvested, as far as downloaded -> done
                    ^                    |
                    +--------------------+

Looks and downloads run side by side in threads of their own; what has come is harvested here, one thing at a time.
So a provider that takes its time holds up nobody's harvest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from harvest.fetch.lanes import CHECKS_PER_HOST
from harvest.model import Finding, Outcome
from harvest.pipeline.harvest.look import Look
from harvest.pipeline.harvest.watch import Watching
from harvest.pipeline.threads import HostThreads, ThreadBounds, host_of

if TYPE_CHECKING:
    from harvest.pipeline.harvester import Harvester

LOOKS: Final = ThreadBounds(threads=32, per_host=CHECKS_PER_HOST, per_owner=1, long_s=5, most=96)
"""Descriptions that are asked for at once: their threads wait for the network most of the time."""


@dataclass(frozen=True, slots=True)
class HarvestResult:
    """
    What became of one announcement.

    Attributes:
        provider: Provider name.
        outcome: As filed in the ledger.
        finding: Why not, when it failed.
        run: Its run, or None.
    """

    provider: str
    outcome: Outcome
    finding: Finding | None = None
    run: int | None = None


class Round:
    """
    One round over some providers.

    Attributes:
        unread: Why a description could not be used, by provider.
        unanswered: Datasets whose dumps could not be asked for, and why, by provider.
    """

    def __init__(self, harvester: Harvester) -> None:
        self.unread: dict[str, Finding] = {}
        self.unanswered: dict[str, tuple[tuple[str, Finding], ...]] = {}
        self._harvester = harvester
        self._results: dict[str, list[HarvestResult]] = {}
        self._ended: SimpleQueue[tuple[str, Callable[[str, Any], None], Future[Any]]] = SimpleQueue()
        self._expected: Counter[str] = Counter()
        self._claims: dict[str, ExitStack] = {}
        self._begun: set[int] = set()

    def run(self, names: Iterable[str], *, forced: bool = False) -> dict[str, list[HarvestResult]]:
        """
        Look at providers, and download and harvest everything that waits for them; returns the results of each.

        Raises:
            UnknownName: The registry has no such provider; then nothing was done.
            HarvestError: The ledger cannot be written.
            KeyboardInterrupt: Somebody interrupts it; the instance is given up.
        """
        providers = [self._harvester.provider(name) for name in dict.fromkeys(names)]
        threads = HostThreads("look", LOOKS, ended=self._harvester.instance.ledger.database.close)
        try:
            for provider in providers:
                self._claim(provider.name)
                looked = partial(self._harvester.look, provider.name, forced=forced, at_once=True, watching=False)
                future = threads.submit(host_of(provider.url), provider.name, looked)
                self._expect(provider.name, future, partial(self._looked, forced))
            self._await()
        except KeyboardInterrupt:
            self._harvester.instance.give_up()  # else looks are waited for that nobody wants any more
            raise
        finally:
            threads.shutdown()
        return self._results

    def work(self, names: Iterable[str]) -> dict[str, list[HarvestResult]]:
        """Download and harvest everything that waits for providers; returns the results of each."""
        with self._harvester.instance.crawl.working():
            for name in names:
                self._claim(name)
                self._go_on(name)
            self._await()
        return self._results

    def _claim(self, name: str) -> None:
        self._results[name] = []
        self._claims[name] = ExitStack()
        self._claims[name].enter_context(self._harvester.claimed(name))

    def _expect(self, name: str, future: Future[Any], then: Callable[[str, Any], None]) -> None:
        """Have something done here, in this thread, when a look or a download of a provider ends."""
        self._expected[name] += 1
        future.add_done_callback(lambda done: self._ended.put((name, then, done)))

    def _await(self) -> None:
        """Go on with each provider until nothing of it is expected any more."""
        try:
            while self._release():
                name, then, done = self._ended.get()
                if not done.cancelled():
                    then(name, done.result())
                self._expected[name] -= 1
        finally:
            for claim in self._claims.values():
                claim.close()

    def _release(self) -> int:
        """Let go of the providers that are done; returns how many are left."""
        for name in [name for name in self._claims if not self._expected[name]]:
            self._claims.pop(name).close()
        return len(self._claims)

    def _looked(self, forced: bool, name: str, look: Look) -> None:
        if look.failed:
            self.unread[name] = look.failed
            return
        self._harvester.instance.ledger.announcements.hurry(name)
        if not forced and self._harvester.is_watched(name):
            self._expect(name, self._harvester.downloads.watch(name), self._watched)
        self._go_on(name)
        if self._harvester.has_others(name):
            self._harvester.downloads.store_files(name)

    def _watched(self, name: str, watching: Watching) -> None:
        self.unanswered[name] = watching.failed
        self._go_on(name)

    def _downloaded(self, id: int, name: str, finding: Finding | None) -> None:
        if finding is not None:
            run = self._harvester.instance.ledger.run_of(id)
            self._results[name].append(HarvestResult(name, Outcome.FAILED, finding, run.id if run else None))
        self._go_on(name)

    def _go_on(self, name: str) -> None:
        """Begin the downloads that may begin now, and harvest the announcements that are downloaded."""
        if self._harvester.instance.stopping.is_set():
            return
        for id, future in self._harvester.downloads.begin(name).items():
            if id not in self._begun:  # what failed is tried again in another round
                self._begun.add(id)
                self._expect(name, future, partial(self._downloaded, id))
        self._results[name] += self._harvester.harvest(name)
