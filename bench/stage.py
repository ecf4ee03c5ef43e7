"""
One stage of the pipeline in a process of its own, for whoever measures its memory.

    python -m bench.stage wash DUMP TARGET         prints how many triples there are
    python -m bench.stage mirror OLD NEW FOLDER    prints how many were added
    python -m bench.stage full OLD NEW FOLDER      the same
    python -m bench.stage export SNAPSHOT FOLDER   prints the files that were written
    python -m bench.stage load SNAPSHOT FOLDER     prints how many triples the store holds
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from harvest.config.settings import Settings
from harvest.model import Document
from harvest.publish.description import ExportedGraph
from harvest.publish.exports import export
from harvest.revise import lines, replace
from harvest.wash import process
from harvest.wash.canonical import Washed, wash
from sparql.store.base import StoreChange
from sparql.store.embedded import EmbeddedStore

GRAPH = "http://bench.example/graph/p"


def wash_(dump: Path, target: Path) -> int:
    """Wash a dump, in a process of its own as the pipeline does."""
    limits = Settings().wash
    documents = [Document(dump, dump.as_uri(), "application/n-triples")]
    washed: Washed = process.call(
        wash, process.Bounds(limits.timeout_s, str(dump)), documents, GRAPH, target, limits.memory
    )
    return washed.snapshot.triples


def mirror(old: Path, new: Path, folder: Path) -> int:
    """Compare under mirroring."""
    folder.mkdir()
    return replace.mirror(old, new, GRAPH, folder).delta.added_triples


def full(old: Path, new: Path, folder: Path) -> int:
    """Compare under subject replacement, and write the whole new graph where the input is not all of it."""
    folder.mkdir()
    revision = replace.full(old, new, GRAPH, folder)
    if revision.kept is not None and revision.kept.stat().st_size:
        lines.union(folder / "whole.nq", new, revision.kept)
    return revision.delta.added_triples


def export_(snapshot: Path, folder: Path) -> int:
    """Export one provider's snapshot."""
    subject = ExportedGraph("p", GRAPH, 1, 0, None, lambda: snapshot)
    return len(export(folder, "http://bench.example", [subject], datetime.now(UTC)).files)


def load(snapshot: Path, folder: Path) -> int:
    """Load a first version into a new store."""
    with snapshot.open("rb") as stream:
        triples = sum(1 for _ in stream)
    store = EmbeddedStore(folder)
    store.apply(GRAPH, StoreChange(None, snapshot, 0, triples))
    count = store.count(GRAPH)
    store.close()
    return count


STAGES: dict[str, Callable[..., int]] = {"wash": wash_, "mirror": mirror, "full": full, "export": export_, "load": load}


if __name__ == "__main__":
    print(STAGES[sys.argv[1]](*map(Path, sys.argv[2:])))
