"""Comparing a provider's graph in the working store with what is filed, and making the graph that again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harvest.ledger import ProviderRecord
from harvest.model import Snapshot
from harvest.pipeline.instance import Instance
from harvest.revise import delta as deltas
from harvest.revise import lines
from sparql.store.base import StoreChange
from sparql.store.spelling import stored

_CHUNK: Final = 1 << 20


def held(instance: Instance, graph: str, room: Path) -> Snapshot:
    """The lines of a graph in the working store, sorted."""
    return _sorted(instance.store.dump(graph), room / "store.nq")


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
    with instance.room() as room:
        snapshot = room / "empty.nq"
        snapshot.touch()
        if record.version:
            snapshot = instance.files(record.name).at(record.version, record.version, room)
        with instance.writing:
            difference = deltas.compare(held(instance, record.graph, room).path, due(snapshot, room).path, room)
            if difference.added_triples or difference.removed_triples:
                counts = difference.removed_triples, difference.added_triples
                with instance.changing():
                    instance.store.apply(record.graph, StoreChange(difference.removed, difference.added, *counts))
                    instance.publish()


def _sorted(found: Iterable[bytes], target: Path) -> Snapshot:
    with lines.sorted_(found, "-u", f"--temporary-directory={target.parent}", "--buffer-size=64M") as out:
        return lines.write(target, iter(lambda: out.read(_CHUNK), b""))
