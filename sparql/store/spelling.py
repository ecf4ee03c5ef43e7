"""
How a pyoxigraph store changes the spelling of a literal.

The store keeps numbers, booleans, dates, times and durations as values: `"01"^^xsd:integer` comes back as `"1"`,
`"5"^^xsd:int` as `"5"^^xsd:integer`, `"2020-01-01T00:00:00.0"^^xsd:dateTime` without its fraction, `"1"^^xsd:boolean`
as `"true"`. What it cannot read as a value (`"abc"^^xsd:integer`, `"2020-02-30"^^xsd:date`, numbers past its range) and
everything else comes back as written. Snapshots and deltas keep the provider's spelling; the store folds the spellings
of one value into one triple. So lines of a store compare with lines of a snapshot only after `stored`.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Store, Triple, parse, serialize

from sparql.errors import StoreError

VALUED: Final = b'"^^<http://www.w3.org/2001/XMLSchema#'
"""Part of every line that may come back with another spelling; all else comes back as it is."""
BATCH: Final = 10_000


def stored(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as a store gives them back, in no order; lines that it folds into one may come once or more often."""
    waiting = iter(lines)
    while batch := list(islice(waiting, BATCH)):
        yield from (line for line in batch if VALUED not in line)
        yield from _through_a_store(line for line in batch if VALUED in line)


def _through_a_store(lines: Iterable[bytes]) -> list[bytes]:
    store = Store()
    store.extend(parse(b"".join(lines), RdfFormat.N_QUADS, lenient=True))
    return written(store)


def written(quads: Iterable[Quad]) -> list[bytes]:
    """The quads as canonical lines."""
    text = serialize(quads, format=RdfFormat.N_QUADS)
    assert text is not None  # it is None only where a file to write to was given
    return text.splitlines(keepends=True)


def graph_of(snapshot: Path) -> str | None:
    """The graph of a file's first line, or None when it is empty."""
    with snapshot.open("rb") as stream:
        quad = next(parse(stream.readline(), RdfFormat.N_QUADS, lenient=True), None)
    if quad is None:
        return None
    if not isinstance(quad.graph_name, NamedNode):
        raise StoreError(f"{snapshot} begins with a line that names no graph.")
    return quad.graph_name.value


def subject_of(written: bytes) -> NamedNode | BlankNode | Triple:
    """The subject that is written so in N-Triples."""
    subject: NamedNode | BlankNode | Triple = _triple(written + b" <x:p> <x:o> .").subject
    return subject


def object_of(written: bytes) -> NamedNode | BlankNode | Literal | Triple:
    """The object that is written so in N-Triples."""
    value: NamedNode | BlankNode | Literal | Triple = _triple(b"<x:s> <x:p> " + written + b" .").object
    return value


def _triple(line: bytes) -> Quad:
    triple: Quad = next(parse(line, RdfFormat.N_TRIPLES, lenient=True))
    return triple


def surviving(removed: Path, after: Path) -> Iterator[bytes]:
    """
    The lines of `after` that the store holds as the same triple as a removed line; both files sorted.

    Removing the one spelling takes the other out of the store too, so these are put back.
    """
    if after.stat().st_size == 0:
        return
    with (
        removed.open("rb") as lines,
        after.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as graph,
    ):
        valued = (line for line in lines if VALUED in line)
        while batch := list(islice(valued, BATCH)):
            gone = set(stored(batch))
            for place in dict.fromkeys(_place(line) for line in batch):
                yield from (line for line in _at(graph, place) if VALUED in line and gone & set(stored([line])))


def _place(line: bytes) -> bytes:
    """Subject and predicate with the space after them: what lines that may fold together begin with."""
    subject, predicate, _ = line.split(b" ", 2)
    return subject + b" " + predicate + b" "


def _at(graph: mmap.mmap, place: bytes) -> Iterator[bytes]:
    """The lines that begin with `place`, found by halving."""
    low, high = 0, len(graph)
    while low < high:
        begin = graph.rfind(b"\n", 0, (low + high) // 2) + 1
        end = graph.find(b"\n", begin) + 1
        if graph[begin:end] < place:
            low = end
        else:
            high = begin
    while graph[low : low + len(place)] == place:
        end = graph.find(b"\n", low) + 1
        yield graph[low:end]
        low = end
