"""
The error tree of the query side.

    SparqlError
    ├── RequestError       a query or a request that is not SPARQL 1.1 Protocol     permanent, 400
    ├── ForbiddenError     SERVICE, or an update that may not be done            permanent, 403
    ├── UnknownGraph       a graph that the store does not have                     permanent, 404
    ├── MethodRefused      a method that the endpoint does not have                 permanent, 405
    ├── NotAcceptable      no result format fits                                    permanent, 406
    ├── RequestTimeout     a request body that does not come                        permanent, 408
    ├── Conflict           a change that does not fit the graph                     permanent, 409
    ├── UnsupportedMedia   a request body of a type that is not read                permanent, 415
    ├── UnreadableChange   a change that is damaged, or whose lines are no RDF      permanent, 422
    ├── QueryTimeout       a query past its time limit                              retriable, 503
    ├── QueryMemory        a query past its memory limit                            permanent, 503
    ├── QueryCrash         a query that brought its worker down                     permanent, 500
    ├── TooLarge           a result of too many rows or bytes, or too long a body   permanent, 413
    ├── UpdateNotTaken     an update that the harvesting process did not take       retriable, 503
    ├── UpdateUnanswered   an update that goes on longer than its sender can wait   permanent, 504
    ├── ClientGone         a client that closed its connection                      permanent, 499
    ├── Overloaded         no worker or no processor free in time                   retriable, 429
    └── StoreError         the triple store failed or there is no generation yet    retriable, 503
        ├── StoreTaken     another process writes the store                         retriable, 503
        ├── EngineLost     an engine that gave no answer                            retriable, 503
        └── EngineRefused  an engine that does not take what it was sent            retriable, 503
"""

from __future__ import annotations


class SparqlError(Exception):
    """
    Something the query side could not do.

    Attributes:
        message: One sentence for people.
        status: The HTTP status that says it.
        retriable: Whether the same request may succeed later by itself.
    """

    status = 500
    retriable = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RequestError(SparqlError):
    """A query or a request that is not SPARQL 1.1 Protocol."""

    status = 400


class ForbiddenError(SparqlError):
    """An operation that is not done: SERVICE, an update without the token, or one of a graph that takes none."""

    status = 403


class UnknownGraph(SparqlError):
    """A graph that the store does not have."""

    status = 404


class MethodRefused(SparqlError):
    """A method that the endpoint does not have."""

    status = 405


class NotAcceptable(SparqlError):
    """A request none of whose accepted media types can be written."""

    status = 406


class RequestTimeout(SparqlError):
    """A request whose body does not come."""

    status = 408


class Conflict(SparqlError):
    """A change that does not fit the graph as it is; nothing was applied."""

    status = 409


class UnsupportedMedia(SparqlError):
    """A request body of a type that is not read at its address."""

    status = 415


class UnreadableChange(SparqlError):
    """A change that is damaged, or whose lines are no statements; nothing was applied."""

    status = 422


class QueryTimeout(SparqlError):
    """A query past its time limit."""

    status = 503
    retriable = True


class QueryMemory(SparqlError):
    """A query past its memory limit."""

    status = 503


class QueryCrash(SparqlError):
    """A query that brought its worker down."""

    status = 500


class TooLarge(SparqlError):
    """A result past `query.max_rows` or `query.max_bytes`, or a request body past its limit."""

    status = 413


class UpdateNotTaken(SparqlError):
    """An update that the process with the data directory did not take; it was withdrawn, and nothing was changed."""

    status = 503
    retriable = True


class UpdateUnanswered(SparqlError):
    """An update that goes on, longer than its sender can wait; sent again it might be done twice."""

    status = 504


class ClientGone(SparqlError):
    """A client that closed its connection before it had its answer; nobody reads this."""

    status = 499


class Overloaded(SparqlError):
    """No query worker became free within the waiting time, or there are too many long queries."""

    status = 429
    retriable = True


class StoreError(SparqlError):
    """The triple store failed, or holds no generation yet."""

    status = 503
    retriable = True


class StoreTaken(StoreError):
    """A store that another process writes."""


class EngineLost(StoreError):
    """The engine that is the store gave no answer: whether it did what it was asked is not known."""


class EngineRefused(StoreError):
    """The engine that is the store does not take what it was sent: something in it, or all."""


class DamagedData(SparqlError):
    """A version, change or export whose file is damaged or gone; the operator has to mend it."""

    status = 503
