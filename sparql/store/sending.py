"""
Sending changes to an engine in parts, without what it refuses or would damage.

A request that is refused is halved until the statement or the subject is found that the engine does not take: an IRI
that is none to it, or a literal that is too long for it. It is left out and reported; all else gets there. So is a
statement with an IRI of which the engine would make another one: it is not sent at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from sparql.errors import EngineRefused, StoreError
from sparql.rdf import XSD
from sparql.store import held
from sparql.store.address import Dialect
from sparql.store.base import Sent
from sparql.store.engine import STATEMENTS, Engine
from sparql.store.held import HeldChange, HeldUpdate

SIDES: Final = frozenset({Dialect.VIRTUOSO})
"""Engines that move what side graphs hold as one transaction; others take as much at once, or were not measured."""
AT_ONCE: Final = {Dialect.OXIGRAPH: 500_000, Dialect.FUSEKI: 500_000, Dialect.RDF4J: 500_000}
"""Statements that these engines take as one transaction, though parts would be there sooner (docs/engines.md)."""
AT_ONCE_BYTES: Final = 96 << 20
"""Bytes of them, for they are in memory here and there."""
MOVED: Final = 500_000
"""Statements that side graphs may hold: Virtuoso moved 750,000 and refused 1,000,000, whose log passed its 50 MB."""
POSTED: Final = {Dialect.VIRTUOSO: 25_000}
"""Lines of one POST to the Graph Store Protocol; Virtuoso gave no answer to a PUT of 500,000 in 13 minutes."""
LONGEST_POSTED: Final = 1_000
"""Bytes of a line that is posted; a literal of 300,000 was refused, one of 5 MB ended Virtuoso."""
MADE: Final = 10_000
"""Statements of a new graph beyond which it is put there by itself: Fuseki takes 200,000 so in half the time."""
LONGEST_IRI: Final = 1880
"""Bytes of an IRI that Virtuoso keeps; it cuts longer ones to 1,879."""
REFUSED: Final = 100
"""Statements that may be refused of one change: an engine that refuses more takes none at all, or is full."""
_EXCERPT: Final = 200


@dataclass(frozen=True, slots=True)
class Refusal:
    """
    What an engine does not take.

    Attributes:
        item: A line, or the IRI of a subject.
        reason: What the engine said.
    """

    item: bytes
    reason: str

    @property
    def text(self) -> str:
        """Both in one sentence."""
        return f"{self.item.decode().strip()[:_EXCERPT]}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Harm:
    """
    Of which IRIs an engine makes others.

    Attributes:
        suspects: Whether a line may have such an IRI, which is asked of all lines.
        damages: Whether an IRI is one.
        reason: What is made of it.
    """

    suspects: Callable[[bytes], bool]
    damages: Callable[[bytes], bool]
    reason: str


class Sender:
    """
    Sends changes to an engine, each as several requests.

    Attributes:
        most: Statements that one request may have.
        refused: What the engine did not take since `begin`.
    """

    def __init__(self, engine: Engine, metadata: str) -> None:
        """
        Args:
            engine: The engine.
            metadata: IRI of the metadata graph; those of side graphs begin with it.
        """
        self._engine = engine
        self._side = f"{metadata}#side-"
        self.most = STATEMENTS[engine.address.dialect]
        self.refused: list[Refusal] = []
        self._held_back: list[Refusal] = []
        self._requests = 0
        self._sides: set[str] = set()
        address = engine.address
        self._posted = POSTED.get(address.dialect, 0) if address.graph_store else 0
        self._puts = bool(address.graph_store) and not self._posted

    def begin(self) -> None:
        """Another change follows."""
        self.refused.clear()
        self._held_back.clear()
        self._requests = 0

    def sent(self) -> Sent:
        """How the last change went."""
        missing = [*self.refused, *self._held_back]
        return Sent(self._requests or 1, missing[0].text if missing else "")

    def at_once(self, changes: Sequence[HeldChange]) -> list[str] | None:
        """
        The updates that do changes as one request; None where the engine cannot do so many as one transaction.

        Some engines take more at once than in parts, which would be quicker. Where an engine takes less at once than it
        can move between graphs, what goes and what comes is put into side graphs first. Raises what `send` does.
        """
        most = max(self.most, AT_ONCE.get(self._engine.address.dialect, 0))
        if sum(change.statements for change in changes) <= most and sum(map(_size, changes)) <= AT_ONCE_BYTES:
            return [update.text for change in changes for update in change.updates(most, self._taken)]
        if self._engine.address.dialect not in SIDES or sum(change.statements for change in changes) > MOVED:
            return None
        updates = [update for number, change in enumerate(changes) for update in self._staged(number, change)]
        self._requests = 0  # readers saw nothing of them
        return updates

    def making(self, changes: Sequence[HeldChange], counted: Callable[[str], int]) -> list[HeldChange]:
        """The changes that put a new graph there as a whole, which costs less than as a part of a request."""
        large = [each for each in changes if self._puts and each.statements > MADE and _makes_graph(each)]
        return [change for change in large if not counted(change.graph)]

    def _staged(self, number: int, change: HeldChange) -> Iterator[str]:
        if change.whole:
            yield _moved("DELETE", change.graph, change.graph)
        if change.subjects:
            yield from (
                update.text for update in replace(change, removed=None, added=None).updates(self.most, self._taken)
            )
        for verb, path in (("DELETE", change.removed), ("INSERT", change.added)):
            if path is not None:
                side = f"{self._side}{number}-{verb.lower()}"
                self._sides.add(side)
                self._send_parts(HeldChange(side, whole=True, added=path))
                yield _moved(verb, change.graph, side)

    def is_side(self, graph: str) -> bool:
        """Whether a graph is one of those that hold what is on its way."""
        return graph.startswith(self._side)

    def recover(self) -> None:
        """Drop the side graphs that a process which was killed left in the engine."""
        if self._engine.address.dialect in SIDES:
            self._sides.update(filter(self.is_side, self._engine.graphs()))
            self.tidy()

    def tidy(self) -> None:
        """Drop the side graphs of the last change; what cannot be dropped now is dropped after the next one."""
        with suppress(StoreError):
            for graph in sorted(self._sides):
                self._engine.update(f"DROP SILENT GRAPH <{graph}>")
                self._sides.discard(graph)

    def send(self, change: HeldChange, *, is_empty: bool) -> None:
        """
        Send a change; what makes a graph, by the Graph Store Protocol where there is one.

        Args:
            change: What is to be done.
            is_empty: Whether the graph holds nothing.

        Raises:
            EngineLost: There was no answer.
            EngineRefused: More was refused than single statements.
            StoreError: Something else went wrong.
        """
        if self._puts and _makes_graph(change) and (change.whole or is_empty):
            try:
                self._requests += 1
                self._engine.put(change.graph, held.bare(self._taken(held.read(change.added))))
            except EngineRefused:
                pass  # which statement it was shows below
            else:
                return
        self._send_parts(change)

    def _send_parts(self, change: HeldChange) -> None:
        """Send a change in several requests, in the order of its updates."""
        for update in replace(change, added=None).updates(self.most, self._taken):
            self._send(update)
        for part in held.parts(self._taken(held.read(change.added)), self._posted or self.most):
            rest = self._post(change.graph, part) if self.most < len(part) else part
            for few in held.parts(rest, self.most):
                self._send(HeldUpdate("INSERT DATA", change.graph, tuple(few)))

    def _post(self, graph: str, lines: list[bytes]) -> list[bytes]:
        """Post the lines that the engine keeps so as it keeps those of an update; gives those that are left."""
        posted: list[bytes] = []
        rest: list[bytes] = []
        for line in lines:
            (posted if _is_posted(line) else rest).append(line)
        if not posted:
            return rest
        try:
            self._requests += 1
            self._engine.post(graph, b"".join(held.bare(posted)))
        except EngineRefused:
            return lines  # which statement it was shows with the updates
        return rest

    def _taken(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        """The lines that the engine keeps as they are."""
        harm = _HARMS.get(self._engine.address.dialect)
        return lines if harm is None else self._unharmed(lines, harm)

    def _unharmed(self, lines: Iterable[bytes], harm: Harm) -> Iterator[bytes]:
        for line in lines:
            if not harm.suspects(line) or not any(map(harm.damages, _iris(line))):
                yield line
            elif len(self._held_back) < REFUSED:
                self._held_back.append(Refusal(line, f"it was not sent, because {harm.reason}"))

    def _send(self, update: HeldUpdate) -> None:
        try:
            self._requests += 1
            self._engine.update(update.text)
        except EngineRefused as error:
            if len(update.items) > 1:
                for half in update.halves():
                    self._send(half)
            elif update.items and len(self.refused) < REFUSED:
                self.refused.append(Refusal(update.items[0], error.message))
            else:
                raise


def _has_dots(iri: bytes) -> bool:
    """Whether a path has segments that RFC 3986 would remove."""
    return b"/." in iri and not {b".", b".."}.isdisjoint(re.split(rb"[?#]", iri, maxsplit=1)[0].split(b"/"))


def _iris(line: bytes) -> Iterator[bytes]:
    """The IRIs of subject, predicate and object."""
    return (term[1:].partition(b">")[0] for term in line.split(b" ", 2) if term.startswith(b"<"))


_HARMS: Final = {
    Dialect.VIRTUOSO: Harm(
        suspects=lambda line: len(line) > LONGEST_IRI,
        damages=lambda iri: len(iri) > LONGEST_IRI,
        reason=f"Virtuoso cuts IRIs of more than {LONGEST_IRI} bytes",
    ),
    Dialect.FUSEKI: Harm(
        suspects=lambda line: b"/." in line,
        damages=_has_dots,
        reason="Fuseki takes `.` and `..` out of the path of an IRI",
    ),
}
"""Source: docs/engines.md, measured."""

_XSD: Final = re.escape(XSD.encode())
_POSTED_VALUE: Final = re.compile(
    rb'"(?:-?[0-9]{1,9}(?:\.[0-9]{1,9})?"\^\^<' + _XSD + rb"(?:integer|decimal)|"
    rb'[^"]*"\^\^<' + _XSD + rb"(?:string|date|dateTime|gYear))> <[^ ]*> \.\n\Z"
)


def _is_posted(line: bytes) -> bool:
    """Whether Virtuoso makes the same of a posted line as of one in an update, which it reads by another parser."""
    return len(line) <= LONGEST_POSTED and (b'"^^<' not in line or _POSTED_VALUE.search(line) is not None)


def _size(change: HeldChange) -> int:
    """Bytes of both files."""
    return sum(path.stat().st_size for path in (change.removed, change.added) if path is not None)


def _makes_graph(change: HeldChange) -> bool:
    """Whether a change of an empty graph is all that the graph holds afterwards."""
    return change.added is not None and change.removed is None and not change.subjects


def _moved(verb: str, graph: str, side: str) -> str:
    """The update that deletes from a graph, or inserts into it, what another one holds."""
    return f"{verb} {{ GRAPH <{graph}> {{ ?s ?p ?o }} }} WHERE {{ GRAPH <{side}> {{ ?s ?p ?o }} }}"
