"""
Rebuilding a provider from the archive: its versions are made again, compared with what was harvested, and put in place.

Only the archive is read: the provenance logs say what each version was made of, the content store has the bytes. So a
provider's folder, its graph in the store and its rows in the ledger may all be damaged or gone.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pyoxigraph import Triple

from harvest.archive.index import Index
from harvest.archive.layout import find
from harvest.archive.statements import statements
from harvest.archive.syncing import sync_folder
from harvest.errors import StorageError, UnknownName
from harvest.ledger import VersionRecord
from harvest.ledger.restoring import restore_versions
from harvest.model import ProviderLayout
from harvest.pipeline.commits import Commit, Compaction, commits
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.pipeline.rebuild.remake import remade
from harvest.revise import statistics
from harvest.revise.versions import GraphFiles
from sparql.store.base import StoreChange


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


def rebuild(instance: Instance, name: str, *, check: bool = False) -> list[Rebuilt]:
    """
    Make all versions of a provider again; put them in place unless one differs, or `check` asks for no more than that.

    Nothing may harvest the provider meanwhile.

    Raises:
        UnknownName: No log has a version of the provider.
        StorageError: A log or bytes are missing.
        WashError: Washing failed.
    """
    versions, baseline = committed(instance, name)
    with instance.room() as room:
        made = GraphFiles(ProviderLayout(room / name))
        done = []
        for version in remade(instance, versions, made):
            instance.on_step(name, f"version {version.commit.n} of {len(versions)}")
            snapshot = version.snapshot
            done.append(Rebuilt(version.commit.n, snapshot.triples, snapshot.digest, version.same))
            if version.commit.n == len(versions):
                os.link(snapshot.path, made.snapshot_file(len(versions)))
        if not check and all(version.same for version in done):
            made.adopt(len(versions))
            if baseline:
                made.file_baseline(baseline, made.at(baseline, len(versions), room), room)
                made.drop_before(baseline)
            _put_in_place(instance, versions, baseline, made.folder)
    return done


def committed(instance: Instance, name: str) -> tuple[list[Commit], int]:
    """
    The versions of a provider in the logs since it was last forgotten, in order; of two records of one, the later.

    With them comes the first that is kept, or 0: those before it are made again, as others follow from them.

    Raises:
        UnknownName: There is none.
    """
    instance.crawl.seal()
    found = all_committed(instance).get(name)
    if not found:
        raise UnknownName(f"no provenance log holds a version of {name}; `harvest archive ls` prints them all")
    return found


def all_committed(instance: Instance) -> dict[str, tuple[list[Commit], int]]:
    """The versions in the logs of all providers that were not forgotten, and their baselines or 0, by name."""
    found: defaultdict[str, dict[int, Commit]] = defaultdict(dict)
    baselines: dict[str, int] = {}
    for log in Index(instance.content.root).chain():
        path = find(instance.content.root, log)
        for commit in _commits_in(path) if path else ():
            if isinstance(commit, str):
                found.pop(commit, None)
                baselines.pop(commit, None)
            elif isinstance(commit, Compaction):
                baselines[commit.provider] = max(commit.baseline, baselines.get(commit.provider, 0))
            else:
                found[commit.provider][commit.n] = commit
    return {name: ([its[n] for n in sorted(its)], baselines.get(name, 0)) for name, its in found.items()}


def _commits_in(log: Path) -> Iterator[Commit | Compaction | str]:
    for _, quads in groupby(statements(log), key=lambda quad: quad.graph_name):
        triples: list[Triple] = [quad.triple for quad in quads]
        yield from commits(triples)


def _put_in_place(instance: Instance, versions: list[Commit], baseline: int, folder: Path) -> None:
    """Let files, ledger and store be what was made again, in an order that may be begun anew after a crash."""
    last = versions[-1]
    name = last.provider
    files = instance.files(name)
    place = files.folder
    _compare(instance, versions)
    with instance.writing:
        if place.exists():
            place.rename(folder.with_name("before"))
        folder.rename(place)
        for grown in (files.layout.changes, place, place.parent):
            sync_folder(grown)
        instance.ledger.enrol(name, last.graph)
        records = [record_of(commit) for commit in versions]
        restore_versions(instance.ledger.database, name, records, instance.clock(), baseline)
        snapshot = files.snapshot_file(last.n)
        instance.ledger.figures.put(name, last.n, statistics.whole(snapshot))
        with instance.changing():
            instance.store.drop(last.graph)
            instance.store.apply(last.graph, StoreChange(None, snapshot, 0, last.triples, snapshot))
            instance.publish()
    write_run(instance, name)


def _compare(instance: Instance, versions: list[Commit]) -> None:
    """Return unless the ledger knows of a version that the logs do not."""
    known = max((version.n for version in instance.ledger.versions(versions[-1].provider)), default=0)
    if known > versions[-1].n:
        raise StorageError(
            f"the ledger has version {known} of {versions[-1].provider} and the provenance logs end at "
            f"{versions[-1].n}; nothing was changed"
        )


def record_of(commit: Commit) -> VersionRecord:
    """The row of a version in the logs."""
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
