"""
Making a provider's versions again from filed bytes alone: each is washed and revised as it was when it was harvested.

What a version was made of comes from the provenance logs (`harvest.pipeline.commits`), its bytes from the archive. The
network, the ledger and the provider's files are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harvest.errors import StorageError, UnknownName
from harvest.model import Coverage, Document, Snapshot
from harvest.pipeline.commits import Commit, change_digest, documents
from harvest.pipeline.current import Current
from harvest.pipeline.harvest import changes, washing
from harvest.pipeline.instance import Instance
from harvest.revise import delta as deltas
from harvest.revise import lines, replace
from harvest.revise.partial import partial
from harvest.revise.replace import Revision
from harvest.revise.target import Origin
from harvest.revise.versions import GraphFiles
from sparql.store.base import StoreChange
from sparql.store.embedded import EmbeddedStore


@dataclass(frozen=True, slots=True)
class Remade:
    """
    One version, made again.

    Attributes:
        commit: What was to be made.
        same: Whether what came out is what was harvested, byte for byte.
        snapshot: The graph, in a temporary file that is there until the next version is asked for.
    """

    commit: Commit
    same: bool
    snapshot: Snapshot


def remade(instance: Instance, commits: Sequence[Commit], files: GraphFiles) -> Iterator[Remade]:
    """
    Make the versions of a provider again, in order; their changes are filed in `files`.

    Raises:
        StorageError: A version or the bytes of one are missing.
        WashError: Washing failed.
    """
    missing = {n for n, commit in enumerate(commits, 1) if commit.n != n}
    if missing:
        raise StorageError(
            f"the logs do not hold version {min(missing)}, and it cannot be made again, nor those after it: it was "
            "harvested before this instance wrote logs, or a log is missing (`harvest archive verify` says which)"
        )
    files.prepare()
    with instance.room() as keep:
        current = Snapshot(keep / "empty.nq", 0, "")
        current.path.touch()
        for commit in commits:
            with instance.room() as room, _searchable(commit, current, room) as store:
                revision, snapshot = _made(instance, commit, current, room, store)
                deltas.write(revision.delta, files.change(commit.n))
                same = _is(commit, revision, snapshot)
                place = keep / f"{commit.n}.nq"
                snapshot.path.rename(place)
                current.path.unlink()
                current = Snapshot(place, snapshot.triples, snapshot.digest)
            yield Remade(commit, same, current)


@contextmanager
def _searchable(commit: Commit, current: Snapshot, room: Path) -> Iterator[EmbeddedStore | None]:
    """The graph before a partial harvest, in a store that can be asked who refers to what; None for a full one."""
    if commit.coverage is Coverage.FULL or commit.n == 1:
        yield None
        return
    store = EmbeddedStore(room / "searchable")
    try:
        store.apply(commit.graph, StoreChange(None, current.path, 0, current.triples))
        yield store
    finally:
        store.close()


def _made(
    instance: Instance, commit: Commit, old: Snapshot, room: Path, store: EmbeddedStore | None
) -> tuple[Revision, Snapshot]:
    """What the dumps of a version change, and the whole graph afterwards."""
    given = documents(commit, _places(instance, commit))
    origin = Origin(commit.dataset, commit.inherits, commit.rules)
    if all(changes.is_change(each.url, each.media_type) for each in given):
        return _changed(instance, commit, given, (old.path, room, store))
    washed, _ = washing.union(instance, given, commit.graph, room)
    new = washed.snapshot
    if commit.n == 1:
        return replace.first(new, room), _copy(new, room)
    if store is not None:
        with Current(old.path, None, store) as current:
            revision = partial(commit.graph, new.path, current, room, origin)
        return revision, deltas.apply(old.path, revision.delta, room / "whole.nq")
    if commit.mirrored:
        return replace.mirror(old.path, new.path, commit.graph, room), new
    revision = replace.full(old.path, new.path, commit.graph, room, origin)
    assert revision.kept is not None
    return revision, lines.union(room / "whole.nq", revision.input, revision.kept)


def _changed(
    instance: Instance, commit: Commit, given: Sequence[Document], at: tuple[Path, Path, EmbeddedStore | None]
) -> tuple[Revision, Snapshot]:
    """What dumps that are changes do to the graph, and the whole graph afterwards."""
    old, room, store = at
    origin = Origin(commit.dataset, commit.inherits, commit.rules)
    washed = changes.wash(instance, given, commit.graph, room)
    if store is None:
        revision, _ = changes.revised(commit.graph, washed, None, room, origin)
        new = changes.whole(revision, room)
        return replace.first(new, changes.apart(room)), _copy(new, room)
    with Current(old, None, store) as current:
        revision, _ = changes.revised(commit.graph, washed, current, room, origin)
    return revision, deltas.apply(old, revision.delta, room / "whole.nq")


def _copy(snapshot: Snapshot, room: Path) -> Snapshot:
    """Links a snapshot under a second name: the first one is what the change of a first version reads."""
    place = room / "whole.nq"
    place.hardlink_to(snapshot.path)
    return Snapshot(place, snapshot.triples, snapshot.digest)


def _places(instance: Instance, commit: Commit) -> dict[str, Path]:
    """Where the bytes are that a version was made of."""
    places = {}
    for item in (*commit.dumps, *commit.contexts):
        try:
            places[item.digest] = instance.content.path(item.digest)
        except UnknownName as error:
            raise StorageError(
                f"version {commit.n} of {commit.provider} was made of {item.url} as {item.digest}, and those bytes are "
                "not in the archive; copy them there",
                url=item.url,
            ) from error
    return places


def _is(commit: Commit, revision: Revision, snapshot: Snapshot) -> bool:
    """Whether a version is what was harvested."""
    if commit.snapshot is not None:
        return snapshot.digest == commit.snapshot
    return snapshot.triples == commit.triples and change_digest(revision.delta) == commit.change
