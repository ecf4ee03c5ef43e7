"""What an instance is at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sparql.reports.providers import ProviderReport
from sparql.reports.writing import MERGED


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """
    A dataset in one of the lists of the queue.

    Attributes:
        provider: Provider name.
        dataset: Its IRI, or None for the description of the provider.
        since: Since when it stands in the list.
        age_s: Seconds since then.
    """

    provider: str
    dataset: str | None
    since: datetime
    age_s: int


@dataclass(frozen=True, slots=True)
class FailingEntry(QueueEntry):
    """
    A dataset that fails.

    Attributes:
        tries: How many tries went wrong since then.
        last_try: When the last of them ended.
        next_try: When it is tried again, or None.
        reason: What stopped the last try, or None where no finding says it.
    """

    tries: int
    last_try: datetime
    next_try: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class HeldEntry(QueueEntry):
    """
    A dump that the shrink guard holds.

    Attributes:
        announcement: Its number.
        reason: Why it is held, for people.
        command: What lets it through.
    """

    announcement: int
    reason: str
    command: str


@dataclass(frozen=True, slots=True)
class WaitingEntry(QueueEntry):
    """
    A dump whose turn has not come.

    Attributes:
        announcement: Its number.
        reason: What it waits for, for people.
        state: seen (to be downloaded) or fetched (to be harvested).
        until: When it is tried again after a failure, or None.
    """

    announcement: int
    reason: str
    state: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class HarvestingEntry(QueueEntry):
    """
    A run that goes on.

    Attributes:
        run: Its id.
        step: The step that it is at, or None.
    """

    run: int
    step: str | None


@dataclass(frozen=True, slots=True)
class QueueReport:
    """
    The queue of an instance, each list with what is oldest first, and how far the rest is.

    Attributes:
        failing: Datasets that fail.
        held: Dumps that wait for approval.
        waiting: Dumps that wait for their turn.
        harvesting: Runs that go on.
        seeds: How many seeds of the list are in each state.
        exported: When an export was last written, or None.
        generation: Number of the current generation of the store, or None.
    """

    failing: tuple[FailingEntry, ...]
    held: tuple[HeldEntry, ...]
    waiting: tuple[WaitingEntry, ...]
    harvesting: tuple[HarvestingEntry, ...]
    seeds: Mapping[str, int]
    exported: datetime | None
    generation: int | None


@dataclass(frozen=True, slots=True)
class StatusReport:
    """
    The state of an instance.

    Attributes:
        providers: All of them, by name.
        triples: In all their graphs.
        states: How many providers are in each state.
        registry_problem: What is wrong with the registry file, or None.
        ledger_problem: Why the ledger cannot be written, or None.
        exports: How many files are exported.
        queue: What it is at.
    """

    providers: tuple[ProviderReport, ...]
    triples: int
    states: Mapping[str, int]
    registry_problem: str | None
    ledger_problem: str | None
    exports: int
    queue: QueueReport = field(metadata=MERGED)
