"""Quick queries: requests a second by `wrk`, beside `oxigraph serve-read-only` over the same generation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench import front, wrk
from bench.asking import JSON, agree, ask, path
from bench.data import TRIPLES_PER_ITEM
from bench.errors import Disagreement
from bench.family import processor_s
from bench.front import Server
from bench.ground import Ground, millions
from bench.machine import others, usage
from bench.table import Row, Target
from bench.wrk import Answered, Load

UNCACHED = Target(0.35, "share")
CACHED = Target(0.5, "share")

FEW = 50
"""Items that are asked for again and again where the cache is measured."""

ITEM = "http://data.example.org/c/item/{item}"
_DC = "http://purl.org/dc/terms/"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

LOOKUPS = {"point lookup": f"SELECT ?p ?o {{ <{ITEM}> ?p ?o }}"}
JOINS = {
    "ASK": f"ASK {{ <{ITEM}> <{_LABEL}> ?label }}",
    "join of 2 patterns": f"SELECT ?label ?day {{ <{ITEM}> <{_LABEL}> ?label ; <{_DC}issued> ?day }}",
    "join of 3 patterns": f"SELECT ?other ?label {{ <{ITEM}> <{_DC}creator> ?who . "
    f"?other <{_DC}creator> ?who ; <{_LABEL}> ?label }}",
}


@dataclass(frozen=True, slots=True)
class Duel:
    """
    Our server and its peer's over one generation, and what both are asked.

    Attributes:
        ours: Our front.
        theirs: The peer.
        items: Items in the data.
    """

    ours: Server
    theirs: Server
    items: int

    def pair(self, query: str, load: tuple[int, int], seconds: float) -> tuple[Answered, Answered]:
        """One run of ours and one of the peer's; `load` has the number of items asked for, and where to begin."""
        items, first = load
        return tuple(  # type: ignore[return-value]  # Two servers give two answers.
            wrk.run(server.url, Load(path(server.url, query), items, first), seconds)
            for server in (self.ours, self.theirs)
        )


def lookups(ground: Ground) -> Iterator[Row]:
    """Two rows: each request another subject, and few subjects again and again."""
    return _rows(ground, LOOKUPS)


def joins(ground: Ground) -> Iterator[Row]:
    """Two rows a query."""
    return _rows(ground, JOINS)


def _rows(ground: Ground, queries: dict[str, str]) -> Iterator[Row]:
    wrk.command()
    folder = front.served(ground, ground.scale.triples)
    items = ground.scale.triples // TRIPLES_PER_ITEM
    with front.ours(folder) as ours, front.theirs(folder) as theirs:
        duel = Duel(ours, theirs, items)
        for place, (name, query) in enumerate(queries.items()):
            _check(duel, query)
            ground.say(f"{name}, each request another subject, then {FEW} subjects again and again")
            yield _row(ground, duel, (f"{name}, uncached", query), (items, place * 7919))
            _warm(duel, query)
            yield _row(ground, duel, (f"{name}, repeated", query), (min(FEW, items), 0))


def _check(duel: Duel, query: str) -> None:
    """Both answer the same, and something."""
    for number in range(0, duel.items, max(duel.items // 20, 1)):
        if not agree(duel.ours.url, duel.theirs.url, _of(query, number)) and "creator" not in query:
            raise Disagreement(f"item {number} is not in the data")


def _warm(duel: Duel, query: str) -> None:
    for number in range(min(FEW, duel.items)):
        ask(duel.ours.url, _of(query, number))


def _of(query: str, number: int) -> str:
    return query.replace("{item}", f"{number:08d}").replace("{{", "{").replace("}}", "}")


def _row(ground: Ground, duel: Duel, asked: tuple[str, str], load: tuple[int, int]) -> Row:
    name, query = asked
    items, first = load
    cached = items < duel.items
    before, spent = usage(), _processor(duel)
    pairs = []
    for turn in range(ground.scale.rounds):
        # Far from where the last run ended, so that no request is asked again.
        place = first + turn * items // ground.scale.rounds
        pairs.append(duel.pair(query, (items, place), ground.scale.wrk_s))
    ratios = [here.rate / there.rate for here, there in pairs]
    row = Row(name, millions(ground.scale.triples), median(here.rate for here, _ in pairs), unit="/s")
    row.peer, row.ratio = median(there.rate for _, there in pairs), median(ratios)
    row.target = CACHED if cached else UNCACHED
    row.others = others(before, usage())
    errors = sum(here.errors + there.errors for here, there in pairs)
    row.spoiled = errors > 0
    spent = [(after - then) for then, after in zip(spent, _processor(duel), strict=True)]
    row.notes.append(_note(pairs, ratios, spent) + (f"; {errors} requests FAILED" if errors else ""))
    if cached:
        row.notes[-1] += f"; {_hits(duel, query)} of 20 came from the cache"
    row.details["ratios"] = ratios
    return row


def _processor(duel: Duel) -> list[float]:
    return [processor_s(server.pid) for server in (duel.ours, duel.theirs)]


def _note(pairs: list[tuple[Answered, Answered]], ratios: list[float], spent: list[float]) -> str:
    """What else is known; processor time depends less than all else on what others do with the machine."""
    late = [f"{median(pair[i].p99_s for pair in pairs) * 1000:.1f}" for i in (0, 1)]
    work = [f"{spent[i] / sum(pair[i].requests for pair in pairs) * 1e6:.0f}" for i in (0, 1)]
    runs = f"{len(ratios)} runs each, ratios {min(ratios):.2f} to {max(ratios):.2f}"
    return f"{runs}; p99 {late[0]} ms beside {late[1]} ms; processor time {work[0]} beside {work[1]} us a request"


def _hits(duel: Duel, query: str) -> int:
    return sum(ask(duel.ours.url, _of(query, number), JSON).cache == "hit" for number in range(20))
