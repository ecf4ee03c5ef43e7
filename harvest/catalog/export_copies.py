"""
Copies of the exports in object storage: which files are there, and where readers find them.

    exports/copies.json     {"url": "s3://bucket/prefix", "files": {"p.nq.gz": "<sha256>"}}: what the storage has; the
                            digest is empty while a file is being copied
    s3://bucket/prefix/p.nq.gz, p.nq.gz.sha256, all.nq.gz, void.ttl, ...

A reader is led to a copy while its digest is that of the file of this machine, so never to another version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import structlog

from harvest.archive.storage import connected
from harvest.config.settings import Settings
from harvest.errors import StorageError

COPIES: Final = "copies.json"
LINK_S: Final = 3600.0
"""Seconds for which a signed address is good: for the start of a download, not for its end."""

log = structlog.get_logger()


def read_copies(folder: Path, url: str) -> dict[str, str] | None:
    """The digests of the files that the storage at a URL has, by name; None where nothing was copied there yet."""
    try:
        found = json.loads((folder / COPIES).read_bytes())
        return {str(file): str(digest) for file, digest in found["files"].items()} if found["url"] == url else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


class ExportAddresses:
    """Where readers find the copy of an export."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(self, file: str, sha256: str) -> str | None:
        """The address of the copy of a file with this digest; None where readers are to have it from this machine."""
        settings = self._settings
        if not settings.exports_storage:
            return None
        if (read_copies(settings.exports_dir, settings.exports_storage) or {}).get(file) != sha256:
            return None
        if settings.exports_url:
            return f"{settings.exports_url}/{file}"
        try:
            return connected(settings.exports_storage).link(file, LINK_S)
        except StorageError as error:
            log.warning("an export is sent from here", file=file, reason=error.message)
            return None
