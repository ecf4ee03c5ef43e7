"""Documents that were downloaded from seeds. The names are those of the LOD Laundromat document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sparql.reports.writing import MERGED, OPTIONAL


@dataclass(frozen=True, slots=True)
class ContentReport:
    """
    What a document is as a text.

    Attributes:
        newline: LF, CRLF or CR, or None.
        number_of_bytes: Its size; of a download as filed.
        number_of_chars: Or None.
        number_of_lines: Or None.

    Source: LOD Laundromat 2, CONTENT_META.
    """

    newline: str | None
    number_of_bytes: int | None
    number_of_chars: int | None
    number_of_lines: int | None


@dataclass(frozen=True, slots=True)
class HttpVersion:
    """The version of HTTP that a server spoke."""

    major: int
    minor: int


@dataclass(frozen=True, slots=True)
class ExchangeReport:
    """
    One request of a download, and its answer.

    Attributes:
        headers: Of the answer.
        status: Of the answer.
        uri: What was asked for.
        version: Of the answer.
        walltime: Seconds that it took.

    Source: LOD Laundromat 2, HTTP_META.
    """

    headers: Mapping[str, str]
    status: int
    uri: str
    version: HttpVersion
    walltime: float


@dataclass(frozen=True, slots=True)
class ProblemReport:
    """
    What is wrong with a document at one place.

    Attributes:
        kind: Kebab-case, stable, for machines.
        message: One sentence for people.
        line: From 1, or None.
        column: From 1, or None.
        excerpt: The text around, or None.
    """

    kind: str
    message: str
    line: int | None
    column: int | None
    excerpt: str | None


@dataclass(frozen=True, slots=True)
class DirtyReport:
    """
    What is known of a download or of an entry of an archive alone.

    Attributes:
        parent: Hash of the seed, or of the archive that it is in.
        timestamp: When its download or unpacking began, and ended.
        name: Of an entry, in its archive; else None.
        http: The requests of a download.
        content: What it is as a text.
        media_type: The Content-Type of a download, or None.
        final_url: Where a download came from, after redirects, or None.
        clean: Hash of the clean document that it gave, or None.
    """

    parent: str
    timestamp: tuple[datetime, datetime | None]
    name: str | None
    http: tuple[ExchangeReport, ...]
    content: ContentReport = field(metadata=MERGED)
    media_type: str | None
    final_url: str | None
    clean: str | None


@dataclass(frozen=True, slots=True)
class CleanReport:
    """
    What is known of a clean document alone.

    Attributes:
        dirty: Hash of the download or entry that it comes from.
        timestamp: When cleaning began, and ended.
        content: What the dirty document is as a text.
        graph: IRI of its graph, or None.
        loaded: Whether it is in that graph.
    """

    dirty: str
    timestamp: tuple[datetime, datetime | None]
    content: ContentReport
    graph: str | None
    loaded: bool


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """
    A download, an entry of an archive, or a clean document.

    Attributes:
        hash: 32 lower-case hex digits; of a clean document its SHA-256, 64 of them.
        type: download, entry or clean.
        status: How far it came.
        origin: What is known of its kind alone.
        seed: Hash of the seed that it comes from.
        uri: Of that seed, without name and password.
        sha256: Of its bytes as filed, or None.
        encoding: Or None.
        format: Name of the RDF format, or None.
        statements: Triples read, or in a clean document; None before.
        dropped: Statements left out, or None before.
        whole: Whether it was read to its end, or None before.
        problems: The first of them.
        counts: How many problems of each kind.
    """

    hash: str
    type: str
    status: str
    origin: DirtyReport | CleanReport = field(metadata=MERGED)
    seed: str
    uri: str
    sha256: str | None
    encoding: str | None
    format: str | None
    statements: int | None
    dropped: int | None
    whole: bool | None
    problems: tuple[ProblemReport, ...]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """
    What lists show of a download or entry; fields as those of `DocumentReport` and `DirtyReport`.

    Attributes:
        number_of_bytes: Its size.
    """

    hash: str
    type: str
    status: str
    name: str | None
    timestamp: tuple[datetime, datetime | None]
    number_of_bytes: int | None
    format: str | None
    statements: int | None
    dropped: int | None
    whole: bool | None
    counts: Mapping[str, int]
    clean: str | None


@dataclass(frozen=True, slots=True)
class DownloadTotals:
    """
    A download with all that is in it.

    Attributes:
        statements: Triples read.
        dropped: Statements left out.
        clean: Clean documents.
        counts: How many problems of each kind.
    """

    statements: int
    dropped: int
    clean: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """
    A document with a page of its entries.

    Attributes:
        document: The document.
        totals: Of a download with all that is in it; None, and no key of the JSON, for what is no download.
        entries: On this page, by name.
        page: From 1.
        pages: How many there are.
        total: Entries on all pages.
    """

    document: DocumentReport = field(metadata=MERGED)
    totals: DownloadTotals | None = field(metadata=OPTIONAL)
    entries: tuple[DocumentSummary, ...]
    page: int
    pages: int
    total: int
