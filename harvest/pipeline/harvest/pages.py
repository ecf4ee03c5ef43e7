"""
The pages that sitemaps list: each is downloaded by itself, and one that fails keeps no other from being harvested.

A page is not asked for when it was downloaded after its `lastmod`; all others are, by conditional requests, as far as
robots.txt allows. One that is gone (404, 410) is left out, as one that is not listed any more; one that is forbidden
or fails in another way counts as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Final

from harvest.errors import FetchError, StatusError
from harvest.fetch.download import ACCEPT
from harvest.fetch.wire import without_userinfo
from harvest.model import Announcement, Capture, Dataset, Finding, Provider, Validators
from harvest.pipeline.instance import Instance
from harvest.pipeline.run_progress import RunProgress
from harvest.pipeline.seeds.dump_records import DumpRecords

GONE: Final = (404, 410)
"""Statuses of a page that is there no more."""

REPORTED: Final = 100
"""Pages that failed and get a finding of their own."""


def obtain(
    instance: Instance,
    provider: Provider,
    dataset: Dataset,
    known: Mapping[str, Capture],
    progress: RunProgress | None = None,
) -> tuple[Capture, ...]:
    """
    The pages of a dataset as they are now, in their order, without those that are gone.

    `known` are earlier captures whose bytes are filed, by URL.

    Raises:
        FetchError: None of them can be had; the reason of the first.
        StoppedError: The instance shuts down.
    """
    asking = _PageDownloads(instance, provider, known)
    listed = list(zip(dataset.dumps, dataset.lastmods, strict=True))
    with ThreadPoolExecutor(max(1, min(len(listed), instance.client.parallel)), "page") as threads:
        found = list(threads.map(asking.page, *zip(*listed, strict=True)))
    instance.check_stopping()
    captures = tuple(capture for capture in found if isinstance(capture, Capture))
    if not captures:
        raise next(error for error in found if isinstance(error, FetchError))
    if progress is not None:
        same = sum(capture.digest == known[capture.url].digest for capture in captures if capture.url in known)
        size = sum(capture.length for capture in captures)
        progress.record(dumps=len(captures), bytes=size, unchanged=same, asked=asking.asked)
    return captures


class _PageDownloads:
    """
    Pages that are asked for, in several threads.

    Attributes:
        asked: How many requests there were.
    """

    def __init__(self, instance: Instance, provider: Provider, known: Mapping[str, Capture]) -> None:
        self.asked = 0
        self._instance = instance
        self._provider = provider
        self._known = known
        self._records = DumpRecords(instance, provider.name)
        self._informed = instance.crawl.activity(provider.url)

    def page(self, url: str, lastmod: datetime | None) -> Capture | FetchError:
        """A page as it is now, or as it was where it fails; why, where it is gone or was never had."""
        known = self._known.get(url)
        if known is not None and lastmod is not None and lastmod <= known.at:
            return known
        if self._instance.stopping.is_set():
            return FetchError("given up", url=url)
        try:
            return self._downloaded(url, known)
        except FetchError as error:
            is_gone = isinstance(error, StatusError) and error.status in GONE
            return error if known is None or is_gone else known
        finally:
            self._instance.ledger.database.close()

    def _downloaded(self, url: str, known: Capture | None) -> Capture:
        self._instance.crawl.admit(url, self._informed)
        self.asked += 1
        last = self._instance.ledger.downloads.last(without_userinfo(url))
        # After a failure the whole page is asked for, so that the archive has its last word of it again.
        validators = known.validators if known and last and last.reason is None else Validators()
        with self._records.downloading([url]) as filed:
            limits = self._provider.limits
            answer = self._instance.crawl.get(url, validators, limits, accept=ACCEPT, informed=self._informed)
            same = known is not None and answer.capture.digest is None
            capture = replace(known, at=answer.capture.at) if known and same else answer.capture
            filed(url, capture, answer.http)
        return capture


def findings(instance: Instance, announcement: Announcement) -> Iterator[Finding]:
    """Which pages of an announcement were not had at their last request, and why."""
    failed = list(_failed(instance, announcement.dataset.dumps))
    for url, reason in failed[:REPORTED]:
        had = any(capture.url == url for capture in announcement.captures)
        now = "it counts as it was downloaded last" if had else "it is left out"
        yield Finding("page", f"{reason}; {now}", url)
    if len(failed) > REPORTED:
        yield Finding("more", f"{len(failed):,} pages in all were not had", announcement.dataset.iri)


def _failed(instance: Instance, urls: Sequence[str]) -> Iterator[tuple[str, str]]:
    for url in urls:
        last = instance.ledger.downloads.last(without_userinfo(url))
        if last is not None and last.reason is not None:
            yield url, last.reason
