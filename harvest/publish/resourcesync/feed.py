"""
The feed of a provider: the documents of ResourceSync, and its graph, by which others keep a copy of it.

    resourcesync/<name>/dataset.nq          the graph; a link to the snapshot, or a copy where there is none
    resourcesync/<name>/resourcelist.xml    names it, with digest and length
    resourcesync/<name>/description.xml     what the dataset is, as RDF/XML
    resourcesync/<name>/changelist.xml      every change, oldest first, each with its N-Quads unified diff
    resourcesync/<name>/resourcedump.*      the dataset in a ZIP file, where the settings say so
    resourcesync/<name>/capabilitylist.xml  names the lists
    resourcesync/<name>/feed.json           which version they are of, and their digests; last, so that it vouches

All are of one version. A change is listed when the dataset that it leads to is there.

Source: ResourceSync 1.1, sections 9, 10, 12 and 14; Timbuctoo exchange protocol, "Data model".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from isal import igzip
from isal.igzip_lib import IsalError

from harvest.errors import DamageError
from harvest.model import About
from harvest.publish import checksums
from harvest.publish.resourcesync import lists
from harvest.publish.resourcesync.dataset import DATASET, DatasetFile, digest, put_dataset
from harvest.publish.resourcesync.dump import write_dump
from harvest.publish.resourcesync.lists import FeedAddresses, ListedChange

FORMAT: Final = 1
"""Of `feed.json` and of what the documents say; feeds of another one are written anew."""

INDEX: Final = "feed.json"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FiledChange:
    """
    A change of a provider that is still there.

    Attributes:
        n: Number of the version that it made.
        at: When that was filed (UTC).
        begins: Whether it makes that version from nothing.
        path: The compressed N-Quads unified diff.
        baseline: Whether it is a baseline, in the place of the changes of that version and all before.
    """

    n: int
    at: datetime
    begins: bool
    path: Path
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class FeedSubject:
    """
    What a feed is of.

    Attributes:
        name: Provider name.
        graph: Graph IRI.
        version: Its current version.
        triples: In that version.
        modified: Latest dcterms:modified, or None.
        digest: SHA-256 of its canonical N-Quads; None where the snapshot was not made yet.
        about: What its description says of each of its datasets.
        changes: Those up to that version, without a gap, oldest first.
        has_dump: Whether there is a resource dump.
    """

    name: str
    graph: str
    version: int
    triples: int
    modified: datetime | None
    digest: str | None
    about: tuple[About, ...]
    changes: tuple[FiledChange, ...]
    has_dump: bool = False


@dataclass(frozen=True, slots=True)
class FeedIndex:
    """
    What `feed.json` says.

    Attributes:
        key: What the feed depends on beside the bytes of the dataset.
        sha256: Of the dataset.
        changes: As they are listed, oldest first.
        files: The other documents and the dataset, by name.
    """

    key: dict[str, str | int]
    sha256: str
    changes: tuple[ListedChange, ...]
    files: dict[str, DatasetFile]


def is_current(folder: Path, base_url: str, subject: FeedSubject) -> bool:
    """Whether a feed says what it would say if it were written now, and its files stand there in their size."""
    index = read_feed(folder)
    if index is None or index.key != _key(base_url, subject) or not checksums.beside(folder / INDEX).is_file():
        return False
    if subject.digest not in (None, index.sha256):
        return False
    return all(_size(folder / name) == file.bytes for name, file in index.files.items())


def write_feed(folder: Path, base_url: str, subject: FeedSubject, snapshot: Callable[[], Path], now: datetime) -> None:
    """
    Write the feed of a provider in its folder.

    Args:
        folder: The provider's folder of documents, on the disk of the data directory.
        base_url: The address of the instance.
        subject: What it is of.
        snapshot: Gives the file of the version, which a hard link is made to.
        now: The time.

    Raises:
        DamageError: The snapshot or a change is damaged or gone.
        OSError: The disk is full.
    """
    if not subject.changes:
        raise DamageError(f"the change files of {subject.name} are gone")
    folder.mkdir(parents=True, exist_ok=True)
    before = read_feed(folder)
    changes = _listed(before.changes if before else (), subject, now)
    dataset = put_dataset(folder, snapshot(), subject.digest)
    files = _write_lists(folder, FeedAddresses(base_url, subject.name), subject, changes, dataset)
    entries = {path.name: DatasetFile(digest(path), path.stat().st_size) for path in files} | {DATASET: dataset}
    index = FeedIndex(_key(base_url, subject), dataset.sha256, tuple(changes), entries)
    checksums.describe(folder / INDEX, json.dumps(asdict(index), indent=1).encode())
    for path in folder.iterdir():
        if path.name not in entries and not path.name.startswith(INDEX):
            path.unlink()


def _write_lists(
    folder: Path,
    addresses: FeedAddresses,
    subject: FeedSubject,
    changes: list[ListedChange],
    dataset: DatasetFile,
) -> list[Path]:
    """Write all documents but `feed.json`, the list of capabilities last; returns them."""
    described = folder / lists.DESCRIPTION
    checksums.replace(described, _description(addresses, subject))
    at = datetime.fromisoformat(changes[-1].at)
    return [
        described,
        *lists.write_resources(folder, addresses, dataset, at),
        *lists.write_changes(folder, addresses, dataset, changes, begins=subject.changes[0].begins),
        *(write_dump(folder, addresses, dataset, at) if subject.has_dump else ()),
        *lists.write_capabilities(folder, addresses, has_dump=subject.has_dump),
    ]


def _listed(before: Sequence[ListedChange], subject: FeedSubject, now: datetime) -> list[ListedChange]:
    """
    The changes as they are listed: those of before as they were, new ones as of now, each later than the one before.

    A client that asks for what was listed after it last looked gets all: a version is dated when its loading begins,
    and it is listed minutes later. Where `feed.json` was lost, that date must do.
    """
    known = {change.n: change for change in before}
    newest = max(known, default=subject.changes[-1].n - 1)
    listed: list[ListedChange] = []
    last = datetime.min.replace(tzinfo=UTC)
    for change in subject.changes:
        found = known.get(change.n)
        at = datetime.fromisoformat(found.at) if found else now if change.n > newest else change.at
        last = max(at, last + timedelta(microseconds=1))
        facts = change.path.stat()
        file = facts.st_size, facts.st_mtime_ns
        if found is None or found.file != file:
            found = ListedChange(change.n, "", file, *_unpacked(change.path))
        listed.append(replace(found, at=last.isoformat(), baseline=change.baseline))
    return listed


def _unpacked(path: Path) -> tuple[str, int]:
    """
    The SHA-256 and the length of what a gzip file holds.

    Raises:
        DamageError: It is damaged.
    """
    found, length = hashlib.sha256(), 0
    try:
        with path.open("rb") as raw, igzip.IGzipFile(fileobj=raw) as stream:
            while chunk := stream.read(_CHUNK):
                found.update(chunk)
                length += len(chunk)
    except (OSError, EOFError, IsalError) as error:  # type: ignore[misc]  # its stub declares a value
        raise DamageError(f"the change file {path} is damaged or gone: {error}", url=str(path)) from error
    return found.hexdigest(), length


def read_feed(folder: Path) -> FeedIndex | None:
    """What `feed.json` says; None where there is none, or a damaged one."""
    try:
        if checksums.differs(folder / INDEX):
            return None
        found = json.loads((folder / INDEX).read_bytes())
        changes = tuple(ListedChange(**entry | {"file": tuple(entry["file"])}) for entry in found["changes"])
        files = {name: DatasetFile(**entry) for name, entry in found["files"].items()}
        return FeedIndex(found["key"], found["sha256"], changes, files)
    except (FileNotFoundError, NotADirectoryError, ValueError, LookupError, TypeError):
        return None


def damages(folder: Path) -> Iterator[DamageError]:
    """What is damaged or gone of a feed."""
    yield from checksums.damages(folder / INDEX)
    index = read_feed(folder)
    for name, file in (index.files if index else {}).items():
        path = folder / name
        if not path.is_file():
            yield DamageError(f"{path} is gone", url=str(path))
        elif digest(path) != file.sha256:
            yield DamageError(f"{path} is damaged", url=str(path))


def _key(base_url: str, subject: FeedSubject) -> dict[str, str | int]:
    """What a feed depends on beside the bytes of the dataset."""
    about = hashlib.sha256(_description(FeedAddresses(base_url, subject.name), subject)).hexdigest()
    first = subject.changes[0].n if subject.changes else 0
    begins = {"baseline": first} if subject.changes and subject.changes[0].baseline else {}
    dump = {"dump": True} if subject.has_dump else {}
    named: dict[str, str | int] = {"base_url": base_url, "version": subject.version, "about": about}
    return {"format": FORMAT, "first": first, **named, **begins, **dump}


def _description(addresses: FeedAddresses, subject: FeedSubject) -> bytes:
    return lists.description(addresses, subject.graph, subject.triples, subject.modified, subject.about)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
