"""Loading a version into the working store, the cheaper way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvest.errors import DamageError
from harvest.ledger import VersionRecord
from harvest.model import Delta, Finding
from harvest.pipeline.instance import Instance
from harvest.revise import lines
from harvest.revise.lines import SortedFile
from sparql.store.base import StoreChange

DELTA: Final = "delta"
SUBJECTS: Final = "subjects"
"""Values of the setting `write`; `auto` is the delta, or a new store where that costs less."""


@dataclass(frozen=True, slots=True)
class Loadable:
    """
    What is to be loaded.

    Attributes:
        delta: What changes.
        after: Sorted lines of at least the changed subjects afterwards; see `sparql.store.base.StoreChange`.
    """

    delta: Delta
    after: Path


def load(instance: Instance, version: VersionRecord, loadable: Loadable) -> str:
    """
    Bring the provider's graph in the working store to a filed version; doing it again does no harm.

    Returns:
        How: `delta`, `subjects` (all triples of the changed subjects were replaced), or `rebuild` (a new store).

    Source: shared design, "Two ways to write, one meaning".
    """
    delta = loadable.delta
    if instance.settings.write == SUBJECTS:
        _replace_subjects(instance, version, loadable)
        return SUBJECTS
    change = StoreChange(delta.removed, delta.added, delta.removed_triples, delta.added_triples, loadable.after)
    total = sum(provider.triples for provider in instance.ledger.providers())
    before = version.triples + version.removed - version.added
    if instance.settings.write != DELTA and instance.store.rather_rebuild(change, before, total):
        _rebuild(instance, version)
        return "rebuild"
    instance.store.apply(instance.settings.graph(version.provider), change)
    return DELTA


def _replace_subjects(instance: Instance, version: VersionRecord, loadable: Loadable) -> None:
    """
    Write the subjects that the delta changes as the GeoLink document has it: all their triples go, the new come.

    What goes is first taken out of an engine as it was written. Jena's TDB2 gives 1.50 back as 1.5 and then finds
    nothing to delete.

    Source: issue 3404 of apache/jena; measured with Fuseki 5.5.0.
    """
    delta, graph = loadable.delta, instance.settings.graph(version.provider)
    if instance.store.may_differ and delta.removed is not None:
        instance.store.apply(graph, StoreChange(delta.removed, None, delta.removed_triples, 0, loadable.after))
    files = [path for path in (delta.removed, delta.added) if path is not None]
    changed = sorted({subject for path in files for subject in lines.subjects(path)})
    with instance.room() as room, SortedFile(loadable.after) as after:
        added = room / "subjects.nq"
        with added.open("wb") as out:
            for subject in changed:
                out.writelines(after.of(subject))
        iris = (subject[1:-1].decode() for subject in changed)
        instance.store.replace_subjects(graph, iris, added)


def _rebuild(instance: Instance, version: VersionRecord) -> None:
    """Make a new store from the snapshots: removing a triple costs several times loading one."""
    with instance.room() as room:
        made = renewal(instance, room, version)
        instance.store.rebuild(made.files, keep=[instance.metadata_graph, *made.damaged])


@dataclass(frozen=True, slots=True)
class Renewal:
    """
    What a new store is made of.

    Attributes:
        files: Snapshots and clean documents.
        damaged: The graphs of providers whose files are damaged.
    """

    files: list[Path]
    damaged: list[str]


def renewal(instance: Instance, room: Path, version: VersionRecord | None = None) -> Renewal:
    """The files of all current versions, and of `version`, which is loading; what is damaged is reported."""
    made = Renewal([], [])
    for provider in instance.ledger.providers():
        n = version.n if version is not None and provider.name == version.provider else provider.version
        try:
            made.files.extend(_snapshot(instance, provider.name, n, room) if n else ())
        except DamageError as error:
            made.damaged.append(provider.graph)
            instance.ledger.damages.add(provider.name, damaged(provider.name, error))
    loaded = (document.hash for document in instance.ledger.documents.loaded())
    made.files.extend(instance.content.path(digest) for digest in loaded if instance.content.holds(digest))
    return made


def _snapshot(instance: Instance, name: str, n: int, room: Path) -> list[Path]:
    files = instance.files(name)
    if files.snapshot_file(n).exists():
        return [files.snapshot_file(n)]
    place = room / name
    place.mkdir()
    return [files.at(n, n, place)]


def damaged(name: str, error: DamageError) -> Finding:
    """The finding that a provider's files are damaged."""
    message = f"{error.message}; `harvest rebuild {name}` mends it"
    return Finding("damage", message, error.url, fatal=True)


def restore(instance: Instance) -> bool:
    """Rebuild a working store that was lost, from the snapshots; whether it was. The metadata graph begins anew."""
    wanted = {provider.graph for provider in instance.ledger.providers() if provider.version and provider.triples}
    if not wanted or wanted.intersection(instance.store.graphs()):
        return False
    with instance.room() as room:
        instance.store.rebuild(renewal(instance, room).files)
    return True
