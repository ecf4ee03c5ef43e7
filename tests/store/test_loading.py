"""Cutting a stream into pieces."""

from __future__ import annotations

import io

import pytest

from sparql.errors import StoreError
from sparql.store import loading
from tests.store.graphs import many

GRAPH = "http://example.org/graph/loading"


def test_pieces_end_with_a_line_and_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is never cut, and the number of pieces stays small for a long stream."""
    monkeypatch.setattr(loading, "SMALLEST_PIECE", 1_000)
    monkeypatch.setattr(loading, "LARGEST_PIECE", 4_000)
    text = b"".join(many(GRAPH, 2_000))
    pieces = list(loading.pieces(io.BytesIO(text)))
    assert b"".join(pieces) == text
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert 1_000 <= len(pieces[0]) < 1_200
    assert 4_000 <= len(pieces[-2]) < 4_200


def test_checked_counts_the_lines_of_the_graph() -> None:
    """The count is what `load` returns."""
    assert loading.checked(b"".join(many(GRAPH, 17)), GRAPH) == 17


@pytest.mark.parametrize(
    "piece",
    [
        b"<x:s> <x:p> <x:o> <x:other> .\n",
        b"<x:s> <x:p> <x:o> .\n",
        f"<x:s> <x:p> <x:o> <{GRAPH}> .".encode(),
        f'<x:s> <x:p> "<{GRAPH}> ." <x:other> .\n'.encode(),
        f"<x:s> <x:p> <x:o> <{GRAPH}/x> .\n".encode(),
    ],
)
def test_checked_refuses_what_is_not_of_the_graph(piece: bytes) -> None:
    """Another graph, the default graph, a line without its end, and a literal that looks like the graph."""
    with pytest.raises(StoreError, match="another graph or are cut off"):
        loading.checked(piece, GRAPH)
