"""Peak memory of washing, comparing and exporting, each in processes of its own, and of the load beside its peer's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench import peer
from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.memory import Peak, peak
from bench.stage import GRAPH
from bench.table import Row, Target

TARGET = Target(400, "ours")
LOAD = Target(1, "slower")


def run(ground: Ground) -> Iterator[Row]:
    """Rows for each size."""
    for triples in ground.scale.sizes:
        recipe = Recipe(triples)
        old, new = ground.source(recipe), ground.source(Recipe(triples, edition=1))
        with ground.room("memory") as room:
            yield from _rows(ground, (old, new), room, triples)


def _rows(ground: Ground, dumps: tuple[Path, Path], room: Path, triples: int) -> Iterator[Row]:
    size = millions(triples)
    old, new = room / "old.nq", room / "new.nq"
    ground.say(f"peak memory at {size}")
    washed = [_stage(room, "wash", dump, into) for dump, into in zip(dumps, (old, new), strict=True)]
    _expect([int(found.output) for found in washed], [triples, triples])
    yield _row("washing", size, max(washed, key=lambda found: found.bytes))
    yield _blank_nodes(ground, room, triples)
    mirrored = _stage(room, "mirror", old, new, room / "mirror")
    yield _row("comparing, mirror", f"{size}, 1 % changed", mirrored)
    replaced = _stage(room, "full", old, new, room / "full")
    yield _row("comparing, subject replacement", f"{size}, 1 % changed", replaced)
    _expect([int(replaced.output)], [int(mirrored.output)])
    yield _row("exporting", size, _stage(room, "export", new, room / "exports"))
    yield _load(ground, room, size, (dumps[1], new))


def _blank_nodes(ground: Ground, room: Path, triples: int) -> Row:
    """Washing where many triples touch a blank node, which is what has to be held to label them."""
    found = _stage(room, "wash", ground.source(Recipe(triples, blank_share=0.8)), room / "blank.nq")
    _expect([int(found.output)], [triples])
    (room / "blank.nq").unlink()
    return _row("washing", f"{millions(triples)}, 30 % of them touch blank nodes", found)


def _load(ground: Ground, room: Path, size: str, files: tuple[Path, Path]) -> Row:
    dump, snapshot = files
    ours = _stage(room, "load", snapshot, room / "store")
    theirs = peak(peer.load_command(room / "peer", GRAPH, dump), room)
    _expect([int(ours.output)], [peer.count(room / "peer", GRAPH)])
    row = _row("loading", size, ours)
    row.peer, row.target = theirs.bytes / 1e6, LOAD
    return row


def _stage(room: Path, *arguments: object) -> Peak:
    return peak([sys.executable, "-m", "bench.stage", *map(str, arguments)], room)


def _expect(found: list[int], wanted: list[int]) -> None:
    if found != wanted:
        raise Disagreement(f"a stage gave {found} triples and not {wanted}")


def _row(stage: str, data: str, found: Peak) -> Row:
    row = Row(f"peak memory, {stage}", data, found.bytes / 1e6, unit="MB", target=TARGET)
    row.details = {"seconds": found.seconds}
    return row
