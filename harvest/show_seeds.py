"""What the `harvest seeds` commands print for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click
from rich.markup import escape

from harvest.show import OUT

_COLOURS = {"parsed": "green", "depleted": "green", "cleaned": "green", "added": "dim", "downloading": "yellow"}


def added(report: Mapping[str, Any], what: str) -> None:
    """How many URIs were registered, and the numbers of those that will never be fetched or were refused."""
    for item in report["refusals"]:
        OUT.print(
            f"[red]{what} {item['number']} refused[/]: {escape(item['reason'])}: {escape(item['uri'])}", soft_wrap=True
        )
    for item in report["relatives"]:
        OUT.print(
            f"[yellow]{what} {item['number']} is relative[/], never fetched: {escape(item['uri'])}", soft_wrap=True
        )
    for name, told in (("refused", "refusals"), ("relative", "relatives")):
        if report[name] > len(report[told]):
            OUT.print(f"... and {report[name] - len(report[told]):,} more {name}")
    counts = ", ".join(f"{report[name]:,} {name}" for name in ("added", "known", "relative", "refused"))
    OUT.print(counts)


def listed(seeds: Iterable[Mapping[str, Any]]) -> None:
    """One line a seed: its hash, its state, when it was last downloaded, its URI; and how many there are."""
    number = relative = 0
    for seed in seeds:
        number += 1
        relative += seed["relative"]
        when = (seed["processed"] or "-")[:16]
        note = " (relative)" if seed["relative"] else " (stale)" if seed["stale"] else ""
        # Not by rich: it takes 10 s for 100,000 lines.
        click.echo(f"{seed['hash']}  {seed['status']:<12} {when:<16}  {seed['uri']}{note}")
    click.echo(f"{number:,} seeds, {relative:,} of them relative")


def results(answer: Mapping[str, Any]) -> None:
    """What became of each seed."""
    for item in answer["results"]:
        colour = "red" if item["problem"] else _COLOURS.get(item["status"], "default")
        figures = f"  {item['statements']:,} statements" if item.get("statements") else ""
        dropped = f", {item['dropped']:,} dropped" if item.get("dropped") else ""
        uri = escape(item.get("uri", item["hash"]))
        OUT.print(f"[{colour}]{item['status']:<12}[/] {uri}{figures}{dropped}", soft_wrap=True)
        if item["problem"]:
            OUT.print(f"  {escape(item['problem'])}", soft_wrap=True)
    if not answer["results"] and answer["ok"]:
        OUT.print("nothing to do")


def graphs(answer: Mapping[str, Any]) -> None:
    """Which graphs were written."""
    for item in answer["results"]:
        click.echo(item["graph"])
