"""
Evaluating an update, in a process of its own: on a copy of what readers see, of which one graph is taken.

The copy is hard links, so that it costs the same however large the store is. Whatever else an update does to it goes
with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import uuid4, uuid5

from pyoxigraph import NamedNode, RdfFormat, Store

from harvest.wash.sorting import Sorting
from sparql.errors import RequestError, SparqlError, StoreError
from sparql.query.sandbox import close_network
from sparql.query.updating import Update, carry_out, check
from sparql.rdf import GENID

LINES: Final = 10_000
"""Lines that are sorted at a time."""


def evaluated(update: Update, generation: Path, room: Path, memory: int) -> Path | SparqlError:
    """
    A file in `room` with the sorted N-Triples that the graph has after the update, or why it is refused.

    Blank nodes get Skolem IRIs that never were before: INSERT makes new ones, and those of two updates are different
    even where washing, which knows a node by what is around it, would take them for the same.

    Args:
        update: The request.
        generation: What it works on; somebody must hold it.
        room: A temporary folder on the same disk.
        memory: Bytes that sorting aims to stay under.
    """
    close_network()
    target = room / "graph.nt"
    try:
        check(update)
        copy = room / "copy"
        Store.read_only(str(generation)).backup(str(copy))
        store = Store(str(copy))
        carry_out(update, store)
        raw = room / "raw.nt"
        store.dump(str(raw), RdfFormat.N_TRIPLES, from_graph=NamedNode(update.graph))
        _sort(_skolemised(raw, update.graph), target, room, memory)
    except SparqlError as error:
        return error
    except RuntimeError as error:
        return StoreError(f"The update could not be carried out: {error}.")
    return target


def _sort(lines: Iterable[bytes], target: Path, room: Path, memory: int) -> None:
    """Write the lines in order, so that the same graph is the same bytes."""
    sorting = Sorting(room, memory)
    waiting = iter(lines)
    try:
        while batch := list(islice(waiting, LINES)):
            sorting.write(b"".join(batch))
        with target.open("wb") as out:
            for chunk in sorting.chunks():
                out.write(chunk)
    finally:
        sorting.close()


def _skolemised(source: Path, graph: str) -> Iterator[bytes]:
    """The lines with an IRI in place of every blank node."""
    prefix, run = b"<" + (graph + GENID).encode(), uuid4()

    def iri(label: bytes) -> bytes:
        return prefix + uuid5(run, label.decode()).hex.encode() + b">"

    with source.open("rb") as lines:
        for line in lines:
            if b"_:" in line or b"<<" in line:
                subject, predicate, object = line.split(b" ", 2)
                if object.startswith(b"<<"):
                    raise RequestError(
                        "The update makes a triple term, as RDF 1.2 has them; no graph here keeps those."
                    )
                if subject.startswith(b"_:"):
                    subject = iri(subject)
                if object.startswith(b"_:"):
                    object = iri(object[: -len(b" .\n")]) + b" .\n"
                line = b" ".join((subject, predicate, object))
            yield line
