"""
A SPARQL 1.1 engine over HTTP: what is asked of it, and what it is sent.

Source: SPARQL 1.1 Protocol; SPARQL 1.1 Graph Store HTTP Protocol.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from itertools import count
from typing import IO, Any, Final, cast
from urllib.error import HTTPError

import pyoxigraph
import requests
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth
from SPARQLWrapper import BASIC, DIGEST, INSERT, POST, POSTDIRECTLY, SELECT, URLENCODED

from sparql.errors import EngineLost, EngineRefused, RequestError, StoreError
from sparql.store.address import Dialect, EngineAddress
from sparql.wire import EndpointRequest

SOLUTIONS: Final = "application/sparql-results+json"
TRIPLES: Final = "application/n-triples"
SILENT_S: Final = 600
"""Seconds without a byte after which an engine is taken for gone: it may think for long about a large change."""

_EXCERPT: Final = 300
_NETWORK: Final = (HTTPException, OSError)

STATEMENTS: Final = {
    Dialect.OXIGRAPH: 50_000,
    Dialect.FUSEKI: 200_000,
    Dialect.VIRTUOSO: 1_000,
    Dialect.RDF4J: 50_000,
    Dialect.OTHER: 5_000,
}
"""Statements of one request that an engine takes as one transaction, with room to what it was seen to refuse."""

READ_AT_ONCE: Final = {Dialect.VIRTUOSO: 500_000}
"""Triples that are asked for at once: a CONSTRUCT of more than a million is an error, a SELECT of more is cut there."""

_KNOWN: Final = "SELECT ?g { GRAPH ?g { } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }"
_COUNTED: Final = "SELECT ?g { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"
_GRAPHS: Final = {Dialect.OXIGRAPH: _KNOWN, Dialect.FUSEKI: _KNOWN}
"""Oxigraph and Fuseki keep a list of their graphs; Virtuoso groups in milliseconds, and took seconds for DISTINCT."""


class Engine:
    """
    An engine that is asked and written.

    Attributes:
        address: Where it is, with its dialect.
    """

    def __init__(self, address: EngineAddress) -> None:
        self.address = address
        self._session = requests.Session()
        self._session.trust_env = False

    def select(self, text: str, parameters: Iterable[tuple[str, str]] = ()) -> QuerySolutions:
        """
        The result of a SELECT, read as it is taken.

        Raises:
            EngineLost: There was no answer.
            RequestError: The engine refused the query, and how.
            StoreError: Something else went wrong with it.
        """
        return self._rows(self._result(self._ask(text, SOLUTIONS, parameters)))

    def ask(self, text: str, parameters: Iterable[tuple[str, str]] = ()) -> QueryBoolean:
        """The result of an ASK. Raises what `select` does."""
        found = self._result(self._ask(text, SOLUTIONS, parameters))
        if isinstance(found, QuerySolutions):  # Virtuoso: a row with 1 where it is true, none where it is not
            answer = b'{"head":{},"boolean":%s}' % (b"true" if next(found, None) else b"false")
            found = pyoxigraph.parse_query_results(answer, QueryResultsFormat.JSON)
        assert isinstance(found, QueryBoolean)
        return found

    def _result(self, answer: IO[bytes] | bytes) -> QuerySolutions | QueryBoolean:
        try:
            found = pyoxigraph.parse_query_results(answer, QueryResultsFormat.JSON)
        except (SyntaxError, ValueError) as error:
            raise StoreError(f"{self.address.query} sent a result that cannot be read: {error}.") from error
        assert isinstance(found, (QuerySolutions, QueryBoolean))
        return found

    def _rows(self, found: QuerySolutions | QueryBoolean) -> QuerySolutions:
        if isinstance(found, QuerySolutions):
            return found
        raise StoreError(f"{self.address.query} answered a SELECT with a boolean.")

    def construct(self, text: str, parameters: Iterable[tuple[str, str]] = ()) -> Iterator[pyoxigraph.Triple]:
        """The triples of a CONSTRUCT or a DESCRIBE, read as they are taken. Raises what `select` does."""
        stream = self._ask(text, TRIPLES, parameters)
        for quad in pyoxigraph.parse(stream, RdfFormat.N_TRIPLES, lenient=True):
            yield quad.triple

    def triples(self, graph: str) -> Iterator[pyoxigraph.Triple]:
        """All triples of a graph, in no order, read as they are taken. Raises what `select` does."""
        pattern = f"{{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
        if (part := READ_AT_ONCE.get(self.address.dialect)) is None:
            yield from self.construct(f"CONSTRUCT {{ ?s ?p ?o }} WHERE {pattern}")
            return
        for offset in count(0, part):
            rows = f"SELECT * {pattern} OFFSET {offset} LIMIT {part}"
            triples = self.construct(f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {rows} }}")
            if (first := next(triples, None)) is None:
                return
            yield first
            yield from triples

    def update(self, text: str) -> None:
        """
        Have an update done, as one request.

        Raises:
            EngineLost: There was no answer, and it may have been done.
            EngineRefused: What it says was refused, and none of it was done.
            StoreError: Something else went wrong.
        """
        request = self._request(self.address.update, text, INSERT)
        request.setRequestMethod(URLENCODED if self.address.dialect is Dialect.VIRTUOSO else POSTDIRECTLY)
        if self.address.dialect is not Dialect.VIRTUOSO:  # RDF4J reads what does not say so as ISO 8859-1
            request.addCustomHttpHeader("Content-Type", "application/sparql-update; charset=utf-8")
        try:
            with request.response() as answer:
                answer.read()
        except HTTPError as error:
            raise _not_done(error.code, _refused(self.address.update, error).message) from error
        except _NETWORK as error:
            raise _lost(self.address.update, error) from error

    def number(self, query: str) -> int:
        """The number that a query gives as ?n in its first row; 0 without one. Raises what `select` does."""
        row = next(self.select(query), None)
        return 0 if row is None else int(row["n"].value)

    def graphs(self) -> list[str]:
        """The graphs that hold a triple, somebody else's included, sorted. Raises what `select` does."""
        if self.address.dialect is Dialect.RDF4J:
            names = (row["contextID"] for row in self._contexts())
        else:
            names = (row["g"] for row in self.select(_GRAPHS.get(self.address.dialect, _COUNTED)))
        return sorted(name.value for name in names if isinstance(name, pyoxigraph.NamedNode))

    def _contexts(self) -> QuerySolutions:
        """RDF4J's list of graphs, in one column. Source: RDF4J REST API, "List contexts"."""
        url = f"{self.address.query}/contexts"
        try:
            answer = self._session.get(url, headers={"Accept": SOLUTIONS}, auth=self._auth(), timeout=SILENT_S)
        except requests.RequestException as error:
            raise _lost(url, error) from error
        if not answer.ok:
            raise StoreError(f"{url} answered HTTP {answer.status_code}: {_words(answer.text)}")
        return self._rows(self._result(answer.content))

    def put(self, graph: str, triples: Iterable[bytes]) -> None:
        """Make a graph these lines of N-Triples, by the Graph Store HTTP Protocol. Raises what `update` does."""
        self._store("PUT", graph, _NotEmpty(triples))

    def post(self, graph: str, triples: bytes) -> None:
        """Add lines of N-Triples to a graph; of what is refused some may be there. Raises what `update` does."""
        self._store("POST", graph, triples)

    def _store(self, method: str, graph: str, body: Iterable[bytes] | bytes) -> None:
        url = self.address.graph_store
        try:
            answer = self._session.request(
                method,
                url,
                params={"graph": graph},
                data=body,
                headers={"Content-Type": TRIPLES},
                auth=self._auth(),
                timeout=SILENT_S,  # that of connecting holds for sending, too
            )
        except requests.RequestException as error:
            raise _lost(url, error) from error
        if not answer.ok:
            status, words = answer.status_code, _words(answer.text) or answer.reason
            raise _not_done(status, _answered(url, status, words))

    def identify(self) -> Dialect:
        """
        Which engine this is: what the address says, or what its answer to the shortest query does.

        Raises:
            StoreError: It does not answer, or with an error.
        """
        if self.address.dialect is not Dialect.AUTO:
            self.ask("ASK {}")
            return self.address.dialect
        request = self._request(self.address.query, "ASK {}", SELECT)
        request.addCustomHttpHeader("Accept", SOLUTIONS)
        try:
            with request.response() as answer:
                said = f"{answer.headers.get('Server', '')} {' '.join(answer.headers)}".lower()
        except HTTPError as error:
            raise _refused(self.address.query, error) from error
        except _NETWORK as error:
            raise _lost(self.address.query, error) from error
        for dialect in (Dialect.OXIGRAPH, Dialect.FUSEKI, Dialect.VIRTUOSO):
            if dialect.value in said:
                return dialect
        # Its server has no name of its own in its answers; its addresses are those of the RDF4J REST API.
        return Dialect.RDF4J if "/repositories/" in self.address.query else Dialect.OTHER

    def _ask(self, text: str, accept: str, parameters: Iterable[tuple[str, str]]) -> IO[bytes]:
        request = self._request(self.address.query, text, SELECT)
        request.addCustomHttpHeader("Accept", accept)
        for name, value in parameters:
            request.addParameter(name, value)
        try:
            return cast("IO[bytes]", request.response())
        except HTTPError as error:
            raise _refused(self.address.query, error) from error
        except _NETWORK as error:
            raise _lost(self.address.query, error) from error

    def _request(self, url: str, text: str, kind: str) -> EndpointRequest:
        request = EndpointRequest(url, agent="sparql-harvest")
        # `setQuery` would search megabytes for the first word that looks like a kind.
        request.queryString, request.queryType = text, kind
        request.setMethod(POST)
        request.setOnlyConneg(True)
        request.setTimeout(SILENT_S)
        if self.address.user:
            request.setHTTPAuth(DIGEST if self.address.scheme == "digest" else BASIC)
            request.setCredentials(self.address.user, self._password())
        return request

    def _auth(self) -> AuthBase | None:
        if not self.address.user:
            return None
        kind = HTTPDigestAuth if self.address.scheme == "digest" else HTTPBasicAuth
        return cast("AuthBase", kind(self.address.user, self._password()))

    def _password(self) -> str:
        return os.environ.get(self.address.password, "") if self.address.password else ""


