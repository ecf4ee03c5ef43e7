"""
Sending changes to an engine in parts, without what it refuses.

A request that is refused is halved until the statement or the subject is found that the engine does not take: an IRI
that is none to it, or a literal that is too long for it. It is left out and reported; all else gets there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sparql.errors import EngineRefused
from sparql.store import held
from sparql.store.base import Sent
from sparql.store.engine import STATEMENTS, Engine
from sparql.store.held import HeldChange, HeldUpdate

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


class Sender:
    """
    Sends changes to an engine, each as several requests.

    Attributes:
        most: Statements that one request may have.
        refused: What the engine did not take since `begin`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.most = STATEMENTS[engine.address.dialect]
        self.refused: list[Refusal] = []
        self._requests = 0

    def begin(self) -> None:
        """Another change follows."""
        self.refused.clear()
        self._requests = 0

    def sent(self) -> Sent:
        """How the last change went."""
        return Sent(self._requests or 1, self.refused[0].text if self.refused else "")

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
        makes_graph = change.added is not None and change.removed is None and not change.subjects
        if makes_graph and self._engine.address.graph_store and (change.whole or is_empty):
            try:
                self._requests += 1
                self._engine.put(change.graph, held.bare(held.read(change.added)))
            except EngineRefused:
                pass  # which statement it was shows below
            else:
                return
        for update in change.updates(self.most):
            self._send(update)

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
