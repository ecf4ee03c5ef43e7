"""
Looking: a provider's description is asked for, and what it says is new is announced.

What the description says and what is announced for it are one transaction of the ledger. An unchanged provider costs
one conditional request and no write anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from harvest.discover.dumps import coverage_of
from harvest.discover.refusal import refusal
from harvest.discover.void import read_description
from harvest.errors import DescriptionError, FetchError, HarvestError, WashError
from harvest.fetch.client import Fetched
from harvest.ledger import Described, ProviderRecord, RunFacts
from harvest.ledger.ahead import try_provider_now
from harvest.ledger.announcements import backoff
from harvest.model import Coverage, Dataset, Description, Finding, Limits, Provider, Source, Validators
from harvest.pipeline.filesets import reading as filesets
from harvest.pipeline.harvest import catalogues, handled, sitemaps, streams
from harvest.pipeline.harvest.due import decide
from harvest.pipeline.harvest.mirroring import announce_remaining
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.pipeline.resourcesync.members import read_members
from harvest.pipeline.resourcesync.source import read_source
from harvest.wash import process

DESCRIPTION_BYTES = 64 << 20
"""Largest description that is read; the largest seen in the wild has 95 kB."""

PATIENCE_S = 60
"""Seconds that a description may take in all, retries and Retry-After included; the next tick asks again anyway."""

DESCRIPTION_S = 120
"""Seconds that reading a description may take; the largest seen in the wild takes 0.1."""

ACCEPT = (
    "text/turtle, application/rdf+xml, application/ld+json;q=0.9, application/trig;q=0.9, application/n-triples;q=0.9,"
    " application/n-quads;q=0.9, text/n3;q=0.8, */*;q=0.5"
)


UNUSABLE = ("dump-unusable", "dump-scheme", "dump-directory", "dump-not-rdf")
"""Kinds of findings that say why a dump is left out."""


@dataclass(frozen=True, slots=True)
class Look:
    """
    What a look found.

    Attributes:
        announced: Ids of new announcements.
        failed: What was wrong, when the description could not be used.
        unanswered: Why dumps could not be asked for that no date covers, by dataset, where that is new.
    """

    announced: tuple[int, ...] = ()
    failed: Finding | None = None
    unanswered: tuple[tuple[str, Finding], ...] = ()


def look(instance: Instance, provider: Provider, *, forced: bool = False, at_once: bool = False) -> Look:
    """
    Announce every dataset of a provider that is due.

    `forced` announces all of them, whatever their dates say. `at_once` asks also for a description that could not be
    read a moment ago.
    """
    ledger = instance.ledger
    ledger.enrol(provider.name, instance.settings.graph(provider.name))
    try_provider_now(ledger.database, provider.name, instance.clock())
    record = ledger.provider(provider.name)
    assert record is not None
    if not (forced or at_once) and record.retry_at is not None and record.retry_at > instance.clock():
        return Look()
    try:
        return _looked(instance, provider, record, forced)
    except HarvestError as error:
        instance.check_stopping()
        return Look(failed=undescribed(instance, provider.name, as_finding(error)))


def _looked(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Look:
    if provider.source is Source.UPDATES:
        return Look()
    if refused := refusal(provider):
        raise DescriptionError(refused[1], url=provider.url)
    if provider.source is Source.DUMP:
        read = _lone_dump(instance, provider, record)
    elif provider.prefix is not None:
        read = read_members(instance, provider, record, forced=forced)
    elif provider.source is Source.RESOURCESYNC:
        read = read_source(instance, provider, record, forced=forced)
    elif provider.source is Source.SITEMAP:
        read = sitemaps.read(instance, provider, record, forced)
    elif provider.source is Source.DCAT:
        read = catalogues.read(instance, provider, record, forced)
    elif provider.source is Source.LDES:
        read = streams.read(instance, provider, record, forced)
    elif provider.source is Source.HANDLER:
        read = handled.read(instance, provider, record, forced)
    elif provider.source is Source.DATASET:
        read = filesets.read(instance, provider, record, forced)
    else:
        read = _read(instance, provider, record, forced)
    announced: tuple[int, ...] = ()
    if read is not None or forced or record.written != provider.modified:
        announced = _announced(instance, record, provider, read, forced)
    return Look((*announced, *announce_remaining(instance, provider)))


def _lone_dump(instance: Instance, provider: Provider, record: ProviderRecord) -> Described | None:
    """A description of a dump that is registered itself; None where it is filed already."""
    if record.url == provider.url and record.description is None and instance.ledger.described.datasets(record.name):
        return None
    coverage = coverage_of((provider.url,), Coverage.FULL)
    dataset = Dataset(provider.url, (provider.url,), coverage)
    return Described(provider.url, None, Validators(), datasets=(dataset,))


def _read(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Described | None:
    """The description as it is now; None where it says what is filed already."""
    known = record.url == provider.url and record.description and instance.content.holds(record.description)
    validators = record.validators if known and not forced else Validators()
    limits = Limits(DESCRIPTION_BYTES, PATIENCE_S)
    fetched = instance.crawl.get(provider.url, validators, limits, accept=ACCEPT)
    capture = fetched.capture
    if capture.digest is None:
        return None
    base = capture.final_url.split("?")[0]
    same = (record.url, record.description, record.base) == (provider.url, capture.digest, base)
    if same and not forced:
        if record.validators != capture.validators:
            instance.ledger.described.renew(record.name, capture.validators)
        return None
    description = _parsed(instance, fetched)
    if not description.datasets:
        raise DescriptionError(_why(description), url=provider.url)
    findings = (*description.findings, *fetched.notes)
    about, datasets = description.about, description.datasets
    return Described(provider.url, capture.digest, capture.validators, findings, about, datasets, base)


def _parsed(instance: Instance, fetched: Fetched) -> Description:
    capture = fetched.capture
    assert capture.digest is not None
    return process.call(
        read_description,
        process.Bounds(DESCRIPTION_S, capture.final_url, instance.stopping),
        instance.content.path(capture.digest),
        capture.final_url,
        capture.media_type,
        instance.settings.features,
        instance.present(),
    )


def _why(description: Description) -> str:
    fatal = [finding.message for finding in description.findings if finding.fatal]
    left_out = [finding.message for finding in description.findings if finding.kind in UNUSABLE]
    return "; ".join([*fatal, *left_out[:3]]) or "the description holds no dataset with a dump that can be harvested"


def _announced(
    instance: Instance, record: ProviderRecord, provider: Provider, read: Described | None, forced: bool
) -> tuple[int, ...]:
    """File what is read and due; returns the announcements to be harvested."""
    datasets = instance.ledger.described.datasets(record.name) if read is None else read.datasets
    due = decide(instance, record, provider, datasets, forced=forced)
    waiting = due.waiting if forced else ()
    filed = instance.ledger.described.file(record.name, read, instance.clock(), due.decided)
    if provider.source is Source.DATASET and read is not None and read.about != record.about:
        write_run(instance, provider.name)
    return *waiting, *filed


def undescribed(instance: Instance, name: str, finding: Finding) -> Finding:
    """File why a description could not be used; a run of its own reports it once, not at every try."""
    instance.ledger.enrol(name, instance.settings.graph(name))
    now, record = instance.clock(), instance.ledger.provider(name)
    before = instance.ledger.findings(name)
    instance.ledger.undescribed(name, (finding,), now, now + backoff(record.failures if record else 0))
    if finding not in before:
        run = instance.ledger.start_run(name, now, None)
        instance.ledger.end_run(run, "failed", now, RunFacts(findings=(finding,)))
    return finding


def as_finding(error: HarvestError, *, again: bool = True) -> Finding:
    """An error as people will read it on the provider's page; `again` is False where nothing tries it again."""
    retry = again and (error.retriable or isinstance(error, FetchError | DescriptionError | WashError))
    message = error.message if not retry else f"{error.message} (it will be tried again)"
    return Finding(error.kind, message, error.url, error.line, error.column, error.excerpt, fatal=True)
