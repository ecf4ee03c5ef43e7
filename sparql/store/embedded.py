"""
The store inside the process: pyoxigraph on RocksDB.

Its writer works on a folder that no reader opens; readers get hard-linked copies (`sparql.store.generations`). So a
change may be written in batches: one that a crash cut short is applied again. What makes a whole new store, `load` and
`rebuild`, grows it in another folder and switches.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from sparql.errors import StoreError
from sparql.store import literal, loading, spelling
from sparql.store.address import address_in
from sparql.store.base import Sent, StoreChange
from sparql.store.cost import BULK_FROM, cheaper_to_rebuild
from sparql.store.handle import StoreReading, opened
from sparql.store.working import WorkingFolder, WriterLock

__all__ = ["BATCH", "EmbeddedStore", "cheaper_to_rebuild", "on_batch"]

BATCH: Final = 5_000
"""Triples that are written between two calls of `on_batch`; also how many a transaction holds."""
FLUSH: Final = 50_000
"""Removals between two flushes: 6.2 s instead of 8.3 s for 600 k, because what waits in memory slows the next ones."""


def _nothing() -> None:
    pass


on_batch: Callable[[], None] = _nothing
"""Called before each batch of a change is written; a crash test stops the process there."""


class EmbeddedStore:
    """
    A Store in a folder of this machine, open for writing.

    Writing calls wait for each other. An iterator that was asked for before a `load` or `rebuild` goes on over the
    store as it was, until the second `load` or `rebuild` removes that. Where the store folds spellings of a value
    into one, what it gives is its own spelling: see `sparql.store.spelling`.

    Attributes:
        trouble: Why what was there could not be opened, and an empty store is in its place; or None.
        torn: Empty; a change that fails is undone as a whole.
        may_differ: False: how it spells values is known; and it refuses nothing.
    """

    may_differ = False

    def __init__(self, root: Path) -> None:
        """
        Open the store below `root`, making it if there is none.

        Raises:
            StoreError: Another process writes it, or it cannot be opened.
        """
        self._writing = threading.RLock()
        self.torn: Sequence[str] = ()
        with _failing(f"The store in {root} cannot be opened"):
            root.mkdir(parents=True, exist_ok=True)
            self._lock = WriterLock(root)
            try:
                self._folder = WorkingFolder(root)
                self._handle, self.trouble = opened(self._folder)
            except BaseException:
                self._lock.release()
                raise

    def begin(self) -> None:
        """Nothing: readers see what is written when it is published."""

    def end(self) -> None:
        """Nothing."""

    def apply(self, graph: str, change: StoreChange) -> None:
        """Take `removed` out of the graph, then put `added` in; again, also after a crash midway, ends the same."""
        with self._write(f"<{graph}> could not be written") as store:
            if change.removed is not None and change.removed_triples:
                with change.removed.open("rb") as removed:
                    _remove(store, graph, removed)
                if change.after is not None:
                    _insert(store, graph, spelling.surviving(change.removed, change.after))
            if change.added is not None and change.added_triples:
                _add_file(store, graph, change.added, change.added_triples)

    def replace_subjects(self, graph: str, subjects: Iterable[str], added: Path) -> None:
        """Remove all triples of the subjects from the graph, then put `added` in, by SPARQL UPDATE."""
        with self._write(f"<{graph}> could not be written") as store:
            literal.replace_subjects(store.update, graph, subjects, added)

    def replace_graph(self, graph: str, lines: Iterable[bytes]) -> None:
        """Make the graph exactly these lines; for graphs that fit in memory."""
        with self._write(f"<{graph}> could not be written") as store:
            wanted = set(spelling.stored(lines))
            held = set(_lines(StoreReading(store), store.quads_for_pattern(None, None, None, NamedNode(graph))))
            _remove(store, graph, sorted(held - wanted))
            _insert(store, graph, sorted(wanted - held))

    def load(self, graph: str, stream: BinaryIO) -> int:
        """
        Add every line of a stream to the graph, or none; returns how many lines there were.

        The stream may still be growing: it is read as it is loaded. What it raises leaves the store as it was, and
        arrives as it is unless it is such an error as the store itself raises.
        """
        with self._replacement(f"<{graph}> could not be loaded", copy=True) as store:
            return loading.load_in_bulk(store, graph, stream)

    def rebuild(self, snapshots: Iterable[Path], keep: Iterable[str] = ()) -> None:
        """
        Make a new store of these files and of the graphs to keep, and nothing else; or leave the old one.

        Args:
            snapshots: Canonical N-Quads, each of one graph.
            keep: Graphs that are copied from the store; for small ones, a copy costs three times a load.
        """
        with self._replacement("The store could not be rebuilt", copy=False) as store:
            for graph in keep:
                _insert(store, graph, self.dump(graph))
            for snapshot in snapshots:
                if (graph_of := spelling.graph_of(snapshot)) is not None:
                    with snapshot.open("rb") as stream:
                        loading.load_in_bulk(store, graph_of, stream)

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""
        reading, name = self._handle.reading(), NamedNode(graph)
        for subject in subjects:
            quads = reading.store.quads_for_pattern(spelling.subject_of(subject), None, None, name)
            yield from sorted(_lines(reading, quads))

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object, in no order."""
        reading = self._handle.reading()
        value = spelling.object_of(object)
        return _lines(reading, reading.store.quads_for_pattern(None, None, value, NamedNode(graph)))

    def count(self, graph: str) -> int:
        """How many triples the graph has; 0 for one that does not exist."""
        # 0.7 s for 2 M triples; counting them in Python takes 7 to 17 s.
        reading = self._handle.reading()
        found = reading.store.query(f"SELECT (COUNT(*) AS ?n) {{ GRAPH {NamedNode(graph)} {{ ?s ?p ?o }} }}")
        assert isinstance(found, pyoxigraph.QuerySolutions)
        return int(next(found)["n"].value)

    def dump(self, graph: str) -> Iterator[bytes]:
        """Every line of the graph, in no order."""
        reading = self._handle.reading()
        return _lines(reading, reading.store.quads_for_pattern(None, None, None, NamedNode(graph)))

    def graphs(self) -> list[str]:
        """The graphs that hold a triple, sorted."""
        reading = self._handle.reading()
        store = reading.store
        names = (name for name in store.named_graphs() if next(store.quads_for_pattern(None, None, None, name), None))
        return sorted(name.value for name in names)

    def drop(self, graph: str) -> None:
        """Remove the graph with all its triples."""
        name = NamedNode(graph)
        with self._write(f"<{graph}> could not be written") as store:
            # Triple by triple takes 11 us each, `clear_graph` 37 us.
            _remove_quads(store, store.quads_for_pattern(None, None, None, name))
            store.remove_graph(name)

    def rather_rebuild(self, change: StoreChange, graph_triples: int, store_triples: int) -> bool:
        """Whether making a new store from snapshots costs less than applying a change; see `sparql.store.cost`."""
        return cheaper_to_rebuild(change, graph_triples, store_triples)

    def is_published(self, generation: Path) -> bool:
        """Whether a generation is a copy of such a store."""
        return address_in(generation) is None

    def sent(self) -> Sent:
        """Nothing was."""
        return Sent()

    def righted(self) -> None:
        """Nothing: no graph is ever torn."""

    def publish(self, target: Path) -> None:
        """Make `target`, which must not exist, a whole consistent copy of the store, by hard links."""
        with self._write(f"The store could not be copied to {target}") as store:
            store.backup(str(target))
            self._handle.copied()

    def revert(self, source: Path | None) -> None:
        """Make the store what `source`, a copy that `publish` made, holds, or empty; or leave it as it is."""
        with self._writing, _failing(f"The store could not go back to {source}"):
            folder = self._folder.next()
            try:
                if source is not None:
                    pyoxigraph.Store.read_only(str(source)).backup(str(folder))
                store = pyoxigraph.Store(str(folder))
                store.flush()
                self._folder.switch(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._handle.replace(store)

    def close(self) -> None:
        """Let the store go; another process may open it then."""
        with self._writing:
            self._handle.close()
            self._lock.release()

    @contextmanager
    def _write(self, what: str) -> Iterator[pyoxigraph.Store]:
        """The store for one writer; `Handle.refresh` says when it is opened anew."""
        with self._writing, _failing(what):
            self._handle.refresh()
            store = self._handle.store
            try:
                yield store
            except (OSError, RuntimeError):
                self._handle.failed()
                raise

    @contextmanager
    def _replacement(self, what: str, *, copy: bool) -> Iterator[pyoxigraph.Store]:
        """A store that takes this one's place when the block ends, and is thrown away when it raises."""
        with self._write(what) as before:
            folder = self._folder.next()
            try:
                if copy:
                    before.backup(str(folder))
                store = pyoxigraph.Store(str(folder))
                yield store
                store.flush()
                self._folder.switch(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._handle.replace(store)


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Make a StoreError of what pyoxigraph and the file system raise: RocksDB's refusals come as RuntimeError."""
    try:
        yield
    except (OSError, RuntimeError, SyntaxError, ValueError) as error:
        raise StoreError(f"{what}: {error}.") from error


def _lines(_: StoreReading, quads: Iterator[Quad]) -> Iterator[bytes]:
    """The quads as lines; the reading keeps their store open until the last one is taken."""
    with _failing("The store could not be read"):
        while batch := list(islice(quads, BATCH)):
            yield from spelling.written(batch)


def _remove(store: pyoxigraph.Store, graph: str, lines: Iterable[bytes]) -> None:
    """Remove the lines; DELETE DATA takes as long and refuses terms that a lenient load let in."""
    waiting = iter(lines)
    while batch := b"".join(islice(waiting, BATCH)):
        loading.checked(batch, graph)
        _remove_quads(store, parse(batch, RdfFormat.N_QUADS, lenient=True))


def _remove_quads(store: pyoxigraph.Store, quads: Iterator[Quad]) -> None:
    removed = 0
    while batch := list(islice(quads, BATCH)):
        on_batch()
        for quad in batch:
            store.remove(quad)
        removed += len(batch)
        if removed % FLUSH < len(batch):
            store.flush()


def _add_file(store: pyoxigraph.Store, graph: str, path: Path, triples: int) -> None:
    with path.open("rb") as lines:
        if triples < BULK_FROM:
            _insert(store, graph, lines)
        else:
            on_batch()
            loading.load_in_bulk(store, graph, lines)


def _insert(store: pyoxigraph.Store, graph: str, lines: Iterable[bytes]) -> None:
    waiting = iter(lines)
    while batch := b"".join(islice(waiting, BATCH)):
        on_batch()
        loading.checked(batch, graph)
        loading.insert(store, batch)
