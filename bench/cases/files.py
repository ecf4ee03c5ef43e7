"""What differs between two files, as an N-Quads unified diff, beside `sort`, `sort` and `diff --unified=0`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.measure import Sample, clocked, interleaved
from bench.table import Row, Target, compared
from harvest.config.settings import Settings
from harvest.pipeline.comparing import difference

EVERY: Final = 100
"""One line of so many is changed."""

TARGET: Final = Target(1.0, "slower")
RECIPE: Final = 'sort -u "$1" > a.sorted; sort -u "$2" > b.sorted; diff --unified=0 a.sorted b.sorted > out.nqud'


def run(ground: Ground) -> Iterator[Row]:
    """One row: two files of which one line in a hundred differs."""
    old = ground.source(Recipe(ground.scale.triples, blank_share=0.0))
    ground.say(f"comparing {old.name} with a changed copy")
    with ground.room("files") as room:
        new = _changed(old, room / "new.nt")
        found: dict[str, int] = {}

        def ours() -> Sample:
            with clocked() as sample, (room / "ours.nqud").open("wb") as out:
                out.writelines(difference(Settings(), old, new))
            found["ours"] = _signs(room / "ours.nqud")
            return sample

        def theirs() -> Sample:
            words = ["bash", "-c", RECIPE, "-", str(old), str(new)]
            with clocked() as sample:
                subprocess.run(words, cwd=room, env=os.environ | {"LC_ALL": "C"}, check=False)
            found["theirs"] = _signs(room / "out.nqud")
            return sample

        series = interleaved({"ours": ours, "peer": theirs}, ground.scale.runs)
    if found["ours"] != found["theirs"]:
        raise Disagreement(f"we find {found['ours']} changes, the peer {found['theirs']}")
    data = f"two files of {millions(ground.scale.triples)}, 1 % changed; `sort; sort; diff` as peer"
    yield compared("comparing files", data, series["ours"], series["peer"], TARGET)


def _changed(source: Path, target: Path) -> Path:
    """The file with one line in a hundred changed."""
    with source.open("rb") as lines, target.open("wb") as out:
        for number, line in enumerate(lines):
            out.write(line.replace(b"<", b"<urn:changed:", 1) if number % EVERY == 0 else line)
    return target


def _signs(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(line[:1] in (b"+", b"-") and line[:3] not in (b"+++", b"---") for line in lines)
