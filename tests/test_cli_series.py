"""`harvest diff` and `harvest patch` over real releases: what they find is true, and is what `sort | diff` finds."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.realdata import realdata
from tests.test_cli_files import gnu_diff, harvest

BASE = "http://series.example/release"
GENID = b"/.well-known/genid/"
SERIES = ("schemaorg", "periodo", "berlin-vocabulary", "yourselftoscience")


def releases(series: str) -> Iterator[tuple[Path, Path, tuple[int, int]]]:
    """Each readable release with the one before it, and how many triples without blank nodes came and went."""
    with (realdata() / "EXPECTED-DIFFS.tsv").open(newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))[1:]
    for row in rows:
        if row[0].startswith(f"series/{series}/") and len(row) > 6 and row[5].isdigit():
            yield realdata() / row[4], realdata() / row[0], (int(row[5]), int(row[6]))


def compared(old: Path, new: Path, folder: Path) -> tuple[int, int]:
    """
    Hold both commands against `sort | diff` of two releases.

    Returns how many triples without blank nodes came and went.
    """
    (folder / "ours.nqud").write_bytes(harvest("diff", old, new, "--base", BASE, folder=folder).stdout_bytes)
    clean = []
    for name, file in (("old", old), ("new", new)):
        washed = harvest("wash", file, "--base", BASE, folder=folder).stdout_bytes
        clean.append(folder / f"{name}.nt")
        clean[-1].write_bytes(washed.replace(f" <{BASE}> .\n".encode(), b" .\n"))
    (folder / "gnu.nqud").write_bytes(gnu_diff(*clean, folder))
    ours, gnu = (signed(folder / name) for name in ("ours.nqud", "gnu.nqud"))
    assert ours == gnu
    for change in ("ours.nqud", "gnu.nqud"):
        done = harvest("patch", clean[0], change, folder=folder)
        assert sorted(done.stdout_bytes.splitlines()) == sorted(clean[1].read_bytes().splitlines())
        assert done.stderr_bytes.endswith(b" added\n")  # nothing was so already
    ground = [line[:1] for line in ours if GENID not in line]
    return ground.count(b"+"), ground.count(b"-")


def signed(path: Path) -> list[bytes]:
    """The lines of a diff that say something, in one order."""
    lines = path.read_bytes().splitlines()
    return sorted(line for line in lines if line[:1] in (b"+", b"-") and line[:3] not in (b"+++", b"---"))


@pytest.mark.parametrize("series", SERIES)
def test_the_last_two_releases_agree_with_sort_and_diff(tmp_path: Path, series: str) -> None:
    """Turtle with blank nodes, a vocabulary that hardly changes, plain N-Triples."""
    old, new, expected = list(releases(series))[-1]
    assert compared(old, new, tmp_path) == expected


@pytest.mark.long
@pytest.mark.parametrize("series", SERIES)
def test_all_releases_agree_with_sort_and_diff(tmp_path: Path, series: str) -> None:
    """Each release against the last one before it that can be read."""
    found = {}
    for old, new, expected in releases(series):
        room = tmp_path / new.name
        room.mkdir()
        counts = compared(old, new, room)
        if counts != expected:
            found[new.name] = (counts, expected)
    assert not found
