"""Texts for the tests of the structured formats, and what comes out of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad, RdfFormat

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.text import Sink, Text

BASE = "http://example.org/data/dump"

Transcribe = Callable[[Text, Sink, Problems], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a text: its lines, and its problems."""

    lines: tuple[bytes, ...]
    problems: Problems

    @property
    def kinds(self) -> dict[str, int]:
        """How many problems of each kind there are."""
        return dict(self.problems.counts)

    def the(self, kind: str) -> Problem:
        """The only problem of that kind."""
        (found,) = (problem for problem in self.problems.first if problem.kind == kind)
        return found

    def triples(self) -> set[Quad]:
        """Its triples, with blank nodes that compare."""
        return comparable(pyoxigraph.parse(b"".join(self.lines), format=RdfFormat.N_TRIPLES))


def comparable(quads: Iterable[Quad]) -> set[Quad]:
    """Triples without their graphs, blank nodes renamed to canonical labels."""
    dataset = Dataset(Quad(*quad.triple) for quad in quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return set(dataset)


def text_of(data: bytes, base: str = BASE, contexts: Mapping[str, Path | None] | None = None) -> Text:
    """A text of those bytes."""
    return Text(base, base, base, len(data), lambda: closing(io.BytesIO(data)), contexts or {})


def damaged(data: bytes) -> Text:
    """A text that breaks off after those bytes, as damaged gzip does."""
    return Text(BASE, BASE, BASE, len(data), lambda: closing(_Damaged(data)))


class _Damaged(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        if data := super().read(size):
            return data
        raise WashError(f"{BASE} is damaged or cut off, says gzip", url=BASE)


def outcome(transcribe: Transcribe, text: Text | bytes, base: str = BASE) -> Outcome:
    """What a text gives: every line of it is whole and canonical."""
    sink, problems = io.BytesIO(), Problems()
    transcribe(text_of(text, base) if isinstance(text, bytes) else text, sink, problems)
    lines = tuple(sink.getvalue().splitlines(True))
    assert sorted(lines) == sorted(_canonical(lines))
    return Outcome(lines, problems)


def _canonical(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as pyoxigraph writes them."""
    quads = pyoxigraph.parse(b"".join(lines), format=RdfFormat.N_TRIPLES)
    written = pyoxigraph.serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
    assert written is not None
    yield from written.splitlines(True)
