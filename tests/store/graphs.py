"""Small graphs for the store tests: strategies, files, and what a plain set says must come out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from sparql.rdf import XSD
from sparql.store.base import StoreChange
from sparql.store.spelling import stored, written

SUBJECTS = [f"http://example.org/s{i}" for i in range(4)]
PREDICATES = [f"http://example.org/p{i}" for i in range(2)]
_GRAPHS = itertools.count(1)

VALUES = [
    ("01", "integer"),
    ("1", "integer"),
    ("1", "int"),
    ("abc", "integer"),
    ("123456789012345678901234567890", "integer"),
    ("1.0", "decimal"),
    ("1.00", "decimal"),
    ("1", "decimal"),
    ("1e0", "double"),
    ("NaN", "double"),
    ("1", "boolean"),
    ("true", "boolean"),
    ("2020-01-01T00:00:00.0Z", "dateTime"),
    ("2020-01-01T00:00:00Z", "dateTime"),
    ("2020-02-30", "date"),
]
LITERALS = [Literal(value, datatype=NamedNode(XSD + name)) for value, name in VALUES]


def objects() -> st.SearchStrategy[NamedNode | Literal]:
    """IRIs, values in several spellings, and strings with whatever characters."""
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    return st.one_of(
        # Three in eight: the spellings of one value are to meet at one subject and predicate.
        *[st.sampled_from(LITERALS)] * 3,
        st.sampled_from([NamedNode(iri) for iri in [*SUBJECTS, "http://exämple.org/ü"]]),
        text.map(Literal),
        st.builds(lambda value, language: Literal(value, language=language), text, st.sampled_from(["en", "de-at"])),
        st.sampled_from(["", "\\", "\\u0041", '"', "\n", "\r", "\x00", "\x7f", "\u2028", "x" * 17]).map(Literal),
    )


def triples() -> st.SearchStrategy[tuple[str, str, NamedNode | Literal]]:
    """One triple among few subjects and predicates, so that they meet."""
    return st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(PREDICATES), objects())


def contents() -> st.SearchStrategy[set[tuple[str, str, NamedNode | Literal]]]:
    """The triples of a small graph."""
    return st.sets(triples(), max_size=12)


def fresh_graph() -> str:
    """The IRI of a graph that no other test uses."""
    return f"http://example.org/graph/{next(_GRAPHS)}"


def lines_of(graph: str, content: Iterable[tuple[str, str, NamedNode | Literal]]) -> set[bytes]:
    """The canonical lines of these triples in the graph."""
    return set(written(Quad(NamedNode(s), NamedNode(p), o, NamedNode(graph)) for s, p, o in content))


def held(lines: Iterable[bytes]) -> set[bytes]:
    """What a store is to hold when it was given these lines."""
    return set(stored(lines))


def filed(path: Path, lines: Iterable[bytes]) -> Path:
    """The lines as a sorted file."""
    path.write_bytes(b"".join(sorted(lines)))
    return path


@dataclass(frozen=True)
class Step:
    """A graph and what is to become of it by replacing the subjects of an input."""

    graph: str
    before: set[bytes]
    given: set[bytes]

    @property
    def after(self) -> set[bytes]:
        """The lines afterwards."""
        replaced = {line.split(b" ")[0] for line in self.given}
        return {line for line in self.before if line.split(b" ")[0] not in replaced} | self.given

    def change(self, folder: Path) -> StoreChange:
        """The delta, in files."""
        return change(folder, self.before - self.after, self.after - self.before, self.after)


def change(folder: Path, removed: set[bytes], added: set[bytes], after: set[bytes] | None = None) -> StoreChange:
    """A change in files below a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    return StoreChange(
        filed(folder / "removed.nq", removed) if removed else None,
        filed(folder / "added.nq", added) if added else None,
        len(removed),
        len(added),
        None if after is None else filed(folder / "after.nq", after),
    )


def many(graph: str, number: int, name: str = "item") -> list[bytes]:
    """Sorted lines of `number` triples, four a subject; no value that a store spells otherwise."""
    return sorted(
        f"<http://example.org/{name}{i // 4}> <http://example.org/p{i % 4}> "
        f'"{i} and some text"@en <{graph}> .\n'.encode()
        for i in range(number)
    )
