"""Documents for the tests of washing, and what they hold."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad

from harvest.model import Document, Part
from harvest.wash.leaves import Terms, parts
from harvest.wash.text import Sink
from harvest.wash.unpacking.members import Leaf
from harvest.wash.unpacking.volume import Volume
from sparql.rdf import Format

BASE = "http://example.org/data/"


def document(folder: Path, data: bytes, name: str = "dump", media_type: str | None = None) -> Document:
    """A document of those bytes, filed under a name that says nothing, and published as `name`."""
    path = folder / f"body-{len(list(folder.iterdir()))}"
    path.write_bytes(data)
    return Document(path, BASE + name, media_type)


def parts_of(source: Document, ground: Sink, blank: Sink, ordinal: int = 0) -> tuple[Part, ...]:
    """What became of a document, with its lines in the two sinks."""

    @contextmanager
    def outlet(leaf: Leaf) -> Iterator[tuple[Sink, Sink]]:
        yield ground, blank

    with TemporaryDirectory() as scratch:
        return tuple(parts(source, Terms(Volume(), Path(scratch)), outlet, count(ordinal)))


def washed(source: Document, ordinal: int = 0) -> tuple[Part, set[bytes], set[bytes]]:
    """What became of a document that is no archive, its ground lines, and those with blank nodes."""
    ground, blank = io.BytesIO(), io.BytesIO()
    (part,) = parts_of(source, ground, blank, ordinal)
    return part, set(ground.getvalue().splitlines(True)), set(blank.getvalue().splitlines(True))


def parsed(source: Document, ordinal: int = 0) -> tuple[str, set[bytes], set[bytes]]:
    """The format that a good document turned out to be in, its ground lines, and those with blank nodes."""
    part, ground, blank = washed(source, ordinal)
    assert part.whole, part
    assert not part.dropped, part
    assert part.format is not None
    return part.format, ground, blank


def triples(source: Document) -> set[Quad]:
    """The triples of a document as washing reads it, with blank nodes that compare."""
    _, ground, blank = parsed(source)
    return comparable(pyoxigraph.parse(b"".join(ground | blank), format=pyoxigraph.RdfFormat.N_TRIPLES))


def expected(data: bytes, format: Format, base: str) -> set[Quad]:
    """The triples of a document of a known format, with blank nodes that compare."""
    return comparable(pyoxigraph.parse(data, format=format.parser, base_iri=base))


def comparable(quads: Iterable[Quad]) -> set[Quad]:
    """Triples without their graphs, blank nodes renamed to canonical labels."""
    dataset = Dataset(Quad(*quad.triple) for quad in quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return set(dataset)
