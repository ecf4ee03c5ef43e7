"""What people and programs are shown of each dataset of a provider, and of what waits for its turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from harvest.ledger import DatasetNow, DatasetRecord, Known, Standing, Waiting
from harvest.model import Coverage, Finding, Outcome, Provider, Removals, Source, State
from harvest.model.seeds import public
from sparql.reports import DatasetReport, WaitingReport


def dataset_reports(name: str, provider: Provider | None, known: Known) -> tuple[DatasetReport, ...]:
    """The datasets of a provider: those of its description now, then others that were harvested or tried."""
    described = {each.dataset.iri: each for each in known.described}
    harvested = {record.iri: record for record in known.datasets}
    standings = {standing.iri: standing for standing in known.standings if standing.iri}
    findings = _findings(provider, known)
    iris = [*described, *sorted((harvested.keys() | standings.keys()) - described.keys())]
    return tuple(
        _dataset(
            name,
            _Dataset(iri, described.get(iri), harvested.get(iri), standings.get(iri, Standing(iri))),
            findings.get(iri, ()),
        )
        for iri in iris
    )


@dataclass(frozen=True, slots=True)
class _Dataset:
    """
    What is known of a dataset.

    Attributes:
        iri: Its IRI.
        now: What the description says of it, or None.
        harvested: What was harvested of it, or None.
        standing: How the last tries went, and what waits.
    """

    iri: str
    now: DatasetNow | None
    harvested: DatasetRecord | None
    standing: Standing

    @property
    def coverage(self) -> Coverage | None:
        """As last harvested; before that as described, and else as announced."""
        if self.harvested is not None:
            return self.harvested.coverage
        announced = next((each.dataset for each in self.standing.waiting), None)
        dataset = announced or (self.now.dataset if self.now else None)
        return dataset.coverage if dataset else None

    @property
    def next_try(self) -> datetime | None:
        """When what failed is tried again, or None."""
        asked = self.standing.bad is not None and self.now is not None and not self.standing.waiting
        return self.standing.next_try or (self.now.ask_at if asked and self.now else None)


def _dataset(name: str, known: _Dataset, findings: Sequence[Finding]) -> DatasetReport:
    now, harvested, standing = known.now, known.harvested, known.standing
    bad = standing.bad
    return DatasetReport(
        iri=known.iri,
        title=now.dataset.title if now else None,
        described=now is not None,
        published=now.dataset.modified if now else None,
        coverage=known.coverage,
        modified=harvested.modified if harvested else None,
        committed=harvested.committed if harvested else None,
        state=standing.state,
        since=bad.since if bad else None,
        tries=bad.tries if bad else 0,
        run=bad.run if bad else None,
        last_try=bad.tried if bad else None,
        next_try=known.next_try,
        commands=_commands(name, standing),
        waiting=tuple(_waits(name, standing, entry) for entry in standing.waiting),
        reason=_reason(name, now, harvested, standing),
        findings=tuple(findings),
    )


def _findings(provider: Provider | None, known: Known) -> dict[str, list[Finding]]:
    """What the description and the last run of each dataset gave, by IRI, what stopped it first."""
    found: dict[str, list[Finding]] = {each.dataset.iri: list(each.findings) for each in known.described}
    trying = {standing.iri for standing in known.standings}
    for iri, findings in known.noticed.items():
        if iri in found or iri in trying or not known.described:
            its = found.setdefault(iri, [])
            its += [finding for finding in findings if finding not in its]
    named = {each.dataset.iri for each in known.described} | {known.record.graph}
    described = {each.dataset.iri: each for each in known.described}
    for record in known.datasets:
        if record.iri in described and record.iri not in trying:
            found[record.iri].extend(_other_dumps(known.record.name, described[record.iri], record))
        if record.iri not in named:
            found.setdefault(record.iri, []).extend(_departure(provider, known, record))
    return {iri: sorted(findings, key=lambda finding: not finding.fatal) for iri, findings in found.items()}


def _departure(provider: Provider | None, known: Known, record: DatasetRecord) -> Iterator[Finding]:
    """That a dataset left the description, what becomes of its statements, and how to take them out of the graph."""
    if provider is None or provider.source is Source.UPDATES or not known.described:
        return
    name = provider.name
    partial = any(each.dataset.coverage is Coverage.PARTIAL for each in known.described)
    if provider.removals is Removals.MIRROR and not partial:
        then = "its statements leave the graph with the next harvest"
    elif partial:
        then = (
            "its statements stay in the graph, which is not mirrored while a dataset is partial; to take them out, "
            f"remove {name} from the registry, call `harvest forget {name}`, and register it again"
        )
    else:
        then = f"its statements stay in the graph; `removals: mirror` in the registry entry of {name} takes them out"
    message = f"the description names {record.iri} no more, which was harvested on {record.committed:%Y-%m-%d}: {then}"
    yield Finding("dataset-departed", message, known.record.url)


def _commands(name: str, standing: Standing) -> tuple[str, ...]:
    """What somebody can do about a dataset that is held or fails."""
    blocking = [str(entry.behind) for entry in standing.waiting if entry.behind is not None][:1]
    skip = [f"harvest skip {name} {number}" for number in blocking]
    if standing.state is State.HELD:
        return (f"harvest approve {name}", *skip)
    return (f"harvest run {name}", *skip) if standing.state is State.FAILING else ()


def _waits(name: str, standing: Standing, entry: Waiting) -> WaitingReport:
    return WaitingReport(
        announcement=entry.announcement,
        coverage=entry.dataset.coverage,
        state=entry.state,
        announced=entry.seen,
        until=entry.retry_at,
        behind=entry.behind,
        reason=waits_for(name, standing, entry),
    )


def waits_for(name: str, standing: Standing, entry: Waiting) -> str:
    """Why an announcement is not harvested yet."""
    if standing.state is State.HARVESTING and entry == standing.waiting[0]:
        return "it is being harvested"
    if entry.state == State.HELD:
        return f"the shrink guard holds it until `harvest approve {name}`"
    if entry.behind is not None:
        return f"announcement {entry.behind}, older than this partial dump, has to be harvested first"
    if entry.retry_at is not None:
        return f"the last try failed; it is tried again at {entry.retry_at:%Y-%m-%d %H:%M} UTC"
    return "its turn has not come"


def _reason(name: str, now: DatasetNow | None, record: DatasetRecord | None, standing: Standing) -> str:
    """Why nothing of a dataset is harvested now."""
    if standing.waiting:
        return waits_for(name, standing, standing.waiting[0])
    if now is None:
        return "the description does not name it"
    if standing.state is State.FAILING:
        again = f"at {now.ask_at:%Y-%m-%d %H:%M} UTC" if now.ask_at else "at the next look"
        return f"the last try failed; its dumps are asked for again {again}"
    date = now.dataset.modified
    if record is None:
        until = (
            f"the registry says that its date, {date:%Y-%m-%d %H:%M}, is harvested; " if date and now.baseline else ""
        )
        return f"{until}nothing of it was harvested here; `harvest run {name}` takes it now"
    last = f"on {record.committed:%Y-%m-%d %H:%M} UTC"
    if date is None:
        return f"it has no date, and its dumps are what they were when they were harvested {last}"
    if record.modified is None or date > record.modified:
        return f"its date, {date:%Y-%m-%d %H:%M}, was skipped; `harvest run {name}` takes it now"
    if date < record.modified:
        return f"its date, {date:%Y-%m-%d %H:%M}, is older than the one harvested, {record.modified:%Y-%m-%d %H:%M}"
    return f"its date, {date:%Y-%m-%d %H:%M}, was harvested {last}"


def _other_dumps(name: str, now: DatasetNow, record: DatasetRecord) -> Iterator[Finding]:
    """That a dataset lists other dumps under a date that is harvested: a registry entry or a description moved."""
    others = [url for url in now.dataset.dumps if url not in {capture.url for capture in record.captures}]
    if others and now.dataset.modified is not None and now.dataset.modified == record.modified:
        message = (
            f"{record.iri} has the date of its last harvest, but lists other dumps, such as {public(others[0])}; they "
            f"are harvested when the date is newer, or now by `harvest run {name}`"
        )
        yield Finding("dumps-differ", message, record.iri)


def troubled(known: Known) -> list[Standing]:
    """The datasets whose last try went wrong, and the description: what failed before what is held, longest first."""
    bad = [(standing.bad, standing) for standing in known.standings if standing.bad is not None]
    bad.sort(key=lambda each: (each[0].outcome != Outcome.FAILED, each[0].since))
    return [standing for _, standing in bad]


def noticed(provider: Provider | None, known: Known) -> Iterator[tuple[str, Finding]]:
    """What is to be said of datasets, each with its IRI: first of those that need somebody."""
    findings = _findings(provider, known)
    for iri in dict.fromkeys([*(standing.iri for standing in troubled(known)), *findings]):
        yield from ((iri, finding) for finding in findings.get(iri, ()))
