"""Where the tests find real data: releases, descriptions and dumps of real providers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def realdata() -> Path:
    """
    The folder of real data: `$HARVEST_REALDATA`, or `shared/data` beside the repository.

    The data are too large to be part of the repository. Where they are not there, the calling test is skipped; with
    CI=true it fails.
    """
    folder = Path(os.environ.get("HARVEST_REALDATA") or BESIDE)
    if (folder / "MANIFEST.tsv").is_file():
        return folder
    reason = f"no real data in {folder}; set HARVEST_REALDATA to their folder"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
