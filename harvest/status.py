"""
What people and programs are told of a provider: the JSON object of `/providers/{name}.json` and `harvest status`.

Everything comes from the ledger and the registry; nothing is counted, nothing is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from harvest.ledger import Ledger, ProviderRecord, Run, VersionRecord
from harvest.model import Finding, Outcome, Provider, State, Statistics
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
    record = ledger.provider(name)
    if record is None and provider is None:
        return None
    runs = ledger.runs(name, 1)
    last = runs[0] if runs else None
    findings = _findings(ledger, name, last, provider)
    return {
        "name": name,
        "graph": record.graph if record else settings.graph(name),
        "state": _state(ledger, name, last, provider, findings),
        "modified": _iso(record.modified if record else None),
        "version": record.version if record else 0,
        "triples": record.triples if record else 0,
        "statistics": ledger.figures.totals(name, record.version) if record else None,
        "last_run": None if last is None else run_object(last),
        "findings": [finding_object(finding) for finding in findings],
        "next_check": _iso(_next_check(ledger, record, provider, now)),
        "source": None if provider is None else provider.source.value,
        "url": _public(provider.url if provider else record.url if record else None),
        "removals": None if provider is None else provider.removals.value,
        "contact": None if provider is None else provider.contact,
        "datasets": [
            {"iri": d.iri, "modified": _iso(d.modified), "coverage": d.coverage.value, "committed": _iso(d.committed)}
            for d in ledger.datasets(name)
        ],
    }


def provider_objects(
    ledger: Ledger, settings: Settings, registered: Mapping[str, Provider], now: datetime
) -> list[dict[str, Any]]:
    """What is told of every provider that the registry or the ledger knows, by name."""
    names = sorted({record.name for record in ledger.providers()} | registered.keys())
    objects = (provider_object(ledger, settings, name, registered.get(name), now) for name in names)
    return [item for item in objects if item is not None]


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
        "steps": list(run.steps),
    }


def version_object(version: VersionRecord) -> dict[str, Any]:
    """One version as JSON."""
    return {
        "n": version.n,
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


def _findings(ledger: Ledger, name: str, last: Run | None, provider: Provider | None) -> list[Finding]:
    found = list(ledger.findings(name))
    found += [finding for finding in (last.findings if last else ()) if finding not in found]
    if provider is None:
        message = (
            f"{name} is not in the registry: it is not harvested any more; `harvest forget {name}` removes its graph"
        )
        found.append(Finding("unregistered", message))
    elif provider.modified and ledger.provider(name) and not ledger.runs(name, 1) and not found:
        message = (
            f"the registry says that {provider.modified:%Y-%m-%d} is harvested, but this instance never harvested it; "
            f"remove `modified` or call `harvest run {name}` to have it now"
        )
        found.append(Finding("never-harvested", message))
    return found


def _state(ledger: Ledger, name: str, last: Run | None, provider: Provider | None, findings: list[Finding]) -> str:
    if provider is None or not provider.enabled:
        return State.DISABLED
    if last is not None and last.ended is None:
        return State.HARVESTING
    if ledger.announcements.held(name):
        return State.HELD
    fatal = any(finding.fatal for finding in findings)
    return State.FAILING if fatal or (last is not None and last.outcome == Outcome.FAILED) else State.IDLE


def _next_check(
    ledger: Ledger, record: ProviderRecord | None, provider: Provider | None, now: datetime
) -> datetime | None:
    schedule = ledger.meta(SCHEDULE)
    if provider is None or not provider.enabled or schedule is None:
        return None
    earliest = max(now, record.retry_at) if record and record.retry_at else now
    return Schedule.load(schedule).next(provider, earliest)
