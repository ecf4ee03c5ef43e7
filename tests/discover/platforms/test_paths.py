"""Paths of filesets: none leads out, none is lost."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.discover.platforms.paths import UNSAFE, is_safe, settled
from harvest.model import ManifestFile


@pytest.mark.parametrize(
    "path", ["", "/a", "../a", "a/../b", "a//b", "./a", "a/", "C:/a", "a\\b", "a\0", "a\nb", "é" * 128]
)
def test_unsafe_paths(path: str) -> None:
    """The last one is short enough in characters and not in bytes."""
    assert not is_safe(path)
    assert [file.status for file in settled([ManifestFile(path)])] == [UNSAFE]


def test_equal_paths_are_told_apart() -> None:
    """Neither takes a name that a third one has."""
    files = [ManifestFile(path, size) for size, path in enumerate(["a/b.nt.gz", "a/b.nt.gz", "a/b-2.nt.gz", "c", "c"])]
    found = settled(files)
    assert [file.path for file in found] == ["a/b.nt.gz", "a/b-3.nt.gz", "a/b-2.nt.gz", "c", "c-2"]
    assert [file.size for file in found] == [0, 1, 2, 3, 4]
    assert found[1].extra == {"platform_path": "a/b.nt.gz"}


@given(st.lists(st.text(st.sampled_from("ab.-/2\\"), max_size=6), max_size=12))
def test_every_safe_path_stands_once(paths: list[str]) -> None:
    """Whatever a platform lists, no file is lost, and none leads out of the folder."""
    found = settled([ManifestFile(path, size) for size, path in enumerate(paths)])
    assert [file.size for file in found] == list(range(len(paths)))
    safe = [file.path for file in found if file.status != UNSAFE]
    assert len(safe) == len(set(safe))
    assert not any(PurePosixPath(path).is_absolute() or ".." in path.split("/") for path in safe)
