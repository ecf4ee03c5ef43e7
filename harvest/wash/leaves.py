"""
From a dump to its parts: unpacked, decoded, its format guessed, and read, each part with its record.

    unpack -> charset -> sniff -> transcribe -> Splitter -> ground lines, lines with blank nodes

Whatever graph a statement of N-Quads, TriG or JSON-LD names, only its triple is kept: it lands in the provider's own
graph. What is wrong with one part never stops the others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

from harvest.errors import WashError
from harvest.model import Document, Part, Problem, Status
from harvest.wash.decoding.charset import Examined, examine
from harvest.wash.decoding.content import HEAD
from harvest.wash.decoding.otherwise import no_rdf, owl_text
from harvest.wash.decoding.recode import recoded
from harvest.wash.decoding.sniff import sniff
from harvest.wash.problems import Problems
from harvest.wash.process import report
from harvest.wash.splitter import Splitter
from harvest.wash.structured import html, jsonld, rdfxml
from harvest.wash.text import Sink, Text
from harvest.wash.textual import resume
from harvest.wash.unpacking.members import Leaf, UnpackedArchive
from harvest.wash.unpacking.unpack import unpack
from harvest.wash.unpacking.volume import Volume
from sparql.rdf import (
    HTML,
    JSON_LD,
    N3,
    N_QUADS,
    N_TRIPLES,
    RDF_XML,
    TRIG,
    TURTLE,
    Format,
    as_iri,
    by_extension,
    by_media_type,
)

REPORTED: Final = 10_000
"""Problems of all parts of a dump together that are kept in full."""

_TEXTUAL = (N_TRIPLES, N_QUADS, TURTLE, TRIG, N3)

Outlet = Callable[[Leaf], AbstractContextManager[tuple[Sink, Sink]]]
"""Where the lines of a leaf go: ground ones, and those with blank nodes."""


@dataclass(frozen=True, slots=True)
class Progress:
    """
    How far the washing of a dump has come.

    Attributes:
        url: The dump.
        names: The archive entries that lead to the part in hand.
        status: What is done with it now.
    """

    url: str
    names: tuple[str, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Terms:
    """
    On what terms a dump is unpacked.

    Attributes:
        volume: The limits.
        scratch: A folder for temporary files.
        skip: Parts not to be read, because they ended their process before.
        memory: Bytes that reading a document should stay under.
    """

    volume: Volume
    scratch: Path
    skip: frozenset[tuple[str, ...]] = frozenset()
    memory: int = 256 << 20


def parts(document: Document, terms: Terms, outlet: Outlet, ordinals: count[int]) -> Iterator[Part]:
    """
    The record of each part of a dump, once it was read into the outlet; that of an archive after those of its entries.

    Raises:
        ContextWanted: A JSON-LD context has to be fetched first.
    """
    report(Progress(document.url, (), Status.UNARCHIVING))
    began = datetime.now(UTC)
    kept = REPORTED
    seen: set[tuple[str, ...]] = set()
    for item in unpack(document, terms.volume, terms.scratch):
        if isinstance(item, Leaf):
            item = _apart(item, seen)
        problems = Problems(kept)
        for problem in item.problems:
            problems.add(problem)
        if isinstance(item, UnpackedArchive):
            part = _part(item.names, Status.DEPLETED, began, problems)
        elif item.names in terms.skip:
            problems.add(Problem("cut-off", "reading it ended its process: out of memory or time, or a parser fault"))
            part = _part(item.names, Status.PARSING, began, problems)
        else:
            part = LeafReading(document, item, problems, began, terms.memory).read(outlet, next(ordinals))
        kept -= len(part.problems)
        yield part
        began = datetime.now(UTC)


@contextmanager
def scratch_at(folder: Path) -> Iterator[None]:
    """Have temporary files that nobody names stand in a folder: the usual place may be a small memory disk."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _apart(leaf: Leaf, seen: set[tuple[str, ...]]) -> Leaf:
    """The leaf, under a name of its own where its archive has several entries of that name."""
    names, again = leaf.names, 1
    while names in seen:
        again += 1
        names = (*leaf.names[:-1], f"{leaf.names[-1]} ({again})")
    seen.add(names)
    return replace(leaf, names=names)


def _part(names: tuple[str, ...], status: Status, began: datetime, problems: Problems) -> Part:
    return Part(
        names,
        status,
        began,
        datetime.now(UTC),
        dropped=problems.dropped,
        whole=problems.whole,
        problems=tuple(problems.first),
        counts=dict(problems.counts),
        lost=problems.lost,
    )


