"""`harvest update`: a SPARQL update by whoever has the data directory, who needs no token."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from harvest.cli import output as show
from harvest.cli.command import Failed, as_json, configured, order, settings_of


@click.command()
@click.argument("file", type=click.Path(allow_dash=True, path_type=Path))
@as_json
@configured
def update(file: Path, config: Path | None, as_json: bool) -> None:
    """Carry out the SPARQL update in FILE (- for standard input) on a graph that the registry has `updates` for."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Failed(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Failed(f"{file} is not UTF-8: byte {error.start} is {data[error.start]:#04x}") from error
    order(settings_of(config), "update", [text], as_json, _show)


def _show(answer: dict[str, Any]) -> None:
    """One line: the version that was made, and what it changed."""
    for item in answer["results"]:
        if item["outcome"] == "committed":
            did = f"version {item['version']}, +{item['added']:,} -{item['removed']:,}"
        else:
            did = f"nothing changed; version {item['version']}"
        size = show.counted(item["triples"], "triple")
        show.OUT.print(f"[bold]{escape(item['provider'])}[/]  {did}, {size}", soft_wrap=True)
