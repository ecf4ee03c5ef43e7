"""
A process that works on a store and dies of it: `python -m tests.store.victim WHAT STORE GRAPH FOLDER N [LIMIT]`.

`apply` takes FOLDER's removed.nq and added.nq, three lines a batch, and kills itself before batch N (0: never); LIMIT
bytes are then all that a file may hold. `again` applies a second time, without the limit, in the same store. `load`
and `rebuild` kill themselves when a part of the new store is there.
"""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
from pathlib import Path

from sparql.errors import StoreError
from sparql.store import embedded
from sparql.store.base import StoreChange
from sparql.store.embedded import EmbeddedStore
from tests.store.graphs import many


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hold(root: str) -> None:
    """Open the store, say so, and keep it until standard input ends."""
    store = EmbeddedStore(Path(root))
    print("open", flush=True)
    sys.stdin.read()
    store.close()


class Deadly(io.BytesIO):
    """A stream that kills its reader at its end."""

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        if not found:
            die()
        return found


def apply(store: EmbeddedStore, graph: str, folder: Path, batch: int) -> None:
    seen: list[int] = []

    def counted() -> None:
        seen.append(1)
        if len(seen) == batch:
            die()

    embedded.on_batch = counted
    if batch:
        embedded.BATCH = 3  # type: ignore[misc]  # small, so that a small change has several
    files = [folder / name if (folder / name).exists() else None for name in ("removed.nq", "added.nq", "after.nq")]
    removed, added = (path.read_bytes().count(b"\n") if path else 0 for path in files[:2])
    store.apply(graph, StoreChange(files[0], files[1], removed, added, files[2]))


def again(store: EmbeddedStore, graph: str, folder: Path) -> None:
    try:
        apply(store, graph, folder, 0)
    except StoreError:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        sys.exit("the disk was not full")
    apply(store, graph, folder, 0)
    print(store.count(graph))


def rebuild(store: EmbeddedStore, graph: str, folder: Path) -> None:
    (folder / "snapshot.nq").write_bytes(b"".join(many(graph, 40)))

    class Paths:
        """One snapshot, and death instead of a second."""

        def __iter__(self):
            yield folder / "snapshot.nq"
            die()

    store.rebuild(Paths())


def main(what: str, root: str, graph: str, folder: str, batch: str, limit: str = "") -> None:
    store = EmbeddedStore(Path(root))
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    if what == "apply":
        apply(store, graph, Path(folder), int(batch))
    elif what == "again":
        again(store, graph, Path(folder))
    elif what == "load":
        store.load(graph, Deadly(b"".join(many(graph, 40))))
    else:
        rebuild(store, graph, Path(folder))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except StoreError as error:
        print(error.message)
        sys.exit(3)
