"""
What people and programs are told of a provider: the JSON object of `/providers/{name}.json` and `harvest status`.

Everything comes from the ledger and the registry; nothing is counted, nothing is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from harvest.ledger import Known, Ledger, ProviderRecord, Run, Step, VersionRecord
from harvest.model import Finding, Outcome, Provider, Source, State, Statistics
from harvest.settings import Settings

SCHEDULE = "schedule"
"""Key of the ledger fact that says since when the scheduler ticks."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """
    When the scheduler looks at providers.

    Attributes:
        started: Its first tick (aware, UTC).
        tick_s: Seconds between two ticks.
    """

    started: datetime
    tick_s: float

    def ticks(self, provider: Provider) -> int:
        """Every how many ticks a provider is looked at."""
        return max(1, math.ceil((provider.interval or self.tick_s) / self.tick_s))

    def next(self, provider: Provider, now: datetime) -> datetime:
        """The next look at a provider."""
        step = timedelta(seconds=self.ticks(provider) * self.tick_s)
        return self.started + step * math.ceil(max(now - self.started, timedelta(0)) / step)

    def dump(self) -> str:
        """As filed in the ledger."""
        return json.dumps({"started": self.started.isoformat(), "tick_s": self.tick_s})

    @classmethod
    def load(cls, text: str) -> Schedule:
        """What `dump` wrote."""
        item = json.loads(text)
        return cls(datetime.fromisoformat(item["started"]), item["tick_s"])


def provider_object(
    ledger: Ledger, settings: Settings, name: str, provider: Provider | None, now: datetime
) -> dict[str, Any] | None:
    """
    All that is told of one provider, or None if neither the registry nor the ledger knows it.

    `provider` is its registry entry, None when it has none (any more).
    """
    known = ledger.overview.of([name]).get(name)
    if known is None and provider is None:
        return None
    return _object(name, provider, known, _Instance(settings, _schedule(ledger), now))


def provider_objects(
    ledger: Ledger,
    settings: Settings,
    registered: Mapping[str, Provider],
    now: datetime,
    names: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """What is told of every provider that the registry or the ledger knows, by name; if some are named of these."""
    known = ledger.overview.of(names)
    instance = _Instance(settings, _schedule(ledger), now)
    told = sorted(known.keys() | (registered if names is None else registered.keys() & set(names)))
    return [_object(name, registered.get(name), known.get(name), instance) for name in told]


@dataclass(frozen=True, slots=True)
class _Instance:
    """What is the same for all providers."""

    settings: Settings
    schedule: Schedule | None
    now: datetime


def _schedule(ledger: Ledger) -> Schedule | None:
    text = ledger.meta(SCHEDULE)
    return None if text is None else Schedule.load(text)


def _object(name: str, provider: Provider | None, known: Known | None, instance: _Instance) -> dict[str, Any]:
    record = known.record if known else None
    last = known.last if known else None
    findings = _findings(name, provider, known)
    return {
        "name": name,
        "graph": record.graph if record else instance.settings.graph(name),
        "state": _state(provider, known, findings),
        "modified": _iso(record.modified if record else None),
        "version": record.version if record else 0,
        "triples": record.triples if record else 0,
        "statistics": known.totals if known else None,
        "last_run": None if last is None else run_object(last),
        "findings": [finding_object(finding) for finding in findings],
        "trouble": _trouble(known),
        "next_check": _iso(_next_check(record, provider, instance)),
        "source": None if provider is None else provider.source.value,
        "url": _public(provider.url if provider else record.url if record else None) or None,
        "removals": None if provider is None else provider.removals.value,
        "contact": None if provider is None else provider.contact,
        "datasets": [
            {"iri": d.iri, "modified": _iso(d.modified), "coverage": d.coverage.value, "committed": _iso(d.committed)}
            for d in (known.datasets if known else ())
        ],
        "about": [asdict(each) for each in (record.about if record else ())],
    }


def _trouble(known: Known | None) -> dict[str, Any] | None:
    """Since when no harvest went well, in how many tries, and the last of them; None where the last one did."""
    if known is None or known.since is None or known.settled is None:
        return None
    return {
        "since": _iso(known.since),
        "tries": known.tries,
        "run": known.settled.id,
        "at": _iso(known.settled.ended),
    }


def run_object(run: Run) -> dict[str, Any]:
    """One run as JSON."""
    return {
        "id": run.id,
        "started": _iso(run.started),
        "ended": _iso(run.ended),
        "outcome": run.outcome,
        "dataset": run.dataset,
        "modified": _iso(run.modified),
        "coverage": run.coverage,
        "version": run.version,
        "added": run.added,
        "removed": run.removed,
        "vanished_subjects": run.vanished,
        "dumps": [dump | {"url": _public(dump["url"])} for dump in run.dumps],
        "findings": [finding_object(finding) for finding in run.findings],
        "steps": [step_object(step) for step in run.steps],
    }


def step_object(step: Step) -> dict[str, Any]:
    """One step of a run as JSON; `seconds` is null while it goes on."""
    seconds = None if step.ended is None else round((step.ended - step.started).total_seconds(), 3)
    return {
        "name": step.name,
        "started": _iso(step.started),
        "ended": _iso(step.ended),
        "seconds": seconds,
        "broken": step.broken,
        "figures": step.figures,
    }


def version_object(version: VersionRecord) -> dict[str, Any]:
    """One version as JSON."""
    return {
        "n": version.n,
        "run": version.run,
        "at": _iso(version.at),
        "coverage": version.coverage,
        "dataset": version.dataset,
        "modified": _iso(version.modified),
        "added": version.added,
        "removed": version.removed,
        "triples": version.triples,
        "sha256": version.digest,
    }


def statistics_object(record: ProviderRecord, statistics: Statistics) -> dict[str, Any]:
    """The statistics of a provider's current version as JSON, what is most frequent first."""
    return {
        "name": record.name,
        "graph": record.graph,
        "version": record.version,
        "triples": statistics.triples,
        "subjects": statistics.subjects,
        "properties": [{"property": iri, "triples": n} for iri, n in _by_count(statistics.properties)],
        "classes": [{"class": iri, "entities": n} for iri, n in _by_count(statistics.classes)],
    }


