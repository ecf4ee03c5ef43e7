"""
From a document to N-Triples lines: ground ones to one sink, those with blank nodes to another.

pyoxigraph writes canonical N-Triples, so its lines can be told apart, sorted and compared as bytes. Whatever graph
a statement of N-Quads, TriG or JSON-LD names, only its triple is kept: it lands in the provider's own graph.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import BinaryIO, Protocol, cast

import pyoxigraph

from harvest.errors import WashError
from harvest.model import Document
from harvest.wash.fault import fault, quads_of
from harvest.wash.sniff import BOM, HEAD, sniff
from harvest.wash.unpack import opened
from harvest.wash.wellformed import WellFormed
from sparql.rdf import JSON_LD, RDF_XML, Format

BATCH = 1 << 19
"""Bytes of lines that are looked at together: pyoxigraph writes 8 kB at a time, and each look has a price."""

_MARKS = (b"_:", b"<<(")


class Sink(Protocol):
    """Where lines go."""

    def write(self, data: bytes, /) -> object:
        """Take whole lines."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """
    What one document gave.

    Attributes:
        url: The document.
        format: The name of the format it was parsed as.
    """

    url: str
    format: str


def parse(document: Document, ordinal: int, ground: Sink, blank: Sink) -> Parsed:
    """
    Write every triple of a document as a canonical N-Triples line, to `blank` if it holds a blank node.

    Blank node labels are made the document's own by putting `ordinal` before them, so that two dumps of a dataset
    can both speak of `_:b0`.

    Raises:
        WashError: It is not RDF 1.1, or breaks off; with line, column and the text around for what cannot be parsed.
    """
    with opened(document.path, document.url) as stream:
        head = stream.read(HEAD)
        found = sniff(head, document.media_type, document.url)
        splitter = _Splitter(document.url, found, ordinal, ground, blank)
        watch = WellFormed().watch if found is RDF_XML else None
        whole = io.BufferedReader(_Chain(head.removeprefix(BOM), stream, watch), 1 << 18)
        try:
            _transcribe(whole, found, document.url, splitter)
            splitter.finish()
        except SyntaxError as error:
            raise fault(error, document, found) from error
        except MemoryError as error:
            if not error.args:
                raise
            # pyoxigraph says so when a term is larger than its buffer, and the memory has nothing to do with it.
            message = f"{document.url} holds a term that is too large for the parser: {error}"
            raise WashError(message, url=document.url) from error
        return Parsed(document.url, found.name)


class _Chain(io.RawIOBase):
    """The bytes of `head`, then those of `rest`; `watch` sees them too, and none at the end."""

    def __init__(self, head: bytes, rest: BinaryIO, watch: Callable[[bytes], None] | None) -> None:
        self._parts = [io.BytesIO(head), rest]
        self._watch = watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        data = b""
        while self._parts and not (data := self._parts[0].read(len(buffer))):
            self._parts.pop(0)
        if self._watch is not None:
            self._watch(data)
            self._watch = self._watch if data else None
        buffer[: len(data)] = data
        return len(data)


def _transcribe(stream: BinaryIO, source: Format, url: str, sink: Sink) -> None:
    """Let pyoxigraph read the stream and write N-Triples."""
    quads = quads_of(stream, source, url)
    triples: Iterator[pyoxigraph.Triple] = map(attrgetter("triple"), quads)
    pyoxigraph.serialize(triples, cast(BinaryIO, sink), format=pyoxigraph.RdfFormat.N_TRIPLES)


def _marked(lines: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of each line that may hold a blank node or a triple term; it may also be a literal that does."""
    places = {mark: lines.find(mark) for mark in _MARKS}
    while found := [place for place in places.values() if place >= 0]:
        place = min(found)
        end = lines.index(b"\n", place) + 1
        yield lines.rfind(b"\n", 0, place) + 1, end
        # Only a mark that was passed is looked for again: the other may be far away, or nowhere.
        places = {mark: lines.find(mark, end) if 0 <= at < end else at for mark, at in places.items()}


class _Splitter:
    """
    A file-like object that takes N-Triples in chunks and hands ground lines and lines with blank nodes on.

    Lines between two marks of a blank node pass in one piece, which makes data without blank nodes cost nothing.
    """

    def __init__(self, url: str, source: Format, ordinal: int, ground: Sink, blank: Sink) -> None:
        self._url = url
        self._source = source
        self._mark = b"_:d%d-" % ordinal
        self._ground = ground
        self._blank = blank
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        self._held.append(data)
        self._size += len(data)
        # Not before a line ends: a literal of 100 MB comes in 12,000 chunks, and is joined once.
        if self._size >= BATCH and b"\n" in data:
            self._pass(b"".join(self._held))
        return len(data)

    def flush(self) -> None:
        """What waits here for more goes out with `finish`."""

    def finish(self) -> None:
        """Hand on what is left, all of it whole lines."""
        self._pass(b"".join(self._held))

    def _pass(self, held: bytes) -> None:
        """Hand whole lines on; a line that is not whole yet waits."""
        cut = held.rfind(b"\n") + 1
        self._held, self._size = [held[cut:]], 0
        lines = held[:cut]
        if b"--ltr .\n" in lines or b"--rtl .\n" in lines:
            lines = self._undirected(lines)
        self._split(lines)

    def _split(self, lines: bytes) -> None:
        """Cut the lines that hold a mark of blank nodes out; the others pass in one piece between them."""
        ground: list[bytes] = []
        blank: list[bytes] = []
        passed = 0
        for begin, end in _marked(lines):
            kept, owned = self._owned(lines[begin:end])
            if owned:
                ground.append(lines[passed:begin])
                blank.append(kept)
                passed = end
        self._ground.write(b"".join((*ground, lines[passed:])))
        self._blank.write(b"".join(blank))

    def _owned(self, line: bytes) -> tuple[bytes, bool]:
        """The line with the document's mark in its blank labels, and whether it has any."""
        subject, predicate, value = line.split(b" ", 2)
        if value.startswith(b"<<("):
            raise self._newer("a triple term")
        if value.startswith(b"_:"):
            value = self._mark + value[2:]
        elif not subject.startswith(b"_:"):
            return line, False
        if subject.startswith(b"_:"):
            subject = self._mark + subject[2:]
        return b" ".join((subject, predicate, value)), True

    def _undirected(self, lines: bytes) -> bytes:
        """The lines without base directions, which JSON-LD 1.1 leaves out of RDF (JSON-LD 1.1 API, section 8.2)."""
        if self._source is not JSON_LD:
            raise self._newer("a literal with a base direction")
        return lines.replace(b"--ltr .\n", b" .\n").replace(b"--rtl .\n", b" .\n")

    def _newer(self, what: str) -> WashError:
        message = f"{self._url} holds {what} (RDF 1.2), which most RDF software cannot read yet; publish RDF 1.1"
        return WashError(message, url=self._url)
