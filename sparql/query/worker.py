"""
A process that answers queries over the current generation, one at a time.

Pyoxigraph cannot end a query or bound its memory, so each query runs in a process that its front can kill. It is
a child of `sparql.query.forkserver`; front and worker talk by `sparql.query.frames`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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

from sparql.errors import NotAcceptable, QueryMemory, RequestError, SparqlError, StoreError, TooLarge, UnknownGraph
from sparql.query import sandbox
from sparql.query.counting import RowCounter
from sparql.query.frames import ANSWERS, HEAD, STARTED, Job, Kind, failure, frame, read_frames
from sparql.query.reader import Reader
from sparql.query.results import FORMATS, GRAPHS, SOLUTIONS, ResultFormat
from sparql.query.sink import Bounds, Enough, Sink, limited
from sparql.query.syntax import Grammar, may_be_relative, read_failure, syntax_error

LINES: Final = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
"""Graph formats with one statement a line: their triples can be counted in their bytes."""


NAME: Final = "query-worker"
"""What the system's lists of processes show."""
GIVE_WAY: Final = signal.SIGUSR1
"""The signal by which the front has the query that runs take a lower priority."""
STEP_BACK: Final = signal.SIGUSR2
"""The signal by which it has it take the lowest."""
NICE: Final = {GIVE_WAY: 10, STEP_BACK: 19}
WARM_UP: Final = "SELECT * { ?s ?p ?o } LIMIT 200"
SOON_S: Final = 0.003
"""After a query that took longer, those that were sent behind it are given back."""
CALM_S: Final = 0.005
"""After so long without a query a worker takes it that little is asked."""
REST_S: Final = 0.0001
"""How long it rests then, once the first bytes of a long result have gone out."""


@dataclass(frozen=True, slots=True)
class Options:
    """
    What a worker is told when it starts.

    Attributes:
        root: Folder of the store's generations.
        base_iri: What relative IRIs in queries are resolved against.
        max_rows: Rows or triples of one result.
        max_bytes: Bytes of one result.
        union: Whether the default graph is the union of all graphs.
        service: Endpoints that SERVICE may ask; with one, the worker keeps the network.
    """

    root: str
    base_iri: str
    max_rows: int
    max_bytes: int
    union: bool
    service: Sequence[str] = ()