def _by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding as JSON."""
    return asdict(finding)


def _public(url: str | None) -> str | None:
    """A URL without the name and password that may stand in it."""
    if url is None or "@" not in url:
        return url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _findings(name: str, provider: Provider | None, known: Known | None) -> list[Finding]:
    found = list(known.findings) if known else []
    found += [f for f in (known.settled.findings if known and known.settled else ()) if f not in found]
    if provider is None:
        message = (
            f"{name} is not in the registry: it is not harvested any more; `harvest forget {name}` removes its graph"
        )
        found.append(Finding("unregistered", message))
    elif provider.source is not Source.UPDATES and provider.modified and known and known.last is None and not found:
        message = (
            f"the registry says that {provider.modified:%Y-%m-%d} is harvested, but this instance never harvested it; "
            f"remove `modified` or call `harvest run {name}` to have it now"
        )
        found.append(Finding("never-harvested", message))
    return found


def _state(provider: Provider | None, known: Known | None, findings: list[Finding]) -> str:
    if provider is None or not provider.enabled:
        return State.DISABLED
    if known is None:
        return State.IDLE
    if known.last is not None and known.last.ended is None:
        return State.HARVESTING
    if known.is_held:
        return State.HELD
    fatal = any(finding.fatal for finding in findings)
    failed = known.settled is not None and known.settled.outcome == Outcome.FAILED
    return State.FAILING if fatal or failed else State.IDLE


def _next_check(record: ProviderRecord | None, provider: Provider | None, instance: _Instance) -> datetime | None:
    if provider is None or not provider.is_looked_at or instance.schedule is None:
        return None
    earliest = max(instance.now, record.retry_at) if record and record.retry_at else instance.now
    return instance.schedule.next(provider, earliest)