@dataclass(frozen=True, slots=True)
class LeafReading:
    """One leaf that is being read; what is wrong with it goes to `problems`."""

    document: Document
    leaf: Leaf
    problems: Problems
    began: datetime
    memory: int

    @property
    def title(self) -> str:
        """What messages call it."""
        return "!/".join((self.document.url, *self.leaf.names))

    @property
    def _name(self) -> str:
        return self.leaf.names[-1] if self.leaf.names else self.document.url

    @property
    def _media_type(self) -> str | None:
        return None if self.leaf.names else self.document.media_type

    def recognise(self) -> tuple[Examined, Format | None]:
        """What it is as a text, and its format; None where that is none of RDF."""
        examined = examine(self.leaf.open, self._media_type, self.title)
        for problem in examined.problems:
            self.problems.add(problem)
        self._report(Status.GUESSING)
        declared = by_media_type(self._media_type) or by_extension(self._name)
        found = _format(examined, declared, self._media_type, self._name)
        if found is None:
            self.problems.add(no_rdf(self.title, examined.head))
            return examined, None
        self._report(Status.PARSING)
        if declared is not None and declared is not found:
            message = f"{self.title} is declared as {declared.name} and was read as {found.name}"
            self.problems.add(Problem("format", message))
        return examined, found

    def looks_like(self) -> Format | None:
        """The format that its first bytes have, if they are UTF-8."""
        head = b""
        with self.leaf.open() as stream, suppress(WashError):
            head = stream.read(HEAD)
        return sniff(head, self._media_type, self._name, whole=len(head) < HEAD)

    def read(self, outlet: Outlet, ordinal: int) -> Part:
        """Read it into the outlet; what became of it."""
        examined, found = self.recognise()
        if found is None:
            part = _part(self.leaf.names, Status.GUESSING, self.began, self.problems)
            return replace(part, content=examined.content)
        statements = self._transcribe(self.text(examined), found, outlet, ordinal)
        return self.parsed(examined, found, statements)

    def text(self, examined: Examined) -> Text:
        """It as the parsers get it."""
        return Text(
            self.document.url,
            as_iri(self.document.url),
            self.title,
            examined.size,
            partial(_opened, self.leaf, examined),
            self.document.contexts,
            self.memory,
        )

    def parsed(self, examined: Examined, found: Format, statements: int) -> Part:
        """What became of it once it was read."""
        if not (statements or self.problems.dropped or self.problems.counts["no-rdf"]) and self.problems.whole:
            self.problems.add(no_rdf(self.title, examined.head, found.name))
        part = _part(self.leaf.names, Status.PARSED, self.began, self.problems)
        return replace(part, content=examined.content, format=found.name, statements=statements)

    def _transcribe(self, text: Text, found: Format, outlet: Outlet, ordinal: int) -> int:
        """Read the text into the outlet; returns how many statements that gave."""
        with outlet(self.leaf) as (ground, blank):
            splitter = Splitter(ordinal, ground, blank, self.problems)
            transcribe(text, found, splitter, self.problems)
            splitter.finish()
            return splitter.statements

    def _report(self, status: Status) -> None:
        report(Progress(self.document.url, self.leaf.names, status))


def _format(examined: Examined, declared: Format | None, media_type: str | None, name: str) -> Format | None:
    """The format of a text, or None where it is none of RDF."""
    if owl_text(examined.head):
        return None
    return sniff(examined.head, media_type, name, whole=examined.whole) or _trusted(declared, examined)


def _trusted(declared: Format | None, examined: Examined) -> Format | None:
    """The declared format of a text that looks like nothing: read as that, its errors have a place."""
    recoded = declared in _TEXTUAL and examined.content.encoding is not None
    return declared if recoded and not examined.head.lstrip().startswith((b"<?", b"<!", b"{", b"[")) else None


@contextmanager
def _opened(leaf: Leaf, examined: Examined) -> Iterator[BinaryIO]:
    """The text of a leaf in UTF-8."""
    with leaf.open() as stream:
        yield recoded(stream, examined.content.encoding or "utf-8", damaged=examined.damaged)


def transcribe(text: Text, source: Format, sink: Sink, problems: Problems) -> None:
    """
    Write every triple of a document to the sink; what is bad is dropped and reported.

    Raises:
        ContextWanted: A JSON-LD context has to be fetched first.
    """
    if source is RDF_XML:
        rdfxml.transcribe(text, sink, problems)
    elif source is JSON_LD:
        jsonld.transcribe(text, sink, problems)
    elif source is HTML:
        html.transcribe(text, sink, problems)
    else:
        resume.transcribe(text, source, sink, problems)
