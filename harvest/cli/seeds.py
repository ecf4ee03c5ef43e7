"""The `harvest seeds` commands: the seed list, and the documents that come of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
from rich.markup import escape

from harvest.cli.command import as_json, configured, order, print_list, settings_of
from harvest.cli.output import OUT, counted
from harvest.config.settings import Settings
from harvest.model import Status
from sparql.reports import SeedReport, SitemapReport, iso, to_json

_COLOURS = {"parsed": "green", "depleted": "green", "cleaned": "green", "added": "dim", "downloading": "yellow"}

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
@configured
def add(uris: tuple[str, ...], interval: float | None, config: Path | None, as_json: bool) -> None:
    """Put URIs on the seed list; relative ones are counted, and never fetched."""
    _add(settings_of(config), enumerate(uris, 1), interval, as_json, "argument")


@seeds.command("import")
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--sitemap", metavar="URL", default=None, help="Take the pages and dumps that a sitemap lists.")
@interval_option
@as_json
@configured
def import_(
    file: Iterable[bytes] | None, sitemap: str | None, interval: float | None, config: Path | None, as_json: bool
) -> None:
    """Put the URIs of FILE (or - for standard input) on the seed list: one a line; # begins a comment line."""
    if (file is None) == (sitemap is None):
        raise click.UsageError("give either a FILE or --sitemap URL")
    if file is not None:
        _add(settings_of(config), _lines(file), interval, as_json, "line")
        return
    from harvest.cli.seedlist import register_sitemap

    seconds = None if interval is None else interval * DAY
    _report(register_sitemap(settings_of(config), sitemap or "", seconds), as_json, "entry")


