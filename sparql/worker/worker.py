"""
A process that answers queries over the current generation, one at a time.

Pyoxigraph cannot end a query or bound its memory, so each query runs in a process that its front can kill. It is
a child of `sparql.worker.forkserver`; front and worker talk by `sparql.worker.frames`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, cast

import pyoxigraph
from pyoxigraph import (
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Store,
    Triple,
)

from sparql.errors import NotAcceptable, QueryMemory, RequestError, SparqlError, StoreError, UnknownGraph
from sparql.protocol.extent import deep_stack, refuse_length, refuse_nesting
from sparql.protocol.results import FORMATS, GRAPHS, SOLUTIONS, ResultFormat
from sparql.protocol.syntax import Grammar, may_be_relative, read_failure, syntax_error
from sparql.store.view import EngineView
from sparql.worker import sandbox
from sparql.worker.counting import RowCounter
from sparql.worker.frames import HEAD, STARTED, FrameKind, QueryJob, failure, frame, read_frames
from sparql.worker.limits import QueryLimits
from sparql.worker.reader import GenerationReader
from sparql.worker.sink import ResultBounds, ResultSink, cutting, limited

LINES: Final = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
"""Graph formats with one statement a line: their triples can be counted in their bytes."""


NAME: Final = "query-worker"
"""What the system's lists of processes show."""
LOWER: Final = signal.SIGUSR1
"""The signal by which the front has the query that runs take the lowest priority."""
LOWEST: Final = 19
"""The nice value of that."""
WARM_UP: Final = "SELECT * { ?s ?p ?o } LIMIT 200"


QueryResult = QuerySolutions | QueryBoolean | QueryTriples | Iterator[Triple]


class Worker:
    """
    Answers the frames of one front.

    Args:
        connection: To the front.
        base_iri: What relative IRIs in queries are resolved against.
        limits: What a query may use.
        reader: May have a generation open already.
    """

    def __init__(self, connection: socket.socket, base_iri: str, limits: QueryLimits, reader: GenerationReader) -> None:
        self._connection = connection
        self._base_iri = base_iri
        self._limits = limits
        self._reader = reader
        self._grammar = Grammar(base_iri, limits.service)
        self._frames = read_frames(connection)
        self._thread = 0
        self._lowered = False
        self._over = False
        self._ready = False

    def serve(self) -> None:
        """
        Answer until the front closes its end.

        Queries run in a thread that the front can have given a lower priority. What is not root cannot raise it
        again, so after such a query a new thread of the main thread's priority goes on.
        """
        signal.signal(LOWER, lambda *_: self._lower())  # First: by default this signal ends the process.
        with deep_stack():
            while not self._over:
                thread = threading.Thread(target=self._serve, name="query")
                thread.start()
                thread.join()

    def _serve(self) -> None:
        self._thread = threading.get_native_id()
        if self._lowered:
            self._lower()
        self._over = True  # Unless this ends in order.
        with contextlib.suppress(ConnectionError):  # The front is gone, and nobody waits for the answer.
            if not self._ready:
                self._get_ready()
            for _, payload in self._frames:
                self._answer(QueryJob.unpack(payload))
                if self._lowered:
                    self._lowered, self._thread = False, 0
                    self._over = False
                    return

    def _get_ready(self) -> None:
        """
        Open the store, answer a query for nobody, and say READY.

        The first answer in a new process takes 2 ms longer: what it writes to is copied from the process that it was
        forked from. Another worker may be done before, so nobody is to wait for that.
        """
        with contextlib.suppress(StoreError):  # A query that comes gets the error.
            self._reader.store()
        connection, self._connection = self._connection, cast("socket.socket", _Nowhere())
        self._answer(QueryJob.unpack(QueryJob(WARM_UP, 0, 0).pack()))
        self._connection = connection
        self._ready = True
        connection.sendall(frame(FrameKind.READY, STARTED.pack(self._reader.number)))

    def _lower(self) -> None:
        """Lower the priority of the thread that queries run in."""
        if sys.platform == "linux":  # Where a thread has a priority of its own.
            self._lowered = True
            if self._thread:
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, self._thread, LOWEST)

    def _answer(self, job: QueryJob) -> None:
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
        self._connection.sendall(failure(FrameKind.FAIL, error))

    def _execute(self, job: QueryJob) -> None:
        store = self._reader.store()
        if job.graph_name is not None:
            self._send_graph(store, job, job.graph_name)
            return
        refuse_nesting(job.text)
        refuse_length(job.text)
        self._grammar.refuse_service(job.text)
        result = self._evaluate(store, job)
        place = _chosen(not isinstance(result, (QuerySolutions, QueryBoolean)), job)
        volatile = self._grammar.is_volatile(job.text)
        if isinstance(result, QueryBoolean):  # No rows to count: a quarter of the time of an ASK would go into that.
            head = HEAD.pack(self._reader.number, place, volatile)
            whole = cast("bytes", result.serialize(format=cast("QueryResultsFormat", FORMATS[place].writer)))
            self._connection.sendall(frame(FrameKind.WHOLE, head + whole))
            return
        sink = self._sink(place, job.head, self._limits.max_rows, volatile)
        try:
            _write(result, sink, FORMATS[place])
        except SyntaxError as error:  # of the answer of an engine
            raise StoreError(f"The engine's answer broke off: {error}.") from error

    def _evaluate(self, store: Store | EngineView, job: QueryJob) -> QueryResult:
        """
        Start the query on the dataset that the request names, else the query, else the setting.

        Source: SPARQL 1.1 Protocol, section 2.1.4. The store's union switch would win over a FROM clause.
        """
        # The parser takes as long for the base as for a whole point lookup.
        base_iri = self._base_iri if may_be_relative(job.text) else None
        if job.default_graphs or job.named_graphs:
            return store.query(
                job.text,
                base_iri=base_iri,
                default_graph=[NamedNode(graph) for graph in job.default_graphs],
                named_graphs=[NamedNode(graph) for graph in job.named_graphs],
            )
        union = self._limits.union_default_graph and not self._grammar.names_dataset(job.text)
        if union and (listed := self._reader.listed) is not None:
            return store.query(job.text, base_iri=base_iri, default_graph=listed)
        return store.query(job.text, base_iri=base_iri, use_default_graph_as_union=union)

    def _send_graph(self, store: Store | EngineView, job: QueryJob, name: str) -> None:
        """
        Send a named graph as it is, however many triples it has.

        Raises:
            UnknownGraph: There is none of that name.

        Source: SPARQL 1.1 Graph Store HTTP Protocol, section 5.2.
        """
        graph, place = NamedNode(name), _chosen(True, job)
        if not store.contains_named_graph(graph):
            raise UnknownGraph(f"There is no graph <{name}> here.")
        triples = (quad.triple for quad in store.quads_for_pattern(None, None, None, graph))
        _write_triples(triples, self._sink(place, job.head, rows=sys.maxsize), FORMATS[place])

    def _sink(self, place: int, head_only: bool, rows: int, volatile: bool = False) -> ResultSink:
        writer = FORMATS[place].writer
        head = HEAD.pack(self._reader.number, place, volatile)
        counted = isinstance(writer, QueryResultsFormat) or writer in LINES
        bounds = ResultBounds(rows, self._limits.max_bytes, head_only)
        return ResultSink(self._connection, head, bounds, RowCounter(writer) if counted else None)


