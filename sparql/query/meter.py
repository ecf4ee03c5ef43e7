"""How much processor time the queries of a worker take."""

from __future__ import annotations

from typing import Final

from sparql.query.child import Child

WEIGHT: Final = 0.1
"""How much the last query says of how long the next will take."""
TELLING_S: Final = 0.01
"""What it is taken for at most: one long query does not make those after it long."""


class Meter:
    """
    Measures one query after another.

    Attributes:
        usual_s: Processor time that one takes, as far as the last ones tell.
    """

    def __init__(self, child: Child, usual_s: float) -> None:
        self.usual_s = usual_s
        self._child = child
        self._began_at: float | None = None

    def begin(self) -> None:
        """Note that a query begins, and so that the one before it is done."""
        now = self._child.clock()
        if self._began_at is not None:  # Before the first it has warmed up, which tells nothing.
            self.usual_s += (min(now - self._began_at, TELLING_S) - self.usual_s) * WEIGHT
        self._began_at = now

    def spent(self) -> float:
        """Seconds of processor time that the query has taken."""
        return 0.0 if self._began_at is None else self._child.clock() - self._began_at
