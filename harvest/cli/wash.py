"""`harvest wash`: one document to clean N-Quads, without an instance."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click
from rich.markup import escape
from rich.text import Text

from harvest.cli.command import as_json, configured, settings_of
from harvest.cli.output import ERR, counted
from harvest.config.loader import load_settings
from harvest.config.settings import Settings
from harvest.model import Part, Status

if TYPE_CHECKING:
    from harvest.pipeline.harvest.alone import WashedDocument

SHOWN: Final = 10
"""Problems of one part that are printed; `--json` has all that are kept."""

_OUTCOMES = {
    "clean": "[green]clean[/]",
    "dropped": "[yellow]washed, with statements left out[/]",
    "failed": "[red]failed[/]",
}

CLEAN, FAILED, DROPPED = 0, 1, 3
"""Exit codes: all of it read; too bad, broken off or no RDF; some statements left out. 2 is wrong use."""


@click.command()
@click.argument("source", metavar="FILE|URL|-")
@click.option("--base", help="Base IRI. Default: the final URL, or the file's own.")
@click.option("--graph", help="Graph IRI of the clean statements. Default: the base IRI.")
@click.option("--media-type", help="What the document is declared as. Default: what the server says.")
@click.option(
    "--threshold", type=click.FloatRange(0, 1), help="Share of triples that may be lost; with more, the exit code is 1."
)
@click.option("--allow-loopback", is_flag=True, help="Let URLs lead to this machine.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File for the clean N-Quads.  [default: -]")
@as_json
@configured
def wash(source: str, config: Path | None, as_json: bool, **options: Any) -> None:
    """
    Wash FILE, URL or standard input (-) without an instance.

    Clean N-Quads (sorted, unique, Skolem IRIs for blank nodes) go to standard output, the report to standard error.
    Exit code: 0 all of it was read, 3 some statements were left out, 1 more triples than the threshold are lost, or it
    breaks off, or holds no RDF (what is good is written all the same), 2 wrong use.
    """
    settings = settings_without_instance(config, allow_loopback=options["allow_loopback"])
    threshold = settings.wash.threshold if options["threshold"] is None else options["threshold"]
    codes: list[int] = []

    def deliver(clean: WashedDocument) -> None:
        report = _report(clean, threshold)
        with clean.snapshot.path.open("rb") as lines:
            write_whole(lines, options["output"])
        click.echo(json.dumps(report, indent=2), err=True) if as_json else _show(report)
        codes.append(report["exit_code"])

    _wash(settings, source, options, deliver)
    sys.exit(codes[0])


def settings_without_instance(config: Path | None, *, allow_loopback: bool = False) -> Settings:
    """Those of an instance where one is named, else the defaults with the environment's overrides."""
    named = config or os.environ.get("HARVEST_CONFIG")
    settings = settings_of(config) if named else load_settings(None, os.environ)
    if not allow_loopback:
        return settings
    return replace(settings, http=replace(settings.http, allow_loopback=True))


def _wash(
    settings: Settings, source: str, options: Mapping[str, Any], deliver: Callable[[WashedDocument], None]
) -> None:
    from harvest.pipeline.harvest.alone import WashOrder, wash_alone  # needed by this command alone

    with _progress() as on_report:
        order = WashOrder(
            None if source == "-" else source,
            sys.stdin.buffer,
            options["base"],
            options["graph"],
            options["media_type"],
            on_report,
        )
        wash_alone(settings, order, deliver)


def write_whole(lines: BinaryIO, output: Path | None) -> None:
    """To standard output, or to a file that is whole or not there at all."""
    if output is None or str(output) == "-":
        shutil.copyfileobj(lines, sys.stdout.buffer, 1 << 20)
        sys.stdout.buffer.flush()
        return
    beside = output.with_name(f".{output.name}.part")
    try:
        with beside.open("wb") as out:
            shutil.copyfileobj(lines, out, 1 << 20)
            os.fsync(out.fileno())
        beside.replace(output)
    finally:
        beside.unlink(missing_ok=True)


