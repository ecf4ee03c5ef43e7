"""
Looking: a provider's description is asked for, and what it says is new is announced.

An unchanged provider costs one conditional request and no write anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from harvest.discover.void import read_description
from harvest.errors import DescriptionError, FetchError, HarvestError, WashError
from harvest.fetch.client import Fetched
from harvest.ledger import DatasetRecord, Described, ProviderRecord
from harvest.ledger.announcements import backoff
from harvest.model import Capture, Dataset, Description, Finding, Limits, Provider, Source, Validators
from harvest.pipeline.register import Register
from harvest.pipeline.workshop import Workshop
from harvest.wash import process

DESCRIPTION_BYTES = 64 << 20
"""Largest description that is read; the largest seen in the wild has 95 kB."""

PATIENCE_S = 60
"""Seconds that a description may take in all, retries and Retry-After included; the next tick asks again anyway."""

DESCRIPTION_S = 120
"""Seconds that reading a description may take; the largest seen in the wild takes 0.1."""

BLIND = timedelta(days=1)
"""How often a dump is downloaded whose dataset has no date and whose server gives nothing to ask by."""

ACCEPT = (
    "text/turtle, application/rdf+xml, application/ld+json;q=0.9, application/trig;q=0.9, application/n-triples;q=0.9,"
    " application/n-quads;q=0.9, text/n3;q=0.8, */*;q=0.5"
)


@dataclass(frozen=True, slots=True)
class Look:
    """
    What a look found.

    Attributes:
        announced: Ids of new announcements.
        failed: What was wrong, when the description could not be used.
    """

    announced: tuple[int, ...] = ()
    failed: Finding | None = None


def look(workshop: Workshop, provider: Provider, *, forced: bool = False) -> Look:
    """
    Announce every dataset of a provider that is due.

    `forced` announces all of them, whatever their dates say.
    """
    ledger = workshop.ledger
    ledger.enrol(provider.name, workshop.settings.graph(provider.name))
    record = ledger.provider(provider.name)
    assert record is not None
    if not forced and record.retry_at is not None and record.retry_at > workshop.clock():
        return Look()
    try:
        return _looked(workshop, provider, record, forced)
    except HarvestError as error:
        workshop.check_stopping()
        return Look(failed=_unreadable(workshop, provider, record, error))


def _looked(workshop: Workshop, provider: Provider, record: ProviderRecord, forced: bool) -> Look:
    if provider.source is Source.UPDATES:
        return Look()
    if provider.source is Source.DUMP:
        return Look(_announce(workshop, record, provider, [_lone_dump(provider)], forced))
    if provider.source is not Source.VOID:
        raise DescriptionError(
            f"{provider.name} is registered by `{provider.source}`, which this version does not harvest yet; "
            "register its VoID file with `void`, or a file with `dump`",
            url=provider.url,
        )
    fetched = _fetch(workshop, provider, record, forced)
    digest = fetched.capture.digest
    edited = record.written != provider.modified
    if digest is None or (digest == record.description and record.url == provider.url):
        if not (forced or edited or _dateless(workshop, record)):
            return Look()
        digest = record.description
    description = _described(workshop, provider, record, fetched, digest)
    if not description.datasets:
        raise DescriptionError(_why(description), url=provider.url)
    return Look(_announce(workshop, record, provider, description.datasets, forced))


def _lone_dump(provider: Provider) -> Dataset:
    return Dataset(provider.url, (provider.url,))


def _fetch(workshop: Workshop, provider: Provider, record: ProviderRecord, forced: bool) -> Fetched:
    known = record.url == provider.url and record.description and workshop.content.holds(record.description)
    validators = record.validators if known and not forced else Validators()
    return workshop.crawl.get(provider.url, validators, Limits(DESCRIPTION_BYTES, PATIENCE_S), accept=ACCEPT)


def _described(
    workshop: Workshop, provider: Provider, record: ProviderRecord, fetched: Fetched, digest: str | None
) -> Description:
    """Read a description that is new, or the filed one again."""
    capture = fetched.capture
    assert digest is not None
    description = process.call(
        read_description,
        process.Bounds(DESCRIPTION_S, capture.final_url, workshop.stopping),
        workshop.content.path(digest),
        capture.final_url,
        capture.media_type,
        workshop.settings.features,
    )
    if digest != record.description:
        findings = (*description.findings, *fetched.notes)
        read = Described(provider.url, digest, capture.validators, findings, description.about)
        workshop.ledger.described(provider.name, read)
    return description


def _why(description: Description) -> str:
    fatal = [finding.message for finding in description.findings if finding.fatal]
    return "; ".join(fatal) or "the description holds no dataset with a dump that can be harvested"


def _announce(
    workshop: Workshop, record: ProviderRecord, provider: Provider, datasets: Iterable[Dataset], forced: bool
) -> tuple[int, ...]:
    announced = []
    for dataset in datasets:
        captures = None if forced else _news(workshop, record, provider, dataset)
        if captures is None and not forced:
            continue
        known = workshop.ledger.announcements.latest(record.name, dataset.iri)
        if known and known[0].dataset == dataset and known[1] in ("seen", "fetched", "held") and not captures:
            if forced and known[1] != "held":
                announced.append(known[0].id)
            continue
        id = workshop.ledger.announcements.add(record.name, dataset, workshop.clock())
        if captures:
            workshop.ledger.announcements.fetched(id, captures)
        announced.append(id)
    if record.written != provider.modified:
        workshop.ledger.set_written(record.name, provider.modified)
    return tuple(announced)


def _news(
    workshop: Workshop, record: ProviderRecord, provider: Provider, dataset: Dataset
) -> tuple[Capture, ...] | None:
    """None when a dataset is not due; else the dumps that were downloaded to find out, possibly none."""
    last = workshop.ledger.dataset(record.name, dataset.iri)
    if dataset.modified is None:
        return () if last is None else _new_bytes(workshop, provider, dataset, last)
    edited = provider.modified != record.written
    if edited or last is None:
        # The registry is what people edit: removing `modified` or setting it back asks for another harvest.
        return () if provider.modified is None or dataset.modified > provider.modified else None
    return () if last.modified is None or dataset.modified > last.modified else None


def _dateless(workshop: Workshop, record: ProviderRecord) -> bool:
    return any(dataset.modified is None for dataset in workshop.ledger.datasets(record.name))


def _new_bytes(
    workshop: Workshop, provider: Provider, dataset: Dataset, last: DatasetRecord
) -> tuple[Capture, ...] | None:
    """The dumps of a dataset without a date, when their bytes are not those of the last harvest."""
    known = {capture.url: capture for capture in last.captures}
    if set(known) != set(dataset.dumps):
        return ()
    blind = any(capture.validators == Validators() for capture in last.captures)
    if blind and workshop.clock() - last.committed < BLIND:
        return None
    captures = tuple(_recaptured(workshop, provider, known[url]) for url in dataset.dumps)
    if blind or any(capture.digest != known[capture.url].digest for capture in captures):
        return captures
    return None


def _recaptured(workshop: Workshop, provider: Provider, last: Capture) -> Capture:
    """The capture of a URL now: the last one again when the server says that nothing changed."""
    fetched = workshop.crawl.get(last.url, last.validators, informed=led_to(workshop, provider, last.url))
    if fetched.capture.digest in (None, last.digest):
        return last
    with Register(workshop, provider.name).downloading([last.url]) as filed:
        filed(last.url, fetched.capture, fetched.http)
    return fetched.capture


def led_to(workshop: Workshop, provider: Provider, url: str) -> str | None:
    """The IRI of the download of the description that names a dump; None for a dump that is registered itself."""
    return None if url == provider.url else workshop.crawl.activity(provider.url)


def _unreadable(workshop: Workshop, provider: Provider, record: ProviderRecord, error: HarvestError) -> Finding:
    """File why a description could not be used; a run of its own tells it once, not at every try."""
    finding = as_finding(error)
    now = workshop.clock()
    before = workshop.ledger.findings(provider.name)
    workshop.ledger.undescribed(provider.name, (finding,), now + backoff(record.failures))
    if finding not in before:
        run = workshop.ledger.start_run(provider.name, now, None)
        workshop.ledger.end_run(run, "failed", now, findings=(finding,))
    return finding


def as_finding(error: HarvestError) -> Finding:
    """An error as people will read it on the provider's page."""
    retry = error.retriable or isinstance(error, FetchError | DescriptionError | WashError)
    message = error.message if not retry else f"{error.message} (it will be tried again)"
    return Finding(error.kind, message, error.url, error.line, error.column, error.excerpt, fatal=True)