class _Nowhere:
    """Where an answer goes that nobody asked for."""

    def sendall(self, data: bytes) -> None:
        """Forget bytes."""


def _write(result: QuerySolutions | QueryTriples | Iterator[Triple], sink: ResultSink, form: ResultFormat) -> None:
    """Write a result; one of triples that no counter counts in its bytes, or of an engine, triple by triple."""
    if isinstance(result, QuerySolutions) or (isinstance(result, QueryTriples) and sink.counter):
        with cutting(sink):
            result.serialize(cast("IO[bytes]", sink), cast("Any", form.writer))  # `_chosen` saw to it that the two fit.
            sink.end()
    else:
        _write_triples(result, sink, form)


def _write_triples(triples: Iterable[Triple], sink: ResultSink, form: ResultFormat) -> None:
    with cutting(sink):
        within = limited(triples, sink, form.by_line)
        pyoxigraph.serialize(within, cast("IO[bytes]", sink), cast("RdfFormat", form.writer))
        sink.end()


def _chosen(is_graph: bool, job: QueryJob) -> int:
    """The place of the format that fits the kind of result."""
    place = job.graph if is_graph else job.solutions
    if place is None:
        kind = "a CONSTRUCT or DESCRIBE" if is_graph else "a SELECT or ASK"
        known = ", ".join(form.media_type for form in (GRAPHS if is_graph else SOLUTIONS))
        raise NotAcceptable(f"The result of {kind} can be had as {known}; the request accepts none of them.")
    return place


def run(connection: socket.socket, base_iri: str, limits: QueryLimits, reader: GenerationReader) -> None:
    """Be a worker until the front goes; one that may ask other endpoints keeps the network."""
    sandbox.name_process(NAME)
    sandbox.offer_to_oom_killer()
    if not limits.service and not reader.asks_engine():
        sandbox.close_network()
    with contextlib.suppress(ConnectionError):  # The front is gone.
        Worker(connection, base_iri, limits, reader).serve()
