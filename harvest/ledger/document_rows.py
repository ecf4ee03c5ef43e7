"""Rows of the tables `document` and `problem`, as values and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harvest.ledger.database import Value
from harvest.ledger.records import moment, stamp
from harvest.model import Content, Hop, Part, Problem, Snapshot, Status
from harvest.model.seeds import entry_hash


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """
    A download, an entry of an archive, or a clean document.

    Attributes:
        hash: 32 lower-case hex digits; of a clean document its SHA-256, 64 of them.
        seed: Hash of the seed that it comes from.
        download: Hash of the download that it is, or comes from.
        parent: Hash of the seed, of the archive that it is in, or of the dirty document.
        name: Of an entry, in its archive; else None.
        status: How far it came; `cleaned` for a clean document.
        began: When its download, unpacking or cleaning began (aware, UTC).
        ended: When that ended, or None while it lasts.
        http: JSON objects of HTTP_META.
        media_type: The Content-Type of a download, or None.
        final_url: Where a download came from, after redirects, or None.
        sha256: Of the bytes as filed, or None for an entry.
        bytes: Size; of a download as filed.
        chars: Characters, or None.
        lines: Lines, or None.
        newline: LF, CRLF or CR, or None.
        encoding: A Python codec name, or None.
        format: Name of the RDF format, or None.
        statements: Triples read, or in a clean document; None before.
        dropped: Statements left out, or None before.
        whole: Whether it was read to its end, or None before.
        counts: How many problems of each kind.
        clean: Hash of the clean document that it gave, or None.
        graph: IRI of the graph of a clean document, or None.
        loaded: Whether a clean document is in that graph.

    Source: LOD Laundromat 2, "The cleaning process".
    """

    hash: str
    seed: str
    download: str
    parent: str
    name: str | None
    status: str
    began: datetime
    ended: datetime | None
    http: tuple[dict[str, Any], ...]
    media_type: str | None
    final_url: str | None
    sha256: str | None
    bytes: int | None
    chars: int | None
    lines: int | None
    newline: str | None
    encoding: str | None
    format: str | None
    statements: int | None
    dropped: int | None
    whole: bool | None
    counts: dict[str, int]
    clean: str | None
    graph: str | None
    loaded: bool


@dataclass(frozen=True, slots=True)
class Clean:
    """
    A clean document that is to be filed.

    Attributes:
        dirty: Hash of the download or entry that gave it.
        snapshot: Its file.
        content: What it is as a text.
        graph: IRI of the graph that its statements name.
        at: When it was made (aware, UTC).
    """

    dirty: str
    snapshot: Snapshot
    content: Content
    graph: str
    at: datetime


def clean_row(clean: Clean) -> tuple[Value, ...]:
    """The values of the row of a clean document, and its dirty document."""
    digest, content = clean.snapshot.digest, clean.content
    text = (content.bytes, content.chars, content.lines, content.newline, content.encoding)
    return digest, stamp(clean.at), stamp(clean.at), digest, *text, clean.snapshot.triples, clean.graph, clean.dirty


def document_of(row: sqlite3.Row) -> DocumentRecord:
    """A row of `document`."""
    values: dict[str, Any] = dict(row)
    values["began"], values["ended"] = moment(values["began"]), moment(values["ended"])
    values["http"] = tuple(json.loads(values["http"]))
    values["counts"] = json.loads(values["counts"])
    values["loaded"] = bool(values["loaded"])
    values["whole"] = None if values["whole"] is None else bool(values["whole"])
    return DocumentRecord(**values)


def problem_of(row: sqlite3.Row) -> Problem:
    """A row of `problem`."""
    return Problem(row["kind"], row["message"], row["line"], row["column"], row["excerpt"])


def problem_row(hash: str, problem: Problem) -> tuple[Value, ...]:
    """A problem of a document, as its row."""
    return hash, problem.kind, problem.message, problem.line, problem.column, problem.excerpt


def dump_http(http: Sequence[Hop]) -> str:
    """Exchanges as HTTP_META in JSON, with the document's names. A header that came twice has its values joined."""
    return json.dumps(
        [
            {
                "headers": dict(hop.headers),
                "status": hop.status,
                "uri": hop.uri,
                "version": {"major": hop.version[0], "minor": hop.version[1]},
                "walltime": hop.walltime_s,
            }
            for hop in http
        ]
    )


def hashes_of(download: str, parts: Sequence[Part]) -> tuple[str, ...]:
    """
    The hash of each part of a download, in the order of the parts.

    A second entry of the same name, which archives may hold, is distinguished by its number.
    """
    hashes: dict[int, str] = {}
    places: dict[tuple[str, ...], str] = {(): download}
    taken: set[str] = {download}
    for index, part in sorted(enumerate(parts), key=lambda item: len(item[1].names)):
        hash = _unlike(taken, _place(places, part.names[:-1]), part.names[-1]) if part.names else download
        places.setdefault(part.names, hash)
        hashes[index] = hash
    return tuple(hashes[index] for index in range(len(parts)))


def rows_of(seed: str, download: str, parts: Sequence[Part]) -> Iterator[tuple[Value, ...]]:
    """
    Yield the rows of the parts below a download, archives before their entries.

    Archives that only their entries name get a row too.
    """
    whole = [*parts, *_unlisted(parts)]
    places: dict[tuple[str, ...], str] = {(): download}
    for hash, part in sorted(zip(hashes_of(download, whole), whole, strict=True), key=lambda pair: len(pair[1].names)):
        places.setdefault(part.names, hash)
        if part.names:
            yield hash, seed, download, places[part.names[:-1]], part.names[-1], *_columns(part)


def _place(places: dict[tuple[str, ...], str], names: tuple[str, ...]) -> str:
    """The hash of an archive, which may have no part of its own."""
    if names not in places:
        places[names] = entry_hash(_place(places, names[:-1]), names[-1])
    return places[names]


def _unlike(taken: set[str], parent: str, name: str) -> str:
    """The hash of an entry, which is taken from now on."""
    hash, number = entry_hash(parent, name), 1
    while hash in taken:
        number += 1
        hash = entry_hash(parent, f"{name}#{number}")
    taken.add(hash)
    return hash


def _unlisted(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the archives that have entries but no part of their own."""
    listed = {part.names for part in parts}
    for part in parts:
        for depth in range(1, len(part.names)):
            if (above := part.names[:depth]) not in listed:
                listed.add(above)
                yield Part(above, Status.DEPLETED, part.began, part.ended)


def _columns(part: Part) -> tuple[Value, ...]:
    content = part.content or Content(0, None, None, None, None)
    return (
        part.status,
        stamp(part.began),
        stamp(part.ended),
        content.bytes if part.content else None,
        content.chars,
        content.lines,
        content.newline,
        content.encoding,
        part.format,
        part.statements,
        part.dropped,
        part.whole,
        json.dumps(dict(part.counts)),
    )
