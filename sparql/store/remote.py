"""
The store on an engine of one's own: any that speaks SPARQL 1.1.

Readers ask the engine itself, so a change has to come to it whole. What is written between `begin` and `publish` is
held back in files and sent as one request, which engines do as one transaction, together with the number of the
edition that it makes; where the answer is lost, that number says whether it was done. A change that is larger than the
engine takes at once is sent in parts: the file `unsettled` names its graphs until all are there, so that what a crash
left of it can be put right.

    idle      --begin-->                              holding
    holding   --publish-->                            idle, the next edition
    holding   --publish: refused, or no answer-->     unsettled
    holding   --revert-->                             idle: nothing was sent
    unsettled --revert, the engine has none of it-->  idle
    unsettled --revert, it may have some of it-->     idle, its graphs are in `torn` until `righted`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode, Quad, Triple

from sparql.errors import EngineLost, EngineRefused, RequestError, StoreError
from sparql.rdf import HARVEST, XSD
from sparql.store import held, spelling
from sparql.store.base import Sent, StoreChange
from sparql.store.engine import Engine
from sparql.store.held import HeldChange, HeldFiles, UnsettledNote
from sparql.store.layout import StoreLayout
from sparql.store.sending import Sender
from sparql.store.working import WriterLock

EDITION: Final = f"{HARVEST}edition"
"""Leads from the metadata graph to the number of the last change that is in the engine."""
SUBJECTS: Final = 200
"""Subjects that one query describes."""


class RemoteStore:
    """
    A Store on an engine, for one writer.

    Attributes:
        trouble: None: what an engine lost shows when its graphs are compared.
        torn: The graphs that are to be put right, because a change ended in the middle.
        may_differ: True: what an engine does to literals is for it to say.
    """

    trouble: str | None = None
    may_differ = True

    def __init__(self, engine: Engine, root: Path, metadata: str, own: str) -> None:
        """
        Connect to the engine.

        Args:
            engine: The engine; its dialect is known.
            root: A folder of this instance for what is held back.
            metadata: IRI of the graph that has the number of the edition.
            own: What the names of this instance's graphs begin with; the others in the engine are somebody else's.

        Raises:
            StoreError: Another process writes it, or the engine does not answer.
        """
        self._engine, self._metadata, self._own = engine, metadata, own
        self._layout = StoreLayout(root)
        self._sender = Sender(engine, metadata)
        self._unsettled = UnsettledNote(self._layout.unsettled)
        self._files = HeldFiles(self._layout.held)
        self._changes: list[HeldChange] = []
        self._holding = False
        self.torn: Sequence[str] = ()
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._lock = WriterLock(root)
        except OSError as error:
            raise StoreError(f"The folder of the store, {root}, cannot be written: {error}.") from error
        try:
            self._edition = self._asked_edition()
            self._files.clear()
            self._sender.recover()
            if not self._layout.engine.exists():  # until now the store was another one
                self._unsettled.add(None, [metadata, *self.graphs()])
            engine.address.write(root)
            self.revert(None)
        except BaseException:
            self._lock.release()
            raise

    def begin(self) -> None:
        """Hold back what is written until `publish`."""
        self._holding = True
        self._sender.begin()

    def end(self) -> None:
        """Send what is held back, and from now on everything at once."""
        self._holding = False
        self._flush()

    def apply(self, graph: str, change: StoreChange) -> None:
        """Take `removed` out of the graph, then put `added` in; again, also after a crash midway, ends the same."""
        removed = added = None
        back: list[bytes] = []
        if change.removed is not None and change.removed_triples:
            removed = self._files.keep(held.read(change.removed))
            back = list(spelling.surviving(change.removed, change.after)) if change.after else []
        if back or change.added_triples:
            added = self._files.keep(back, change.added)
        statements = change.removed_triples + change.added_triples + len(back)
        self._write(HeldChange(graph, removed, added=added, statements=statements))

    def replace_subjects(self, graph: str, subjects: Iterable[str], added: Path) -> None:
        """Remove all triples of the subjects from the graph, then put `added` in."""
        gone, kept = tuple(subjects), self._files.keep((), added)
        self._write(HeldChange(graph, subjects=gone, added=kept, statements=len(gone) + held.count(kept)))

    def replace_graph(self, graph: str, lines: Iterable[bytes]) -> None:
        """Make the graph exactly these lines."""
        self._write(HeldChange(graph, whole=True, added=(kept := self._files.keep(lines)), statements=held.count(kept)))

    def drop(self, graph: str) -> None:
        """Remove the graph with all its triples."""
        self._write(HeldChange(graph, whole=True))

    def rather_rebuild(self, change: StoreChange, graph_triples: int, store_triples: int) -> bool:
        """Whether making a new store costs less than a change: never, the engine is not ours alone."""
        return False

    def rebuild(self, snapshots: Iterable[Path], keep: Iterable[str] = ()) -> None:
        """Make the graphs of this instance what these files hold, each of one graph, and drop the others but `keep`."""
        made = [(graph, snapshot) for snapshot in snapshots if (graph := spelling.graph_of(snapshot)) is not None]
        kept = {*keep, self._metadata, *(graph for graph, _ in made)}
        self._unsettled.add(None, [*self.graphs(), *kept])
        for graph, snapshot in made:
            self._send_parts(HeldChange(graph, whole=True, added=snapshot, statements=held.count(snapshot)))
        for graph in self.graphs():
            if graph not in kept:
                self._engine.update(f"DROP SILENT GRAPH <{graph}>")
        self._engine.update(self._marking(self._edition + 1))
        self._edition += 1
        self.righted()

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of each subject, sorted, subjects in the order given."""
        self._send_before_reading(graph)
        waiting = iter(subjects)
        while batch := list(islice(waiting, SUBJECTS)):
            found: dict[bytes, list[bytes]] = {}
            values = b" ".join(batch).decode()
            for line in self._matches(graph, f"VALUES ?s {{ {values} }}"):
                found.setdefault(line.split(b" ", 1)[0], []).append(line)
            for subject in batch:
                yield from sorted(found.get(subject, ()))

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        """The lines that have this object, in no order."""
        self._send_before_reading(graph)
        yield from self._matches(graph, f"VALUES ?o {{ {object.decode()} }}")

    def count(self, graph: str) -> int:
        """How many triples the graph has; 0 for one that does not exist."""
        self._send_before_reading(graph)
        return self._counted(graph)

    def dump(self, graph: str) -> Iterator[bytes]:
        """Every line of the graph, in no order."""
        self._send_before_reading(graph)
        yield from self._lines(graph, self._engine.triples(graph))

    def graphs(self) -> list[str]:
        """The graphs of this instance that hold a triple, sorted."""
        own = (graph for graph in self._engine.graphs() if graph.startswith(self._own))
        return [graph for graph in own if not self._sender.is_side(graph)]

    def publish(self, target: Path) -> None:
        """Have readers see what was held back; `target`, which must not exist, becomes a note of where they ask."""
        if self._changes:
            self._send_changes()
        if not self.torn:
            self._unsettled.remove()
        target.mkdir(parents=True)
        self._engine.address.write(target)
        (target / "CURRENT").write_text(f"{self._edition}\n")

    def is_published(self, generation: Path) -> bool:
        """Whether a generation leads to what the engine holds."""
        try:
            return (generation / "CURRENT").read_text() == f"{self._edition}\n"
        except FileNotFoundError:
            return False

    def revert(self, source: Path | None) -> None:
        """Forget what was held back; where some of it was sent, its graphs are `torn` until they are put right."""
        self._changes, self._holding = [], False
        self._files.clear()
        if (noted := self._unsettled.read()) is None:
            return
        edition, graphs = noted
        if edition is not None and self._asked_edition() < edition:
            self._unsettled.remove()
        else:
            self.torn = graphs

    def sent(self) -> Sent:
        """How the last change went to the engine."""
        return self._sender.sent()

    def righted(self) -> None:
        """The torn graphs were put right."""
        self.torn = ()
        self._unsettled.remove()

    def close(self) -> None:
        """Let the folder go; another process may write the engine then."""
        self._lock.release()

    def _write(self, change: HeldChange) -> None:
        self._changes.append(change)
        if not self._holding:
            self._flush()

    def _send_changes(self) -> None:
        """Send what is held back as an edition: in one request if the engine takes that."""
        edition, changes = self._edition + 1, self._changes
        if made := self._sender.making(changes, self._counted):
            self._unsettled.add(None, [change.graph for change in changes])
            for change in made:
                self._sender.send(change, is_empty=True)
            changes = [change for change in changes if change not in made]
        updates = self._sender.at_once(changes)
        self._unsettled.add(None if updates is None else edition, [change.graph for change in changes])
        if updates is not None:
            try:
                self._send_once(" ;\n".join([*updates, self._marking(edition)]), edition)
            except EngineRefused:
                updates = None
                self._unsettled.add(None, ())
        if updates is None:
            for change in changes:
                self._send_parts(change)
            self._send_once(self._marking(edition), edition)
        self._sender.tidy()
        self._edition, self._changes = edition, []
        self._files.clear()

    def _flush(self) -> None:
        """Send what is held back without making an edition of it; within a change that stays noted until it ends."""
        if not self._changes:
            return
        self._unsettled.add(None, [change.graph for change in self._changes])
        for change in self._changes:
            self._send_parts(change)
        self._changes = []
        self._files.clear()
        if not self._holding and not self.torn:
            self._unsettled.remove()

    def _send_before_reading(self, graph: str) -> None:
        if any(change.graph == graph for change in self._changes):
            self._flush()

    def _send_once(self, text: str, edition: int) -> None:
        """Send the request that makes an edition; without an answer the engine is asked which one it holds."""
        try:
            self._engine.update(text)
        except EngineLost:
            if self._asked_edition() < edition:
                raise

    def _send_parts(self, change: HeldChange) -> None:
        """Send a change in several requests."""
        self._sender.send(change, is_empty=not change.whole and not self._counted(change.graph))

    def _marking(self, edition: int) -> str:
        """The updates that have the engine say which edition it holds."""
        said = f"GRAPH <{self._metadata}> {{ <{self._metadata}> <{EDITION}>"
        return f'DELETE WHERE {{ {said} ?n }} }} ;\nINSERT DATA {{ {said} "{edition}"^^<{XSD}integer> }} }}'

    def _asked_edition(self) -> int:
        return self._engine.number(f"SELECT ?n {{ GRAPH <{self._metadata}> {{ <{self._metadata}> <{EDITION}> ?n }} }}")

    def _counted(self, graph: str) -> int:
        return self._engine.number(f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}")

    def _matches(self, graph: str, values: str) -> Iterator[bytes]:
        pattern = f"{values} GRAPH <{graph}> {{ ?s ?p ?o }}"
        return self._lines(graph, self._engine.construct(f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {pattern} }}"))

    def _lines(self, graph: str, triples: Iterator[Triple]) -> Iterator[bytes]:
        name = NamedNode(graph)
        try:
            while batch := [Quad(t.subject, t.predicate, t.object, name) for t in islice(triples, 5_000)]:
                yield from spelling.written(batch)
        except (SyntaxError, ValueError, OSError, RequestError) as error:
            raise StoreError(f"<{graph}> could not be read from {self._engine.address.query}: {error}.") from error
