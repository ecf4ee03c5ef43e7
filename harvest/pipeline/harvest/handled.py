"""
A content handler as a provider's description: what it asks for is fetched and given to it, and it names the dumps.

The handler of another package that is named in the registry runs as with `harvest archive track`, in a process apart.
All documents that it asks for are had, and it fails over none, or nothing of what it says is applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event
from typing import Final

from harvest.archive.handling import Dump, HandlerEntry, Version
from harvest.discover.dates import read_date
from harvest.discover.dumps import coverage_of, unusable
from harvest.errors import DescriptionError
from harvest.fetch.download import ACCEPT
from harvest.ledger import Described, ProviderRecord
from harvest.model import Capture, Coverage, Dataset, Description, Finding, ListedFile, Listing, Provider, Validators
from harvest.pipeline.instance import Instance
from harvest.pipeline.track import handlers
from harvest.pipeline.track.asking import HandlerJob, Wish, ask

MOST: Final = 1000
"""Documents that a handler may ask for."""

DEPTH: Final = 5
"""How far from the registered address they may be."""


def named(name: str) -> HandlerEntry:
    """
    The handler of a name.

    Raises:
        UnknownName: No installed package has it.
    """
    return handlers.chosen([name])[0][0]


def read(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Described | None:
    """
    What a provider's handler makes of what is at its address now; None where that is filed already, unless `forced`.

    Raises:
        HarvestError: A document cannot be had, or the handler fails.
    """
    captures: list[Capture] = []

    def had(url: str) -> Version:
        instance.check_stopping()
        capture = _capture(instance, provider, url)
        captures.append(capture)
        assert capture.digest is not None
        path = instance.content.path(capture.digest)
        return Version(capture.url, capture.digest, path, capture.media_type, capture.final_url, capture.at)

    description = gather(provider, had, instance.stopping)
    first = captures[0]
    filed = instance.ledger.described.datasets(record.name), instance.ledger.findings(record.name)
    same = (record.url, record.description) == (provider.url, first.digest)
    if same and not forced and filed == (description.datasets, description.findings):
        return None
    base = first.final_url.split("?")[0]
    return Described(
        provider.url, first.digest, first.validators, description.findings, datasets=description.datasets, base=base
    )


def gather(provider: Provider, had: Callable[[str], Version], stopping: Event | None = None) -> Description:
    """
    The datasets that a provider's handler answers with; `had` gives each document.

    A Dump that it gives is one. A URL is fetched and given to it, and is a dump where it gives nothing for that.

    Raises:
        HarvestError: As `read`.
    """
    return _Gathering(provider, named(provider.handler or ""), had, stopping or Event()).description()


@dataclass(slots=True)
class _Gathering:
    """Documents that are given to a handler, level by level."""

    provider: Provider
    handler: HandlerEntry
    had: Callable[[str], Version]
    stopping: Event

    def description(self) -> Description:
        level, seen, dumps = [self.provider.url], {self.provider.url}, list[Dump]()
        for depth in range(DEPTH + 1):
            further: list[str] = []
            for url, wish in zip(level, self._wishes(level), strict=True):
                dumps += wish.dumps
                further += wish.urls
                if depth and not (wish.dumps or wish.urls):
                    dumps.append(Dump(url))
            level = [url for url in dict.fromkeys(further) if url not in seen]
            seen.update(level)
            if not level:
                return self._described(dumps)
            if len(seen) > MOST:
                raise self._error(f"asks for more than {MOST:,} documents")
        raise self._error(f"asks for documents more than {DEPTH} steps from there")

    def _wishes(self, level: list[str]) -> list[Wish]:
        wishes = list(ask([HandlerJob(self.handler, self.had(url)) for url in level], self.stopping))
        for wish in wishes:
            if wish.trouble:
                raise DescriptionError(f"{wish.trouble}; nothing was changed", url=self.provider.url)
            if wish.beyond:
                raise self._error("gives more dumps than can be taken")
        return wishes

    def _described(self, dumps: list[Dump]) -> Description:
        datasets: dict[str, Dataset] = {}
        findings = []
        for dump in dumps:
            if found := unusable(dump.url):
                findings.append(Finding(found[0], f"the dump <{dump.url}> is left out: {found[1]}", dump.url))
                continue
            iri = dump.dataset or self.provider.url
            datasets[iri] = _with(datasets.get(iri, Dataset(iri, ())), dump)
        if not datasets:
            reasons = "".join(f": {finding.message}" for finding in findings[:1])
            raise self._error(f"names no dump that can be harvested{reasons}")
        return Description(tuple(datasets[iri] for iri in sorted(datasets)), tuple(findings))

    def _error(self, what: str) -> DescriptionError:
        message = f"the {self.handler} {what} for {self.provider.url}; nothing was changed"
        return DescriptionError(message, url=self.provider.url)


def _with(dataset: Dataset, dump: Dump) -> Dataset:
    """A dataset with another dump."""
    if dump.url in dataset.dumps:
        return dataset
    hashes = (("sha256", dump.sha256.lower()),) if dump.sha256 else ()
    listed = (*(dataset.listing.dumps if dataset.listing else ()), ListedFile(dump.url, dump.media_type, None, hashes))
    urls = (*dataset.dumps, dump.url)
    dates = [date for date in (dataset.modified, read_date(dump.modified or "")) if date]
    return replace(
        dataset,
        dumps=urls,
        coverage=coverage_of(urls, Coverage.FULL),
        modified=max(dates, default=None),
        title=dataset.title or dump.title,
        listing=Listing(None, dumps=listed),
    )


def _capture(instance: Instance, provider: Provider, url: str) -> Capture:
    """A document as it is now."""
    known = instance.filed(url)
    informed = instance.crawl.activity(provider.url) if url != provider.url else None
    validators = known.validators if known else Validators()
    capture = instance.crawl.get(url, validators, provider.limits, accept=ACCEPT, informed=informed).capture
    return known if known and capture.digest is None else capture
