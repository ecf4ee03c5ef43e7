"""Filesets: what a repository says of the files of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

EXISTS: Final = "exists"
"""The status of a file whose bytes are filed, and as the manifest says."""


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """
    A file of a fileset, as its platform says.

    Attributes:
        path: Within the fileset, parts between slashes.
        size: Bytes, or None.
        md5: 32 lower-case hex digits, or None.
        sha1: 40 lower-case hex digits, or None.
        sha256: 64 lower-case hex digits, or None.
        mimetype: As the platform has it, or None.
        extra: What else the platform says; values of JSON.
        status: What came of the file, such as exists or unsafe-path; None before anything did.
        platform_url: Where its bytes are.
        terminal_url: Where they were in the end, after redirects; None before they were had.
        terminal_dt: When they were had, YYYYMMDDhhmmss (UTC), or None.

    Source: fileset ingest document, "FilesetManifestFile".
    """

    path: str
    size: int | None = None
    md5: str | None = None
    sha1: str | None = None
    sha256: str | None = None
    mimetype: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    status: str | None = None
    platform_url: str | None = None
    terminal_url: str | None = None
    terminal_dt: str | None = None

    @property
    def hashes(self) -> tuple[tuple[str, str], ...]:
        """Its checksums, as (name in `hashlib`, lower-case hex digits)."""
        known = (("md5", self.md5), ("sha1", self.sha1), ("sha256", self.sha256))
        return tuple((name, digits) for name, digits in known if digits)


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    One version of a dataset in a repository, and its files.

    Attributes:
        platform_name: Of the platform, such as zenodo.
        platform_domain: Host of the repository.
        platform_id: Of this version there.
        files: In the order of the platform.
        platform_base_url: Its landing page.
        version: As the platform names it, or None.
        doi: Of this version, without a resolver, or None.
        title: Or None.
        creators: Their names.
        licence: IRI or words, or None.
        released: When it was published, as the platform writes it, or None.
        description: As the platform writes it, HTML included, or None.
        web_bundle_url: Where the platform hands over all files as one, or None.
        archiveorg_item_name: The item on archive.org, or None.

    Source: fileset ingest document, "FilesetPlatformItem".
    """

    platform_name: str
    platform_domain: str
    platform_id: str
    files: tuple[ManifestFile, ...]
    platform_base_url: str
    version: str | None = None
    doi: str | None = None
    title: str | None = None
    creators: tuple[str, ...] = ()
    licence: str | None = None
    released: str | None = None
    description: str | None = None
    web_bundle_url: str | None = None
    archiveorg_item_name: str | None = None

    @property
    def total_size(self) -> int:
        """Bytes of all files whose size is known."""
        return sum(file.size or 0 for file in self.files)
