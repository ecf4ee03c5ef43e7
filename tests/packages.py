"""Packages that are installed for one test: a folder with modules and metadata, as pip leaves it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from harvest.archive.handling import GROUP


def install(
    folder: Path, patch: pytest.MonkeyPatch, name: str, points: dict[str, str], source: str, group: str = GROUP
) -> None:
    """
    Install a distribution with one module of its name, and its handlers, or what else `group` is of, as entry points.

    Source: PyPA, "Recording installed projects" and "Entry points specification".
    """
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(dedent(source))
    metadata = folder / f"{name}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    lines = "".join(f"{point} = {reference}\n" for point, reference in points.items())
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}")
    patch.syspath_prepend(folder)
