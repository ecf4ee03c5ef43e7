"""
From the lists of a capability list to a dataset: which files are its dumps, and which state of it they are.

What the dataset is: the file said to be it (`isDataset`), else `dataset.*`, else the sole file, else all RDF files
together. What is RDF is a fixed list of media types and extensions; a type that is said overrules the extension.

Source: shared Timbuctoo exchange protocol, "Resource sync" and "Valid resources"; ResourceSync 1.1, sections 9 and 12.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from harvest.discover.dumps import extension
from harvest.discover.resourcesync.items import Item, SyncDocument
from harvest.errors import DescriptionError
from harvest.model import AHEAD, Dataset, Finding, ListedFile, Listing
from harvest.model.resourcesync import ChangeKind

EXTENSIONS: Final = {
    "nq": "application/n-quads",
    "nt": "application/n-triples",
    "ttl": "text/turtle",
    "trig": "application/trig",
    "rdf": "application/rdf+xml",
    "jsonld": "application/ld+json",
    "n3": "text/n3",
}
"""What a resource list may hold as RDF, the one that is quickest to read first. Source: "Valid resources"."""

_WRAPPERS: Final = frozenset({"gzip", "x-gzip", "x-bzip2", "x-xz", "zstd", "octet-stream"})
"""`application/...` types of what is packed, which do not say what of."""

SHOWN: Final = 20
"""Files that a finding names."""


@dataclass(frozen=True, slots=True)
class DatasetLists:
    """
    The lists that make one dataset.

    Attributes:
        iri: Address of the capability list, or of the list itself where it stands alone.
        resources: The resource list, or the parts of its index.
        changes: The change list, or the parts of its index, oldest first.
        described_by: Addresses of what describes the dataset.
    """

    iri: str
    resources: tuple[SyncDocument, ...] = ()
    changes: tuple[SyncDocument, ...] = ()
    described_by: tuple[str, ...] = ()


def rdf_type(item: Item) -> str | None:
    """The media type of an item that holds RDF, None of another one."""
    said = (item.meta.media_type or "").partition(";")[0].strip().lower()
    if said and said.removeprefix("application/") not in _WRAPPERS:
        return said if said in EXTENSIONS.values() else None
    return EXTENSIONS.get(extension(item.url))


def listed_file(item: Item) -> ListedFile:
    """What is said of an item; a type only where it is one of RDF, for the others say nothing of what is in it."""
    said = (item.meta.media_type or "").partition(";")[0].strip().lower()
    media_type = said if said in EXTENSIONS.values() else None
    return ListedFile(item.url, media_type, item.meta.length, item.meta.hashes)


def dataset_of_files(lists: DatasetLists, now: datetime) -> tuple[Dataset, tuple[Finding, ...]]:
    """
    The dataset of lists of files, with what is odd about it.

    Raises:
        DescriptionError: No file of it holds RDF, or changes are missing between the lists.
    """
    items = list(_present(lists).values())
    dumps = _dumps(items)
    if not dumps:
        raise DescriptionError(_why(lists, items), url=lists.iri)
    others = [item for item in items if item not in dumps]
    findings = [_stored(lists.iri, others)] if others else []
    modified, odd = _modified(lists, dumps, now)
    listing = Listing(
        _token(lists, dumps),
        dumps=tuple(map(listed_file, dumps)),
        others=tuple(map(listed_file, others)),
        mirrored=bool(lists.changes),
    )
    dataset = Dataset(lists.iri, tuple(item.url for item in dumps), modified=modified, listing=listing)
    return dataset, (*findings, *odd)


def _present(lists: DatasetLists) -> dict[str, Item]:
    """The files that there are: those of the resource list, and what the change list says of them since."""
    present = {item.url: item for each in lists.resources for item in each.items}
    taken = min((each.meta.at for each in lists.resources if each.meta.at), default=None)
    report_hole(lists, taken)
    for item in (item for each in lists.changes for item in each.items):
        if taken and item.changed and item.changed < taken:
            continue  # the resource list was made after that
        if item.meta.change == ChangeKind.DELETED:
            present.pop(item.url, None)
        else:
            present[item.url] = item
    return present


def report_hole(lists: DatasetLists, taken: datetime | None) -> None:
    """
    Refuse lists between which there is a time that none of them speaks of.

    Raises:
        DescriptionError: There is one.
    """
    spans = [(each.meta.since, each.meta.until, each.url) for each in lists.changes]
    end = taken
    for since, until, url in spans:
        if end and since and since > end:
            message = (
                f"the change list {url} begins at {since.isoformat()}, and what is listed before ends at "
                f"{end.isoformat()}: what changed between is not known; nothing was applied, a whole list is waited for"
            )
            raise DescriptionError(message, url=url)
        end = max(filter(None, (end, until)), default=None) if until else None


def dump_items(lists: DatasetLists) -> tuple[Item, ...]:
    """The files that a resource list has as the dataset; none where there is no resource list, or no RDF in it."""
    return tuple(_dumps([item for each in lists.resources for item in each.items]))


def _dumps(items: Sequence[Item]) -> list[Item]:
    """The files that are the dataset."""
    if said := [item for item in items if item.meta.is_dataset]:
        return said
    rdf = [item for item in items if rdf_type(item)]
    if named := [item for item in rdf if _stem(item.url) == "dataset"]:
        return [min(named, key=_preference)]
    if len(items) == 1 and not items[0].meta.media_type and not extension(items[0].url):
        return list(items)  # nothing says what it is; washing looks inside
    return rdf


def _stem(url: str) -> str:
    return urlsplit(url).path.rsplit("/", 1)[-1].lower().partition(".")[0]


def _preference(item: Item) -> tuple[int, int]:
    """Of several forms of one dataset the one that is quickest to read, unpacked before packed."""
    return list(EXTENSIONS.values()).index(rdf_type(item) or ""), len(item.url)


def _modified(lists: DatasetLists, dumps: Sequence[Item], now: datetime) -> tuple[datetime | None, tuple[Finding, ...]]:
    """The latest date of the files, else that of the list; one that is more than a day ahead does not count."""
    dates = [item.changed or item.lastmod for item in dumps]
    known = [date for date in dates if date]
    at = max((each.meta.at for each in lists.resources if each.meta.at), default=None)
    modified = max(known) if len(known) == len(dates) else at
    if modified and modified > now + AHEAD:
        message = (
            f"the list of {lists.iri} has the date {modified.isoformat()}, more than a day ahead; it does not count"
        )
        return None, (Finding("modified-in-future", message, lists.iri),)
    return modified, ()


def _token(lists: DatasetLists, dumps: Sequence[Item]) -> str | None:
    """Names the state that the lists say the files are in; None where they do not say enough for that."""
    ats = sorted(each.meta.at.isoformat() for each in lists.resources if each.meta.at)
    if not all(item.changed or item.meta.hashes for item in dumps):
        if not ats:
            return None
    else:
        ats = []
    return digest_of([*ats, *sorted(map(_said, dumps))])


def _said(item: Item) -> str:
    moment = item.changed.isoformat() if item.changed else ""
    return "\t".join((item.url, moment, str(item.meta.length or ""), *map(":".join, item.meta.hashes)))


def digest_of(lines: Iterable[str]) -> str:
    """A name of what lines say."""
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _stored(iri: str, others: Sequence[Item]) -> Finding:
    """That there are files that are archived and not harvested."""
    named = ", ".join(item.url for item in others[:SHOWN]) + (", ..." if len(others) > SHOWN else "")
    count = "1 file of" if len(others) == 1 else f"{len(others)} files of"
    return Finding("stored", f"{count} {iri} are archived as they are, and not harvested: {named}", iri)


def _why(lists: DatasetLists, items: Sequence[Item]) -> str:
    if not items:
        return f"the lists of {lists.iri} name no file; nothing was changed"
    known = ", ".join(f".{name}" for name in EXTENSIONS)
    return (
        f"none of the {len(items)} files that {lists.iri} leads to is RDF by its `type` or extension ({known}); say "
        f'`<rs:md type="..."/>` of the file, as of {items[0].url}'
    )
