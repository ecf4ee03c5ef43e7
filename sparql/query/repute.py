"""What queries are known for: how long they took when they were last asked."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from sparql.query.syntax import gist

KNOWN: Final = 4096
"""Queries that are known; the one that was noted first is forgotten first."""


class Repute:
    """Long queries, whatever their remarks and white space: those that only seemed so, and those that proved it."""

    def __init__(self) -> None:
        self._proved: OrderedDict[int, bool] = OrderedDict()

    def is_long(self, asked: str) -> bool:
        """Whether a query seemed long, or proved it."""
        return bool(self._proved) and _name(asked) in self._proved

    def only_seems(self, asked: str) -> bool:
        """Whether a query seemed long, and has not proved it."""
        return self._proved.get(_name(asked)) is False

    def note(self, asked: str, proved: bool) -> None:
        """Note that a query took long; what it proved before still holds."""
        name = _name(asked)
        self._proved[name] = proved or self._proved.get(name, False)
        self._proved.move_to_end(name)
        if len(self._proved) > KNOWN:
            self._proved.popitem(last=False)

    def clear(self, asked: str) -> None:
        """Note that a query was quick."""
        self._proved.pop(_name(asked), None)


def _name(asked: str) -> int:
    return hash(gist(asked))