def _lines(file: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, each with its number from 1."""
    for number, line in enumerate(file, 1):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape").strip()
        if text and not text.startswith("#"):
            yield number, text


def _add(
    settings: Settings, given: Iterable[tuple[int, str]], interval: float | None, as_json: bool, what: str
) -> None:
    """Register URIs, and report what became of each kind."""
    from harvest.cli.seedlist import register  # opens the ledger; `--help` need not wait for that

    _report(register(settings, given, None if interval is None else interval * DAY), as_json, what)


def _report(report: Mapping[str, Any], as_json: bool, what: str) -> None:
    """Print what became of URIs; exits with 1 where some were refused."""
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        _show_added(report, what)
    if report["refused"]:
        sys.exit(1)


@seeds.command("list")
@click.option("--state", type=click.Choice([status.value for status in Status]), default=None, help="Only those in it.")
@as_json
@configured
def list_(state: str | None, config: Path | None, as_json: bool) -> None:
    """List the seeds with their states."""
    from harvest.cli.seedlist import entries, listed, sitemaps

    settings = settings_of(config)
    found = listed(settings, state)
    if as_json:
        print_list(map(to_json, found))
    else:
        _show_listed(found)
        click.echo(f"{counted(entries(settings, state), 'entry', 'entries')} of archives in their latest downloads")
        _show_sitemaps(sitemaps(settings))


@seeds.command()
@click.argument("uri", metavar="URL")
@configured
def remove(uri: str, config: Path | None) -> None:
    """Take a URI off the seed list; what was downloaded stays."""
    from harvest.cli.seedlist import remove as take_off

    take_off(settings_of(config), uri)


@seeds.command()
@click.argument("uris", nargs=-1, metavar="[URL...]")
@as_json
@configured
def run(uris: tuple[str, ...], config: Path | None, as_json: bool) -> None:
    """Download and wash seeds now and once: those given whatever their dates, or all that are stale."""
    order(settings_of(config), "seeds run", uris, as_json, _show_results)


@seeds.command()
@click.argument("hash_", metavar="HASH")
@as_json
@configured
def load(hash_: str, config: Path | None, as_json: bool) -> None:
    """Put a clean document, or all that a seed, download or entry gave, into graphs of their own."""
    order(settings_of(config), "seeds load", (hash_,), as_json, _show_graphs)


@seeds.command()
@click.argument("hash_", metavar="HASH")
@as_json
@configured
def unload(hash_: str, config: Path | None, as_json: bool) -> None:
    """Take what `load` put into graphs out again."""
    order(settings_of(config), "seeds unload", (hash_,), as_json, _show_graphs)


def _show_added(report: Mapping[str, Any], what: str) -> None:
    """How many URIs were registered, and the numbers of those that will never be fetched or were refused."""
    for item in report["refusals"]:
        OUT.print(
            f"[red]{what} {item['number']} refused[/]: {escape(item['reason'])}: {escape(item['uri'])}", soft_wrap=True
        )
    for item in report["relatives"]:
        OUT.print(
            f"[yellow]{what} {item['number']} is relative[/], never fetched: {escape(item['uri'])}", soft_wrap=True
        )
    for name, printed in (("refused", "refusals"), ("relative", "relatives")):
        if report[name] > len(report[printed]):
            OUT.print(f"... and {report[name] - len(report[printed]):,} more {name}")
    counts = ", ".join(f"{report[name]:,} {name}" for name in ("added", "known", "relative", "refused"))
    OUT.print(counts + _of_sitemap(report))


def _of_sitemap(report: Mapping[str, Any]) -> str:
    """What else a sitemap said of its seeds."""
    named = (("outdated", "changed since their download"), ("vanished", "not in it any more"))
    return "".join(f", {report[name]:,} {what}" for name, what in named if report.get(name))


def _show_listed(seeds: Iterable[SeedReport]) -> None:
    """One line a seed: its hash, its state, when it was last downloaded, its URI; and how many there are."""
    number = relative = sitemaps = 0
    for seed in seeds:
        number += 1
        relative += seed.relative
        sitemaps += seed.sitemap is not None
        when = iso(seed.processed)[:16] if seed.processed else "-"
        note = " (relative)" if seed.relative else " (stale)" if seed.stale else ""
        if seed.sitemap is not None:
            note += f" ({'no more in' if seed.vanished else 'from'} {seed.sitemap})"
        # Not by rich: it takes 10 s for 100,000 lines.
        click.echo(f"{seed.hash}  {seed.status:<12} {when:<16}  {seed.uri}{note}")
    click.echo(f"{counted(number, 'seed')}, {relative:,} of them relative, {sitemaps:,} from sitemaps")


def _show_sitemaps(sitemaps: Iterable[SitemapReport]) -> None:
    """One line a sitemap: when it was read and is read again, what it listed, its address; and why it was not read."""
    for each in sitemaps:
        read = f"{iso(each.read)[:16]}, next {iso(each.next_read)[:16]}" if each.read else "never"
        listed = f"{counted(each.entries, 'entry', 'entries')}, {each.vanished:,} vanished"
        click.echo(f"sitemap {each.url}: read {read}; {listed}")
        if each.trouble:
            click.echo(f"  not read {counted(each.failures, 'time')} since: {each.trouble}")


def _show_results(answer: Mapping[str, Any]) -> None:
    """What became of each seed."""
    for item in answer["results"]:
        colour = "red" if item["problem"] else _COLOURS.get(item["status"], "default")
        figures = f"  {counted(item['statements'], 'statement')}" if item.get("statements") else ""
        dropped = f", {item['dropped']:,} dropped" if item.get("dropped") else ""
        uri = escape(item.get("uri", item["hash"]))
        OUT.print(f"[{colour}]{item['status']:<12}[/] {uri}{figures}{dropped}", soft_wrap=True)
        if item["problem"]:
            OUT.print(f"  {escape(item['problem'])}", soft_wrap=True)
    if not answer["results"] and answer["ok"]:
        OUT.print("nothing to do")


def _show_graphs(answer: Mapping[str, Any]) -> None:
    """Which graphs were written."""
    for item in answer["results"]:
        click.echo(item["graph"])
