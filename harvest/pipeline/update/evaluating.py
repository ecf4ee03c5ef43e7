"""
Evaluating an update, in a process of its own: on a copy of what readers see, which is compared with it afterwards.

The copy is hard links, so that it costs the same however large the store is. Whatever else an update does to it goes
with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Final
from uuid import uuid4, uuid5

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, Store

from harvest.wash.sorting import Sorting
from sparql.errors import RequestError, SparqlError, StoreError
from sparql.protocol.extent import deep
from sparql.protocol.update import MissingGraph, Update, carry_out, check, is_empty
from sparql.rdf import GENID
from sparql.worker.sandbox import close_network

LINES: Final = 10_000
"""Lines that are sorted at a time."""

DEFAULT: Final = ""
"""Stands for the default graph where the others have IRIs."""


@dataclass(frozen=True, slots=True)
class Effect:
    """
    What an update did to the copy.

    Attributes:
        changed: The graphs that are other than before, in order; `DEFAULT` first.
        missing: The graph that is not there, where an operation failed for that.
        lines: The sorted N-Triples of the changed graph; None unless it is a single one that updates may write.
    """

    changed: tuple[str, ...] = ()
    missing: str | None = None
    lines: Path | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """
    What is to be evaluated.

    Attributes:
        update: The request.
        graphs: Graphs that updates may write.
        generation: The store that it works on; somebody must hold it.
        room: A temporary folder on the same disk.
        memory: Bytes that sorting aims to stay under.
    """

    update: Update
    graphs: frozenset[str]
    generation: Path
    room: Path
    memory: int


def evaluated(evaluation: Evaluation) -> Effect | SparqlError:
    """
    What an update did, or why it is refused.

    Blank nodes get Skolem IRIs that never were before: INSERT makes new ones, and those of two updates are different
    even where washing, which knows a node by what is around it, would take them for the same.
    """
    close_network()
    return deep(partial(_evaluated, evaluation))


def _evaluated(evaluation: Evaluation) -> Effect | SparqlError:
    update, room = evaluation.update, evaluation.room
    try:
        check(update)
        before = Store.read_only(str(evaluation.generation))
        before.backup(str(room / "copy"))
        after = Store(str(room / "copy"))
        carry_out(update, after, evaluation.graphs)
        changed = tuple(changed_graphs(before, after, update))
        if len(changed) != 1 or changed[0] not in evaluation.graphs:
            return Effect(changed)
        return Effect(changed, None, _lines(after, changed[0], evaluation))
    except MissingGraph as error:
        return Effect(missing=error.graph)
    except SparqlError as error:
        return error
    except RuntimeError as error:
        return StoreError(f"The update could not be carried out: {error}.")


def changed_graphs(before: Store, after: Store, update: Update) -> Iterator[str]:
    """
    The graphs of which an update changed triples.

    A graph that its text does not name as one to be written is only asked whether it is empty: it may be one of those
    that CLEAR ALL emptied.
    """
    if _differs(before, after, DefaultGraph()):
        yield DEFAULT
    named = {graph.value for store in (before, after) for graph in store.named_graphs()}
    for graph in sorted(named):
        is_other = is_empty(before, graph) != is_empty(after, graph)
        if is_other or (update.may_write(graph) and _differs(before, after, NamedNode(graph))):
            yield graph


def _differs(before: Store, after: Store, graph: NamedNode | DefaultGraph) -> bool:
    """Whether a graph is not the same in two stores, which keep equal quads in equal order."""
    if _count(before, graph) != _count(after, graph):  # eight times as quick as to compare
        return True
    one, other = (store.quads_for_pattern(None, None, None, graph) for store in (before, after))
    return any(old != new for old, new in zip_longest(one, other))


def _count(store: Store, graph: NamedNode | DefaultGraph) -> int:
    pattern = "?s ?p ?o" if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{ ?s ?p ?o }}"
    found = store.query(f"SELECT (COUNT(*) AS ?count) {{ {pattern} }}")
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return int(next(found)["count"].value)


def _lines(store: Store, graph: str, evaluation: Evaluation) -> Path:
    """The file with the sorted lines of a graph."""
    raw, target = evaluation.room / "raw.nt", evaluation.room / "graph.nt"
    store.dump(str(raw), RdfFormat.N_TRIPLES, from_graph=NamedNode(graph))
    _sort(_skolemised(raw, graph), target, evaluation.room, evaluation.memory)
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
