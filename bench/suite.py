"""Running the cases one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bench.cases import (
    again,
    capture,
    cluster,
    engine,
    exports,
    files,
    follow,
    heavy,
    imports,
    lists,
    load,
    meanwhile,
    memory,
    million,
    partials,
    queries,
    soak,
    tick,
    washing,
)
from bench.errors import BenchError
from bench.ground import Ground
from bench.table import Row
from harvest.errors import HarvestError
from sparql.errors import SparqlError

CASES: dict[str, Callable[[Ground], Iterator[Row]]] = {
    "import": imports.run,
    "again": again.run,
    "partial": partials.run,
    "engine": engine.run,
    "export": exports.run,
    "capture": capture.run,
    "list": lists.run,
    "follow": follow.run,
    "tick": tick.run,
    "memory": memory.run,
    "wash": washing.run,
    "cluster": cluster.run,
    "files": files.run,
    "lookup": queries.lookups,
    "join": queries.joins,
    "heavy": heavy.run,
    "million": million.run,
    "meanwhile": meanwhile.run,
    "load": load.run,
    "soak": soak.run,
}
"""By the name that `--only` takes."""

OTHERWISE_LEFT_OUT = ("engine", "load", "soak")
"""Measured where `--only` or, for `load`, `--load` asks for it: they take long."""


class Failed(Row):
    """A case that could not be measured."""


def rows(ground: Ground, names: Iterable[str]) -> Iterator[Row]:
    """The rows of the named cases; a case that fails gives a row that says why, and the next one goes on."""
    for name in names:
        try:
            for row in CASES[name](ground):
                row.judged = ground.scale.judged
                yield row
        except (BenchError, HarvestError, SparqlError) as error:
            yield Failed(name, "-", None, notes=[f"not measured: {type(error).__name__}: {error}"])
