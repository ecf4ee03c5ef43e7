"""
Rebuilding a provider from the archive: its versions are made again, compared with what was harvested, and put in place.

Only the archive is read: the provenance logs say what each version was made of, the content store has the bytes. So a
provider's folder, its graph in the store and its rows in the ledger may all be damaged or gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pyoxigraph import Triple

from harvest.archive.index import Index
from harvest.archive.layout import find, sync_folder
from harvest.archive.statements import statements
from harvest.errors import StorageError, UnknownName
from harvest.ledger import VersionRecord
from harvest.ledger.restoring import restore_versions
from harvest.pipeline.commits import Commit, commits
from harvest.pipeline.facts import tell
from harvest.pipeline.files import GraphFiles
from harvest.pipeline.remake import remade
from harvest.pipeline.workshop import Workshop
from harvest.revise import statistics
from sparql.store.base import Change


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """
    A version that was made again.

    Attributes:
        n: Its number.
        triples: In it.
        digest: SHA-256 of its snapshot.
        same: Whether it is what was harvested, byte for byte.
    """

    n: int
    triples: int
    digest: str
    same: bool


def rebuild(workshop: Workshop, name: str, *, check: bool = False) -> list[Rebuilt]:
    """
    Make all versions of a provider again; put them in place unless one differs, or `check` asks for no more than that.

    Nothing may harvest the provider meanwhile.

    Raises:
        UnknownName: No log tells of the provider.
        StorageError: A log or bytes are missing.
        WashError: Washing failed.
    """
    told = committed(workshop, name)
    with workshop.room() as room:
        folder = room / name
        done = []
        for version in remade(workshop, told, folder):
            workshop.on_step(name, f"version {version.commit.n} of {len(told)}")
            snapshot = version.snapshot
            done.append(Rebuilt(version.commit.n, snapshot.triples, snapshot.digest, version.same))
            if version.commit.n == len(told):
                os.link(snapshot.path, GraphFiles(folder).snapshot_file(len(told)))
        if not check and all(version.same for version in done):
            GraphFiles(folder).adopt(len(told))
            _put_in_place(workshop, told, folder, room)
    return done


def committed(workshop: Workshop, name: str) -> list[Commit]:
    """
    What the logs tell of a provider's versions, in order; of a version told twice, what was told last.

    Raises:
        UnknownName: They tell nothing.
    """
    workshop.crawl.seal()
    found: dict[int, Commit] = {}
    for log in Index(workshop.content.root).chain():
        path = find(workshop.content.root, log)
        for commit in _told(path) if path else ():
            if commit.provider == name:
                found[commit.n] = commit
    if not found:
        raise UnknownName(f"no provenance log tells of a version of {name}; `harvest archive ls` prints them all")
    return [found[n] for n in sorted(found)]


def _told(log: Path) -> Iterator[Commit]:
    for _, quads in groupby(statements(log), key=lambda quad: quad.graph_name):
        triples: list[Triple] = [quad.triple for quad in quads]
        yield from commits(triples)


def _put_in_place(workshop: Workshop, told: list[Commit], folder: Path, room: Path) -> None:
    """Let files, ledger and store be what was made again, in an order that may be begun anew after a crash."""
    last = told[-1]
    name = last.provider
    place = workshop.folder(name)
    _compare(workshop, told)
    with workshop.writing:
        if place.exists():
            place.rename(room / "before")
        folder.rename(place)
        for grown in (place / "changes", place, place.parent):
            sync_folder(grown)
        workshop.ledger.enrol(name, last.graph)
        restore_versions(workshop.ledger.database, name, [_record(commit) for commit in told], workshop.clock())
        workshop.store.drop(last.graph)
        snapshot = GraphFiles(place).snapshot_file(last.n)
        workshop.ledger.figures.put(name, last.n, statistics.whole(snapshot))
        workshop.store.apply(last.graph, Change(None, snapshot, 0, last.triples, snapshot))
        workshop.publish()
    tell(workshop, name)


def _compare(workshop: Workshop, told: list[Commit]) -> None:
    """Return unless the ledger knows of a version that the logs do not."""
    known = max((version.n for version in workshop.ledger.versions(told[-1].provider)), default=0)
    if known > told[-1].n:
        raise StorageError(
            f"the ledger has version {known} of {told[-1].provider} and the provenance logs end at {told[-1].n}; "
            "nothing was changed"
        )


def _record(commit: Commit) -> VersionRecord:
    return VersionRecord(
        provider=commit.provider,
        n=commit.n,
        run=0,
        state="committed",
        at=commit.at,
        coverage=commit.coverage,
        dataset=commit.dataset,
        modified=commit.modified,
        added=commit.added,
        removed=commit.removed,
        triples=commit.triples,
        digest=commit.snapshot,
    )


def as_json(name: str, version: Rebuilt) -> dict[str, Any]:
    """A version as commands print it."""
    return {
        "name": name,
        "version": version.n,
        "triples": version.triples,
        "sha256": version.digest,
        "same": version.same,
    }
