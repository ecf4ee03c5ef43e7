"""The `harvest seeds` commands: the seed list, and the documents that come of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from harvest import show_seeds
from harvest.command import as_json, order, print_list, settings_of, told
from harvest.model import Status
from harvest.settings import Settings

DAY: Final = 86400.0
_DAYS: Final = click.FloatRange(0, 36500, min_open=True)

interval_option = click.option(
    "--interval", type=_DAYS, default=None, metavar="DAYS", help="Download again after so many days."
)


@click.group()
def seeds() -> None:
    """The seed list: documents that are downloaded and washed without belonging to a provider."""


@seeds.command()
@click.argument("uris", nargs=-1, required=True, metavar="URL...")
@interval_option
@as_json
@told
def add(uris: tuple[str, ...], interval: float | None, config: Path | None, as_json: bool) -> None:
    """Put URIs on the seed list; relative ones are counted, and never fetched."""
    _add(settings_of(config), enumerate(uris, 1), interval, as_json, "argument")


@seeds.command("import")
@click.argument("file", type=click.File("rb"))
@interval_option
@as_json
@told
def import_(file: Iterable[bytes], interval: float | None, config: Path | None, as_json: bool) -> None:
    """Put the URIs of FILE (or - for standard input) on the seed list: one a line; # begins a comment line."""
    _add(settings_of(config), _lines(file), interval, as_json, "line")


def _lines(file: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, each with its number from 1."""
    for number, line in enumerate(file, 1):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape").strip()
        if text and not text.startswith("#"):
            yield number, text


def _add(
    settings: Settings, given: Iterable[tuple[int, str]], interval: float | None, as_json: bool, what: str
) -> None:
    """Register URIs, and tell what became of each kind."""
    from harvest.seedlist import register  # opens the ledger; `--help` need not wait for that

    report = register(settings, given, None if interval is None else interval * DAY)
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        show_seeds.added(report, what)
    if report["refused"]:
        sys.exit(1)


@seeds.command("list")
@click.option("--state", type=click.Choice([status.value for status in Status]), default=None, help="Only those in it.")
@as_json
@told
def list_(state: str | None, config: Path | None, as_json: bool) -> None:
    """List the seeds with their states."""
    from harvest.seedlist import listed

    found = listed(settings_of(config), state)
    if as_json:
        print_list(found)
    else:
        show_seeds.listed(found)


@seeds.command()
@click.argument("uri", metavar="URL")
@told
def remove(uri: str, config: Path | None) -> None:
    """Take a URI off the seed list; what was downloaded stays."""
    from harvest.seedlist import remove as take_off

    take_off(settings_of(config), uri)


@seeds.command()
@click.argument("uris", nargs=-1, metavar="[URL...]")
@as_json
@told
def run(uris: tuple[str, ...], config: Path | None, as_json: bool) -> None:
    """Download and wash seeds now and once: those given whatever their dates, or all that are stale."""
    order(settings_of(config), "seeds run", uris, as_json, show_seeds.results)


@seeds.command()
@click.argument("hash_", metavar="HASH")
@as_json
@told
def load(hash_: str, config: Path | None, as_json: bool) -> None:
    """Put a clean document, or all that a seed, download or entry gave, into graphs of their own."""
    order(settings_of(config), "seeds load", (hash_,), as_json, show_seeds.graphs)


@seeds.command()
@click.argument("hash_", metavar="HASH")
@as_json
@told
def unload(hash_: str, config: Path | None, as_json: bool) -> None:
    """Take what `load` put into graphs out again."""
    order(settings_of(config), "seeds unload", (hash_,), as_json, show_seeds.graphs)
