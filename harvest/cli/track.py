"""`harvest archive track`: URLs, and what content handlers ask for in turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from harvest.cli import output as show
from harvest.cli.command import as_json, configured, order, settings_of


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL...]")
@click.option("--handler", "handlers", multiple=True, help="Ask this content handler alone; may be repeated.")
@click.option("--depth", type=click.IntRange(min=0), default=3, show_default=True, help="How far from the first URLs.")
@click.option("--most", type=click.IntRange(min=1), default=1000, show_default=True, help="Resources asked for in all.")
@click.option("--replay", metavar="HASH", help="Begin with all that this provenance log records.")
@as_json
@configured
def track(urls: tuple[str, ...], config: Path | None, as_json: bool, **options: Any) -> None:
    """Download URLs, and what content handlers find in them, and what they find in that; all of it is filed."""
    if not urls and not options["replay"]:
        raise click.UsageError("say what is to be tracked: URLs, or --replay")
    order(settings_of(config), "track", [json.dumps(options), *urls], as_json, _show)


def _show(answer: dict[str, Any]) -> None:
    """One line a resource: what it gave, its URL, and which handler asked; then what was wrong."""
    for item in answer["results"]:
        asked = f"  [dim]({escape(item['handler'])})[/]" if item["handler"] else ""
        gave = item["hash"] or "[red]failed[/]"
        new = "" if item["new"] or not item["hash"] else "  [dim]known[/]"
        show.OUT.print(f"{'  ' * item['depth']}{gave} {escape(item['url'])}{asked}{new}", soft_wrap=True)
        if item["reason"]:
            show.OUT.print(f"{'  ' * item['depth']}  {escape(item['reason'])}", soft_wrap=True)
    for finding in answer["findings"]:
        show.OUT.print(f"[yellow]{finding['kind']}[/]: {escape(finding['message'])}", soft_wrap=True)
    if answer["left"]:
        show.OUT.print(f"{answer['left']:,} more were not asked for; --most allows more")
    new = sum(item["new"] and item["hash"] is not None for item in answer["results"])
    failed = sum(item["hash"] is None for item in answer["results"])
    show.OUT.print(f"{show.counted(len(answer['results']), 'resource')}, {new:,} new, {failed:,} failed")
