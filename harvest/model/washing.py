"""Documents before and after washing, the rules of naming their blank nodes, and statistics of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Document:
    """
    A filed body that is to be washed.

    Attributes:
        path: Where the bytes are.
        url: Final URL; base IRI, and named in findings.
        media_type: The Content-Type header as received, or None.
        contexts: Where the remote JSON-LD contexts that it uses are filed, by URL; None for one that could not be had.
        dataset: IRI of the dataset that it is a dump of, which the names of its blank nodes hold, or None.
        steady: Whether nameless roots in it get names that survive edits: for dumps that hold all of a dataset.
        keep: The folder in which what it gives is kept for the next washing; None: it is read at each. Its `path` is
            the SHA-256 of its bytes then.
    """

    path: Path
    url: str
    media_type: str | None = None
    contexts: Mapping[str, Path | None] = field(default_factory=dict)
    dataset: str | None = None
    steady: bool = False
    keep: Path | None = None


class Status(StrEnum):
    """
    How far a seed, a document or an archive entry has come; the last two are where the way ends.

    Source: LOD Laundromat 2, "The cleaning process"; CLEANED is the state of a clean document.
    """

    ADDED = "added"
    DOWNLOADING = "downloading"
    FILED = "filed"
    UNARCHIVING = "unarchiving"
    UNARCHIVED = "unarchived"
    GUESSING = "guessing"
    GUESSED = "guessed"
    PARSING = "parsing"
    CLEANED = "cleaned"
    DEPLETED = "depleted"
    PARSED = "parsed"


@dataclass(frozen=True, slots=True)
class Problem:
    """
    Something wrong with a document, of which the rest was kept.

    Attributes:
        kind: Kebab-case, stable, for machines; `harvest.wash.problems` names them all.
        message: One sentence for people.
        line: Line in the document, from 1, or None.
        column: Column there, in characters, from 1, or None.
        excerpt: The text around the place, as found, at most 200 characters, or None.
        lost: Triples that it costs, estimated where they cannot be counted; 0 where nobody looked.
    """

    kind: str
    message: str
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Content:
    """
    What a document is as a text.

    Attributes:
        bytes: Its size, decompressed.
        chars: Characters in it, or None where it is no text.
        lines: Line ends in it, one more if the last line has none; None where it is no text.
        newline: Its first line end (LF, CRLF or CR), or None where it has none.
        encoding: What it is read as, a Python codec name; None where it is no text.

    Source: LOD Laundromat 2, "Downloading the file stream" (CONTENT_META).
    """

    bytes: int
    chars: int | None
    lines: int | None
    newline: str | None
    encoding: str | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    A provider's graph, or one input for it, as a canonical file.

    Attributes:
        path: Canonical N-Quads: UTF-8, one graph, sorted bytewise, no duplicates.
        triples: Lines in it.
        digest: SHA-256 of the file, 64 lower-case hex digits.
    """

    path: Path
    triples: int
    digest: str


@dataclass(frozen=True, slots=True)
class Part:
    """
    What became of one file: a dump itself, or an entry of an archive.

    Attributes:
        names: Names of the archive entries that lead to it, the outermost first; empty for the dump itself.
        status: DEPLETED for an archive, PARSED for data that was read; else the state that it did not get beyond.
        began: When its unpacking began (aware, UTC).
        ended: When it came to its status (aware, UTC).
        content: What it is as a text; None for an archive.
        format: Name of its RDF format, or None where none was found.
        statements: Triples read, repeated ones included.
        dropped: Statements that were left out because they are not RDF; one of Turtle may hold many triples.
        whole: Whether it was read to its end.
        problems: What was wrong, the first ones in order.
        counts: How many problems of each kind there were in all.
        clean: Its own canonical snapshot, where one was asked for.
        lost: Triples that were left out, estimated where they cannot be counted.
    """

    names: tuple[str, ...]
    status: Status
    began: datetime
    ended: datetime
    content: Content | None = None
    format: str | None = None
    statements: int = 0
    dropped: int = 0
    whole: bool = True
    problems: tuple[Problem, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    clean: Snapshot | None = None
    lost: int = 0


RULES: Final = 2
"""
The rules in force. By those of 1 names held no dataset, and every name of an input was taken as it came, also where
another node had it; the logs say nothing of the rules of such versions, and they are made again by them.
"""


def dataset_mark(iri: str) -> str:
    """What ends the names of a dataset's blank nodes: the first 12 hex digits of the SHA-256 of its IRI."""
    return sha256(iri.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Statistics:
    """
    The figures of one version of a graph, all exact.

    Distinct objects are not among them: whether another subject still has a value shows only in an index by
    object or by sorting all values, and either costs what the graph holds, not what changed.

    Attributes:
        triples: In it.
        subjects: Distinct ones.
        properties: IRI of each property, and its triples.
        classes: IRI of each class (object of rdf:type), and its instances.

    Source: VoID, section 4.6 (statistics).
    """

    triples: int
    subjects: int
    properties: Mapping[str, int]
    classes: Mapping[str, int]
