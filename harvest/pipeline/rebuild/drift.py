"""
Drift: whether the store holds the committed versions. An engine that others write, too, may come to hold others.

A graph is compared whole, or by the number of its triples and some of its subjects, which costs an engine little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from harvest.errors import DamageError, HarvestError
from harvest.ledger import ProviderRecord
from harvest.pipeline.instance import Instance
from harvest.pipeline.rebuild import righting
from harvest.pipeline.rebuild.prove import Proof
from harvest.revise import lines
from harvest.revise.lines import SortedFile
from sparql.errors import SparqlError
from sparql.store.spelling import stored


def compare(instance: Instance, record: ProviderRecord, sample: int, *, repair: bool) -> Proof:
    """
    Compare a provider's graph in the store with its version; nothing may harvest it meanwhile.

    Args:
        instance: The instance.
        record: The provider.
        sample: How many subjects are compared; 0 for all of the graph.
        repair: Whether what differs is written again.

    Returns:
        A proof of the store; of what was repaired it says what it was.
    """
    found = _compared(instance, record, sample)
    if found.holds or not repair:
        return found
    try:
        righting.put_right(instance, record)
    except (HarvestError, SparqlError, OSError) as error:
        return replace(found, detail=f"{found.detail}; not repaired: {error}")
    again = _compared(instance, record, 0)
    was = found.detail.partition("; `harvest")[0]
    return replace(again, detail=f"repaired; {was}") if again.holds else again


def left_over(instance: Instance, *, repair: bool) -> Iterator[Proof]:
    """Graphs under this instance's names that belong to no provider and no loaded document; `repair` drops them."""
    known = {record.graph for record in instance.ledger.providers()} | {instance.metadata_graph}
    known |= {document.graph for document in instance.ledger.documents.loaded() if document.graph}
    for graph in instance.store.graphs():
        if graph in known:
            continue
        detail = f"the store has a graph <{graph}> that is nobody's"
        if not repair:
            detail += "; `harvest verify --store --repair` drops it"
        else:
            with instance.changing():
                instance.store.drop(graph)
                instance.publish()
            detail = f"dropped; {detail}"
        yield Proof(None, "store", repair, detail)


def _compared(instance: Instance, record: ProviderRecord, sample: int) -> Proof:
    try:
        with instance.room() as room:
            snapshot = room / "version.nq"
            snapshot.touch()
            if record.version:
                snapshot = instance.files(record.name).at(record.version, record.version, room)
            check = _sampled if sample else _whole
            return Proof(record.name, "store", True, check(instance, record, snapshot, room, sample))
    except (HarvestError, SparqlError, OSError) as error:
        reason = error.message if isinstance(error, HarvestError | SparqlError) else str(error)
        mend = f"harvest verify --store --repair {record.name}"
        return Proof(record.name, "store", False, f"{reason}; `{mend}` mends it", None, mend)


def _whole(instance: Instance, record: ProviderRecord, snapshot: Path, room: Path, _: int) -> str:
    held, due = righting.held(instance, record.graph, room), righting.due(snapshot, room)
    if held.digest != due.digest:
        missing = lines.minus(room / "missing.nq", due.path, held.path)
        strange = lines.minus(room / "strange.nq", held.path, due.path)
        raise DamageError(
            f"the store lacks {missing.triples:,} of the {due.triples:,} triples of version {record.version}, and has "
            f"{strange.triples:,} others{_example(missing.path, strange.path)}"
        )
    return f"the store holds the {held.triples:,} triples of version {record.version}"


def _sampled(instance: Instance, record: ProviderRecord, snapshot: Path, room: Path, sample: int) -> str:
    held = instance.store.count(record.graph)
    if held != record.triples and held != (due := righting.due(snapshot, room).triples):
        raise DamageError(f"the store has {held:,} triples and version {record.version} {due:,}")
    subjects = sorted(_chosen(snapshot, sample))
    with SortedFile(snapshot) as file:
        for subject in subjects:
            expected = set(stored(file.of(subject)))
            if set(stored(instance.store.describe(record.graph, [subject]))) != expected:
                named = subject.decode("utf-8", "replace")
                raise DamageError(f"the store has other triples of {named} than version {record.version}")
    return f"the store has as many triples as version {record.version}, and the same of {len(subjects):,} subjects"


def _chosen(snapshot: Path, sample: int) -> set[bytes]:
    """Subjects of lines at random places, others each time."""
    size, chance = snapshot.stat().st_size, Random()
    found = set[bytes]()
    with snapshot.open("rb") as file:
        for _ in range(sample if size else 0):
            file.seek(chance.randrange(size))
            file.readline()
            if not (line := file.readline()):
                file.seek(0)
                line = file.readline()
            found.add(lines.subject(line))
    return found


def _example(*files: Path) -> str:
    for path in files:
        with path.open("rb") as found:
            if line := found.readline():
                return f", first {line.decode('utf-8', 'replace').strip()[:200]}"
    return ""
