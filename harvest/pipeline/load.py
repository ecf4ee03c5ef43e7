"""Loading a version into the working store, the cheaper way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harvest.ledger import VersionRecord
from harvest.model import Delta
from harvest.pipeline.files import GraphFiles
from harvest.pipeline.workshop import Workshop
from sparql.store.base import Change
from sparql.store.embedded import cheaper_to_rebuild


@dataclass(frozen=True, slots=True)
class Loadable:
    """
    What is to be loaded.

    Attributes:
        delta: What changes.
        after: Sorted lines of at least the changed subjects afterwards; see `sparql.store.base.Change`.
    """

    delta: Delta
    after: Path


def load(workshop: Workshop, version: VersionRecord, loadable: Loadable) -> None:
    """Bring the provider's graph in the working store to a filed version; doing it again does no harm."""
    delta = loadable.delta
    change = Change(delta.removed, delta.added, delta.removed_triples, delta.added_triples, loadable.after)
    total = sum(provider.triples for provider in workshop.ledger.providers())
    if cheaper_to_rebuild(change, version.triples + version.removed - version.added, total):
        _rebuild(workshop, version)
    else:
        workshop.store.apply(workshop.settings.graph(version.provider), change)


def _rebuild(workshop: Workshop, version: VersionRecord) -> None:
    """Make a new store from the snapshots: removing a triple costs several times loading one."""
    with workshop.room() as room:
        snapshots = []
        for provider in workshop.ledger.providers():
            n = version.n if provider.name == version.provider else provider.version
            files = GraphFiles(workshop.folder(provider.name))
            if n and files.snapshot_file(n).exists():
                snapshots.append(files.snapshot_file(n))
            elif n:
                place = room / provider.name
                place.mkdir()
                snapshots.append(files.at(n, n, place))
        clean = [workshop.content.path(document.hash) for document in workshop.ledger.documents.loaded()]
        workshop.store.rebuild([*snapshots, *clean], keep=[workshop.metadata_graph])


def restore(workshop: Workshop) -> None:
    """Rebuild a working store that was lost, from the snapshots; the metadata graph begins anew."""
    versions = [version for p in workshop.ledger.providers() for version in workshop.ledger.versions(p.name)[-1:]]
    if versions and not workshop.store.graphs():
        _rebuild(workshop, versions[0])
