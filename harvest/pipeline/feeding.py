"""Feeding: the documents of ResourceSync are brought to a provider's version once that is committed, and by exports."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import structlog

from harvest.errors import DamageError, StorageError
from harvest.ledger import ProviderRecord
from harvest.pipeline.harvest.load import damaged
from harvest.pipeline.instance import Instance
from harvest.publish.exports import trusted_index
from harvest.publish.resourcesync.dataset import put_packed
from harvest.publish.resourcesync.feed import FeedSubject, FiledChange, is_current, read_feed, write_feed
from harvest.publish.resourcesync.site import FedProvider, write_site

log = structlog.get_logger()

Alone = Callable[[str], AbstractContextManager[None]]
"""Keeps a provider for oneself until the block ends."""

SMALL: Final = 100_000
"""Triples of a graph up to which its version is made whole at once where a partial dump made none (0.2 s)."""


def feed(instance: Instance, name: str) -> None:
    """
    Bring a provider's feed to its version; its lock is held. What cannot be done now is done at the next export.

    Of a large graph that a partial dump changed there is no snapshot yet: making one costs what the graph holds.
    """
    record = instance.ledger.provider(name)
    if record is None or not record.version:
        return
    stands = instance.files(name).base() == record.version
    if stands or record.triples <= SMALL:
        try:
            if not is_current(_folder(instance, name), instance.settings.base_url, subject_of(instance, record)):
                _write(instance, record)
        except (DamageError, OSError) as error:
            log.error("the feed is not written; the next export tries again", provider=name, reason=str(error))


def feed_all(instance: Instance, alone: Alone) -> None:
    """
    Bring all feeds to the current versions, and what leads to them; the exports are those of now.

    A provider whose files are damaged keeps its last feed.

    Raises:
        StorageError: A feed cannot be written.
    """
    exported = trusted_index(instance.settings.exports_dir)
    for record in instance.ledger.providers():
        if not record.version:
            continue
        folder = _folder(instance, record.name)
        try:
            if not is_current(folder, instance.settings.base_url, subject_of(instance, record)):
                with alone(record.name):
                    _write(instance, instance.ledger.provider(record.name) or record)
            entry = exported.get(record.name)
            feed = read_feed(folder)
            if entry is not None and feed is not None and entry.content_sha256 == feed.sha256:
                put_packed(folder, instance.settings.exports_dir / entry.file)
        except DamageError as error:
            log.error("the feed is not written", provider=record.name, reason=error.message)
            instance.ledger.damages.add(record.name, damaged(record.name, error))
        except OSError as error:
            raise StorageError(f"the feed {folder} cannot be written: {error}", url=str(folder)) from error
    lead(instance)


def lead(instance: Instance) -> None:
    """
    Write what leads to the feeds, and remove the feeds of providers that were forgotten.

    Raises:
        StorageError: It cannot be written.
    """
    folder = instance.settings.layout.resourcesync
    names = [record.name for record in instance.ledger.providers() if record.version]
    latest = instance.ledger.overview.sizes(names, 1)
    fed = [FedProvider(name, latest[name][0].at) for name in names if name in latest]
    try:
        with instance.leading:
            write_site(folder, instance.settings.base_url, fed)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error}", url=str(folder)) from error


def subject_of(instance: Instance, record: ProviderRecord) -> FeedSubject:
    """What a provider's feed is to be of."""
    files = instance.files(record.name)
    changes: list[FiledChange] = []
    versions = instance.ledger.overview.sizes([record.name], record.version).get(record.name, [])
    for version in reversed(versions):
        if version.n == record.baseline:
            changes.append(FiledChange(version.n, version.at, True, files.layout.baseline(version.n), baseline=True))
            break
        path = files.change(version.n)
        if not path.is_file():
            break  # let go, with all before
        begins = version.added == version.triples and not version.removed
        changes.append(FiledChange(version.n, version.at, begins, path))
    return FeedSubject(
        record.name,
        record.graph,
        record.version,
        record.triples,
        record.modified,
        instance.ledger.digest(record.name, record.version),
        record.about,
        tuple(reversed(changes)),
        instance.settings.resource_dumps,
    )


def _write(instance: Instance, record: ProviderRecord) -> None:
    folder = _folder(instance, record.name)
    is_new = not folder.is_dir()
    with instance.room() as room:
        write_feed(
            folder,
            instance.settings.base_url,
            subject_of(instance, record),
            lambda: _whole(instance, record, room),
            instance.clock(),
        )
    if is_new:
        lead(instance)


def _whole(instance: Instance, record: ProviderRecord, room: Path) -> Path:
    """The file of a provider's current version."""
    files = instance.files(record.name)
    if files.base() == record.version:
        return files.snapshot_file(record.version)
    return files.at(record.version, record.version, room)


def _folder(instance: Instance, name: str) -> Path:
    return instance.settings.layout.feed(name)
