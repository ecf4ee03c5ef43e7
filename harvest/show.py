"""What commands print for people: tables, progress, logs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from rich import box
from rich.console import Console
from rich.table import Table

OUT = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
ERR = Console(stderr=True, highlight=False)

_COLOURS = {
    "committed": "green",
    "idle": "green",
    "unchanged": "cyan",
    "held": "yellow",
    "failed": "red",
    "failing": "red",
    "harvesting": "blue",
    "disabled": "dim",
}


def quiet_log() -> None:
    """Keep the log to warnings: a command prints its own answer."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def log_to_stderr() -> None:
    """Log lines to standard error; `time level event key=value`, coloured on a terminal."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=ERR.is_terminal),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


@contextmanager
def progress() -> Iterator[Callable[[str, str], None]]:
    """A callback that shows which provider is at which step, on a terminal alone."""
    if not ERR.is_terminal:
        yield lambda provider, step: None
        return
    with ERR.status("starting") as line:
        yield lambda provider, step: line.update(f"{provider}: {step}")


def results(answer: Mapping[str, Any]) -> None:
    """What became of each provider."""
    for item in answer["results"]:
        outcome = item["outcome"]
        figures = f"  +{item['added']} -{item['removed']}  version {item['version']}" if item.get("version") else ""
        OUT.print(f"[bold]{item['name']}[/]  [{_COLOURS.get(outcome, 'default')}]{outcome}[/]{figures}")
        if item["finding"]:
            _finding(item["finding"])
    if not answer["results"] and answer["ok"]:
        OUT.print("nothing to do")


def rebuilt(answer: Mapping[str, Any]) -> None:
    """Which versions were made again."""
    for item in answer["results"]:
        same = "[green]same[/]" if item["same"] else "[red]differs[/]"
        OUT.print(f"[bold]{item['name']}[/]  version {item['version']}  {item['triples']} triples  {same}")


def files(answer: Mapping[str, Any]) -> None:
    """Which files were written."""
    for item in answer["results"]:
        OUT.print(item["file"])
    if not answer["results"] and answer["ok"]:
        OUT.print("all exports are current")


def proofs(answer: Mapping[str, Any]) -> None:
    """What was checked."""
    for item in answer["results"]:
        mark = "[green]ok  [/]" if item["holds"] else "[red]FAIL[/]"
        OUT.print(f"{mark} {item['provider']}  {item['what']}: {item['detail']}", soft_wrap=True)


def check(report: Mapping[str, Any]) -> None:
    """What is right and wrong with a registry."""
    for finding in report["findings"]:
        place = ":".join(str(part) for part in (finding["url"], finding["line"], finding["column"]) if part)
        message = finding["message"]
        colour = "red" if finding["fatal"] else "yellow"
        text = message if place and message.startswith(place) else f"{place}: {message}" if place else message
        OUT.print(f"[{colour}]{_plain(text)}[/]", soft_wrap=True)
    for provider in report["providers"]:
        where = provider["url"] or "(written by SPARQL updates; nothing is fetched)"
        OUT.print(f"[bold]{provider['name']}[/]  {provider['source']} {where}", soft_wrap=True)
        for dataset in provider.get("datasets", ()):
            dumps = len(dataset["dumps"])
            date = dataset["modified"] or "unknown"
            told = f"{dataset['coverage']}, modified {date}, {dumps} dump{'s' * (dumps != 1)}"
            OUT.print(f"  would harvest {_plain(dataset['iri'])}: {told}", soft_wrap=True)
        for finding in provider.get("findings", ()):
            _finding(finding)
    OUT.print("[green]the registry is good[/]" if report["ok"] else "[red]the registry is not good[/]")


def status(providers: Sequence[Mapping[str, Any]]) -> None:
    """The state of every provider as a table, and under it what is wrong."""
    names = ["provider", "state", "version", "triples", "modified", "last run", "next check"]
    wide = OUT.width >= 100
    table = Table(*names[: None if wide else -1], box=box.SIMPLE_HEAD, padding=(0, 1))
    for each in table.columns:
        each.no_wrap = True
    for column in (2, 3):
        table.columns[column].justify = "right"
    for item in providers:
        state, last = item["state"], item["last_run"] or {}
        step = next(iter(last.get("steps", ())[-1:]), None) if state == "harvesting" else None
        doing = f": {step['name']}" if step else ""
        shown = f"[{_COLOURS.get(state, 'default')}]{state}{doing}[/]"
        outcome = f"{_moment(last.get('ended'))[5:16]} {last.get('outcome') or ''}".strip()
        times = _moment(item["modified"])[:10], outcome or "-", _moment(item["next_check"])[5:16] or "-"
        table.add_row(item["name"], shown, str(item["version"]), f"{item['triples']:,}", *times[: None if wide else -1])
    OUT.print(table)
    for item in providers:
        for finding in item["findings"]:
            OUT.print(f"[bold]{item['name']}[/]", end="")
            _finding(finding)


def history(found: Mapping[str, Any]) -> None:
    """Versions, and the runs that made none."""
    table = Table("version", "filed", "coverage", "added", "removed", "triples", "modified", box=box.SIMPLE_HEAD)
    for each in table.columns:
        each.no_wrap = True
    for column in (0, 3, 4, 5):
        table.columns[column].justify = "right"
    for item in found["versions"]:
        counts = (f"+{item['added']:,}", f"-{item['removed']:,}", f"{item['triples']:,}")
        table.add_row(str(item["n"]), _moment(item["at"]), item["coverage"], *counts, _moment(item["modified"]))
    OUT.print(table)
    for run in found["runs"]:
        if run["outcome"] != "committed":
            outcome = run["outcome"] or "running"
            OUT.print(f"run {run['id']}  {run['started'][:19]}  [{_COLOURS.get(outcome, 'default')}]{outcome}[/]")
            _steps(run["steps"])
            for finding in run["findings"]:
                _finding(finding)


def _steps(steps: Sequence[Mapping[str, Any]]) -> None:
    """What a run did, and how long each step took; those of no time to speak of are left out."""
    told = [
        f"{step['name']} {'so far' if step['seconds'] is None else format(step['seconds'], '.1f') + ' s'}"
        + (" (broken off)" if step["broken"] else "")
        for step in steps
        if step["seconds"] is None or step["broken"] or step["seconds"] >= 0.1
    ]
    if told:
        OUT.print(f"  {', '.join(told)}", soft_wrap=True, style="dim")


def _moment(text: str | None) -> str:
    """A time as people read it, to the second, in UTC."""
    return "-" if text is None else text[:19].replace("T", "\N{NO-BREAK SPACE}")


def _finding(finding: Mapping[str, Any]) -> None:
    place = f" (line {finding['line']}, column {finding['column']})" if finding["line"] else ""
    colour = "red" if finding["fatal"] else "yellow"
    OUT.print(f"  [{colour}]{finding['kind']}[/]{place}: {_plain(finding['message'])}", soft_wrap=True)
    if finding["excerpt"]:
        OUT.print(f"    {_plain(finding['excerpt'])}", soft_wrap=True, style="dim")


def _plain(text: str) -> str:
    """Text that is not markup, whatever brackets it holds."""
    return text.replace("[", "\\[")
