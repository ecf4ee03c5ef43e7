"""
An instance as a browser meets it: providers on loopback, harvested release by release, and the real front.

    fleet      seven versions, all well
    tides      three versions; the fourth lost most stations and is held
    cruises    two versions; the dump of the third does not parse
    floats     being harvested for the first time, for as long as the instance is there
    buoys      registered, but its description is not there
    moored     registered and disabled

Beside them a seed list with documents of each kind. The clock of the harvests is made up, so that dates are the same in
each run; the front's clock is the machine's.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from harvest.catalog.providers import SCHEDULE, Schedule
from harvest.config.loader import load_settings
from harvest.config.settings import Settings
from harvest.model import Outcome
from harvest.model.seeds import seed_hash
from harvest.pipeline import Harvester, opened
from harvest.service.serve import Front
from tests.browser.releases import START, Release, description, published
from tests.ports import free_port
from tests.provider import ProviderServer, serving

SHIP = "http://fleet.example/ship/3"
"""An entity with labels in two languages, blank nodes, and links from other graphs."""

HARVESTED = ("fleet", "tides", "cruises")
OUTCOMES = {"fleet": Outcome.COMMITTED, "tides": Outcome.HELD, "cruises": Outcome.FAILED}
"""What becomes of the last release of each."""


@dataclass(frozen=True, slots=True)
class Place:
    """
    Where an instance is made and what it is called.

    Attributes:
        folder: For all its files.
        base_url: As the pages show it; empty for the address that the front listens on.
        provider_port: Port of the providers; 0 for any that is free.
        buoys: Whether the provider is registered whose description is not there.
    """

    folder: Path
    base_url: str = ""
    provider_port: int = 0
    buoys: bool = True


class Clock:
    """A time that stands at a release and goes on by a moment at each look."""

    def __init__(self) -> None:
        self._now = START

    def __call__(self) -> datetime:
        self._now += timedelta(milliseconds=40)
        return self._now

    def move(self, to: datetime) -> None:
        self._now = max(self._now, to)


class Killed(BaseException):
    """Ends a harvest as `kill -9` would, so that its run is never noted as ended."""


def _kill(provider: str, step: str) -> None:
    if (provider, step) == ("floats", "wash"):
        raise Killed


class Providers(ProviderServer):
    """The providers, at a port of choice."""

    def __init__(self, port: int) -> None:
        self._port = port
        super().__init__()

    def server_bind(self) -> None:
        self.server_address = ("127.0.0.1", self._port)
        super().server_bind()


@contextmanager
def running(place: Place) -> Iterator[Settings]:
    """An instance that was harvested and answers; its processes end with the block, by their ids."""
    with serving(Providers(place.provider_port)) as providers:
        settings = _settings(place, providers)
        _harvest(settings, providers)
        front = Front(settings)
        front.start()
        try:
            yield settings
        finally:
            front.stop()


def _settings(place: Place, providers: ProviderServer) -> Settings:
    port = free_port()
    base = place.base_url or f"http://127.0.0.1:{port}"
    values: dict[str, Any] = {
        "base_url": base,
        "bind": f"127.0.0.1:{port}",
        "graph_base": f"{base}/graph/",
        "data_dir": "var",
        "exports_dir": "exports",
        "write_back": False,
        "http": {"allow_loopback": True, "retries": 0},
        "guard": {"floor": 20, "share": 0.2},
        "query": {"workers": 2, "timeout_s": 20},
    }
    registry: dict[str, Any] = {
        name: {"void": f"{providers.url}/{name}/void.ttl", "removals": "mirror", "contact": f"data@{name}.example"}
        for name in (*HARVESTED, "floats", *(["buoys"] if place.buoys else []), "moored")
    }
    registry["moored"]["enabled"] = False
    place.folder.joinpath("registry.yaml").write_text(yaml.safe_dump(registry, sort_keys=False), "utf-8")
    file = place.folder / "harvest.yaml"
    file.write_text(yaml.safe_dump(values, sort_keys=False), "utf-8")
    return load_settings(file, {})


def _harvest(settings: Settings, providers: ProviderServer) -> None:
    """Publish all releases in the order of their dates, and harvest each."""
    clock = Clock()
    outcomes: dict[str, Outcome] = {}
    due = sorted(
        ((release, name) for name in HARVESTED for release in published(name)),
        key=lambda entry: (entry[0].at, entry[1]),
    )
    with opened(settings, clock, _kill) as running:
        running.ledger.set_meta(SCHEDULE, Schedule(START, 3600).dump())
        harvester = Harvester(running)
        for release, name in due:
            clock.move(release.at + timedelta(hours=1))
            _publish(providers, name, release)
            harvester.look(name)
            outcomes[name] = harvester.work(name)[-1].outcome
        if running.roster.get("buoys"):
            harvester.look("buoys")
        _seed(harvester, providers)
        harvester.export()
        _publish(providers, "floats", published("floats")[0])
        harvester.look("floats")
        with suppress(Killed):
            harvester.work("floats")
    assert outcomes == OUTCOMES, f"the instance is not what the tests take it for: {outcomes}"


def _publish(providers: ProviderServer, name: str, release: Release) -> None:
    dump = providers.put(f"/{name}/{release.at:%Y-%m-%d}.ttl", release.dump)
    url = f"{providers.url}/{name}/void.ttl"
    providers.put(f"/{name}/void.ttl", description(name, url, release, dump))


def _seed(harvester: Harvester, providers: ProviderServer) -> None:
    """Four seeds: one that is RDF and loaded, an archive, one that is missing, one that nobody can download."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in (("a.nt", '<http://s.example/a> <http://p> "1" .\n'), ("readme.txt", "No RDF here.\n")):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    lines = [f'<http://s.example/{n}> <http://p.example/size> "{n}" .\n' for n in range(20)]
    found = providers.put(
        "/seeds/sizes.nt", "".join(lines) + "<http://s.example/x> <broken .\n", "application/n-triples"
    )
    several = providers.put("/seeds/all.zip", packed.getvalue(), "application/zip")
    uris = [found, several, f"{providers.url}/seeds/missing.ttl"]
    seeds = harvester.instance.ledger.seeds
    seeds.add_all([*uris, "lost.nt"], harvester.instance.clock(), 100 * 86400)
    harvester.seeding.run([])
    harvester.seeding.load(seed_hash(found))
