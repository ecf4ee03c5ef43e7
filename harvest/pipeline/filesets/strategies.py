"""
How the files of a fileset are captured: chosen by their number, their sizes and what the platform hands over.

The document has 128 MByte for one file, 20 files and 1 GByte in all; the pipeline that ran had 64 MiB for one file, and
so has this where the settings say nothing else.

Source: fileset ingest document, "Ingest Strategies".
"""

from __future__ import annotations

from typing import Final

from harvest.config.settings import FilesetSettings
from harvest.model import Manifest

WEB_FILE: Final = "web-file"
WEB_FILESET: Final = "web-fileset"
ITEM_FILE: Final = "archiveorg-file"
ITEM_FILESET: Final = "archiveorg-fileset"
WEB_BUNDLED: Final = "web-fileset-bundled"
ITEM_BUNDLED: Final = "archiveorg-fileset-bundled"
SINGLE: Final = (WEB_FILE, ITEM_FILE)
BUNDLED: Final = (WEB_BUNDLED, ITEM_BUNDLED)
MIRRORED: Final = (ITEM_FILE, ITEM_FILESET, ITEM_BUNDLED)


def chosen(manifest: Manifest, limits: FilesetSettings) -> str:
    """
    The name of the strategy for a fileset.

    `-bundled` where files have no addresses of their own, and the platform hands over all of them as one.
    """
    largest = max(file.size or 0 for file in manifest.files)
    is_small = largest < limits.preferred_file_size
    if len(manifest.files) == 1:
        return WEB_FILE if is_small else ITEM_FILE
    on_web = is_small and manifest.total_size < limits.max_total_size
    if manifest.web_bundle_url and any(file.platform_url is None for file in manifest.files):
        return WEB_BUNDLED if on_web else ITEM_BUNDLED
    return WEB_FILESET if on_web else ITEM_FILESET
