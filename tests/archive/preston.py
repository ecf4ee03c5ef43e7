"""Archives that Preston made, as its own tests have them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.realdata import realdata


def made_by_preston() -> Path:
    """The folder of Preston's test data."""
    return realdata() / "preston" / "preston-testres"


def unpacked(name: str, folder: Path) -> Path:
    """One of the zipped archives, unpacked to a folder of its own."""
    target = folder / name
    with zipfile.ZipFile(made_by_preston() / "cmd" / f"{name}.zip") as packed:
        packed.extractall(target)
    return target
