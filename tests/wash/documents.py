"""Documents for the tests of washing, and what they hold."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import pyoxigraph
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad

from harvest.model import Document
from harvest.wash.parse import parse
from sparql.rdf import Format

BASE = "http://example.org/data/"


def document(folder: Path, data: bytes, name: str = "dump", media_type: str | None = None) -> Document:
    """A document of those bytes, filed under no telling name and published as `name`."""
    path = folder / f"body-{len(list(folder.iterdir()))}"
    path.write_bytes(data)
    return Document(path, BASE + name, media_type)


def parsed(source: Document, ordinal: int = 0) -> tuple[str, set[bytes], set[bytes]]:
    """The format that a document turned out to be in, its ground lines, and those with blank nodes."""
    ground, blank = io.BytesIO(), io.BytesIO()
    found = parse(source, ordinal, ground, blank)
    return found.format, set(ground.getvalue().splitlines(True)), set(blank.getvalue().splitlines(True))


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
