"""What came of datasets in repositories, in the words of the fileset ingest document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ManifestFileReport:
    """
    A file of a dataset in a repository.

    Attributes:
        path: Within the dataset.
        size: Bytes, or None.
        md5: 32 hex digits, or None.
        sha1: 40 hex digits, or None.
        sha256: 64 hex digits, or None.
        mimetype: As the platform has it, or None.
        extra: What else the platform says.
        status: exists where the bytes of the manifest are filed, else why not; None before they are asked for.
        platform_url: Where its bytes are, or None.
        terminal_url: Where they were in the end, or None.
        terminal_dt: When they came, 14 digits, or None.
    """

    path: str
    size: int | None
    md5: str | None
    sha1: str | None
    sha256: str | None
    mimetype: str | None
    extra: Mapping[str, object]
    status: str | None
    platform_url: str | None
    terminal_url: str | None
    terminal_dt: str | None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """
    What came of a landing page.

    Attributes:
        hit: Whether the status is one of success.
        status: As the last look left it.
        request: What was asked for: ingest_type, base_url.
        terminal: Where the landing page was in the end, and when, or None.
        file_meta: Size, SHA-256 and media type of the page, or None.
        html_biblio: Title, creators, DOI, licence, date and version, or None.
        manifest: The files.
        platform_name: Such as zenodo.
        platform_domain: Host of the repository.
        platform_id: Of the dataset there.
        ingest_strategy: How all files would be captured, or None.
        archiveorg_item_name: The item on archive.org, or None.
        file_count: Files.
        total_size: Bytes of all files.
    """

    hit: bool
    status: str
    request: Mapping[str, object]
    terminal: Mapping[str, object] | None
    file_meta: Mapping[str, object] | None
    html_biblio: Mapping[str, object] | None
    manifest: tuple[ManifestFileReport, ...]
    platform_name: str
    platform_domain: str
    platform_id: str
    ingest_strategy: str | None
    archiveorg_item_name: str | None
    file_count: int
    total_size: int
