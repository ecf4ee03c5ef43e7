"""pyoxigraph's reading of a document: what it wrote before it gave up, and why it gave up."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import BinaryIO, Final, Protocol, cast

import pyoxigraph

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.text import Sink, Text
from sparql.rdf import Format

_HELD: Final = 64 << 20
"""Bytes of N-Triples that are held in memory until it is known that they stay; more are held on disk."""

_COPIED: Final = 1 << 20


class Blocks(Protocol):
    """
    What a parser reads.

    Attributes:
        damage: Why it ended before its end, or None; known when it was read.
    """

    damage: WashError | None

    def blocks(self) -> BinaryIO:
        """Its bytes."""


class DocumentTooLarge(Exception):
    """A document that goes beyond what a parser can take; the message follows the document's name."""


Fault = SyntaxError | WashError | DocumentTooLarge
"""Why a document was not read to its end."""


def read(stream: Blocks, source: Format, base: str, sink: Sink, rename: bool = False) -> Fault | None:
    """
    Write the triples of a stream as canonical N-Triples, and return why there are not more of them.

    Every line is whole: the serialiser writes what it has before it hands on the error of the parser. With `rename`,
    blank nodes get labels that no other document has.
    """
    quads = pyoxigraph.parse(stream.blocks(), format=source.parser, base_iri=base, rename_blank_nodes=rename)
    triples: Iterator[pyoxigraph.Triple] = map(attrgetter("triple"), quads)
    try:
        pyoxigraph.serialize(triples, cast(BinaryIO, sink), format=pyoxigraph.RdfFormat.N_TRIPLES)
    except (SyntaxError, DocumentTooLarge) as error:
        return stream.damage or error
    except MemoryError as error:
        if not error.args:
            raise
        # pyoxigraph says so when a term is larger than its buffer, and the memory has nothing to do with it.
        return DocumentTooLarge(f"holds a term that is too large for the parser: {error}")
    return stream.damage


@contextmanager
def held() -> Iterator[BinaryIO]:
    """A place for N-Triples that may yet be taken back."""
    with tempfile.SpooledTemporaryFile(_HELD) as place:
        yield cast(BinaryIO, place)


def hand_on(place: BinaryIO, sink: Sink) -> None:
    """Write what was held to where it belongs."""
    place.seek(0)
    while data := place.read(_COPIED):
        sink.write(data)


def give_up(text: Text, fault: Fault, problems: Problems, point: Callable[[SyntaxError], Problem]) -> None:
    """Report that the rest of a document cannot be read; `point` makes the problem of an error with a place."""
    if isinstance(fault, SyntaxError):
        problems.add(point(fault))
        return
    if isinstance(fault, DocumentTooLarge):
        problems.add(Problem("too-large", f"{text.title} {fault}"))
        message = f"{text.title} {fault}; what came before that was kept"
    else:
        message = f"{fault.message}; what came before it was kept"
    problems.add(Problem("cut-off", message))
