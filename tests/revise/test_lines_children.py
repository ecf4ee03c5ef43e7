"""Children that fail at any moment are noticed: what they wrote before is never taken for the whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.errors import StorageError
from harvest.revise import lines
from harvest.wash.sorting import FEW, Sorting

ENDINGS = {
    "fails after its last line": '{real} "$@" || exit; exit 2',
    "is killed after its last line": '{real} "$@"; kill -9 $$',
    "fails in the middle": '{real} "$@" | head -c 10; exit 2',
    "is killed before its first line": "kill -9 $$",
}


@pytest.fixture(params=list(ENDINGS))
def ending(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Puts commands in the place of sort and comm that end badly."""
    for command in ("sort", "comm"):
        path = tmp_path / command
        path.write_text("#!/bin/sh\n" + ENDINGS[request.param].format(real=f"/usr/bin/{command}") + "\n")
        path.chmod(0o755)
    search = f"{tmp_path}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", search)
    monkeypatch.setitem(lines._ENVIRONMENT, "PATH", search)
    return str(request.param)


def sorted_out(folder: Path) -> None:
    with lines.sorted_([b"b\n", b"a\n"]) as out:
        lines.write(folder / "out", iter(lambda: out.read(100), b""))


def washed_out(folder: Path) -> None:
    sorting = Sorting(folder, 1 << 20)
    try:
        sorting.write(b"a\n" * FEW)
        list(sorting.chunks())
    finally:
        sorting.close()


def united(folder: Path) -> None:
    lines.union(folder / "out", *two(folder))


def lessened(folder: Path) -> None:
    lines.minus(folder / "out", *two(folder))


def met(folder: Path) -> None:
    lines.common(folder / "out", *two(folder))


def compared(folder: Path) -> None:
    list(lines.differing(*two(folder)))


def two(folder: Path) -> tuple[Path, Path]:
    old, new = folder / "old", folder / "new"
    old.write_bytes(b"<a>\n<b>\n")
    new.write_bytes(b"<b>\n<c>\n")
    return old, new


@pytest.mark.usefixtures("ending")
@pytest.mark.parametrize("use", [sorted_out, washed_out, united, lessened, met, compared])
def test_a_child_that_fails_is_noticed(use: Callable[[Path], None], tmp_path: Path) -> None:
    """A full disk at the last temporary file, or the killer of the kernel: an error, never fewer statements."""
    with pytest.raises(StorageError):
        use(tmp_path)
