"""
The load test: 32 clients, each from an address of its own, of whose queries one in ten is pathological, while
catalogues are harvested.

Asked in two ways: every client asks both kinds, in turn by chance, so that it waits for its own pathological ones; then
three clients ask pathological queries only, and the others cheap ones without a pause.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench import clients
from bench.clients import Crowd, Tally
from bench.data import Recipe
from bench.errors import BenchError
from bench.family import Memory, Process, family, is_worker, left, processor_s, watched
from bench.ground import Ground, millions
from bench.machine import others, usage
from bench.provider import Provider, provider
from bench.served import Served, serving
from bench.table import Row, Target
from sparql.worker.limits import QueryLimits

CLIENTS = 32
WAYS = {
    "one in ten queries of each client pathological": (0.1,) * CLIENTS,
    "3 clients pathological, 29 cheap": (1.0,) * 3 + (0.0,) * (CLIENTS - 3),
}
IDLE = (0.0,) * CLIENTS
EDITIONS = 3
SETTLE_S = 3.0
LOOK_S = 0.5
GROWN_S = 30.0

NONE = Target(0, "ours")
SLOWER = Target(5, "slower")
FLAT = Target(1.25, "slower")


@dataclass(slots=True)
class Harvests:
    """
    What is harvested meanwhile.

    Attributes:
        done: Versions that were published.
    """

    done: int = 0


def run(ground: Ground) -> Iterator[Row]:
    """Rows for each way of asking; then what is left over when all is done."""
    triples = ground.scale.triples
    with ground.room("load") as room, provider(room / "files") as files:
        files.announce("p", ground.source(Recipe(triples)))
        with serving(room / "ours") as served:
            ground.say(f"importing {millions(triples)}")
            served.register({"p": f"{files.url}/p.ttl"})
            served.until("p", 1)
            seen = family(served.pid)
            yield from _rows(ground, served, files, seen)
            seen |= family(served.pid)
        yield _left(seen, millions(triples))


def _rows(ground: Ground, served: Served, files: Provider, seen: set[Process]) -> Iterator[Row]:
    front = _front(served)
    _grown(front, served)
    items = Recipe(ground.scale.triples).items
    ground.say(f"{CLIENTS} clients, all cheap, nothing harvested")
    idle = Crowd(served.url, items, IDLE, seed=0).ask(ground.scale.load_s / 4)
    base = Memory()
    base.look(front.pid)
    for seed, (way, shares) in enumerate(WAYS.items(), 1):
        ground.say(f"{CLIENTS} clients, {way}")
        before = usage()
        with _harvesting(ground, served, files) as harvests, watched(front.pid, LOOK_S) as memory:
            tally = Crowd(served.url, items, shares, seed).ask(ground.scale.load_s)
            late = _still_busy(front)
            time.sleep(SETTLE_S)
        busy = others(before, usage())
        seen |= memory.seen
        for row in (*_answers(idle, tally, harvests), *_memory(base, memory), _workers(served, front, late)):
            row.case, row.data, row.others = f"load, {row.case}", way, busy
            yield row


def _grown(front: Process, served: Served) -> None:
    """Return when the front has started all its workers, which it does one by one."""
    limits = QueryLimits(workers=served.settings.query.workers)
    wanted, end = limits.workers + limits.spare + limits.extra, time.monotonic() + GROWN_S
    while sum(map(is_worker, family(front.pid))) < wanted and time.monotonic() < end:
        time.sleep(LOOK_S)


def _answers(idle: Tally, tally: Tally, harvests: Harvests) -> Iterator[Row]:
    row = Row("cheap queries that failed", "", float(tally.failed.total()), unit="", target=NONE)
    row.notes.append(f"{len(tally.cheap_s)} were right; failed: {clients.share(tally.failed)}")
    row.notes.append(f"pathological ones were answered: {clients.share(tally.heavy)}")
    if odd := clients.unexpected(tally.heavy):
        row.notes.append(f"pathological ones were not refused as they should be: {', '.join(odd)}")
    row.notes.append(f"{harvests.done} harvests were published meanwhile, and one was under way")
    yield row
    found = tally.p99_s * 1000 if tally.cheap_s else None
    row = Row("p99 of cheap queries", "", found, idle.p99_s * 1000, unit="ms", target=SLOWER)
    row.spoiled = found is None
    slowest = max(tally.cheap_s, default=0.0) * 1000
    row.notes.append(f"slowest {slowest:.0f} ms; {len(idle.cheap_s)} queries while idle, {idle.failed.total()} failed")
    yield row


def _memory(base: Memory, memory: Memory) -> Iterator[Row]:
    """What the service has at the end beside what it had before both ways, when it had answered cheap queries."""
    kinds = (("front", base.fronts, memory.fronts), ("workers", base.workers, memory.workers))
    for name, (before, *_), looks in kinds:
        row = Row(f"memory of the {name}, after and before", "", looks[-1] / 1e6, before / 1e6, unit="MB", target=FLAT)
        row.notes.append(f"{looks[0] / 1e6:.0f} MB at the beginning of this way, peak {max(looks) / 1e6:.0f} MB")
        yield row


def _still_busy(front: Process) -> float:
    """Seconds of processor time that the workers took in a second, one second after all clients went away."""
    time.sleep(1.0)
    before = {process: processor_s(process.pid) for process in family(front.pid) if is_worker(process)}
    time.sleep(1.0)
    return sum(processor_s(process.pid) - taken for process, taken in before.items() if process.lives())


def _workers(served: Served, front: Process, late: float) -> Row:
    found = sum(map(is_worker, family(front.pid)))
    limits = QueryLimits(workers=served.settings.query.workers)
    wanted = limits.workers + limits.spare + limits.extra
    row = Row("workers beyond those wanted", "", float(max(found - wanted, 0)), unit="", target=NONE)
    row.notes.append(
        f"{found} workers of {wanted}; one second after the clients went they took {late:.2f} s in a second"
    )
    row.spoiled = late > 0.2 or found > wanted
    return row


def _left(seen: set[Process], data: str) -> Row:
    found = left(seen, 5.0)
    row = Row("load, processes left over after the end", data, float(len(found)), unit="", target=NONE)
    row.notes.append(f"{len(seen)} processes were seen; left: {', '.join(found) or 'none'}")
    return row


def _front(served: Served) -> Process:
    """The process that `harvest serve` started its front as."""
    for process in family(served.pid):
        if "-m harvest.service.serve " in process.command():
            return process
    raise BenchError(f"process {served.pid} has no front; its log is {served.log}")


@contextmanager
def _harvesting(ground: Ground, served: Served, files: Provider) -> Iterator[Harvests]:
    """A catalogue is harvested again and again, each time with another part of its subjects changed."""
    triples = ground.scale.triples
    sources = [ground.source(Recipe(triples, catalogue="d", edition=n, changed=0.05)) for n in range(EDITIONS)]
    found, stop = Harvests(), threading.Event()
    first = served.version("q")

    def announce() -> None:
        wanted = first
        while not stop.wait(LOOK_S):
            if (version := served.version("q")) >= wanted:
                found.done = version - first
                wanted = version + 1
                files.announce("q", sources[version % EDITIONS])
                served.register({name: f"{files.url}/{name}.ttl" for name in ("p", "q")})

    thread = threading.Thread(target=announce, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()
