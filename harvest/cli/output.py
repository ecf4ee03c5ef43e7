"""What commands print for people: tables, progress, logs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from harvest.cli.tables import Column, Kind, table
from sparql.reports import LEDGER, Finding, ProviderReport, RunReport, StepReport, VersionReport

if TYPE_CHECKING:  # it imports the pipeline, which a command that prints something else does without
    from harvest.cli.check import CheckReport

CHECKED: Final = 10
"""Datasets and findings of one provider that a check prints."""

PIPED: Final = 10_000
"""Characters of a line where nobody sees a width: a row is a line then, whatever is in it."""

OUT = Console(highlight=False, width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED)
ERR = Console(stderr=True, highlight=False)

REASONS = 20
"""Datasets of a provider of which `harvest run` says why nothing is harvested."""

_COLOURS = {
    "waiting": "yellow",
    "committed": "green",
    "idle": "green",
    "unchanged": "cyan",
    "held": "yellow",
    "failed": "red",
    "failing": "red",
    "harvesting": "blue",
    "disabled": "dim",
}

_STATUS = (
    Column("provider"),
    Column("state"),
    Column("version", Kind.FIGURE),
    Column("triples", Kind.FIGURE),
    Column("modified", Kind.TIME),
    Column("last run", Kind.TIME),
    Column("outcome", spare=True),
    Column("next check", Kind.TIME, spare=True),
)
_HISTORY = (
    Column("version", Kind.FIGURE),
    Column("filed", Kind.TIME),
    Column("coverage", spare=True),
    Column("added", Kind.FIGURE),
    Column("removed", Kind.FIGURE),
    Column("triples", Kind.FIGURE),
    Column("modified", Kind.TIME, spare=True),
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
        dataset = f"  {_plain(item['dataset'])}" if item.get("dataset") else ""
        shown = f"[bold]{item['name']}[/]  [{_COLOURS.get(outcome, 'default')}]{outcome}[/]{figures}{dataset}"
        OUT.print(shown, soft_wrap=True)
        if item["finding"]:
            _finding(Finding(**item["finding"]))
        _reasons(item.get("reasons", ()))
    if not answer["results"] and answer["ok"]:
        OUT.print("nothing to do")


def _reasons(datasets: Sequence[Mapping[str, Any]]) -> None:
    """Why nothing is harvested of datasets."""
    for each in datasets[:REASONS]:
        OUT.print(f"  {_plain(each['iri'])}: {_plain(each['reason'])}", soft_wrap=True)
        for finding in each["findings"]:
            _finding(Finding(**finding))
    if len(datasets) > REASONS:
        OUT.print(f"  and {counted(len(datasets) - REASONS, 'more dataset')}; `harvest status --json` has them all")


def rebuilt(answer: Mapping[str, Any]) -> None:
    """Which versions were made again."""
    for item in answer["results"]:
        same = "[green]same[/]" if item["same"] else "[red]differs[/]"
        OUT.print(f"[bold]{item['name']}[/]  version {item['version']}  {counted(item['triples'], 'triple')}  {same}")


def mended(answer: Mapping[str, Any]) -> None:
    """What was damaged, and whether it still is."""
    for item in answer["results"]:
        mark = "[green]mended[/]" if item["mended"] else "[red]not mended[/]"
        OUT.print(
            f"{mark} {item['provider'] or '(instance)'}  {item['what']}: {_plain(item['detail'])}", soft_wrap=True
        )
    if not answer["results"]:
        OUT.print("nothing is damaged")


def files(answer: Mapping[str, Any]) -> None:
    """Which files were written."""
    for item in answer["results"]:
        OUT.print(item["file"])
    if not answer["results"] and answer["ok"]:
        OUT.print("all exports are current")


def compacted(answer: Mapping[str, Any]) -> None:
    """Which version a provider begins with now, and what was dropped."""
    for item in answer["results"]:
        first = item["baseline"] or 1
        OUT.print(
            f"{item['name']}: versions {first} to {item['version']} are kept; {item['dropped']} dropped, "
            f"{counted(item['bytes'], 'byte')} freed"
        )


def proofs(answer: Mapping[str, Any]) -> None:
    """What was checked."""
    for item in answer["results"]:
        mark = "[green]ok  [/]" if item["holds"] else "[red]FAIL[/]"
        OUT.print(
            f"{mark} {item['provider'] or '(instance)'}  {item['what']}: {_plain(item['detail'])}", soft_wrap=True
        )


def check(report: CheckReport, everything: bool = False) -> None:
    """What is right and wrong with a registry: the figures first, then the first rows of each provider, or all."""
    _summary(report.figures, online=any(each.datasets is not None for each in report.providers))
    for finding in report.findings:
        place = ":".join(str(part) for part in (finding.url, finding.line, finding.column) if part)
        colour = "red" if finding.fatal else "yellow"
        text = finding.message
        if place and not text.startswith(place):
            text = f"{place}: {text}"
        OUT.print(f"[{colour}]{_plain(text)}[/]", soft_wrap=True)
    for each in report.providers:
        where = each.entry.url or "(written by SPARQL updates; nothing is fetched)"
        OUT.print(f"[bold]{each.entry.name}[/]  {each.entry.source.value} {where}", soft_wrap=True)
        datasets = each.datasets or ()
        for finding in each.findings if everything else each.findings[:CHECKED]:
            _finding(finding)
        _more(len(each.findings), "finding", everything)
        for dataset in datasets if everything else datasets[:CHECKED]:
            date = dataset.modified.isoformat().replace("+00:00", "Z") if dataset.modified else "unknown"
            parts = f"{dataset.coverage.value}, modified {date}, {counted(len(dataset.dumps), 'dump')}"
            OUT.print(f"  would harvest {_plain(dataset.iri)}: {parts}", soft_wrap=True)
        _more(len(datasets), "dataset", everything)
    OUT.print("[green]the registry is good[/]" if report.ok else "[red]the registry is not good[/]")


def _summary(figures: Mapping[str, int], online: bool) -> None:
    """One line with the figures of a check."""
    nouns = ("provider", *(("dataset", "dump") if online else ()), "error", "note")
    OUT.print(", ".join(counted(figures[f"{noun}s"], noun) for noun in nouns), soft_wrap=True)


def counted(number: int, noun: str, many: str | None = None) -> str:
    """A number with its noun, of which `many` is the plural where an `s` does not make it."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def _more(number: int, noun: str, everything: bool) -> None:
    if number > CHECKED and not everything:
        OUT.print(f"  and {counted(number - CHECKED, f'more {noun}')}; `--all` shows them", soft_wrap=True)


