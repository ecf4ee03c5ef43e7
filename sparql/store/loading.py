"""
Adding sorted lines to a pyoxigraph store: in transactions when few, in bulk pieces when many.

One `bulk_load` of a file keeps a million statements a thread in memory: 1.4 GB for 2 M triples, 1.8 GB for 10 M.
Pieces of 16 to 48 MB in as many threads as there are cores take 0.35 and 0.8 GB, and two thirds of the time for 2 M.
Every piece becomes a file in each index, and a flush waits while an index has more than about 20 of them, so pieces
grow with what was loaded: pieces of 16 MB alone made the flush after 10 M triples take 14 to 18 s, of 48 MB 0.6 s.

A file object given to `bulk_load` is read 2 kB at a time, each time under the interpreter lock; pieces are not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import BinaryIO, Final

from pyoxigraph import RdfFormat, Store

from sparql.errors import StoreError

SMALLEST_PIECE: Final = 16 << 20
LARGEST_PIECE: Final = 48 << 20
PIECES: Final = 16
"""A piece is this part of what was loaded before it, within the two limits."""


def insert(store: Store, lines: bytes) -> None:
    """Add the lines in one transaction."""
    store.load(lines, RdfFormat.N_QUADS, lenient=True)


def load_in_bulk(store: Store, graph: str, stream: BinaryIO) -> int:
    """
    Add every line of a stream; returns how many there were.

    It is not atomic: when it raises, some pieces may be in the store.

    Raises:
        StoreError: A line names another graph.
    """
    threads = len(os.sched_getaffinity(0))
    pending: set[Future[None]] = set()
    lines = 0
    with ThreadPoolExecutor(threads, "bulk") as pool:
        for piece in pieces(stream):
            lines += checked(piece, graph)
            if len(pending) > threads:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
            pending.add(pool.submit(_bulk, store, piece))
        for future in pending:
            future.result()
    return lines


def _bulk(store: Store, piece: bytes) -> None:
    store.bulk_load(piece, RdfFormat.N_QUADS, lenient=True)


def pieces(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in pieces of whole lines that fit in memory."""
    loaded = 0
    while piece := stream.read(min(max(loaded // PIECES, SMALLEST_PIECE), LARGEST_PIECE)):
        if not piece.endswith(b"\n"):
            piece += stream.readline()
        loaded += len(piece)
        yield piece


def checked(piece: bytes, graph: str) -> int:
    """
    How many lines these are.

    Raises:
        StoreError: One of them is not in the graph, and would change another provider's.
    """
    lines = piece.count(b"\n")
    inside = piece.count(f" <{graph}> .\n".encode())
    if lines != inside or not piece.endswith(b"\n"):
        raise StoreError(f"{lines - inside or 1} of {lines} lines for <{graph}> name another graph or are cut off.")
    return lines
