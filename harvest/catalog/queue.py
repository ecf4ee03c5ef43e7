"""
What an instance is at: what fails, what is held, what waits and for how long, what is harvested at which step.

Source: shared GeoLink document, "What Happens When It Runs" (status) and "TODOs" (how the queue handles backlogs).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from harvest.catalog.datasets import waits_for
from harvest.config.settings import Settings
from harvest.ledger import Ledger, Standing, Waiting
from harvest.model import Provider, State
from harvest.publish.exports import read_index
from sparql.reports import FailingEntry, HarvestingEntry, HeldEntry, QueueEntry, QueueReport, WaitingEntry
from sparql.store.generations import Generations


def queue_report(ledger: Ledger, settings: Settings, registered: Mapping[str, Provider], now: datetime) -> QueueReport:
    """
    The queue of an instance, with what else shows whether it gets on: seeds, exports, generation.

    A description that cannot be read stands among the failing without a dataset. Providers that are not harvested are
    left out.
    """
    entries = [
        entry
        for name, standings in ledger.standings.of().items()
        if name in registered and registered[name].enabled
        for standing in standings
        for entry in _entries(ledger, name, standing, now)
    ]
    entries.sort(key=lambda entry: -entry.age_s)
    exported = max((entry.at for entry in read_index(settings.exports_dir).values()), default=None)
    generation = Generations(settings.layout.store).current()
    return QueueReport(
        failing=tuple(entry for entry in entries if isinstance(entry, FailingEntry)),
        held=tuple(entry for entry in entries if isinstance(entry, HeldEntry)),
        waiting=tuple(entry for entry in entries if isinstance(entry, WaitingEntry)),
        harvesting=tuple(entry for entry in entries if isinstance(entry, HarvestingEntry)),
        seeds=ledger.seeds.counts(),
        exported=datetime.fromisoformat(exported) if exported else None,
        generation=generation.number if generation else None,
    )


def _entries(ledger: Ledger, name: str, standing: Standing, now: datetime) -> Iterator[QueueEntry]:
    """The entries of a dataset in the lists."""

    def place(since: datetime) -> tuple[str, str | None, datetime, int]:
        return name, standing.iri or None, since, max(0, round((now - since).total_seconds()))

    for run in standing.running:
        if run.is_busy:
            yield HarvestingEntry(*place(run.began), run.run, run.step.name if run.step else None)
    bad, first = standing.bad, standing.waiting[:1]
    if standing.state is State.FAILING and bad is not None:
        reason = _finding(first) or next((each.message for each in ledger.findings(name) if each.fatal), None)
        yield FailingEntry(*place(bad.since), bad.tries, bad.tried, standing.next_try, reason)
    for entry in standing.waiting:
        reason = waits_for(name, standing, entry)
        if entry.state == State.HELD:
            since = entry.since or entry.seen
            yield HeldEntry(*place(since), entry.announcement, reason, f"harvest approve {name}")
        elif (entry,) != first or standing.state is State.WAITING:
            yield WaitingEntry(*place(entry.seen), entry.announcement, reason, entry.state, entry.retry_at)


def _finding(first: tuple[Waiting, ...]) -> str | None:
    return next((entry.finding.message for entry in first if entry.finding is not None), None)
