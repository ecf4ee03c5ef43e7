"""
Linked Data Event Streams as a description: all pages of one view are had, and the newest versions are one dump.

The dump is filed under its digest and announced by it (`hash://sha256/...`), so it is harvested, proven and rebuilt as
any other; its digest is the state of the dataset. Pages that their server calls immutable are not asked for again, all
others conditionally, so a walk that was interrupted goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from harvest.discover.events import EventPage, Place, newest, read_page
from harvest.errors import DescriptionError
from harvest.ledger import Described, ProviderRecord
from harvest.model import Capture, Dataset, Description, Limits, ListedFile, Listing, Provider, Validators
from harvest.pipeline.harvest.contexts import Contexts, supplied, with_contexts
from harvest.pipeline.harvest.kept import Kept
from harvest.pipeline.instance import Instance
from harvest.wash import process
from sparql.rdf import N_QUADS

ACCEPT: Final = (
    "application/trig, application/n-quads;q=0.9, text/turtle;q=0.8, application/n-triples;q=0.7,"
    " application/ld+json;q=0.6, application/rdf+xml;q=0.5"
)

LIMITS: Final = Limits(256 << 20, 300)
"""Bytes and seconds that one page may take."""

MOST_PAGES: Final = 10_000
"""Pages of one stream."""

PAGE_S: Final = 120
"""Seconds that reading one page may take."""

READING_S: Final = 1800
"""Seconds that finding the newest versions may take."""


_NEWEST: Final[Kept[tuple[str, int]]] = Kept(100)
"""Digest and number of the newest versions, by the pages that they are from."""

Read = tuple[Place, EventPage]
"""A page on disk, and where it leads."""

_PAGES: Final[Kept[Read]] = Kept(MOST_PAGES)
"""Pages and where they lead, by their bytes and where they are."""


def read(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Described | None:
    """
    The newest versions in the stream of a provider now; None where they are what is filed, unless `forced`.

    Raises:
        HarvestError: A page cannot be had or read; nothing of the stream is applied.
    """
    asking = _Asking(instance, provider)
    try:
        pages, stream = walk(provider.url, asking.ask)
    finally:
        asking.remember()
    first = asking.captures[0]
    with instance.room() as room:
        digest = _newest(instance, provider, pages, room / "newest.nq")
    dataset = _dataset(stream, digest)
    filed = instance.ledger.described.datasets(record.name)
    if not forced and (record.url, record.description, filed) == (provider.url, first.digest, (dataset,)):
        return None
    return Described(provider.url, first.digest, first.validators, datasets=(dataset,), base=first.final_url)


def _newest(instance: Instance, provider: Provider, pages: Sequence[Place], target: Path) -> str:
    """The digest of the newest versions, which are filed."""
    key = tuple(f"{path.name} {url} {sorted(map(str, contexts.values()))}" for path, url, _, contexts in pages)
    known = _NEWEST.get(*key)
    if known is None or not instance.content.holds(known[0]):
        bounds = process.Bounds(READING_S, provider.url, instance.stopping)
        known = _NEWEST.put(process.call(newest, bounds, pages, target), *key)
        with instance.content.guard:
            if known[1] and not instance.content.holds(known[0]):
                instance.content.file(target, known[0])
    if not known[1]:
        raise DescriptionError(f"the stream of {provider.url} holds no object", url=provider.url)
    return known[0]


def _dataset(stream: str, digest: str) -> Dataset:
    url = f"hash://sha256/{digest}"
    listing = Listing(digest, dumps=(ListedFile(url, N_QUADS.media_types[0]),), mirrored=True)
    return Dataset(stream, (url,), listing=listing)


def preview(provider: Provider, ask: Callable[[str], Read]) -> Description:
    """
    What a stream would be harvested as; its dump is not made.

    Raises:
        HarvestError: As `read`.
    """
    pages, stream = walk(provider.url, ask)
    bounds = process.Bounds(READING_S, provider.url)
    digest, count = process.call(newest, bounds, pages, pages[0][0].with_name("newest.nq"))
    if not count:
        raise DescriptionError(f"the stream of {provider.url} holds no object", url=provider.url)
    return Description((_dataset(stream, digest),))


def walk(url: str, ask: Callable[[str], Read]) -> tuple[list[Place], str]:
    """
    All pages of the first view of a stream, and the IRI of the stream; `ask` gives a page and where it leads.

    Raises:
        HarvestError: A page cannot be had or read, or there are too many.
    """
    place, page = ask(url)
    found, seen, waiting = [place], {url, place[1]}, list(page.nodes)
    stream = page.stream or url
    if not page.nodes and not page.members:
        waiting = list(page.views[:1])
    while waiting:
        at = waiting.pop(0)
        if at in seen:
            continue
        seen.add(at)
        if len(found) >= MOST_PAGES:
            raise DescriptionError(f"the stream of {url} has more than {MOST_PAGES:,} pages", url=url)
        place, page = ask(at)
        if place[1] != at and place[1] in seen:
            continue  # a redirect to a page that was read
        seen.add(place[1])
        found.append(place)
        waiting += page.nodes
    return sorted(found, key=lambda each: each[1]), stream


def preview_page(place: tuple[Path, str, str | None], fetch: Callable[[str], Path | None]) -> Read:
    """
    A page, and where it leads; `fetch` gives its contexts.

    Raises:
        HarvestError: It cannot be read.
    """
    return supplied(partial(_read_with, process.Bounds(PAGE_S, place[1]), place), fetch)


def _read_with(bounds: process.Bounds, place: tuple[Path, str, str | None], contexts: Contexts) -> Read:
    return (*place, dict(contexts)), process.call(read_page, bounds, *place, dict(contexts))


class _Asking:
    """
    Pages of one walk.

    Attributes:
        captures: Of the pages, in the order in which they were asked for.
    """

    def __init__(self, instance: Instance, provider: Provider) -> None:
        self.captures: list[Capture] = []
        self._instance = instance
        self._provider = provider
        self._key = f"immutable pages of {provider.name}"
        self._immutable: set[str] = set(json.loads(instance.ledger.meta(self._key) or "[]"))
        self._known = len(self._immutable)

    def ask(self, url: str) -> Read:
        """A page as it is now, and where it leads."""
        instance = self._instance
        instance.check_stopping()
        capture = self._capture(url)
        self.captures.append(capture)
        assert capture.digest is not None
        key = (capture.digest, capture.final_url)
        known = _PAGES.get(*key)
        if known is None:
            bounds = process.Bounds(PAGE_S, capture.final_url, instance.stopping)
            place = instance.content.path(capture.digest), capture.final_url, capture.media_type
            known = _PAGES.put(with_contexts(instance, partial(_read_with, bounds, place)), *key)
        return known

    def remember(self) -> None:
        """Keep which pages need not be asked for again."""
        if len(self._immutable) != self._known:
            self._instance.ledger.set_meta(self._key, json.dumps(sorted(self._immutable)))

    def _capture(self, url: str) -> Capture:
        instance = self._instance
        known = instance.filed(url)
        if known is not None and url in self._immutable:
            return known
        informed = instance.crawl.activity(self._provider.url) if url != self._provider.url else None
        validators = known.validators if known else Validators()
        fetched = instance.crawl.get(url, validators, LIMITS, accept=ACCEPT, informed=informed)
        headers = dict(fetched.http[-1].headers) if fetched.http else {}
        if "immutable" in headers.get("cache-control", "").lower():
            self._immutable.add(url)
        return known if known and fetched.capture.digest is None else fetched.capture