def status(providers: Sequence[ProviderReport]) -> None:
    """The state of every provider as a table, and under it what is wrong."""
    rows = []
    for item in providers:
        last = item.last_run
        step = last.step if last and item.state == "harvesting" else None
        shown = f"[{_COLOURS.get(item.state, 'default')}]{item.state}{f': {step}' if step else ''}[/]"
        figures = str(item.version), f"{item.triples:,}"
        ran = _moment(last.ended if last else None), (last.outcome if last else None) or "-"
        rows.append((item.name, shown, *figures, _moment(item.modified), *ran, _moment(item.next_check)))
    OUT.print(table(_STATUS, rows, OUT.width))
    for item in providers:
        for finding in item.findings:
            if finding.kind != LEDGER:  # printed once, with the queue
                OUT.print(f"[bold]{item.name}[/]", end="")
                _finding(finding)


def history(versions: Sequence[VersionReport], runs: Sequence[RunReport], findings: Sequence[Finding] = ()) -> None:
    """Versions, the runs that made none, and what is to be reported now."""
    rows = []
    for item in versions:
        counts = (f"+{item.added:,}", f"-{item.removed:,}", f"{item.triples:,}")
        rows.append((str(item.n), _moment(item.at), item.coverage, *counts, _moment(item.modified)))
    OUT.print(table(_HISTORY, rows, OUT.width))
    for run in runs:
        if run.outcome != "committed":
            outcome = run.outcome or "running"
            OUT.print(f"run {run.id}  {_moment(run.started)}  [{_COLOURS.get(outcome, 'default')}]{outcome}[/]")
            _steps(run.steps)
            for finding in run.findings:
                _finding(finding)
    for finding in findings:
        _finding(finding)


def _steps(steps: Sequence[StepReport]) -> None:
    """What a run did, and how long each step took; those of no time to speak of are left out."""
    parts = [
        f"{step.name} {'so far' if step.seconds is None else format(step.seconds, '.1f') + ' s'}"
        + (" (broken off)" if step.broken else "")
        for step in steps
        if step.seconds is None or step.broken or step.seconds >= 0.1
    ]
    if parts:
        OUT.print(f"  {', '.join(parts)}", soft_wrap=True, style="dim")


def _moment(moment: datetime | None) -> str:
    """A time as people read it, to the second, in UTC."""
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def _finding(finding: Finding) -> None:
    place = f" (line {finding.line}, column {finding.column})" if finding.line else ""
    colour = "red" if finding.fatal else "yellow"
    OUT.print(f"  [{colour}]{finding.kind}[/]{place}: {_plain(finding.message)}", soft_wrap=True)
    if finding.excerpt:
        OUT.print(f"    {_plain(finding.excerpt)}", soft_wrap=True, style="dim")


def _plain(text: str) -> str:
    """Text that is not markup, whatever brackets it holds."""
    return text.replace("[", "\\[")
