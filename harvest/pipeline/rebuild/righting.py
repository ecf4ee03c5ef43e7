"""Comparing a provider's graph in the working store with what is filed, and making the graph that again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harvest.ledger import ProviderRecord, VersionRecord
from harvest.model import Snapshot
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import describe
from harvest.revise import delta as deltas
from harvest.revise import lines
from harvest.revise.lines import SortedFile
from sparql.store.base import StoreChange
from sparql.store.spelling import stored

_CHUNK: Final = 1 << 20


def held(instance: Instance, graph: str, room: Path) -> Snapshot:
    """The lines of a graph in the working store, sorted; of an engine, as the embedded store would spell them."""
    found = instance.store.dump(graph)
    return _sorted(stored(found) if instance.store.may_differ else found, room / "store.nq")


def due(snapshot: Path, room: Path) -> Snapshot:
    """The lines that a store gives back that holds a snapshot, sorted."""
    with snapshot.open("rb") as stream:
        return _sorted(stored(stream), room / "due.nq")


def put_right(instance: Instance, record: ProviderRecord) -> None:
    """
    Make a provider's graph in the working store its committed version, and publish it, if it is anything else.

    Raises:
        DamageError: The files of that version are damaged.
        StoreError: The store cannot be written.
    """
    with instance.room() as room, instance.writing:
        change = _difference(instance, record, room)
        if change.added_triples or change.removed_triples:
            with instance.changing():
                instance.store.apply(record.graph, change)
                instance.publish()


def right_graphs(instance: Instance) -> None:
    """
    Put the graphs right that are torn in the store: committed versions, loaded documents, what is known of providers.

    Called while a change that failed is undone, so it publishes nothing.

    Raises:
        StoreError: The store cannot be written.
    """
    torn, providers = set(instance.store.torn), instance.ledger.providers()
    for record in providers:
        if record.graph in torn:
            with instance.room() as room:
                instance.store.apply(record.graph, _difference(instance, record, room))
    loaded = {document.graph: document for document in instance.ledger.documents.loaded()}
    for graph in torn - {record.graph for record in providers} - {instance.metadata_graph}:
        instance.store.drop(graph)
        if (document := loaded.get(graph)) is not None:
            path, triples = instance.content.path(document.hash), document.statements or 0
            instance.store.apply(graph, StoreChange(None, path, 0, triples, path))
    if instance.metadata_graph in torn:
        for record in providers:
            describe(instance, record.name)


def put_subjects_right(instance: Instance, version: VersionRecord) -> list[bytes]:
    """
    Compare a graph that was just written with its version, where the numbers of triples differ.

    An engine may rewrite literals, or fold several into one: the deletion of one spelling takes the value away that
    another spelling keeps. The subjects that differ are written again as a whole, and published.

    Returns:
        Subjects that differ even so: the engine does not hold what it was sent.

    Raises:
        StoreError: The store cannot be written.
    """
    graph = instance.settings.graph(version.provider)
    if not instance.store.may_differ or instance.store.count(graph) == version.triples:
        return []
    with instance.room() as room:
        snapshot = instance.files(version.provider).at(version.n, version.n, room)
        differing = _differing(instance, graph, snapshot, room)
        if differing:
            again = room / "again.nq"
            with SortedFile(snapshot) as found, again.open("wb") as out:
                for subject in differing:
                    out.writelines(found.of(subject))
            iris = [subject.decode()[1:-1] for subject in differing]
            instance.store.replace_subjects(graph, iris, again)
            instance.publish()
        return _differing(instance, graph, snapshot, room) if differing else []


def _differing(instance: Instance, graph: str, snapshot: Path, room: Path) -> list[bytes]:
    """The subjects of which a graph in the store has other lines than a snapshot, sorted."""
    found = deltas.compare(held(instance, graph, room).path, due(snapshot, room).path, room)
    files = [path for path in (found.removed, found.added) if path is not None]
    return sorted({subject for path in files for subject in lines.subjects(path)})


def _difference(instance: Instance, record: ProviderRecord, room: Path) -> StoreChange:
    """What makes a provider's graph in the store its committed version."""
    snapshot = room / "empty.nq"
    snapshot.touch()
    if record.version:
        snapshot = instance.files(record.name).at(record.version, record.version, room)
    found = deltas.compare(held(instance, record.graph, room).path, due(snapshot, room).path, room)
    return StoreChange(found.removed, found.added, found.removed_triples, found.added_triples)


def _sorted(found: Iterable[bytes], target: Path) -> Snapshot:
    with lines.sorted_(found, "-u", f"--temporary-directory={target.parent}", "--buffer-size=64M") as out:
        return lines.write(target, iter(lambda: out.read(_CHUNK), b""))
