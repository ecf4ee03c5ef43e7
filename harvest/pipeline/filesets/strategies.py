"""
How the files of a fileset are captured: chosen by their number, their sizes and what the platform hands over.

The document has 128 MByte for one file, 20 files and 1 GByte in all; the pipeline that ran had 64 MiB for one file, and
so has this where the settings say nothing else.

Source: fileset ingest document, "Ingest Strategies".
"""

from __future__ import annotations

from typing import Final

from harvest.config.settings import FilesetSettings
from harvest.errors import FilesetError
from harvest.model import Manifest

WEB_FILE: Final = "web-file"
WEB_FILESET: Final = "web-fileset"
ITEM_FILE: Final = "archiveorg-file"
ITEM_FILESET: Final = "archiveorg-fileset"
SINGLE: Final = (WEB_FILE, ITEM_FILE)
MIRRORED: Final = (ITEM_FILE, ITEM_FILESET)


def chosen(manifest: Manifest, limits: FilesetSettings) -> str:
    """
    The name of the strategy for a fileset.

    `-bundled` where files have no addresses of their own, and the platform hands over all of them as one.
    """
    largest = max(file.size or 0 for file in manifest.files)
    is_small = largest < limits.preferred_file_size
    if len(manifest.files) == 1:
        return WEB_FILE if is_small else ITEM_FILE
    fileset = WEB_FILESET if is_small and manifest.total_size < limits.max_total_size else ITEM_FILESET
    lacking = any(file.platform_url is None for file in manifest.files)
    return f"{fileset}-bundled" if lacking and manifest.web_bundle_url else fileset


def check(strategy: str, url: str) -> None:
    """
    Return for a strategy that this version carries out.

    Raises:
        FilesetError: It does not: no-strategy-helper.
    """
    if strategy not in (WEB_FILE, WEB_FILESET, *MIRRORED):
        message = f"{url} would be captured by {strategy}, which this version does not carry out"
        raise FilesetError("no-strategy-helper", message, url=url)
