"""JSON-LD read by PyLD, which knows remote contexts and keeps the whole document in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from pyld import jsonld  # type: ignore[import-untyped]  # it ships no types
from pyld.identifier_issuer import IdentifierIssuer  # type: ignore[import-untyped]  # it ships no types
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from harvest.errors import ContextWanted
from harvest.wash.structured.contexts import Contexts, NoContext
from harvest.wash.structured.terms import NoTerm, Triples, blank, iri, literal

BAD_NODES: Final = 100
"""Nodes that are no JSON-LD after which a document is given up."""

Dataset = dict[str, list[dict[str, Any]]]

_FAULTS: Final = (jsonld.JsonLdError, ValueError, TypeError, AttributeError, LookupError, OverflowError, NoContext)
"""What PyLD raises for what is no JSON-LD: its own error by intention, the others where it trips."""


@dataclass(frozen=True, slots=True)
class Setting:
    """
    What a document is read with.

    Attributes:
        base: Its base IRI.
        contexts: The remote contexts that are there.
        mark: What stands before its blank node labels, so that no other document has them.
    """

    base: str
    contexts: Contexts
    mark: str = ""


class NotExpanded(Exception):
    """
    A document of which nothing can be said.

    Attributes:
        kind: The kind of problem.
        message: One sentence.
        lost: Triples that it would have given, about.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.lost = 1


class Expansion:
    """A document that is read by PyLD, at once or in parts, which share their blank nodes."""

    def __init__(self, setting: Setting, triples: Triples, refused: Callable[[NoTerm], None]) -> None:
        self._expander = _Expander(setting)
        self._mark = setting.mark
        self._triples = triples
        self._refused = refused

    def add(self, document: object) -> None:
        """
        Write the triples of a parsed JSON document, whatever graph they stand in.

        A node of its graph that is no JSON-LD is refused, and costs no other one.

        Raises:
            ContextWanted: It uses a remote context that nobody tried to fetch yet.
            NotExpanded: It is no JSON-LD, or one of its contexts cannot be had. Nothing of it was written.
        """
        before = len(self._expander.faults)
        try:
            datasets = [self._expander.expand(document)]
        except NotExpanded as error:
            error.lost = values(document)
            rows = _nodes(document) if error.kind == "syntax" else None
            if rows is None:
                raise
            datasets = self._expander.expand_nodes(*rows)
            for fault in self._expander.faults[before:]:
                self._refused(NoTerm("syntax", fault.message, fault.lost))
        for dataset in datasets:
            for graph in dataset.values():
                for statement in graph:
                    self._triples.add(partial(_triple, statement, self._mark))


class _Expander:
    """PyLD with the contexts of one document, and one set of blank node labels."""

    def __init__(self, setting: Setting) -> None:
        self.faults: list[NotExpanded] = []
        self._loader = setting.contexts
        self._options = {
            "base": setting.base,
            "documentLoader": self._loader,
            "identifierIssuer": IdentifierIssuer("_:b"),
        }

    def expand(self, document: object) -> Dataset:
        """
        What a document says.

        Raises:
            ContextWanted: It uses a remote context that nobody tried to fetch yet.
            NotExpanded: It is no JSON-LD, or one of its contexts cannot be had.
        """
        try:
            with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
                options = {**self._options, "contextResolver": self._loader.resolver()}
                return cast(Dataset, jsonld.to_rdf(document, options))
        except RecursionError as error:
            raise NotExpanded("too-large", "it is nested too deeply") from error
        except (*_FAULTS, ContextWanted) as error:
            fault = self._loader.fault
            if isinstance(fault, ContextWanted):
                raise fault from None
            if fault is not None:
                raise NotExpanded("context", str(fault)) from error
            raise NotExpanded(*_said(error)) from error

    def expand_nodes(self, frame: Mapping[str, object] | None, nodes: Sequence[object]) -> list[Dataset]:
        """
        What the nodes of a document say that is no JSON-LD as a whole: halved until the bad ones are alone.

        Raises:
            NotExpanded: All of them are bad, or more than `BAD_NODES`, or something else is wrong.
        """
        datasets: list[Dataset] = []
        waiting, before = [nodes], len(self.faults)
        while waiting:
            row = waiting.pop()
            try:
                datasets.append(self.expand(row if frame is None else {**frame, "@graph": row}))
            except NotExpanded as error:
                if error.kind != "syntax":
                    raise
                if len(row) == 1:
                    error.lost = values(row[0])
                    self.faults.append(error)
                    if len(self.faults) - before == len(nodes) or len(self.faults) >= BAD_NODES:
                        raise
                else:
                    middle = len(row) // 2
                    waiting += [row[middle:], row[:middle]]
        return datasets


def _nodes(document: object) -> tuple[Mapping[str, object] | None, Sequence[object]] | None:
    """The nodes of a document that can be read one by one, and what stands around them."""
    if isinstance(document, list) and len(document) > 1:
        return None, document
    if not isinstance(document, dict) or not document.keys() <= {"@context", "@id", "@graph"}:
        return None
    nodes = document.get("@graph")
    frame = {key: value for key, value in document.items() if key != "@graph"}
    return (frame, nodes) if isinstance(nodes, list) and len(nodes) > 1 else None


def values(node: object) -> int:
    """How many values a node has, those of nodes in it included: about its triples; at least one."""
    count = 0
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [each for key, each in value.items() if key not in ("@id", "@context")]
            count += value is not node and "@value" not in value
        elif isinstance(value, list):
            waiting += value
        else:
            count += 1
    return max(1, count)


def _triple(statement: Mapping[str, Any], mark: str) -> Triple:
    """A statement as pyoxigraph has it."""
    subject = _term(statement["subject"], mark)
    value = _term(statement["object"], mark)
    return Triple(cast(NamedNode | BlankNode, subject), iri(statement["predicate"]["value"]), value)


def _term(term: Mapping[str, Any] | None, mark: str) -> NamedNode | BlankNode | Literal:
    if term is None:
        raise NoTerm("invalid-iri", "a list holds an IRI that is relative even to the base")
    value = term["value"]
    if term["type"] == "blank node":
        return blank(mark + value.removeprefix("_:"))
    if term["type"] == "IRI":
        return iri(value)
    if not isinstance(value, str):
        raise NoTerm("invalid-literal", f"a value of {type(value).__name__} is no literal")
    return literal(value, term.get("language"), term.get("datatype"))


def _said(error: BaseException) -> tuple[str, str]:
    """Kind and sentence of what PyLD found wrong, which it wraps several times."""
    while isinstance(error.__cause__, jsonld.JsonLdError):
        error = error.__cause__
    code = getattr(error, "code", None)
    said = f"{error.args[0] if error.args else error}" + (f" ({code})" if code else "")
    remote = code in ("loading remote context failed", "invalid remote context", "context overflow")
    return ("context" if remote else "syntax"), said
