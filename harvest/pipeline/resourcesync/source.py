"""A provider's source as its lists are now: what a look files of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from harvest.discover.resourcesync.feed import dataset_of_feed, diffs_of
from harvest.discover.resourcesync.listing import dataset_of_files
from harvest.errors import FetchError
from harvest.fetch.client import Client
from harvest.fetch.wire import without_userinfo
from harvest.ledger import Described, ProviderRecord
from harvest.model import Dataset, Description, Finding, Limits, Provider, Validators
from harvest.pipeline.instance import Instance
from harvest.pipeline.resourcesync.walk import Answer, Ask, Walked, walk

DOCUMENT_BYTES = 64 << 20
"""Largest list that is asked for; one may have 50 MB."""

PATIENCE_S = 120
"""Seconds that one list may take in all."""

LIMITS = Limits(DOCUMENT_BYTES, PATIENCE_S)

_NOTHING: Final[Mapping[str, str | None]] = {}

ACCEPT = "application/xml, text/xml;q=0.9, */*;q=0.5"


def read_source(instance: Instance, provider: Provider, record: ProviderRecord, *, forced: bool) -> Described | None:
    """
    What a provider's source lists now; None where it says what is filed already.

    Every list is asked for conditionally; `forced` asks for all of them whole.

    Raises:
        DescriptionError: What the source says cannot be applied.
        FetchError: A document is not answered.
    """
    ask = _Conditionally(instance, provider, forced)
    walked = walk(provider.url, ask)
    applied = {each.iri: each.sync_token for each in instance.ledger.datasets(record.name)}
    description = described(walked, instance.present(), applied, anew=forced)
    findings, about = description.findings, description.about
    digest = ask.digests.get(walked.url)
    read = Described(provider.url, digest, Validators(), findings, about, description.datasets, walked.url)
    known = Described(
        record.url or "",
        record.description,
        Validators(),
        instance.ledger.findings(record.name),
        record.about,
        instance.ledger.described.datasets(record.name),
        record.base,
    )
    return None if read == known and not forced else read


def described(
    walked: Walked, now: datetime, applied: Mapping[str, str | None] = _NOTHING, *, anew: bool = False
) -> Description:
    """
    The datasets of a source, each as it is to be harvested next.

    Args:
        walked: The source.
        now: Aware.
        applied: The state of each dataset that was last harvested, by its IRI.
        anew: Whether feeds begin with the dataset file again.

    Raises:
        DescriptionError: One of them cannot be applied.
    """
    datasets: list[Dataset] = []
    findings: list[Finding] = []
    for lists in walked.datasets:
        diffs = diffs_of(lists)
        if diffs:
            dataset, found = dataset_of_feed(lists, diffs, applied.get(lists.iri), anew=anew)
        else:
            dataset, found = dataset_of_files(lists, now)
        datasets.append(dataset)
        findings += found
    return Description(tuple(datasets), tuple(findings))


class Plainly(Ask):
    """Asks for documents into a folder, without an instance."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._folder = folder

    def __call__(self, url: str, *, whole: bool = False) -> Answer:
        """As `Ask`."""
        fetched = self._client.get(url, limits=LIMITS, accept=ACCEPT, into=self._folder)
        assert fetched.path is not None
        return Answer(fetched.capture.final_url, fetched.path, fetched.http[-1].headers)


class _Conditionally(Ask):
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

    def __call__(self, url: str, *, whole: bool = False) -> Answer:
        """As `Ask`."""
        instance = self._instance
        instance.check_stopping()
        last = instance.ledger.downloads.at(without_userinfo(url), None)
        known = last.capture if last else None
        if known is not None and not (known.digest and instance.content.holds(known.digest)):
            known = None
        validators = known.validators if known and not (whole or self._forced) else Validators()
        fetched = instance.crawl.get(url, validators, LIMITS, accept=ACCEPT)
        capture = fetched.capture if fetched.capture.digest else known
        if capture is None or capture.digest is None:
            raise FetchError(f"{url} was answered with 304 to a request without conditions", url=url)
        self.digests[capture.final_url] = capture.digest
        headers = fetched.http[-1].headers if fetched.http else ()
        return Answer(capture.final_url, instance.content.path(capture.digest), headers)
