"""
A process that answers queries over the current generation, one at a time.

Pyoxigraph cannot end a query or bound its memory, so each query runs in a process that its front can kill. The front
starts it as `python -m sparql.query.worker` with `Options` as JSON; they talk by `sparql.query.frames`.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

import pyoxigraph
from pyoxigraph import NamedNode, QueryBoolean, QuerySolutions, QueryTriples, RdfFormat, Store

from sparql.errors import NotAcceptable, QueryMemory, RequestError, SparqlError, StoreError
from sparql.query import sandbox
from sparql.query.counting import RowCounter
from sparql.query.frames import HEAD, Job, Kind, frame, read_frames
from sparql.query.reader import Reader
from sparql.query.results import FORMATS, GRAPHS, SOLUTIONS
from sparql.query.sink import Sink, limited
from sparql.query.syntax import Grammar, read_failure, syntax_error

LINES: Final = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
"""Graph formats with one statement a line: their triples can be counted in their bytes."""


@dataclass(frozen=True, slots=True)
class Options:
    """
    What a worker is told when it starts.

    Attributes:
        descriptor: File descriptor of its end of the socket pair.
        parent: Process id of the front.
        root: Folder of the store's generations.
        base_iri: What relative IRIs in queries are resolved against.
        max_rows: Rows or triples of one result.
        union: Whether the default graph is the union of all graphs.
    """

    descriptor: int
    parent: int
    root: str
    base_iri: str
    max_rows: int
    union: bool


class Worker:
    """Answers the frames of one front."""

    def __init__(self, connection: socket.socket, options: Options) -> None:
        self._connection = connection
        self._options = options
        self._reader = Reader(Path(options.root))
        self._grammar = Grammar(options.base_iri)

    def serve(self) -> None:
        """Answer until the front closes its end."""
        self._refresh()
        for kind, payload in read_frames(self._connection):
            if kind == Kind.QUERY:
                self._answer(Job.unpack(payload))
            else:
                self._refresh()

    def _refresh(self) -> None:
        with contextlib.suppress(StoreError):  # A query that comes is told.
            self._reader.store()
        self._connection.sendall(frame(Kind.READY, HEAD.pack(self._reader.number, 0)))

    def _answer(self, job: Job) -> None:
        try:
            self._execute(job)
        except ConnectionError:
            raise
        except SyntaxError as error:
            self._fail(syntax_error(job.text, read_failure(str(error), job.text)))
        except MemoryError:
            self._fail(QueryMemory("The query ran out of memory."))
        except OSError as error:
            self._fail(StoreError(f"The store failed: {error}."))
        except (RuntimeError, ValueError) as error:
            self._fail(RequestError(f"The query cannot be answered: {error}."))
        except SparqlError as error:
            self._fail(error)

    def _fail(self, error: SparqlError) -> None:
        payload = f"{type(error).__name__}\0{error.message}".encode(errors="replace")
        self._connection.sendall(frame(Kind.FAIL, payload))

    def _execute(self, job: Job) -> None:
        store = self._reader.store()
        self._grammar.refuse_service(job.text)
        result = self._evaluate(store, job)
        self._write(result, _chosen(result, job))

    def _evaluate(self, store: Store, job: Job) -> QuerySolutions | QueryBoolean | QueryTriples:
        """
        Start the query on the dataset that the request names, else the query, else the setting.

        Source: SPARQL 1.1 Protocol, section 2.1.4. The store's union switch would win over a FROM clause.
        """
        base_iri = self._options.base_iri
        if job.default_graphs or job.named_graphs:
            return store.query(
                job.text,
                base_iri=base_iri,
                default_graph=[NamedNode(graph) for graph in job.default_graphs],
                named_graphs=[NamedNode(graph) for graph in job.named_graphs],
            )
        union = self._options.union and not self._grammar.names_dataset(job.text)
        return store.query(job.text, base_iri=base_iri, use_default_graph_as_union=union)

    def _write(self, result: QuerySolutions | QueryBoolean | QueryTriples, place: int) -> None:
        writer, max_rows = FORMATS[place].writer, self._options.max_rows
        head = HEAD.pack(self._reader.number, place)
        if isinstance(result, QueryTriples) and isinstance(writer, RdfFormat) and writer not in LINES:
            sink = Sink(self._connection, head, max_rows, None)
            pyoxigraph.serialize(limited(result, max_rows), cast("IO[bytes]", sink), writer)
        else:
            sink = Sink(self._connection, head, max_rows, RowCounter(writer))
            result.serialize(cast("IO[bytes]", sink), cast("Any", writer))  # `_chosen` saw to it that the two fit.
        sink.end()


def _chosen(result: QuerySolutions | QueryBoolean | QueryTriples, job: Job) -> int:
    """The place of the format that fits the kind of result."""
    is_graph = isinstance(result, QueryTriples)
    place = job.graph if is_graph else job.solutions
    if place is None:
        kind = "a CONSTRUCT or DESCRIBE" if is_graph else "a SELECT or ASK"
        known = ", ".join(form.media_type for form in (GRAPHS if is_graph else SOLUTIONS))
        raise NotAcceptable(f"The result of {kind} can be had as {known}; the request accepts none of them.")
    return place


def main(argument: str) -> None:
    """Run a worker with the options in a JSON text, until its front goes."""
    options = Options(**json.loads(argument))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sandbox.die_with_parent(options.parent)
    sandbox.offer_to_oom_killer()
    connection = socket.socket(fileno=options.descriptor)
    sandbox.close_network()
    try:
        Worker(connection, options).serve()
    except ConnectionError:
        return  # The front is gone, and nobody waits for the answer.


if __name__ == "__main__":
    main(sys.argv[1])
