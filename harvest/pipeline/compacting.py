"""
Compacting: of a provider's versions the newest are kept, the oldest of these as a baseline that all replay from.

    1  whole     the snapshot is that of the current version, as older ones are going to be unreachable
    2  baseline  the oldest version that is kept is filed as a change from nothing, beside the changes
    3  note      the ledger has that baseline, no row of the versions before it, and a note for the provenance log
    4  drop      the changes up to the baseline go
    5  feed      the documents of ResourceSync begin with the baseline

A crash before 3 leaves a file that the next start removes; after it the next start removes the changes. Calling it
again does what is left. The archive keeps the dumps, so that a rebuild makes all versions again, and drops them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import structlog

from harvest.archive.layout import digest_of
from harvest.archive.provenance import facts_of, new_activity
from harvest.archive.syncing import sync_folder
from harvest.errors import DamageError, UnknownName
from harvest.ledger import ProviderRecord
from harvest.ledger.compacting import compact as compact_rows
from harvest.model import Note
from harvest.pipeline.commits import compacted
from harvest.pipeline.feeding import feed
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Compacted:
    """
    What compacting came to.

    Attributes:
        name: Provider name.
        version: Its current version.
        baseline: The first version that is kept; 0 where none was ever dropped.
        dropped: How many versions were dropped now.
        bytes: By how much the provider's folder shrank; below 0 where it grew.
    """

    name: str
    version: int
    baseline: int
    dropped: int
    bytes: int


def compact(instance: Instance, name: str, keep: int) -> Compacted:
    """
    Keep the newest `keep` versions of a provider, at least one; its lock is held and nothing of it is loading.

    Raises:
        UnknownName: Nothing of it was ever harvested here.
        DamageError: Its files are damaged; nothing was dropped.
    """
    record = instance.ledger.provider(name)
    if record is None or not record.version:
        raise UnknownName(f"no version of {name} was ever harvested here")
    folder = instance.files(name).folder
    before, first = _size(folder), record.baseline or 1
    baseline = record.version - keep + 1
    if baseline > first:
        _rebase(instance, record, baseline)
    else:
        baseline = record.baseline
    if baseline:
        instance.on_step(name, "drop")
        instance.files(name).drop_before(baseline)
        instance.on_step(name, "feed")
        feed(instance, name)
        write_run(instance, name)
    done = Compacted(name, record.version, baseline, max(baseline - first, 0), before - _size(folder))
    log.info("compacted", provider=name, baseline=baseline, dropped=done.dropped, bytes=done.bytes)
    return done


def _rebase(instance: Instance, record: ProviderRecord, baseline: int) -> None:
    """Steps 1 to 3."""
    name, files = record.name, instance.files(record.name)
    with instance.room() as room:
        instance.on_step(name, "whole")
        instance.whole(record, room)
        graph = files.at(baseline, record.version, room)
        due = instance.ledger.digest(name, baseline)
        if due not in (None, found := digest_of(graph)[0]):
            raise DamageError(
                f"version {baseline} of {name} comes to SHA-256 {found} and should have {due}; nothing was dropped, "
                f"`harvest verify {name}` says which file is damaged",
                url=str(files.folder),
            )
        instance.on_step(name, "baseline")
        files.file_baseline(baseline, graph, room)
        sync_folder(files.folder)
    instance.on_step(name, "note")
    at = instance.clock()
    facts = facts_of(compacted(name, baseline, instance.settings.base_url, at))
    compact_rows(instance.ledger.database, name, baseline, Note(new_activity(), at, facts))
    instance.crawl.noted()


def _size(folder: Path) -> int:
    """Bytes of the files of a provider; a link counts as nothing."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
