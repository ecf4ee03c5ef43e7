"""
The walk: from the address in the registry to the lists of every dataset that its source offers.

    any page -> source description -> capability list -> resource list, change list -> (of an index) their parts

Each document is asked for once a walk. One that leads back to a document above it, or that is damaged, ends the walk
through its capability list alone.

Source: ResourceSync 1.1, sections 6.1 (structure) and 6.3 (discovery).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from harvest.discover.resourcesync.items import Item, SyncDocument
from harvest.discover.resourcesync.listing import DatasetLists
from harvest.discover.resourcesync.pages import (
    PAGE_BYTES,
    header_links,
    is_host,
    page_links,
    robots,
    well_known,
)
from harvest.discover.resourcesync.reading import read_document
from harvest.discover.sitemap import read_robots
from harvest.errors import DescriptionError, FetchError
from harvest.model.resourcesync import Capability, Relation

MOST_DOCUMENTS: Final = 2_000
"""Documents of one source that are asked for at a look: lists of 50,000 items each."""

ACCEPT: Final = "application/xml, text/xml;q=0.9, */*;q=0.5"

MOST_DATASETS: Final = 500
"""Capability lists of one source."""

_LISTS: Final = (Capability.RESOURCE_LIST, Capability.CHANGE_LIST)


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """
    An answered request.

    Attributes:
        url: After redirects.
        path: The bytes.
        headers: Of the answer, names in lower case.
        media_type: The Content-Type header as received, or None.
        is_known: Whether these bytes were there before.
    """

    url: str
    path: Path
    headers: tuple[tuple[str, str], ...]
    media_type: str | None = None
    is_known: bool = False


class Ask(Protocol):
    """Asks for a document."""

    def __call__(self, url: str, *, whole: bool = False, accept: str = ACCEPT) -> ListAnswer:
        """
        The document at an address, as it is now; `whole` asks for all headers too, which a 304 may lack.

        Raises:
            FetchError: It is not answered.
        """


@dataclass(frozen=True, slots=True)
class BrokenList:
    """
    A capability list whose dataset cannot be applied.

    Attributes:
        url: Its address, as the source description has it.
        error: Why not.
    """

    url: str
    error: DescriptionError | FetchError


@dataclass(frozen=True, slots=True)
class Walked:
    """
    What a source offers.

    Attributes:
        url: The document that the walk began at, after discovery.
        datasets: One a capability list, in the order of the source description.
        broken: The capability lists that are not among them, each with the reason.
    """

    url: str
    datasets: tuple[DatasetLists, ...]
    broken: tuple[BrokenList, ...] = ()


def walk(url: str, ask: Ask) -> Walked:
    """
    What the source at an address offers; the address is that of a document, of a host, or of any page.

    Raises:
        DescriptionError: Nothing of ResourceSync is found, or no capability list can be applied.
        FetchError: A document is not answered.
    """
    return _Walk(url, ask).walked()


def capability_lists(url: str, ask: Ask) -> tuple[str, tuple[str, ...]]:
    """
    The document that a walk begins at, and the capability lists that it names; what these lead to is not asked for.

    Raises:
        DescriptionError: Nothing of ResourceSync is found, or a document is damaged.
        FetchError: A document is not answered.
    """
    return _Walk(url, ask).capability_lists()


class _Walk:
    """One walk."""

    def __init__(self, url: str, ask: Ask) -> None:
        self._start = url
        self._ask = ask
        self._answers: dict[str, ListAnswer] = {}
        self._broken: list[BrokenList] = []

    def walked(self) -> Walked:
        """As `walk`."""
        document = self._found()
        datasets = tuple(self._datasets(document, (document.url,)))
        if not datasets and self._broken:
            raise self._broken[0].error
        if not datasets:
            raise DescriptionError(f"{document.url} leads to no capability list, nor to any list", url=document.url)
        return Walked(document.url, datasets, tuple(self._broken))

    def capability_lists(self) -> tuple[str, tuple[str, ...]]:
        """As `capability_lists`."""
        document = self._found()
        if document.meta.capability == Capability.CAPABILITY_LIST:
            return document.url, (document.url,)
        if document.meta.capability != Capability.DESCRIPTION:
            message = f"{document.url} is a `{document.meta.capability}`; a source description names all providers"
            raise DescriptionError(message, url=document.url)
        if len(document.items) > MOST_DATASETS:
            raise DescriptionError(f"{document.url} has more than {MOST_DATASETS} capability lists", url=document.url)
        return document.url, tuple(item.url for item in document.items)

    # Discovery

    def _found(self) -> SyncDocument:
        """The document to begin at."""
        tried: list[str] = []
        for url in self._places():
            try:
                document = self._document(url)
            except FetchError as error:
                if url == self._start and not is_host(url):
                    raise
                tried.append(error.message)
                continue
            if document is not None and document.meta.capability:
                return document
            what = "a sitemap without `rs:md capability`" if document else "no ResourceSync document"
            tried.append(f"{url} is {what}")
        message = f"nothing of ResourceSync is found at {self._start}: {'; '.join(tried)}"
        raise DescriptionError(message, url=self._start)

    def _places(self) -> Iterator[str]:
        """Where to look, in turn: the address itself, what the page there links, the host."""
        start, host = self._start, well_known(self._start)
        yield from (host, start) if is_host(start) else (start,)
        yield from self._linked(start)
        if not is_host(start):
            yield host
        yield from self._of_robots(robots(start))

    def _linked(self, url: str) -> Iterator[str]:
        try:
            answer = self._ask(url, whole=True)
        except FetchError:
            return
        yield from header_links((value for name, value in answer.headers if name == "link"), answer.url)
        with answer.path.open("rb") as stream:
            body = stream.read(PAGE_BYTES).decode("utf-8", "replace")
        yield from page_links(body, answer.url)

    def _of_robots(self, url: str) -> Iterator[str]:
        try:
            answer = self._answer(url)
        except FetchError:
            return
        yield from read_robots(answer.path.read_bytes()[:PAGE_BYTES].decode("utf-8", "replace"), answer.url)

    # Structure

    def _datasets(self, document: SyncDocument, above: tuple[str, ...]) -> Iterator[DatasetLists]:
        capability = document.meta.capability
        if capability == Capability.DESCRIPTION:
            for number, item in enumerate(document.items, 1):
                if number > MOST_DATASETS:
                    raise DescriptionError(
                        f"{document.url} has more than {MOST_DATASETS} capability lists", url=item.url
                    )
                try:
                    yield from self._described(item, above)
                except (DescriptionError, FetchError) as error:
                    if len(self._answers) >= MOST_DOCUMENTS:
                        raise
                    self._broken.append(BrokenList(item.url, error))
        elif capability == Capability.CAPABILITY_LIST:
            yield self._of_capabilities(document, above)
        elif capability in _LISTS:
            yield self._of_list(document, above)
        else:
            message = f"{document.url} is a `{capability}`, which leads to no dataset; name its capability list"
            raise DescriptionError(message, url=document.url)

    def _described(self, item: Item, above: tuple[str, ...]) -> list[DatasetLists]:
        """The datasets of an item of a source description, which may say what describes them."""
        below = self._below(item.url, above)
        described = tuple(link.url for link in item.links if link.rel == Relation.DESCRIBED_BY)
        found = self._datasets(below, (*above, below.url))
        return [replace(each, described_by=each.described_by or described) for each in found]

    def _of_capabilities(self, document: SyncDocument, above: tuple[str, ...]) -> DatasetLists:
        lists: dict[str, tuple[SyncDocument, ...]] = {}
        for item in document.items:
            if item.meta.capability in _LISTS and item.meta.capability not in lists:
                below = self._below(item.url, above, item.meta.capability)
                lists[item.meta.capability] = self._parts(below, (*above, below.url))
        resources = lists.get(Capability.RESOURCE_LIST, ())
        changes = lists.get(Capability.CHANGE_LIST, ())
        if not (resources or changes):
            message = f"the capability list {document.url} names neither a resource list nor a change list"
            raise DescriptionError(message, url=document.url)
        return DatasetLists(document.url, resources, changes, document.linked(Relation.DESCRIBED_BY))

    def _of_list(self, document: SyncDocument, above: tuple[str, ...]) -> DatasetLists:
        """The dataset of a list by itself: that of the capability list above it, if it names one."""
        for url in document.linked(Relation.UP):
            if url not in above:
                up = self._below(url, ())
                if up.meta.capability == Capability.CAPABILITY_LIST:
                    return self._of_capabilities(up, (up.url,))
        parts = self._parts(document, above)
        by_kind: Mapping[str, tuple[SyncDocument, ...]] = {document.meta.capability or "": parts}
        resources, changes = (by_kind.get(kind, ()) for kind in _LISTS)
        return DatasetLists(document.url, resources, changes, document.linked(Relation.DESCRIBED_BY))

    def _parts(self, document: SyncDocument, above: tuple[str, ...]) -> tuple[SyncDocument, ...]:
        """A list, or the parts of an index."""
        if not document.is_index:
            return (document,)
        parts = []
        for item in document.items:
            part = self._below(item.url, above, document.meta.capability)
            if part.is_index:
                message = f"the index {document.url} names another index, {part.url}; it must name lists"
                raise DescriptionError(message, url=document.url, line=item.line)
            parts.append(part)
        return tuple(parts)

    def _below(self, url: str, above: tuple[str, ...], capability: str | None = None) -> SyncDocument:
        """A document that another one names."""
        by = above[-1] if above else self._start
        if url in above:
            raise DescriptionError(f"{by} leads back to {url}, which leads to it; nothing was applied", url=by)
        document = self._document(url)
        if document is None or not document.meta.capability:
            raise DescriptionError(f"{url}, which {by} names, is no ResourceSync document", url=url)
        if document.url in above:
            raise DescriptionError(f"{by} leads back to {document.url}, which leads to it; nothing was applied", url=by)
        if capability and document.meta.capability != capability:
            message = f"{url} is a `{document.meta.capability}`, and {by} says it is a `{capability}`"
            raise DescriptionError(message, url=url)
        return document

    def _document(self, url: str) -> SyncDocument | None:
        answer = self._answer(url)
        return read_document(answer.path, answer.url)

    def _answer(self, url: str) -> ListAnswer:
        if url not in self._answers:
            if len(self._answers) >= MOST_DOCUMENTS:
                message = f"{self._start} leads to more than {MOST_DOCUMENTS} documents; name one capability list of it"
                raise DescriptionError(message, url=self._start)
            self._answers[url] = self._ask(url)
        return self._answers[url]
