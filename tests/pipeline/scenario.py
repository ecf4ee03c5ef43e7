"""What happens to an instance in the crash tests, phase by phase: what is published before, and what is done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from harvest.errors import UnknownName
from harvest.pipeline.prune import PruneRule, prune
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import VOID, ProviderServer, dataset

NOTES: Final = "http://h.example/graph/notes"
OLD: Final = [f'<http://x/{n}> <http://p> "{n}"' for n in range(40)]


@dataclass(frozen=True, slots=True)
class Phase:
    """
    A piece of the scenario.

    Attributes:
        name: What it is called.
        day: When it happens; the next one is some days later.
        publish: What the provider and the operator do before.
        act: What the instance does; done again, it does what is left.
    """

    name: str
    day: int
    publish: Callable[[ProviderServer, TemporaryInstance], None]
    act: Callable[[TemporaryInstance], None]


def describe(provider: ProviderServer, day: int, *lines: str, partial: bool = False, other: int = 1) -> None:
    """Publish a dump of that day, and a description with it and with a second dataset, of the day `other`."""
    provider.put(f"/{day}.ttl", "".join(f"{line} .\n" for line in lines))
    provider.put(f"/other-{other}.ttl", f'<http://y/1> <http://p> [ <http://q> "{other}" ] .\n')
    first = dataset(
        f"{provider.url}/void.ttl#d", f"2026-01-{day:02d}T00:00:00Z", [f"{provider.url}/{day}.ttl"], partial=partial
    )
    date = f"2026-01-{other:02d}T00:00:00Z"
    second = dataset(f"{provider.url}/void.ttl#e", date, [f"{provider.url}/other-{other}.ttl"])
    provider.put("/void.ttl", VOID + first + second)


def first(provider: ProviderServer, instance: TemporaryInstance) -> None:
    instance.settings.registry.write_text(f"p:\n  void: {provider.url}/void.ttl\nnotes:\n  updates: true\n")
    describe(provider, 1, *OLD)


def second(provider: ProviderServer, instance: TemporaryInstance) -> None:
    describe(provider, 2, *OLD[4:], *(f'<http://x/{n}> <http://p> [ <http://q> "{-n}" ]' for n in range(4)), other=2)


def some(provider: ProviderServer, instance: TemporaryInstance) -> None:
    describe(provider, 3, '<http://x/1> <http://p> "other"', '<http://x/50> <http://p> "new"', partial=True, other=2)


def most(provider: ProviderServer, instance: TemporaryInstance) -> None:
    describe(provider, 4, *(f'<http://x/{n}> <http://p> "4"' for n in range(5, 40)), other=2)


def differing(provider: ProviderServer, instance: TemporaryInstance) -> None:
    """A third dataset is a change of the graph as the phases before left it."""
    most(provider, instance)
    provider.put("/change.nqud", '-<http://x/5> <http://p> "4" .\n+<http://x/5> <http://p> "5" .\n')
    third = dataset(f"{provider.url}/void.ttl#f", "2026-01-05T00:00:00Z", [f"{provider.url}/change.nqud"])
    described = provider.pages["/void.ttl"].body.decode()
    provider.put("/void.ttl", described + third)


def nothing(provider: ProviderServer, instance: TemporaryInstance) -> None:
    """Nobody does anything."""


def seeded(provider: ProviderServer, instance: TemporaryInstance) -> None:
    provider.put("/seed.nt", "<http://s/a> <http://p> <http://s/b> .\n")
    instance.settings.registry.with_name("seed").write_text(f"{provider.url}/seed.nt")


def removed(provider: ProviderServer, instance: TemporaryInstance) -> None:
    instance.settings.registry.write_text("notes:\n  updates: true\n")


def harvest(instance: TemporaryInstance) -> None:
    instance.harvester.instance.roster.refresh()
    instance.harvester.look("p")
    instance.harvester.work("p")


def approve(instance: TemporaryInstance) -> None:
    with suppress(UnknownName):
        instance.harvester.approve("p")
    instance.harvester.work("p")


def update(instance: TemporaryInstance) -> None:
    instance.harvester.update(f'INSERT DATA {{ GRAPH <{NOTES}> {{ <http://n/a> <http://p> "1" , "2" }} }}')


def seed(instance: TemporaryInstance) -> None:
    ledger = instance.harvester.instance.ledger
    hash, _ = ledger.seeds.add(instance.settings.registry.with_name("seed").read_text(), instance.clock(), 1e9)
    instance.harvester.seeding.run([])
    if not any("seed" in graph for graph in instance.harvester.instance.store.graphs()):
        instance.harvester.seeding.load(hash)


def export(instance: TemporaryInstance) -> None:
    instance.harvester.export()


def let_go(instance: TemporaryInstance) -> None:
    prune(instance.harvester.instance, PruneRule(versions=1))


def compact(instance: TemporaryInstance) -> None:
    for name in ("p", "notes"):
        with suppress(UnknownName):
            instance.harvester.maintenance.compact(name, 1)


def forget(instance: TemporaryInstance) -> None:
    with suppress(UnknownName):
        instance.harvester.forget("p")


PHASES: Final = (
    Phase("first", 10, first, harvest),
    Phase("second", 20, second, harvest),
    Phase("partial", 30, some, harvest),
    Phase("held", 40, most, harvest),
    Phase("approve", 50, nothing, approve),
    Phase("change", 55, differing, harvest),
    Phase("export", 60, nothing, export),
    Phase("update", 70, nothing, update),
    Phase("seed", 80, seeded, seed),
    Phase("prune", 90, nothing, let_go),
    Phase("compact", 95, nothing, compact),
    Phase("forget", 100, removed, forget),
)

SCENARIO: Final = {phase.name: phase for phase in PHASES}
