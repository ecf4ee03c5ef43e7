"""Which datasets of a description are to be harvested, by their dates alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from harvest.ledger import DatasetRecord, Decided, ProviderRecord
from harvest.model import AHEAD, Announcement, Coverage, Dataset, Finding, Provider
from harvest.pipeline.harvest.changes import is_of_changes
from harvest.pipeline.instance import Instance


@dataclass(frozen=True, slots=True)
class Due:
    """
    What a look at a description leads to.

    Attributes:
        decided: What is to be filed with it.
        waiting: Announcements that are open already, for a forced look to try at once.
    """

    decided: Decided
    waiting: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RegistryDates:
    """
    What the registry says of a provider's dates; a date more than a day ahead says nothing.

    Attributes:
        modified: What is harvested, as the registry has it, or None.
        is_reset: Whether somebody took `modified` out since the last look.
        is_edited: Whether somebody changed it since the last look.
    """

    modified: datetime | None
    is_reset: bool
    is_edited: bool


def decide(
    instance: Instance, record: ProviderRecord, provider: Provider, datasets: Sequence[Dataset], *, forced: bool
) -> Due:
    """
    Which of the datasets of a description are to be announced, the oldest date first.

    `forced` takes all of them, whatever their dates say. What is announced and open is not announced again, and what
    was skipped only by `forced`.
    """
    ledger, now = instance.ledger, instance.present()
    harvested = {last.iri: last for last in ledger.datasets(record.name)}
    baselines = ledger.described.baselines(record.name)
    registry = _registry(record, provider, now)
    baseline = None if harvested else registry.modified
    due, waiting, findings = [], [], {}
    for dataset in datasets:
        named = dataset.iri in baselines and not registry.is_edited
        last = harvested.get(dataset.iri)
        is_due = _is_due(dataset, baselines[dataset.iri] if named else baseline, registry, _past(last, now))
        if found := _findings(dataset, last, provider, now):
            findings[dataset.iri] = found
        if not forced and not is_due:
            continue
        known = ledger.announcements.latest(record.name, dataset.iri)
        state = None if known is None or _differs(known[0], dataset) else known[1]
        if state in ("seen", "fetched"):
            waiting += [known[0].id] if known else []
        elif state != "held" and (forced or state != "skipped"):
            due.append(dataset)
    decided = Decided(tuple(sorted(due, key=_order)), provider.modified, baseline, findings)
    return Due(decided, tuple(waiting))


def _registry(record: ProviderRecord, provider: Provider, now: datetime) -> RegistryDates:
    is_edited = provider.modified != record.written
    modified = None if provider.modified and provider.modified > now + AHEAD else provider.modified
    return RegistryDates(modified, is_edited and provider.modified is None, is_edited)


@dataclass(frozen=True, slots=True)
class _Last:
    """
    The last harvest of a dataset.

    Attributes:
        modified: Its date, None where it had none that counts.
        urls: Of its dumps.
        sync_token: The state of it at its source, where that named it.
    """

    modified: datetime | None
    urls: frozenset[str]
    sync_token: str | None


def _past(last: DatasetRecord | None, now: datetime) -> _Last | None:
    if last is None:
        return None
    counts = last.modified is not None and last.modified <= now + AHEAD
    return _Last(last.modified if counts else None, frozenset(c.url for c in last.captures), last.sync_token)


def _is_due(dataset: Dataset, baseline: datetime | None, registry: RegistryDates, last: _Last | None) -> bool:
    if last is None:
        return dataset.modified is None or baseline is None or dataset.modified > baseline
    if registry.is_reset:
        return True
    if dataset.sync_token is not None:
        return dataset.sync_token != last.sync_token
    if dataset.lastmods:
        return True  # asked when its sitemaps changed; which pages are downloaded follows from theirs
    if dataset.modified is None:
        return last.urls != set(dataset.dumps)
    if registry.is_edited and registry.modified is not None and dataset.modified > registry.modified:
        return True  # set back, which asks for another harvest
    return last.modified is None or dataset.modified > last.modified


def _findings(dataset: Dataset, last: DatasetRecord | None, provider: Provider, now: datetime) -> tuple[Finding, ...]:
    """What is odd with the date of a dataset beside that of its last harvest and of the registry."""
    found = []
    before = last.modified if last and dataset.sync_token is None else None
    if before and dataset.modified and dataset.modified < before <= now + AHEAD:
        message = (
            f"the date of {dataset.iri}, {dataset.modified.isoformat()}, is older than that of its last harvest, "
            f"{before.isoformat()}; a newer date is waited for, `harvest run {provider.name}` takes its dumps now"
        )
        found.append(Finding("modified-older", message, dataset.iri))
    if provider.modified and provider.modified > now + AHEAD:
        date = provider.modified.isoformat()
        message = f"the registry's `modified`, {date}, is more than a day ahead; it does not count"
        found.append(Finding("modified-in-future", message))
    return tuple(found)


def _differs(known: Announcement, other: Dataset) -> bool:
    """Whether a description of a dataset asks for another harvest than is known; a title does not."""
    one = known.dataset
    # Dumps that turned out to be changes are announced as partial, whatever is said of them.
    coverage = other.coverage if is_of_changes(known.captures) else one.coverage
    return replace(one, title=None, coverage=coverage) != replace(other, title=None)


def _order(dataset: Dataset) -> tuple[bool, float, bool]:
    """Older dates first, that newer data come over them; on one date full dumps first; those without a date last."""
    dated = dataset.modified is not None
    return not dated, dataset.modified.timestamp() if dataset.modified else 0.0, dataset.coverage is Coverage.PARTIAL