class Worker:
    """Answers the frames of one front, from a reader that may have a generation open already."""

    def __init__(self, connection: socket.socket, options: Options, reader: Reader) -> None:
        self._connection = connection
        self._options = options
        self._reader = reader
        self._grammar = Grammar(options.base_iri, options.service)
        self._frames = read_frames(connection)
        self._thread = 0
        self._nice = 0
        self._over = False
        self._answered = 0
        self._refused = 0
        self._done = 0.0
        self._calm = False

    def serve(self) -> None:
        """
        Answer until the front closes its end.

        Queries run in a thread that the front can have given a lower priority. What is not root cannot raise it
        again, so after such a query a new thread of the main thread's priority goes on.
        """
        for number in NICE:  # First: by default these signals end the process.
            signal.signal(number, lambda given, _: self._step_back(NICE[signal.Signals(given)]))
        while not self._over:
            thread = threading.Thread(target=self._serve, name="query")
            thread.start()
            thread.join()

    def _serve(self) -> None:
        self._thread = threading.get_native_id()
        if self._nice:
            self._step_back(self._nice)
        self._over = True  # Unless this ends in order.
        with contextlib.suppress(ConnectionError):  # The front is gone, and nobody waits for the answer.
            if not self._answered:
                self._get_ready()
            for _, payload in self._frames:
                self._take(payload)
                if self._nice:
                    self._nice = self._thread = 0
                    self._over = False
                    return

    def _get_ready(self) -> None:
        """
        Open the store, answer a query for nobody, and tell the front.

        The first answer in a new process takes 2 ms longer: what it writes to is copied from the process that it was
        forked from. Another worker may be done before, so nobody is to wait for that.
        """
        with contextlib.suppress(StoreError):  # A query that comes is told.
            self._reader.store()
        connection, self._connection = self._connection, cast("socket.socket", _Nowhere())
        self._answer(Job.unpack(Job(WARM_UP, 0, 0).pack()))
        self._connection = connection
        connection.sendall(frame(Kind.READY, STARTED.pack(self._reader.number, os.getpid())))

    def _step_back(self, nice: int) -> None:
        """Lower the priority of the thread that queries run in."""
        if sys.platform == "linux":  # Where a thread has a priority of its own.
            self._nice = nice
            if self._thread:
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, self._thread, nice)

    def _take(self, payload: bytes) -> None:
        """Answer a query, unless it waited behind one that took its time."""
        self._answered += 1
        if ANSWERS.unpack_from(payload)[0] < self._refused:
            self._connection.sendall(frame(Kind.BACK))
            return
        began = time.monotonic()
        self._calm = began - self._done > CALM_S
        self._answer(Job.unpack(payload[ANSWERS.size :]))
        self._done = time.monotonic()
        if self._done - began > SOON_S:
            self._refused = self._answered

    def _make_room(self) -> None:
        """
        Let the front pass on the first bytes of a long result.

        It is often woken on the processor on which the query runs, and would wait for its turn there. Where much is
        asked it is awake anyway, and this would only take time.
        """
        if self._calm:
            self._step_back(max(self._nice, NICE[GIVE_WAY]))
            time.sleep(REST_S)

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
        self._connection.sendall(failure(Kind.FAIL, error))

    def _execute(self, job: Job) -> None:
        store = self._reader.store()
        if job.graph_name is not None:
            self._send_graph(store, job, job.graph_name)
            return
        self._grammar.refuse_service(job.text)
        result = self._evaluate(store, job)
        place = _chosen(isinstance(result, QueryTriples), job)
        volatile = self._grammar.is_volatile(job.text)
        sink = self._sink(place, job.head, self._options.max_rows, volatile)
        writer = FORMATS[place].writer
        if isinstance(result, QueryTriples) and sink.counter is None:
            _write_triples(result, sink, FORMATS[place])
            return
        with _cutting(sink):
            result.serialize(cast("IO[bytes]", sink), cast("Any", writer))  # `_chosen` saw to it that the two fit.
            sink.end()

    def _evaluate(self, store: Store, job: Job) -> QuerySolutions | QueryBoolean | QueryTriples:
        """
        Start the query on the dataset that the request names, else the query, else the setting.

        Source: SPARQL 1.1 Protocol, section 2.1.4. The store's union switch would win over a FROM clause.
        """
        # The parser takes as long for the base as for a whole point lookup.
        base_iri = self._options.base_iri if may_be_relative(job.text) else None
        if job.default_graphs or job.named_graphs:
            return store.query(
                job.text,
                base_iri=base_iri,
                default_graph=[NamedNode(graph) for graph in job.default_graphs],
                named_graphs=[NamedNode(graph) for graph in job.named_graphs],
            )
        union = self._options.union and not self._grammar.names_dataset(job.text)
        return store.query(job.text, base_iri=base_iri, use_default_graph_as_union=union)

    def _send_graph(self, store: Store, job: Job, name: str) -> None:
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

    def _sink(self, place: int, head_only: bool, rows: int, volatile: bool = False) -> Sink:
        options, writer = self._options, FORMATS[place].writer
        head = HEAD.pack(self._reader.number, place, volatile)
        counted = isinstance(writer, QueryResultsFormat) or writer in LINES
        bounds = Bounds(rows, options.max_bytes, head_only)
        return Sink(self._connection, head, bounds, RowCounter(writer) if counted else None, self._make_room)


class _Nowhere:
    """Where an answer goes that nobody asked for."""

    def sendall(self, data: bytes) -> None:
        """Forget bytes."""


def _write_triples(triples: Iterable[Triple], sink: Sink, form: ResultFormat) -> None:
    with _cutting(sink):
        within = limited(triples, sink, form.by_line)
        pyoxigraph.serialize(within, cast("IO[bytes]", sink), cast("RdfFormat", form.writer))
        sink.end()


@contextlib.contextmanager
def _cutting(sink: Sink) -> Iterator[None]:
    """End a result after the last row that fits, where that can be done, or when no more of it is wanted."""
    try:
        yield
    except Enough:
        sink.enough()
    except TooLarge as error:
        sink.cut(error)


def _chosen(is_graph: bool, job: Job) -> int:
    """The place of the format that fits the kind of result."""
    place = job.graph if is_graph else job.solutions
    if place is None:
        kind = "a CONSTRUCT or DESCRIBE" if is_graph else "a SELECT or ASK"
        known = ", ".join(form.media_type for form in (GRAPHS if is_graph else SOLUTIONS))
        raise NotAcceptable(f"The result of {kind} can be had as {known}; the request accepts none of them.")
    return place


def run(connection: socket.socket, options: Options, reader: Reader) -> None:
    """Be a worker, until the front goes that has the other end of the socket pair."""
    sandbox.name_process(NAME)
    sandbox.offer_to_oom_killer()
    if not options.service:
        sandbox.close_network()
    with contextlib.suppress(ConnectionError):  # The front is gone.
        Worker(connection, options, reader).serve()