class _NotEmpty:
    """A body that is sent in chunks; requests sends an empty list without a body, whatever its type."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[bytes]:
        part: list[bytes] = []
        size = 0
        for line in self._lines:
            part.append(line)
            size += len(line)
            if size >= 1 << 16:
                yield b"".join(part)
                part, size = [], 0
        yield b"".join(part) or b"\n"


def _refused(url: str, error: HTTPError) -> StoreError | RequestError:
    try:
        said = error.read(1 << 16).decode("utf-8", "replace")
    except _NETWORK:
        said = ""
    message = _answered(url, error.code, _words(said) or error.reason)
    return RequestError(message) if error.code == 400 else StoreError(message)


def _answered(url: str, status: int, words: str) -> str:
    advice = "; look at store.user and the variable that store.password names" if status in (401, 403) else ""
    return f"{url} answered HTTP {status}: {words}{advice}"


def _not_done(status: int, message: str) -> StoreError:
    """What is wrong may be with what was sent, or with the engine."""
    return EngineRefused(message) if status in (400, 413, 422, 500) else StoreError(message)


def _lost(url: str, error: Exception) -> EngineLost:
    reason: Any = getattr(error, "reason", None) or error
    words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return EngineLost(f"{url} gave no answer: {words}")


def _words(text: str) -> str:
    words = " ".join(text.split())
    return words[:_EXCERPT].rstrip() + (" ..." if len(words) > _EXCERPT else "")
