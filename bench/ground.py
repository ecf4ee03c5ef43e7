"""The ground that cases stand on: sizes, a temporary folder, generated files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from bench import data
from bench.data import Recipe


@dataclass(frozen=True, slots=True)
class Scale:
    """
    How large things are.

    Attributes:
        triples: In the graphs of most cases.
        large: In the large graph, or None where that is not measured.
        partial: Triples of a partial dump.
        exported: Triples of each of ten equal providers.
        providers: Registered providers of a tick.
        runs: Of everything that takes less than a minute.
        rounds: Of servers that answer in turn.
        wrk_s: Seconds of each run of `wrk`.
        load_s: Seconds of the load test.
        real: Whether real files are imported too.
        harvests: Of the soak.
        ticks: Of the soak, over unchanged providers.
        judged: Whether these are the sizes that the targets are set for.
    """

    triples: int = 2_000_000
    large: int | None = None
    partial: int = 20_000
    exported: int = 200_000
    providers: int = 1_000
    runs: int = 3
    rounds: int = 9
    wrk_s: int = 1
    load_s: float = 60
    real: bool = True
    judged: bool = True
    harvests: int = 5_000
    ticks: int = 50_000

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of graphs that are measured."""
        return (self.triples,) if self.large is None else (self.triples, self.large)


QUICK = Scale(200_000, None, 2_000, 20_000, 50, 1, 1, 1, 10, real=False, judged=False, harvests=100, ticks=500)
"""Checks the machinery in a minute."""


@dataclass(frozen=True, slots=True)
class Ground:
    """
    What a case works with.

    Attributes:
        folder: Removed when all cases are done, unless `--keep` names it.
        scale: How large things are.
        say: Called with a line on what is being done.
        realdata: The folder of real data, or None when there is none.
    """

    folder: Path
    scale: Scale
    say: Callable[[str], None]
    realdata: Path | None

    def source(self, recipe: Recipe) -> Path:
        """The generated file of a recipe; made once."""
        path = self.folder / "data" / recipe.name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            if recipe.only is None and recipe.triples >= 1_000_000:
                self.say(f"generating {path.name}")
            part = path.with_suffix(".part")
            data.write(recipe, part)
            part.rename(path)
        return path

    @contextmanager
    def room(self, name: str) -> Iterator[Path]:
        """An empty folder, gone afterwards."""
        folder = Path(mkdtemp(prefix=f"{name}-", dir=self.folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def millions(triples: int) -> str:
    """A number of triples for people."""
    return f"{triples / 1e6:g} M triples" if triples >= 1_000_000 else f"{triples / 1e3:g} k triples"
