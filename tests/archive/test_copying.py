"""A copy of an archive is whole, sound, and in the layout that Preston reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.archive.copying import copy
from harvest.archive.history import Archive
from harvest.archive.verify import verify
from harvest.errors import StorageError
from tests.archive.preston import made_by_preston, unpacked


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def outcomes(source: Path, target: Path) -> list[str]:
    return [item.outcome for item in copy(source, target)]


@pytest.mark.parametrize("name", ["data-two-versions", "copy-test-data", "verify"])
def test_a_copy_has_the_same_files(name: str, tmp_path: Path) -> None:
    """Bytes and index, file by file; the index last, so that no entry leads to what is not there yet."""
    source = unpacked(name, tmp_path)
    items = list(copy(source, tmp_path / "copy"))
    assert files(tmp_path / "copy") == files(source)
    entries = [item.bytes == 78 for item in items]
    assert entries == sorted(entries) and any(entries)


def test_a_copy_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    """What is there stays; what a crash left half is removed."""
    source, target = unpacked("data-two-versions", tmp_path), tmp_path / "copy"
    first = copy(source, target)
    next(first)
    first.close()
    (target / "copying-x").write_bytes(b"half")
    assert outcomes(source, target) == ["there"] + ["copied"] * 4
    assert outcomes(source, target) == ["there"] * 5
    assert files(target) == files(source)


def test_damage_is_not_copied(tmp_path: Path) -> None:
    """A copy that hides damage would in time replace the last good one."""
    source = unpacked("data-two-versions", tmp_path)
    damaged = source / "ea" / "8f" / "ea8fac7c65fb589b0d53560f5251f74f9e9b243478dcb6b3ea79b5e36449c8d9"
    damaged.write_bytes(b"x" * 1256)
    assert sorted(outcomes(source, tmp_path / "copy")) == ["copied"] * 4 + ["damaged"]
    assert not (tmp_path / "copy" / "ea" / "8f" / damaged.name).exists()


def test_other_files_are_left_out_and_other_hashes_copied(tmp_path: Path) -> None:
    """Preston's test data has tables beside the logs, and bytes kept by MD5."""
    source = made_by_preston() / "cmd" / "history" / "datacontent"
    assert set(outcomes(source, tmp_path / "copy")) == {"copied"}
    assert "b1/a9/b1a9328ef8106189402f566a6100e39d" in files(tmp_path / "copy")
    assert not [name for name in files(tmp_path / "copy") if name.endswith(".tsv")]


def test_a_copy_verifies(tmp_path: Path) -> None:
    """It is an archive of its own."""
    list(copy(unpacked("data-two-versions", tmp_path), tmp_path / "copy"))
    assert {check.verdict for check in verify(Archive(tmp_path / "copy"))} == {"OK"}


def test_an_archive_is_not_copied_into_itself(tmp_path: Path) -> None:
    """It would never end."""
    source = unpacked("verify", tmp_path)
    with pytest.raises(StorageError, match="is part of the archive"):
        list(copy(source, source / "copy"))
