"""
`harvest demo`: a provider on loopback that publishes successive releases, and an instance beside it that harvests it.

Everything is real: HTTP, the schedule, the store, the web front. It lives in a temporary folder that is removed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from rich.console import Console

from harvest.catalog.instance import InstanceCatalog
from harvest.cli import demo_repository
from harvest.cli import output as show
from harvest.cli.demo_provider import FleetServer, fleet, releases
from harvest.config.loader import load_settings
from harvest.config.settings import Settings
from harvest.errors import HarvestError
from harvest.service.log import quiet_log
from harvest.service.orders import carry_out
from harvest.service.serve import free_port, running
from sparql.reports import RunReport

OUT = Console(highlight=False, soft_wrap=True)
NAME = "fleet"
QUERIES = Path(__file__).with_name("demo_queries")
"""Example queries that have something to say of the fleet."""

TICK_S = 2
PAUSE_S = 4.0
"""Seconds between what the provider does and the next thing, so that people can read."""

WAIT_S = 300.0
"""Seconds in which a release must have an outcome; on two slow cores it has one after three."""


def demo(seconds: float | None, port: int) -> None:
    """
    Play the demo: five releases, one approval, a dataset in a repository, a query.

    Then serve until Ctrl-C, or until `seconds` are over.

    Raises:
        HarvestError: The port is taken, or the demo did not go as it should.
    """
    end = None if seconds is None else time.monotonic() + seconds
    quiet_log()
    with TemporaryDirectory(prefix="harvest-demo-") as folder, fleet() as provider:
        OUT.print(f"[dim]The provider is at {provider.url}, the instance in {folder}. Starting ...[/]")
        provider.publish(releases()[0])
        settings = _settings(Path(folder), provider, port or free_port())
        with running(settings):
            _addresses(settings)
            _play(settings, provider)
            _wait_for_end(end)
    OUT.print("[dim]The demo is over; its folder is removed.[/]")


def _settings(folder: Path, provider: FleetServer, port: int) -> Settings:
    """Write the instance's two files, as an operator would, put its example queries beside them, and read them."""
    shutil.copytree(QUERIES, folder / "queries")
    (folder / "registry.yaml").write_text(
        f"# Providers register here.\n{NAME}:\n  void: {provider.url}/void.ttl\n  removals: mirror\n"
        + demo_repository.publish(provider)
    )
    values: dict[str, Any] = {
        "base_url": f"http://localhost:{port}",
        "bind": f"127.0.0.1:{port}",
        "graph_base": f"http://localhost:{port}/graph/",
        "data_dir": "var",
        "exports_dir": "exports",
        "schedule": {"update": TICK_S, "export": TICK_S, "status": 60},
        "http": {"allow_loopback": True},
        "guard": {"floor": 20, "share": 0.2},
    }
    file = folder / "harvest.yaml"
    file.write_text(yaml.safe_dump(values, sort_keys=False))
    return load_settings(file, {})


def _addresses(settings: Settings) -> None:
    base = settings.base_url
    OUT.print("\nOpen while it runs:")
    for path, what in (
        ("/", "the dashboard"),
        ("/sparql", "ask with SPARQL"),
        (f"/providers/{NAME}", "the provider: versions, findings, receipt"),
        (f"/providers/{demo_repository.NAME}", "another one: a dataset in a repository"),
        ("/exports/", "N-Quads downloads"),
    ):
        OUT.print(f"  [bold]{base}{path}[/]  {what}")
    OUT.print()


def _play(settings: Settings, provider: FleetServer) -> None:
    """The five releases, each with its outcome; what is held in the end is approved."""
    reading = InstanceCatalog(settings)
    for number, release in enumerate(releases()):
        if number:
            provider.publish(release)
        OUT.print(f"[bold]The provider publishes {release.sentence}.[/]")
        _print_outcome(_outcome(reading, number))
        time.sleep(PAUSE_S if OUT.is_terminal else 0)
    OUT.print("[bold]The operator looks, and approves what is held:[/] harvest approve fleet")
    answer = carry_out(settings, "approve", [NAME], lambda provider, step: None)
    if not answer["ok"]:
        raise HarvestError(f"approving failed: {answer}")
    _print_outcome(_outcome(reading, len(releases())))
    demo_repository.play(settings, OUT)
    OUT.print("\nEvery version can be read, diffed and replayed:\n")
    show.history(reading.versions(NAME), [])
    _proven(settings)
    OUT.print(f"\nThe change feed, for example: curl {settings.base_url}/providers/{NAME}/changes/2.nqud")


def _outcome(reading: InstanceCatalog, runs: int) -> RunReport:
    """The run that follows the first `runs` ones, once it has ended."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        found = sorted(reading.runs(NAME), key=lambda run: run.id)
        if len(found) > runs and found[runs].ended:
            return found[runs]
        time.sleep(0.1)
    raise HarvestError(f"the harvest had no outcome within {WAIT_S:g} s; see `harvest status`")


def _print_outcome(run: RunReport) -> None:
    counts = f"+{run.added} -{run.removed} triples"
    outcome, version = run.outcome, run.version
    if outcome == "committed":
        OUT.print(f"  [green]committed[/]  version {version}: {counts}")
    else:
        OUT.print(f"  [yellow]{outcome}[/]  the last good version stays in force")
    for finding in run.findings:
        place = f"line {finding.line}, column {finding.column}: " if finding.line else ""
        OUT.print(f"  [dim]{place}{finding.message}[/]", soft_wrap=True, markup=True)
        if finding.excerpt:
            OUT.print(f"  [dim]| {finding.excerpt.strip()}[/]")


def _proven(settings: Settings) -> None:
    carry_out(settings, "export", [], lambda provider, step: None)
    answer = carry_out(settings, "verify", [NAME], lambda provider, step: None)
    OUT.print("And proven: replaying all changes gives the snapshot, the store and the export.")
    show.proofs(answer)
    if not answer["ok"]:
        raise HarvestError("verify found a difference")


def _wait_for_end(end: float | None) -> None:
    if end is None:
        OUT.print("\n[bold]Serving until Ctrl-C.[/]")
    with _interrupted():
        while end is None or time.monotonic() < end:
            time.sleep(0.2)


@contextmanager
def _interrupted() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        OUT.print()
