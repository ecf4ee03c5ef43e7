"""
The reports of providers, for pages, `/providers/{name}.json`, `harvest status` and the metadata graph.

They come from the ledger and the registry; nothing is counted, nothing is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from harvest.catalog.datasets import dataset_reports, noticed, troubled
from harvest.config.settings import Settings
from harvest.ledger import Known, Ledger, ProviderOutline, Standing
from harvest.ledger.states import worst
from harvest.model import About, Finding, Provider, Source, State
from harvest.model.seeds import public
from sparql.reports import (
    LEDGER,
    AboutReport,
    DatasetFinding,
    ProviderReport,
    ProviderSummary,
    RunSummary,
    TotalsReport,
    TroubleReport,
)

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

    def next(self, provider: Provider, now: datetime, retry_at: datetime | None = None) -> datetime:
        """The next look at a provider; one that failed is made again at `retry_at`, whenever the next tick is."""
        if retry_at is not None:
            return max(now, retry_at)
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


def provider_report(
    ledger: Ledger, settings: Settings, name: str, provider: Provider | None, now: datetime
) -> ProviderReport | None:
    """
    The report of one provider, or None if neither the registry nor the ledger knows it.

    `provider` is its registry entry, None when it has none (any more).
    """
    known = ledger.overview.of([name]).get(name)
    if known is None and provider is None:
        return None
    return _report(name, provider, known, _Instance(settings, schedule_of(ledger), now))


def provider_reports(
    ledger: Ledger,
    settings: Settings,
    registered: Mapping[str, Provider],
    now: datetime,
    names: Sequence[str] | None = None,
) -> list[ProviderReport]:
    """The reports of every provider that the registry or the ledger knows, by name; if some are named of these."""
    known = ledger.overview.of(names)
    instance = _Instance(settings, schedule_of(ledger), now)
    reported = sorted(known.keys() | (registered if names is None else registered.keys() & set(names)))
    return [_report(name, registered.get(name), known.get(name), instance) for name in reported]


def marked(problem: str | None, reports: list[ProviderReport]) -> list[ProviderReport]:
    """The reports, each with the finding why nothing can be filed, if nothing can; the ledger cannot hold that one."""
    if problem is None:
        return reports
    finding = DatasetFinding(LEDGER, problem, None, None, None, None, True, None)
    return [replace(report, findings=(finding, *report.findings)) for report in reports]


@dataclass(frozen=True, slots=True)
class _Instance:
    """What is the same for all providers."""

    settings: Settings
    schedule: Schedule | None
    now: datetime


def schedule_of(ledger: Ledger) -> Schedule | None:
    """The schedule of the instance, or None before it first ticked."""
    text = ledger.meta(SCHEDULE)
    return None if text is None else Schedule.load(text)


def _report(name: str, provider: Provider | None, known: Known | None, instance: _Instance) -> ProviderReport:
    record = known.record if known else None
    retry_at = record.retry_at if record else None
    url = provider.url if provider else record.url if record else None
    return ProviderReport(
        name=name,
        graph=record.graph if record else instance.settings.graph(name),
        state=provider_state(provider, known.standings if known else ()),
        modified=record.modified if record else None,
        version=record.version if record else 0,
        triples=record.triples if record else 0,
        statistics=TotalsReport(**known.totals) if known and known.totals else None,
        last_run=known.last if known else None,
        runs_let_go=known.runs_let_go if known else None,
        findings=_findings(name, provider, known),
        trouble=_trouble(known),
        next_check=next_check(instance.schedule, provider, retry_at, instance.now),
        source=provider.source if provider else None,
        url=public(url) if url else None,
        removals=provider.removals if provider else None,
        contact=provider.contact if provider else None,
        notify=provider.notify if provider else None,
        datasets=dataset_reports(name, provider, known) if known else (),
        about=tuple(map(_about, record.about if record else ())),
        baseline=(record.baseline or None) if record else None,
    )


def _about(about: About) -> AboutReport:
    said = asdict(about) | {"creators": about.creators or None}
    return AboutReport(**said, citation=about.citation)


def _trouble(known: Known | None) -> TroubleReport | None:
    """Of the dataset that is worst off: since when it goes wrong, in how many tries, and the last of them; or None."""
    for standing in troubled(known) if known else ():
        bad = standing.bad
        assert bad is not None
        return TroubleReport(standing.iri or None, bad.since, bad.tries, bad.run, bad.tried)
    return None


def _findings(name: str, provider: Provider | None, known: Known | None) -> tuple[DatasetFinding, ...]:
    """What people should know, what stopped a harvest first; each with the dataset it is about, if it is about one."""
    found = [("", finding) for finding in known.findings] if known else []
    said = {finding for _, finding in found}
    found += [(iri, finding) for iri, finding in (noticed(provider, known) if known else ()) if finding not in said]
    found += [("", finding) for finding in _of_registry(name, provider, known)]
    found.sort(key=lambda each: not each[1].fatal)
    return tuple(DatasetFinding(**asdict(finding), dataset=iri or None) for iri, finding in found)


def _of_registry(name: str, provider: Provider | None, known: Known | None) -> Iterator[Finding]:
    if provider is None:
        message = (
            f"{name} is not in the registry: it is not harvested any more; `harvest forget {name}` removes its graph"
        )
        yield Finding("unregistered", message)
    elif (
        provider.source is not Source.UPDATES
        and provider.modified
        and known
        and known.last is None
        and not known.findings
    ):
        message = (
            f"the registry says that {provider.modified:%Y-%m-%d} is harvested, but this instance never harvested it; "
            f"remove `modified` or call `harvest run {name}` to have it now"
        )
        yield Finding("never-harvested", message)


def provider_state(provider: Provider | None, standings: Iterable[Standing]) -> State:
    """The state of a provider, for lists and for its page: the worst of its datasets, if it is harvested at all."""
    if provider is None or not provider.enabled:
        return State.DISABLED
    return worst(standings)


def next_check(
    schedule: Schedule | None, provider: Provider | None, retry_at: datetime | None, now: datetime
) -> datetime | None:
    """When a provider is looked at next, or None where it is not; one that failed is looked at again at `retry_at`."""
    if provider is None or not provider.is_looked_at or schedule is None:
        return None
    return schedule.next(provider, now, retry_at)


def summaries(ledger: Ledger, registered: Mapping[str, Provider], now: datetime) -> list[ProviderSummary]:
    """What lists show of every provider that the registry or the ledger knows, by name."""
    known = ledger.overview.outlines()
    schedule = schedule_of(ledger)
    return [
        _summary(name, registered.get(name), known.get(name), schedule, now)
        for name in sorted(known.keys() | registered)
    ]


def _summary(
    name: str, provider: Provider | None, known: ProviderOutline | None, schedule: Schedule | None, now: datetime
) -> ProviderSummary:
    standings = known.standings if known else ()
    return ProviderSummary(
        name=name,
        state=provider_state(provider, standings),
        modified=known.modified if known else None,
        version=known.version if known else 0,
        triples=known.triples if known else 0,
        last_run=_run(known) if known else None,
        next_check=next_check(schedule, provider, known.retry_at if known else None, now),
        title=known.title if known else None,
        tried=max((each.bad.tried for each in standings if each.bad is not None), default=None),
    )


def _run(known: ProviderOutline) -> RunSummary | None:
    if known.run is None or known.started is None:
        return None
    return RunSummary(known.run, known.started, known.ended, known.outcome, known.step)
