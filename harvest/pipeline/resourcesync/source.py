"""A provider's source as its lists are now: what a look files of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from harvest.discover.resourcesync.about import read_about
from harvest.discover.resourcesync.feed import dataset_of_feed, diffs_of
from harvest.discover.resourcesync.listing import DatasetLists, dataset_of_files
from harvest.errors import DescriptionError, FetchError, WashError
from harvest.fetch.client import Client
from harvest.fetch.download import ACCEPT as RDF
from harvest.ledger import Described, ProviderRecord
from harvest.model import About, Dataset, Description, Finding, Limits, Provider, Validators
from harvest.pipeline.instance import Instance
from harvest.pipeline.resourcesync.walk import ACCEPT, Ask, BrokenList, ListAnswer, Walked, walk
from harvest.wash import process
from sparql.rdf import by_extension, by_media_type

DOCUMENT_BYTES = 64 << 20
"""Largest list that is asked for; one may have 50 MB."""

PATIENCE_S = 120
"""Seconds that one list may take in all."""

LIMITS = Limits(DOCUMENT_BYTES, PATIENCE_S)

DESCRIPTION_S: Final = 120
"""Seconds that reading a description may take."""

MOST_DESCRIPTIONS: Final = 3
"""Descriptions of one dataset that are asked for; one is enough if it is RDF."""

_NOTHING: Final[Mapping[str, str | None]] = {}


def read_source(instance: Instance, provider: Provider, record: ProviderRecord, *, forced: bool) -> Described | None:
    """
    What a provider's source lists now; None where it says what is filed already.

    Every list is asked for conditionally; `forced` asks for all of them whole.

    Raises:
        DescriptionError: What the source says cannot be applied.
        FetchError: A document is not answered.
    """
    ask = Conditionally(instance, provider, forced)
    walked = walk(provider.url, ask)
    applied = {each.iri: each.sync_token for each in instance.ledger.datasets(record.name)}
    before = instance.ledger.described.datasets(record.name)
    description = described(walked, instance.present(), applied, before, anew=forced)
    about, findings = _described_by(instance, ask, record, walked, description)
    digest = ask.digests.get(walked.url)
    titles = {each.iri: each.title for each in about}
    datasets = tuple(replace(each, title=titles.get(each.iri)) for each in description.datasets)
    read = Described(
        provider.url, digest, Validators(), (*description.findings, *findings), about, datasets, walked.url
    )
    known = Described(
        record.url or "",
        record.description,
        Validators(),
        instance.ledger.findings(record.name),
        record.about,
        before,
        record.base,
    )
    return None if read == known and not forced else read


def described(
    walked: Walked,
    now: datetime,
    applied: Mapping[str, str | None] = _NOTHING,
    before: Sequence[Dataset] = (),
    *,
    anew: bool = False,
) -> Description:
    """
    The datasets of a source, each as it is to be harvested next.

    Args:
        walked: The source.
        now: Aware.
        applied: The state of each dataset that was last harvested, by its IRI.
        before: The datasets as they were described last. Those that are not found now stay while a capability list is
            broken, for it may be theirs.
        anew: Whether feeds begin with the dataset file again.

    Raises:
        DescriptionError: None of them can be applied.
    """
    datasets: list[Dataset] = []
    findings: list[Finding] = []
    broken = list(walked.broken)
    for lists in walked.datasets:
        try:
            dataset, found = _dataset(lists, now, applied.get(lists.iri), anew)
        except DescriptionError as error:
            broken.append(BrokenList(lists.iri, error))
            continue
        datasets.append(dataset)
        findings += found
    if broken and not datasets:
        raise broken[0].error
    found_now = {each.iri for each in datasets}
    datasets += [each for each in before if broken and each.iri not in found_now]
    return Description(tuple(datasets), (*findings, *map(_broken, broken)))


def _dataset(
    lists: DatasetLists, now: datetime, applied: str | None, anew: bool
) -> tuple[Dataset, tuple[Finding, ...]]:
    """The dataset of the lists of one capability list."""
    diffs = diffs_of(lists)
    if diffs:
        return dataset_of_feed(lists, diffs, applied, anew=anew)
    return dataset_of_files(lists, now)


def _broken(each: BrokenList) -> Finding:
    """That nothing of one capability list was applied."""
    error = each.error
    message = f"nothing of the capability list {each.url} is applied until it is mended: {error.message}"
    return Finding("list-broken", message, error.url or each.url, error.line, error.column, error.excerpt)


def _described_by(
    instance: Instance, ask: Ask, record: ProviderRecord, walked: Walked, description: Description
) -> tuple[tuple[About, ...], tuple[Finding, ...]]:
    """What the sources of datasets link as their descriptions; one that cannot be had or read stops nothing."""
    before = {each.iri: each for each in record.about}
    was_bad = any(finding.kind == "described-by" for finding in instance.ledger.findings(record.name))
    found: list[About] = []
    findings: list[Finding] = []
    by_iri = {lists.iri: lists for lists in walked.datasets}
    for dataset in description.datasets:
        lists, known = by_iri.get(dataset.iri), before.get(dataset.iri)
        if lists is None:  # it stays while its list is broken, with what was said of it
            found += [known] if known else []
            continue
        try:
            said = _about(instance, ask, lists, dataset, None if was_bad else known)
        except (FetchError, DescriptionError, WashError) as error:
            instance.check_stopping()
            message = f"the description of {dataset.iri} cannot be used: {error.message}"
            findings.append(Finding("described-by", message, error.url, error.line, error.column, error.excerpt))
            said = known
        if said is not None:
            found.append(said)
    return tuple(found), tuple(findings)


def _about(instance: Instance, ask: Ask, lists: DatasetLists, dataset: Dataset, known: About | None) -> About | None:
    """What the first description in RDF says; `known` is what it said when it was read last."""
    for url in lists.described_by[:MOST_DESCRIPTIONS]:
        answer = ask(url, accept=RDF)
        if not (by_media_type(answer.media_type) or by_extension(answer.url)):
            continue  # filed, as all that is asked for, and nothing more
        if answer.is_known and known is not None:
            return known
        bounds = process.Bounds(DESCRIPTION_S, url, instance.stopping)
        return process.call(read_about, bounds, answer.path, answer.url, answer.media_type, dataset)
    return None


class Plainly(Ask):
    """Asks for documents into a folder, without an instance."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._folder = folder

    def __call__(self, url: str, *, whole: bool = False, accept: str = ACCEPT) -> ListAnswer:
        """As `Ask`."""
        fetched = self._client.get(url, limits=LIMITS, accept=accept, into=self._folder)
        assert fetched.path is not None
        return ListAnswer(fetched.capture.final_url, fetched.path, fetched.http[-1].headers)


class Conditionally(Ask):
    """
    Asks for documents through the crawl, by what is known of each.

    Attributes:
        digests: SHA-256 of each document, by its URL after redirects.
    """

    def __init__(self, instance: Instance, provider: Provider, forced: bool) -> None:
        self.digests: dict[str, str] = {}
        self._instance = instance
        self._provider = provider
        self._forced = forced

    def __call__(self, url: str, *, whole: bool = False, accept: str = ACCEPT) -> ListAnswer:
        """As `Ask`."""
        instance = self._instance
        instance.check_stopping()
        known = instance.filed(url)
        validators = known.validators if known and not (whole or self._forced) else Validators()
        fetched = instance.crawl.get(url, validators, LIMITS, accept=accept)
        capture = fetched.capture if fetched.capture.digest else known
        if capture is None or capture.digest is None:
            raise FetchError(f"{url} was answered with 304 to a request without conditions", url=url)
        self.digests[capture.final_url] = capture.digest
        headers = fetched.http[-1].headers if fetched.http else ()
        is_known = known is not None and known.digest == capture.digest
        path = instance.content.path(capture.digest)
        return ListAnswer(capture.final_url, path, headers, capture.media_type, is_known)