def _report(clean: WashedDocument, threshold: float) -> dict[str, Any]:
    parts = clean.parts
    statements, lost = sum(p.statements for p in parts), sum(p.lost for p in parts)
    why = _why_failed(parts, threshold)
    code = FAILED if why else DROPPED if lost else CLEAN
    return {
        "url": clean.url,
        "outcome": {CLEAN: "clean", FAILED: "failed", DROPPED: "dropped"}[code],
        "why": why,
        "exit_code": code,
        "bytes": clean.bytes,
        "sha256": clean.sha256,
        "graph": clean.graph,
        "statements": statements,
        "dropped": sum(p.dropped for p in parts),
        "lost": lost,
        "triples": clean.snapshot.triples,
        "blank_nodes": clean.blank_nodes,
        "clean_sha256": clean.snapshot.digest,
        "parts": [_part(part) for part in parts],
    }


def _why_failed(parts: Sequence[Part], threshold: float) -> str | None:
    """What makes the whole a failure, or None."""
    from harvest.pipeline.harvest.verdict import balance, lacking, loss  # needed by this command alone

    if not any(part.status is Status.PARSED for part in parts):
        return "nothing in it is RDF"
    if any(lacking(part) for part in parts):
        return "not all of it could be read"
    lost, total = balance([parts])
    if lost > threshold * total:
        return loss(lost, total, threshold)
    return None if total else "it holds no statement"


def _part(part: Part) -> dict[str, Any]:
    return {
        "names": list(part.names),
        "status": part.status.value,
        "format": part.format,
        "content": asdict(part.content) if part.content else None,
        "statements": part.statements,
        "dropped": part.dropped,
        "lost": part.lost,
        "whole": part.whole,
        "counts": dict(part.counts),
        "problems": [asdict(problem) for problem in part.problems],
    }


@contextmanager
def _progress() -> Iterator[Callable[[Any], None]]:
    """A callback that shows which part is at which step, on a terminal alone."""
    if not ERR.is_terminal:
        yield lambda progress: None
        return
    with ERR.status("starting") as line:
        yield lambda progress: line.update(escape("!/".join((progress.url, *progress.names)) + f": {progress.status}"))


def _show(report: Mapping[str, Any]) -> None:
    """The report: the parts with what was wrong with them, then the whole."""
    for part in report["parts"]:
        _show_part(report["url"], part)
    figures = f"{counted(report['triples'], 'triple')} from {counted(report['statements'], 'statement')}"
    if report["blank_nodes"]:
        figures += f", {counted(report['blank_nodes'], 'blank node')} named"
    if report["dropped"]:
        figures += f", {counted(report['dropped'], 'statement')} left out (about {counted(report['lost'], 'triple')})"
    why = f", {report['why']}" if report["why"] else ""
    ERR.print(f"{_OUTCOMES[report['outcome']]}{why}: {figures}", soft_wrap=True)


def _show_part(url: str, part: Mapping[str, Any]) -> None:
    content = part["content"]
    facts = ["archive" if part["status"] == "depleted" else part["format"] or "no RDF"]
    if content and content["encoding"]:
        facts.append(content["encoding"])
    if part["format"]:
        facts.append(counted(part["statements"], "statement"))
    facts += [f"{count:,} {kind}" for kind, count in sorted(part["counts"].items())]
    title = "!/".join((url, *part["names"]))
    ERR.print(Text(title.removeprefix("file://"), style="bold"), Text("  " + ", ".join(facts)), sep="", soft_wrap=True)
    for problem in part["problems"][:SHOWN]:
        place = f"line {problem['line']}, column {problem['column']}: " if problem["line"] else ""
        message = problem["message"].replace(title, "it")
        ERR.print(Text(f"  {place}{problem['kind']}: {message}"), soft_wrap=True)
        if problem["excerpt"]:
            ERR.print(Text(f"    {problem['excerpt'].strip()}", style="dim"), soft_wrap=True)
    hidden = sum(part["counts"].values()) - min(SHOWN, len(part["problems"]))
    if hidden > 0:
        ERR.print(f"  and {hidden:,} more")
