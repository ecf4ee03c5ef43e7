"""Statements of parsers that check less than pyoxigraph does: its terms decide what is RDF, the rest is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, cast

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from harvest.wash.text import Sink

_BATCH: Final = 1 << 12
_SHOWN: Final = 200
"""Characters of a term that a message shows."""


class NoTerm(ValueError):
    """
    Something that is no term of RDF.

    Attributes:
        kind: The kind of problem.
        message: One sentence.
        lost: Triples that it costs, about.
    """

    def __init__(self, kind: str, message: str, lost: int = 1) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.lost = lost


@lru_cache(1 << 14)
def iri(value: str) -> NamedNode:
    """
    The IRI that is written so.

    Raises:
        NoTerm: It is no absolute IRI.
    """
    try:
        return NamedNode(value)
    except ValueError as error:
        raise NoTerm("invalid-iri", f"{_shown(value)} is no IRI: {error}") from error


def blank(label: str) -> BlankNode:
    """
    The blank node of that label, without `_:`.

    Raises:
        NoTerm: N-Triples has no such label.
    """
    try:
        return BlankNode(label)
    except ValueError as error:
        raise NoTerm("syntax", f"{_shown(label)} is no label of a blank node: {error}") from error


def literal(value: str, language: str | None, datatype: str | None) -> Literal:
    """
    The literal with that text.

    Raises:
        NoTerm: Its language tag or datatype is none, or it holds half a character.
    """
    try:
        if language:
            return Literal(value, language=language)
        kind = None if datatype is None else iri(datatype)
        return Literal(value, datatype=kind)
    except NoTerm as error:
        raise NoTerm("invalid-literal", f"the datatype {error.message}") from error
    except ValueError as error:
        what = f"{_shown(value)} in the language {_shown(language)}" if language else _shown(value)
        raise NoTerm("invalid-literal", f"{what} is no literal: {error}") from error


@lru_cache(1 << 14)
def resolved(reference: str, base: str) -> str:
    """
    The IRI that a relative reference stands for, or the reference where it stands for none.

    Source: RFC 3986, section 5, as pyoxigraph does it for Turtle.
    """
    if any(character in '<>"{}|^`\\' or character <= " " for character in reference):
        return reference
    try:
        for quad in pyoxigraph.parse(f"<{reference}> <x:x> <x:x> .", format=RdfFormat.TURTLE, base_iri=base):
            if isinstance(quad.subject, NamedNode):
                return quad.subject.value
    except (SyntaxError, ValueError):
        pass
    return reference


def _shown(value: str) -> str:
    """A term for a message; half characters cannot be printed."""
    cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    return f'"{cut}"'.encode(errors="backslashreplace").decode()


class Triples:
    """A writer of canonical N-Triples."""

    def __init__(self, sink: Sink, refused: Callable[[NoTerm], None]) -> None:
        self._sink = sink
        self._refused = refused
        self._waiting: list[Triple] = []

    def add(self, make: Callable[[], Triple]) -> None:
        """Write the statement that `make` gives, or report why there is none."""
        try:
            self._waiting.append(make())
        except NoTerm as error:
            self._refused(error)
            return
        if len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        lines = pyoxigraph.serialize(self._waiting, format=RdfFormat.N_TRIPLES)
        self._sink.write(cast(bytes, lines))
        self._waiting = []


@contextmanager
def writing(sink: Sink, refused: Callable[[NoTerm], None]) -> Iterator[Triples]:
    """A writer all of whose statements are written at the end, whatever ends it."""
    triples = Triples(sink, refused)
    try:
        yield triples
    finally:
        triples.flush()
