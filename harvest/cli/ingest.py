"""`harvest ingest`: datasets from repositories into a folder, without an instance."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from harvest.cli.command import configured
from harvest.cli.wash import settings_without_instance


@click.command()
@click.argument("urls", metavar="URL...|-", nargs=-1, required=True)
@click.option("--into", default="ingested", type=click.Path(path_type=Path), show_default=True, help="Folder for all.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), show_default=True, help="Requests at once.")
@click.option("--allow-loopback", is_flag=True, help="Let URLs lead to this machine.")
@configured
def ingest(urls: tuple[str, ...], into: Path, workers: int, allow_loopback: bool, config: Path | None) -> None:
    """
    Capture all files of datasets in repositories, by landing pages or DOIs; `-` reads requests as JSON lines.

    Results are JSON lines on standard output. Exit code: 0 when all were captured, else 1.
    """
    from harvest.pipeline.filesets.ingest import opened  # needed by this command alone
    from harvest.pipeline.filesets.mirror import authorization

    settings = settings_without_instance(config, allow_loopback=allow_loopback)
    hits = []
    with opened(settings, into, authorization(os.environ)) as ingests, ThreadPoolExecutor(workers, "ingest") as threads:
        for results in threads.map(ingests.answer, _lines(urls)):
            for result in results:
                click.echo(json.dumps(result))
                hits.append(result["hit"])
    if not all(hits):
        sys.exit(1)


def _lines(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        if url != "-":
            yield url
        else:
            yield from (line for line in sys.stdin if line.strip())
