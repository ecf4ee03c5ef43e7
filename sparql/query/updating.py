"""
An update request that writes to one graph: what it is, whether it may be carried out, and carrying it out.

Oxigraph parses all of a request before it does anything. So an operation is parsed without being done by putting one
before it that fails: DROP of a graph that no store has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyoxigraph
from pyoxigraph import NamedNode, Store

from sparql.errors import ForbiddenError, RequestError
from sparql.query.syntax import Failure, Grammar, disguise, place, read_failure, syntax_error
from sparql.query.targets import ALL, Operation, Token, operations

_FAILING: Final = "DROP GRAPH <about:none> ; "
"""An operation that parses and fails."""


@dataclass(frozen=True, slots=True)
class Update:
    """
    A request whose operations all write to the same graph.

    Attributes:
        text: As sent.
        base_iri: What relative IRIs are resolved against.
        graph: IRI of the graph.
        operations: What it is made of, in order.
    """

    text: str
    base_iri: str
    graph: str
    operations: tuple[Operation, ...]


def read_update(text: str, base_iri: str) -> Update:
    """
    The request, if it names one graph to write to. Only names are looked at; `check` looks at the rest.

    Raises:
        RequestError: It writes to several graphs, to none, to one without a name, or is no update request.
        ForbiddenError: It has LOAD.
    """
    first: tuple[str, Token] | None = None
    known: dict[tuple[str, str], str] = {}
    found = operations(text)
    for operation in found:
        declared = _declared(text, operation)
        for target in operation.targets:
            graph = known.get((declared, target.text)) or _resolved(declared, target, base_iri, text)
            known[declared, target.text] = graph
            if first is None:
                first = graph, target
            elif first[0] != graph:
                raise RequestError(
                    f"The update writes to <{first[0]}> (line {_line(text, first[1])}) and to <{graph}> "
                    f"(line {_line(text, target)}); send a request for each graph."
                )
    if first is None:
        raise RequestError("The update writes to no graph: nothing in it is to be inserted or removed.")
    return Update(text, base_iri, first[0], tuple(found))


def check(update: Update) -> None:
    """
    Return if the store's parser takes all operations, and none asks another endpoint.

    Deep nesting may end the process.

    Raises:
        RequestError: One does not parse.
        ForbiddenError: One has SERVICE.
    """
    for operation in update.operations:
        _Grammar(update, operation).check()


def carry_out(update: Update, store: Store) -> None:
    """
    Do the operations in a store, one after the other.

    The graph is there at the beginning, as far as CLEAR and DROP are concerned, and is not if it is empty, as far as
    CREATE is: whether a graph without triples exists is up to the store (SPARQL 1.1 Update, section 3.2).

    Raises:
        RequestError: One fails. The store is left as it is then.
    """
    graph = NamedNode(update.graph)
    for operation in update.operations:
        if operation.kind != "CREATE":
            store.add_graph(graph)
        elif store.contains_named_graph(graph) and not any(store.quads_for_pattern(None, None, None, graph)):
            store.remove_graph(graph)
        declared = _declared(update.text, operation)
        _check_source(update, operation, store)
        try:
            store.update(declared + update.text[operation.start : operation.end], base_iri=update.base_iri)
        except RuntimeError as error:
            at = place(operation.start, update.text, "")
            raise RequestError(
                f"The {operation.kind} on line {at.line} fails: {error}. Nothing was changed."
            ) from error


def _check_source(update: Update, operation: Operation, store: Store) -> None:
    """Return unless a graph is to be copied that is not there: the store would take it for an empty one."""
    if operation.source is None or operation.silent or operation.source.word in ALL:
        return
    source = _resolved(_declared(update.text, operation), operation.source, update.base_iri, update.text)
    if not any(store.quads_for_pattern(None, None, None, NamedNode(source))) and source != update.graph:
        line = _line(update.text, operation.source)
        raise RequestError(
            f"The {operation.kind} on line {line} fails: there is no graph <{source}>. Nothing was changed."
        )


class _Grammar(Grammar):
    """The store's parser for updates; the text of an operation has its declarations and a failing one before it."""

    def __init__(self, update: Update, operation: Operation) -> None:
        super().__init__(update.base_iri)
        self._base = update.base_iri
        self._whole = update.text
        self._start = operation.start
        before = _declared(update.text, operation) + _FAILING
        self._before = len(before)
        self._text = before + update.text[operation.start : operation.end]

    def check(self) -> None:
        """
        Return if the operation parses and has no SERVICE.

        Raises:
            RequestError: It does not parse.
            ForbiddenError: It has SERVICE.
        """
        failure = self.failure(self._text)
        if failure is not None:
            raise syntax_error(self._whole, self._placed(failure), "update")
        try:
            self.refuse_service(self._text)
        except ForbiddenError as error:
            found = self.failure(disguise("service", self._text))
            where = f" (line {self._placed(found).line})" if found else ""
            raise ForbiddenError(f"SERVICE is refused in updates{where}: they have no network.") from error

    def failure(self, text: str) -> Failure | None:
        """Where the text stops being an update, or None when it is one."""
        try:
            Store().update(text, base_iri=self._base)
        except SyntaxError as error:
            return read_failure(str(error), text)
        except (RuntimeError, OSError):
            return None
        return None

    def _placed(self, failure: Failure) -> Failure:
        """The same place in the whole request."""
        return place(self._start + max(0, failure.offset - self._before), self._whole, failure.reason)


def _declared(text: str, operation: Operation) -> str:
    """The declarations that hold for an operation."""
    return "".join(f"{text[start:end]} " for start, end in operation.declared)


def _resolved(declared: str, target: Token, base_iri: str, text: str) -> str:
    """The IRI of a graph, by the store's own rules."""
    line = _line(text, target)
    if target.word == "DEFAULT":
        raise RequestError(
            f"The update writes to the default graph (line {line}), and there is none: name a graph by WITH or GRAPH."
        )
    if target.word in ALL:
        raise RequestError(f"The update writes to all graphs (line {line}: {target.text}); name one graph.")
    if target.kind == "variable":
        raise RequestError(f"The update writes to the graph {target.text} (line {line}); name it by its IRI.")
    try:
        found = Store().query(f"{declared} SELECT ({target.text} AS ?graph) {{}}", base_iri=base_iri)
    except SyntaxError as error:
        failure = read_failure(str(error), f"{declared}{target.text}")
        told = failure.reason or "is not an IRI, or its prefix is not declared"
        raise syntax_error(text, place(target.at, text, f"{target.text}: {told}"), "update") from error
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return str(next(found)["graph"].value)


def _line(text: str, token: Token) -> int:
    return text.count("\n", 0, token.at) + 1
