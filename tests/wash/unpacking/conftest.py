"""Archives that the tests of unpacking read are made by libarchive."""

from __future__ import annotations

import pytest

from tests.debian import require


@pytest.fixture(autouse=True)
def _libarchive() -> None:
    """Without the library the tests of this folder are skipped."""
    require("libarchive13")
