"""`harvest ingest`: datasets from repositories into a folder, without an instance."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import click

from harvest.cli.command import configured
from harvest.cli.wash import settings_without_instance

Results = list[dict[str, Any]]


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
    with opened(settings, into, authorization(os.environ)) as ingests:
        try:
            is_whole = _answered(ingests.answer, _lines(urls), workers)
        except BaseException:
            ingests.stop()
            raise
    if not is_whole:
        sys.exit(1)


def _answered(answer: Callable[[str], Results], lines: Iterable[str], workers: int) -> bool:
    """
    Answer lines as they come, so many at once, and print what comes of them in their order; whether all were had.

    A line is read once there is room for it, and printed while the next one is waited for.
    """
    room, printing, is_whole = BoundedSemaphore(workers), deque[Future[bool]](), True
    with ThreadPoolExecutor(1, "print") as printer, ThreadPoolExecutor(workers, "ingest") as threads:
        room.acquire()
        for line in lines:
            answering = threads.submit(answer, line)
            answering.add_done_callback(lambda _: room.release())
            printing.append(printer.submit(_print, answering))
            while printing and printing[0].done():
                is_whole &= printing.popleft().result()
            room.acquire()
        for printed in printing:
            is_whole &= printed.result()
    return is_whole


def _print(answering: Future[Results]) -> bool:
    results = answering.result()
    for result in results:
        click.echo(json.dumps(result))
    return all(result["hit"] for result in results)


def _lines(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        if url != "-":
            yield url
        else:
            yield from (line for line in sys.stdin if line.strip())
