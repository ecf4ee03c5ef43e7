"""`harvest wash`: one document to clean N-Quads, without an instance."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from harvest import show_wash
from harvest.command import as_json, settings_of, told
from harvest.config import load_settings
from harvest.model import Part, Status
from harvest.settings import Settings

if TYPE_CHECKING:
    from harvest.pipeline.alone import Clean

CLEAN, FAILED, DROPPED = 0, 1, 3
"""Exit codes: all of it read; too bad, broken off or no RDF; some statements left out. 2 is wrong use."""


@click.command()
@click.argument("source", metavar="FILE|URL|-")
@click.option("--base", help="Base IRI. Default: the final URL, or the file's own.")
@click.option("--graph", help="Graph IRI of the clean statements. Default: the base IRI.")
@click.option("--media-type", help="What the document is declared as. Default: what the server says.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Share of bad statements for exit code 1.")
@click.option("--allow-loopback", is_flag=True, help="Let URLs lead to this machine.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File for the clean N-Quads.  [default: -]")
@as_json
@told
def wash(source: str, config: Path | None, as_json: bool, **options: Any) -> None:
    """
    Wash FILE, URL or standard input (-) without an instance.

    Clean N-Quads (sorted, unique, Skolem IRIs for blank nodes) go to standard output, the report to standard error.
    Exit code: 0 all of it was read, 3 some statements were left out, 1 more than the threshold were, or it breaks off,
    or is no RDF (what is good is written all the same), 2 wrong use.
    """
    settings = _settings(config, options["allow_loopback"])
    threshold = settings.wash.threshold if options["threshold"] is None else options["threshold"]
    codes: list[int] = []

    def deliver(clean: Clean) -> None:
        report = _report(clean, threshold)
        with clean.snapshot.path.open("rb") as lines:
            _write(lines, options["output"])
        click.echo(json.dumps(report, indent=2), err=True) if as_json else show_wash.wash(report)
        codes.append(report["exit_code"])

    _wash(settings, source, options, deliver)
    sys.exit(codes[0])


def _settings(config: Path | None, allow_loopback: bool) -> Settings:
    """Those of an instance where one is named, else the defaults with the environment's overrides."""
    named = config or os.environ.get("HARVEST_CONFIG")
    settings = settings_of(config) if named else load_settings(None, os.environ)
    if not allow_loopback:
        return settings
    return replace(settings, http=replace(settings.http, allow_loopback=True))


def _wash(settings: Settings, source: str, options: Mapping[str, Any], deliver: Callable[[Clean], None]) -> None:
    from harvest.pipeline.alone import Order, wash_alone  # needed by this command alone

    with show_wash.washing() as heard:
        order = Order(
            None if source == "-" else source,
            sys.stdin.buffer,
            options["base"],
            options["graph"],
            options["media_type"],
            heard,
        )
        wash_alone(settings, order, deliver)


def _write(lines: BinaryIO, output: Path | None) -> None:
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


def _report(clean: Clean, threshold: float) -> dict[str, Any]:
    parts = clean.parts
    statements, dropped = sum(p.statements for p in parts), sum(p.dropped for p in parts)
    why = _why_failed(parts, dropped, threshold * (statements + dropped))
    code = FAILED if why else DROPPED if dropped else CLEAN
    return {
        "url": clean.url,
        "outcome": {CLEAN: "clean", FAILED: "failed", DROPPED: "dropped"}[code],
        "why": why,
        "exit_code": code,
        "bytes": clean.bytes,
        "sha256": clean.sha256,
        "graph": clean.graph,
        "statements": statements,
        "dropped": dropped,
        "triples": clean.snapshot.triples,
        "blank_nodes": clean.blank_nodes,
        "clean_sha256": clean.snapshot.digest,
        "parts": [_part(part) for part in parts],
    }


def _why_failed(parts: Sequence[Part], dropped: int, most: float) -> str | None:
    """What makes the whole a failure, or None."""
    from harvest.pipeline.verdict import lacking  # needed by this command alone

    if not any(part.status is Status.PARSED for part in parts):
        return "nothing in it is RDF"
    if any(lacking(part) for part in parts):
        return "not all of it could be read"
    return "more statements are bad than the threshold allows" if dropped > most else None


def _part(part: Part) -> dict[str, Any]:
    return {
        "names": list(part.names),
        "status": part.status.value,
        "format": part.format,
        "content": asdict(part.content) if part.content else None,
        "statements": part.statements,
        "dropped": part.dropped,
        "whole": part.whole,
        "counts": dict(part.counts),
        "problems": [asdict(problem) for problem in part.problems],
    }
