"""Making the ledger again, from the provenance logs: versions, datasets, and the captures that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import structlog

from harvest.ledger import DatasetRecord
from harvest.ledger.restoring import restore_dataset, restore_versions, salvage
from harvest.model import Capture
from harvest.pipeline.commits import Commit, Used
from harvest.pipeline.instance import Instance
from harvest.pipeline.rebuild.rebuild import all_committed, record_of

log = structlog.get_logger()


def refile(instance: Instance, damaged: Path) -> None:
    """
    Fill an empty ledger; `damaged` is the one in whose place it stands, of which the seed list and documents are read.

    Runs, requests and what was announced and not harvested stand nowhere else; providers are looked at anew.

    Raises:
        StorageError: A log is missing or damaged.
    """
    instance.crawl.seal()  # adopts the logs
    instance.ledger.notifications.number_from(instance.clock())
    for name, (committed, baseline) in all_committed(instance).items():
        instance.ledger.enrol(name, committed[-1].graph)
        versions = [record_of(commit) for commit in committed]
        restore_versions(instance.ledger.database, name, versions, instance.clock(), baseline)
        for dataset in _datasets(instance, committed).values():
            restore_dataset(instance.ledger.database, name, dataset)
        log.warning("provider filed again", provider=name, versions=len(committed))
    if damaged.exists():
        log.warning("read from the damaged ledger", file=str(damaged), **salvage(instance.ledger.database, damaged))


def _datasets(instance: Instance, committed: Sequence[Commit]) -> dict[str, DatasetRecord]:
    """
    The last harvest of each dataset.

    A mirrored version is made of the dumps of its own dataset and, after these, of those that the others had then.
    """
    found: dict[str, DatasetRecord] = {}
    for commit in committed:
        others = {c.digest for iri, other in found.items() if iri != commit.dataset for c in other.captures}
        own = [item for item in commit.dumps if not commit.mirrored or item.digest not in others]
        captures = tuple(_capture(instance, item, commit) for item in own or commit.dumps)
        found[commit.dataset] = DatasetRecord(
            commit.dataset, commit.modified, commit.coverage, commit.at, captures, commit.rules
        )
    return found


def _capture(instance: Instance, item: Used, commit: Commit) -> Capture:
    download = instance.ledger.downloads.of_digest(item.digest)
    if download is not None and download.capture is not None:
        return download.capture
    return Capture(item.url, item.url, commit.at, 200, item.digest, 0, item.media_type)
