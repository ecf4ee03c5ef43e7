"""The graph that an input is for, and what of it are blank nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from harvest.model import RULES, dataset_mark
from harvest.revise.lines import object_, subject
from sparql.rdf import GENID

_MARKED = re.compile(rb"-([0-9a-f]{12})>$")


@dataclass(frozen=True, slots=True)
class Origin:
    """
    Where an input is from.

    Attributes:
        dataset: IRI of its dataset, or None where names hold none.
        inherits: Whether blank nodes whose names hold no dataset count as of this one.
        rules: By which rules its nodes are named and it is revised.
    """

    dataset: str | None = None
    inherits: bool = True
    rules: int = RULES


ANY: Final = Origin()


@dataclass(frozen=True, slots=True)
class Target:
    """
    The graph that an input is for.

    Attributes:
        graph: Its IRI.
        origin: Where the input is from.
        blank: What its Skolem IRIs begin with, as a term of a line.
    """

    graph: str
    origin: Origin = ANY
    blank: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", b"<" + (self.graph + GENID).encode())

    @property
    def safe(self) -> bool:
        """Whether names of the input that stand in what stays of the graph are looked at."""
        return self.origin.rules > 1

    def has_dataset(self, node: bytes) -> bool:
        """Whether the name of a blank node holds a dataset."""
        return _MARKED.search(node) is not None

    def is_own(self, node: bytes) -> bool:
        """Whether a blank node is of the input's dataset."""
        if not self.safe or self.origin.dataset is None:
            return True
        found = _MARKED.search(node)
        return self.origin.inherits if found is None else found[1].decode() == dataset_mark(self.origin.dataset)

    def is_blank(self, term: bytes) -> bool:
        """Whether a term is the Skolem IRI of a blank node."""
        return term.startswith(self.blank)

    def refers(self, line: bytes) -> bytes:
        """The blank node that is the object of a line, or nothing."""
        if b" " + self.blank in line and self.is_blank(value := object_(line)):
            return value
        return b""

    def named(self, line: bytes) -> list[bytes]:
        """The blank nodes of a line."""
        found = [subject(line)] if self.is_blank(line) else []
        if value := self.refers(line):
            found.append(value)
        return found
