"""Exporting: the files of all providers are brought to their versions of now; damaged ones stay and are reported."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import structlog

from harvest.errors import DamageError
from harvest.ledger import ProviderRecord
from harvest.model import Statistics
from harvest.pipeline.feeding import feed_all
from harvest.pipeline.harvest.counting import figures
from harvest.pipeline.harvest.load import damaged
from harvest.pipeline.instance import Instance
from harvest.publish import exports
from harvest.publish.description import ExportedGraph

log = structlog.get_logger()

Alone = Callable[[str], AbstractContextManager[None]]
"""Keeps a provider for oneself until the block ends."""


def export(instance: Instance, alone: Alone) -> list[str]:
    """
    Bring the exports to the current versions; returns the names of the files that were rewritten.

    A provider whose files are damaged keeps its last export, and the others do not wait for it.

    Raises:
        StorageError: The exports cannot be written.
    """
    settings, ledger = instance.settings, instance.ledger
    with instance.exporting, instance.room() as room:
        subjects = [_subject(instance, alone, record, room) for record in ledger.providers() if record.version]
        done = exports.export(settings.exports_dir, settings.base_url, subjects, instance.clock())
        feed_all(instance, alone)
    for name, error in done.damaged.items():
        log.error("not exported", provider=name, reason=error.message)
        ledger.damages.add(name, damaged(name, error))
    return done.files


def _subject(instance: Instance, alone: Alone, record: ProviderRecord, room: Path) -> ExportedGraph:
    snapshot = partial(_linked, instance, alone, record, room)
    return ExportedGraph(
        record.name,
        record.graph,
        record.version,
        record.triples,
        record.modified.isoformat() if record.modified else None,
        snapshot,
        _figures(instance, record, snapshot),
        instance.ledger.digest(record.name, record.version),
        record.about,
    )


def _figures(instance: Instance, record: ProviderRecord, snapshot: Callable[[], Path]) -> Statistics | None:
    try:
        return figures(instance, record, snapshot)
    except DamageError:
        return None


def _linked(instance: Instance, alone: Alone, record: ProviderRecord, room: Path) -> Path:
    """A snapshot under a name of its own, so that a harvest that replaces it does no harm to who reads it."""
    link = room / f"{record.name}.nq"
    if link.exists():
        return link
    with alone(record.name), instance.room() as here:
        now = instance.ledger.provider(record.name)
        if now is None or now.version == record.version:
            link.hardlink_to(instance.whole(record, here))
        else:  # harvested since the export began
            files = instance.files(record.name)
            link.hardlink_to(files.at(record.version, now.version, here))
    return link
